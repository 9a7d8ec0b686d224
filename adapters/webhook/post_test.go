package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// at returns an endpoint at a URL.
func at(url string) Endpoint {
	e := to("a")
	e.URL = url
	return e
}

func TestPost(t *testing.T) {
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	transport := newTransport(Options{Allow: loopback})
	status, err := post(t.Context(), transport, at(server.URL+"/hook?a=b"), "msg_1", []byte(`{"type":"tag.set"}`))
	if err != nil || status != http.StatusAccepted {
		t.Fatal(status, err)
	}
	if got.Method != "POST" || got.RequestURI != "/hook?a=b" || string(body) != `{"type":"tag.set"}` ||
		got.ContentLength != int64(len(body)) ||
		got.Header.Get("Content-Type") != "application/json" || got.Header.Get("Accept-Encoding") != "" ||
		got.Header.Get("webhook-id") != "msg_1" || !strings.HasPrefix(got.Header.Get("webhook-signature"), "v1,") {
		t.Errorf("%s %s %v %s", got.Method, got.RequestURI, got.Header, body)
	}
	if transport.Proxy != nil {
		t.Error("there may be a proxy")
	}
}

// A receiver over TLS is verified, by the certificates of the system or by those of the options.
func TestPostOverTLS(t *testing.T) {
	protocol := ""
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocol = r.Proto
	}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	status, err := post(t.Context(), newTransport(Options{Allow: loopback}), at(server.URL+"/CANARY"), "msg_1",
		[]byte("{}"))
	if err == nil || status != 0 || !strings.Contains(err.Error(), "certificate") ||
		strings.Contains(err.Error(), "CANARY") {
		t.Errorf("a certificate of nobody: %d, %v", status, err)
	}
	own := &tls.Config{RootCAs: x509.NewCertPool()}
	own.RootCAs.AddCert(server.Certificate())
	status, err = post(t.Context(), newTransport(Options{Allow: loopback, TLS: own}), at(server.URL), "msg_1",
		[]byte("{}"))
	if err != nil || status != 200 || protocol != "HTTP/2.0" {
		t.Errorf("a certificate of one's own: %d, %v, %s", status, err, protocol)
	}
}

// No connection is made to an address that is not public, whatever name leads to it, and a redirect is not followed.
func TestPostGoesToAllowedAddressesOnly(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	var requests atomic.Int64
	inside, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	go func() {
		for {
			c, err := inside.Accept()
			if err != nil {
				return
			}
			requests.Add(1)
			c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(inside.Addr().String())
	refusing := newTransport(Options{})
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]", "[::1]", "127.1",
		"0x7f000001", "2130706433", "169.254.169.254", "[64:ff9b::7f00:1]"} {
		status, err := post(t.Context(), refusing, at("http://"+host+":"+port+"/CANARY"), "msg_1", []byte("{}"))
		if err == nil || status != 0 || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: %d, %v", host, status, err)
		}
		if _, e := netip.ParseAddr(strings.Trim(host, "[]")); (e == nil || host == "localhost") &&
			!errors.Is(err, errAddress) {
			t.Errorf("%s: %v, want that it is not public", host, err)
		}
	}
	for _, code := range []int{301, 302, 303, 307, 308} {
		for _, location := range []string{"http://127.0.0.1:" + port + "/", "//127.0.0.1:" + port, "file:///etc/passwd",
			":bad", ""} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Location"] = []string{location}
				w.WriteHeader(code)
			}))
			if status, err := post(t.Context(), newTransport(Options{Allow: loopback}), at(server.URL), "msg_1",
				[]byte("{}")); err != nil || status != code {
				t.Errorf("%d to %q: %d, %v", code, location, status, err)
			}
			server.Close()
		}
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("%d connections to an address that is not allowed", n)
	}
}

// answer is a RoundTripper that answers with this body.
type answer struct{ body io.Reader }

func (a answer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(reading{r.Context(), a.body}), Request: r}, nil
}

// reading is a body that ends with its request.
type reading struct {
	ctx context.Context
	io.Reader
}

func (r reading) Read(p []byte) (int, error) {
	if r.Reader == nil {
		<-r.ctx.Done()
		return 0, r.ctx.Err()
	}
	return r.Reader.Read(p)
}

// endless is a response body that is much longer than the client may read. It counts the bytes that are read, and it
// does end, so that a client that reads all of it fails the test and does not hang.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	if e.n > 100*responseMost {
		return 0, io.EOF
	}
	e.n += len(p)
	return len(p), nil
}

func TestPostReadsNoMoreThanItMust(t *testing.T) {
	body := new(endless)
	status, err := post(t.Context(), answer{body}, at("https://a/"), "msg_1", []byte("{}"))
	if err != nil || status != 200 || body.n > responseMost {
		t.Errorf("%d, %v: %d bytes were read", status, err, body.n)
	}
	short := bytes.NewReader(make([]byte, responseMost))
	if _, err := post(t.Context(), answer{short}, at("https://a/"), "msg_1", []byte("{}")); err != nil ||
		short.Len() != 0 {
		t.Errorf("%v: %d bytes were left", err, short.Len())
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("CANARY", responseMost/6))
	}))
	defer server.Close()
	if status, err := post(t.Context(), newTransport(Options{Allow: loopback}), at(server.URL), "msg_1",
		[]byte("{}")); err == nil || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("a header of more than %d bytes: %d, %v", responseMost, status, err)
	}
}

// The receiver knows the URL, so nothing of a response that cannot be read gets into an error.
func TestPostDoesNotRepeatWhatTheReceiverSent(t *testing.T) {
	for _, text := range []string{"CANARY", "HTTP/1.1 200 OK\r\nCANARY\r\n\r\n", "HTTP/1.1 CANARY\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: CANARY\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: CANARY\r\n\r\n", "HTTP/CANARY 200 OK\r\n\r\n", ""} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				_, _ = c.Read(make([]byte, 4096))
				_, _ = io.WriteString(c, text)
				_ = c.Close()
			}
		}()
		for _, scheme := range []string{"http", "https"} {
			status, err := post(t.Context(), newTransport(Options{Allow: loopback}),
				at(scheme+"://"+l.Addr().String()+"/CANARY"), "msg_1", []byte("{}"))
			if err == nil || strings.Contains(err.Error(), "CANARY") {
				t.Errorf("%s, %q: %d, %v", scheme, text, status, err)
			}
		}
		_ = l.Close()
	}
}

// The status decides, and it must come within 15 seconds. A body that never ends takes no longer.
func TestPostWaits15Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		status, err := post(t.Context(), answer{}, at("https://a/"), "msg_1", []byte("{}"))
		if took := time.Since(begun); err != nil || status != 200 || took != 15*time.Second {
			t.Errorf("a body that does not come: %d, %v after %s", status, err, took)
		}
		begun = time.Now()
		silent := &receivers{t: t, answer: func(delivery) (int, error) { return 0, errSilent }}
		status, err = post(t.Context(), silent, at("https://a/CANARY"), "msg_1", []byte("{}"))
		if took := time.Since(begun); err == nil || status != 0 || took != 15*time.Second ||
			!strings.Contains(err.Error(), "15 seconds") {
			t.Errorf("a response that does not come: %d, %v after %s", status, err, took)
		}
	})
}
