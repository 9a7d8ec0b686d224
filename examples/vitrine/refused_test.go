package main

import (
	"bufio"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// TestRequestsThatNoHandlerSeesAreRefusedLikeAllOthers compares the responses that net/http gives by itself with an
// error of the service.
func TestRequestsThatNoHandlerSeesAreRefusedLikeAllOthers(t *testing.T) {
	h, err := httpapi.New(httpapi.Config{Apps: appsvc.New(memory.New(), nil),
		Authenticate: func(*http.Request) (httpapi.Principal, error) {
			return httpapi.Principal{}, httpapi.ErrUnauthenticated
		}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(h, slog.New(slog.DiscardHandler))
	go func() { _ = newConnections(l, 10).serve(s) }()
	defer s.Close()
	ask := func(request string) (*http.Response, string) {
		t.Helper()
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		go func() { _, _ = io.WriteString(conn, request) }() // one that is too long is not read to its end
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || int64(len(body)) != r.ContentLength {
			t.Errorf("%d bytes of %d, %v", len(body), r.ContentLength, err)
		}
		return r, string(body)
	}
	names := func(r *http.Response) []string {
		own := maps.Clone(r.Header)
		for _, name := range []string{"X-Request-Id", "Www-Authenticate", "Connection"} {
			delete(own, name)
		}
		return slices.Sorted(maps.Keys(own))
	}
	model, _ := ask("GET /x/public/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if model.StatusCode != 401 {
		t.Fatal("the model of an error is", model.Status)
	}
	for name, c := range map[string]struct {
		request string
		status  int
		says    string
	}{
		"a path that is not escaped": {"GET /asset/% HTTP/1.1\r\nHost: x\r\n\r\n", 400,
			"want a path that is escaped"},
		"no host":                  {"GET / HTTP/1.1\r\n\r\n", 400, "missing required Host header"},
		"a line that is no header": {"GET / HTTP/1.1\r\nHost: x\r\nodd\r\n\r\n", 400, "cannot be read"},
		"no HTTP at all":           {"hello\r\n\r\n", 400, "cannot be read"},
		"a version of the future":  {"GET / HTTP/3.0\r\nHost: x\r\n\r\n", 505, "want HTTP/1.1"},
		"headers that are too large": {"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 300<<10) +
			"\r\n\r\n", 431, "headers are too large"},
		"an encoding that is not known": {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: odd\r\n\r\n", 501,
			"header Transfer-Encoding"},
		"something odd that is expected": {"POST / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n", 417, "header Expect"},
	} {
		r, body := ask(c.request)
		var out map[string]string
		if err := json.Unmarshal([]byte(body), &out); err != nil || out["code"] == "" ||
			!strings.Contains(out["error"], c.says) || r.StatusCode != c.status {
			t.Errorf("%s: %s %s, want %d that says %q", name, r.Status, body, c.status, c.says)
		}
		if !r.Close {
			t.Errorf("%s: the connection stays open", name)
		}
		if have, want := names(r), names(model); !slices.Equal(have, want) {
			t.Errorf("%s: headers %q, want %q", name, have, want)
		}
		for _, header := range names(model) {
			if header != "Date" && header != "Content-Length" && r.Header.Get(header) != model.Header.Get(header) {
				t.Errorf("%s: %s is %q, want %q", name, header, r.Header.Get(header), model.Header.Get(header))
			}
		}
	}
}
