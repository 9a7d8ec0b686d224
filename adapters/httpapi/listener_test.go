package httpapi_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// ask sends text to a server on l that serves w's handler and returns the response.
func (w *world) ask(l net.Listener, text string) (*http.Response, string) {
	w.t.Helper()
	s := &http.Server{Handler: w.handler, MaxHeaderBytes: 8 << 10}
	go func() { _ = s.Serve(l) }()
	defer s.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	go func() { _, _ = io.WriteString(conn, text) }() // one that is too long is not read to its end
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return r, string(body)
}

// What an embedder's net/http refuses by itself is in plain text, unless the listener is wrapped.
func TestAListenerGivesRefusalsTheFormOfErrors(t *testing.T) {
	w := newWorld(t)
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for name, c := range map[string]struct {
		text   string
		status int
	}{
		"a request line without a sense": {"hello\r\n\r\n", 400},
		"a path that is not escaped":     {"GET /apps/% HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		"no host":                        {"GET / HTTP/1.1\r\n\r\n", 400},
		"headers that are too large":     {"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", 431},
		"something odd that is expected": {"POST / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n", 417},
	} {
		plain, text := w.ask(listen(), c.text)
		if plain.StatusCode != c.status || json.Valid([]byte(text)) && text != "" {
			t.Errorf("%s, without: %s %q", name, plain.Status, text)
		}
		r, body := w.ask(httpapi.NewListener(listen()), c.text)
		var out map[string]string
		if err := json.Unmarshal([]byte(body), &out); err != nil || out["error"] == "" || r.StatusCode != c.status {
			t.Errorf("%s: %s %q", name, r.Status, body)
		}
		if r.Header.Get("Access-Control-Allow-Origin") != "*" || r.Header.Get("Content-Type") != "application/json; charset=utf-8" || !r.Close {
			t.Errorf("%s: headers %v", name, r.Header)
		}
	}
	if r, body := w.ask(httpapi.NewListener(listen()), "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); r.StatusCode != 200 {
		t.Errorf("a request like any other: %s %s", r.Status, body)
	}
}
