package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// sendAll sends a whole request before it looks at the answer, as most clients do.
func (w *world) sendAll(request string, size int64) (*http.Response, error) {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, request); err != nil {
		return nil, err
	}
	if _, err := io.CopyN(conn, endless{}, size); err != nil {
		return nil, err
	}
	return http.ReadResponse(bufio.NewReader(conn), nil)
}

func TestClientsThatSendEverythingFirstReadTheRefusal(t *testing.T) {
	w := newWorld(t)
	token := w.token(editor)
	for name, c := range map[string]struct {
		line, auth, media string
		size              int64
		status            int
	}{
		"401 of 16 MiB": {"POST /apps/", "none", "application/json", 16 << 20, 401},
		"413 of 5 MB":   {"POST /apps/", token, "application/json", 5e6, 413},
		"405 of 5 MB":   {"PUT /apps/", token, "application/json", 5e6, 405},
	} {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf("%s HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken %s\r\nContent-Type: "+
				"%s\r\nContent-Length: %d\r\n\r\n", c.line, c.auth, c.media, c.size)
			begin := time.Now()
			answer, err := w.sendAll(text, c.size)
			for range 20 {
				if err == nil || time.Since(begin) < 2*time.Second {
					break
				}
				begin = time.Now() // on a busy machine sending may take longer than the server reads
				answer, err = w.sendAll(text, c.size)
			}
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != c.status ||
				!strings.Contains(string(text), `"error"`) {
				t.Errorf("%d %s, %v", answer.StatusCode, text, err)
			}
		})
	}
}

// refusedAfter sends a text to a server in a bubble, where time passes only while all wait, and returns how long the
// server waits for the body before it refuses the request.
func refusedAfter(t *testing.T, text string) (took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		dial := dialer(t, httpapi.Config{
			Apps: appsvc.New(memory.New(), nil), Authenticate: (&people{}).authenticate,
			Limits: httpapi.Limits{Body: 1 << 20},
		})
		conn := dial()
		begin := time.Now()
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		// The status would be 100 if the server asked for the body.
		if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || answer.StatusCode != 401 {
			t.Fatalf("%+v, %v", answer, err)
		}
		took = time.Since(begin)
		conn.Close()
		time.Sleep(time.Minute) // until the server has closed its side, too
	})
	return took
}

func TestOnlyWhatIsWorthItIsDrained(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		waited bool
	}{
		"four bodies":                      {"Content-Length: 4194304", true},
		"more than four bodies":            {"Content-Length: 4194305", false},
		"of a client that waits to go on":  {"Expect: 100-continue\r\nContent-Length: 1000", false},
		"of one that does not wait for it": {"Content-Length: 1000", true},
	} {
		if took := refusedAfter(t, "POST /apps/ HTTP/1.1\r\nHost: x\r\n"+c.text+"\r\n\r\n"); (took > 0) != c.waited {
			t.Errorf("%s: answered after %s", name, took)
		}
	}
}

// A server with too many requests answers at once, and waits for no body.
func TestAnOverloadedServerDrainsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := dialer(t, httpapi.Config{Apps: appsvc.New(memory.New(), nil), Authenticate: (&people{}).authenticate},
			func(s *http.Server) {
				handler := s.Handler
				s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					handler.ServeHTTP(w, r.WithContext(httpapi.Overloaded(r.Context())))
				})
			})
		conn := dial()
		defer conn.Close()
		begun := time.Now()
		if _, err := io.WriteString(conn,
			"POST /apps/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || answer.StatusCode != 503 ||
			time.Since(begun) > 0 {
			t.Errorf("after %s: %v, %v", time.Since(begun), answer, err)
		}
	})
}

// A client that asks before it sends a file, and has sent all of it, goes on with the same connection.
func TestAConnectionOutlivesAnImport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known := &people{named: map[string]httpapi.Principal{"editor": editor}}
		conn := dialer(t, httpapi.Config{Reviews: reviews.New(memory.New(), nil), Authenticate: known.authenticate})()
		reader := bufio.NewReader(conn)
		for range 2 {
			file := record("YQ==")
			sent := make(chan error)
			go func() {
				_, err := fmt.Fprintf(conn,
					"POST /x/reviews/import HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken editor\r\nContent-Type: "+
						"application/x-ndjson\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n%s", len(file), file)
				sent <- err
			}()
			if answer, err := http.ReadResponse(reader, nil); err != nil || answer.StatusCode != http.StatusContinue {
				t.Fatalf("%+v, %v", answer, err)
			}
			answer, err := http.ReadResponse(reader, nil)
			if err != nil || answer.StatusCode != http.StatusOK || answer.Close {
				t.Fatalf("%+v, %v", answer, err)
			}
			if _, err := io.Copy(io.Discard, answer.Body); err != nil {
				t.Fatal(err)
			}
			if err := <-sent; err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // the server waits for the next request
		}
		conn.Close()
		time.Sleep(time.Minute) // until the server has closed its side, too
	})
}

// Over HTTP/2 a client reads the response while it sends, so nothing is drained.
func TestOverHTTP2NothingIsDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var http2 http.Protocols
		http2.SetUnencryptedHTTP2(true)
		dial := dialer(t, httpapi.Config{Apps: appsvc.New(memory.New(), nil), Authenticate: (&people{}).authenticate},
			func(s *http.Server) { s.Protocols = &http2 })
		transport := &http.Transport{Protocols: &http2,
			DialContext: func(context.Context, string, string) (net.Conn, error) { return dial(), nil }}
		defer transport.CloseIdleConnections()
		body, sends := io.Pipe()
		defer sends.Close()
		begun := time.Now()
		answer, err := (&http.Client{Transport: transport}).Post("http://x/apps/", "application/json", body)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != 401 || answer.ProtoMajor != 2 || time.Since(begun) > 0 {
			t.Errorf("after %s: %s %s", time.Since(begun), answer.Proto, answer.Status)
		}
	})
}

// A stream and an export go on for long, so they do not begin while a body that nobody needs is missing.
func TestStreamsAndExportsDoNotBeginWithoutTheirBody(t *testing.T) {
	for _, path := range []string{"/x/changes", "/x/reviews/export?network=example.test"} {
		synctest.Test(t, func(t *testing.T) {
			store := memory.New()
			dial := dialer(t, httpapi.Config{Apps: appsvc.New(store, nil), Reviews: reviews.New(store, nil),
				Authenticate: func(*http.Request) (httpapi.Principal, error) { return editor, nil }})
			conn := dial()
			defer conn.Close()
			if _, err := fmt.Fprintf(conn,
				"GET %s HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nContent-Length: 5\r\n\r\n1234",
				path); err != nil {
				t.Fatal(err)
			}
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || answer.StatusCode != 400 || !answer.Close {
				t.Fatalf("%s: %+v, %v", path, answer, err)
			}
			if text, _ := io.ReadAll(answer.Body); !strings.Contains(string(text), "the body did not arrive whole") {
				t.Errorf("%s: %s", path, text)
			}
			time.Sleep(time.Minute) // until the server has closed its side, too
		})
	}
}
