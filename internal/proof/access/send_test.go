//go:build proof

package access

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// request is what is sent. Its path begins at the root of the server.
type request struct {
	method, path, body string
	media              string // of the body; "" = application/json
	site               string // Sec-Fetch-Site; "" = none
}

func get(path string) request { return request{method: "GET", path: path} }

func post(path, body string) request { return request{method: "POST", path: path, body: body} }

// reply is an answer, read to its end.
type reply struct {
	t      testing.TB
	what   string
	status int
	header http.Header
	body   string
}

// send sends a request as c.
func (w *world) send(c caller, in request) reply {
	w.t.Helper()
	*w.sent++
	r, err := http.NewRequest(in.method, w.url+in.path, strings.NewReader(in.body))
	if err != nil {
		w.t.Fatal(err)
	}
	if in.body != "" || in.method != "GET" {
		r.Header.Set("Content-Type", "application/json")
	}
	if in.media != "" {
		r.Header.Set("Content-Type", in.media)
	}
	if in.site != "" {
		r.Header.Set("Sec-Fetch-Site", in.site)
	}
	if c.session {
		r.AddCookie(&http.Cookie{Name: "session", Value: w.token(c)})
	} else if !c.anon {
		r.Header.Set("Authorization", "svctoken "+w.token(c))
	}
	answer, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return reply{w.t, c.name + ": " + in.method + " " + in.path, answer.StatusCode, answer.Header, string(body)}
}

func (w *world) token(c caller) string {
	if c.token != "" {
		return c.token
	}
	key := fmt.Sprintf("%s %s %+v", c.URN, c.name, c.Principal)
	if w.signed[key] == "" {
		token, err := w.tokens.Sign(c.Principal, time.Now().Add(time.Hour))
		if err != nil {
			w.t.Fatal(err)
		}
		w.signed[key] = token
	}
	return w.signed[key]
}

// must sends what has to succeed.
func (w *world) must(c caller, method, path, body string, status int) reply {
	w.t.Helper()
	r := w.send(c, request{method: method, path: path, body: body})
	if r.status != status {
		w.t.Fatalf("%s: status %d, want %d: %s", r.what, r.status, status, r.body)
	}
	return r
}

func (r reply) read(v any) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.body), v); err != nil {
		r.t.Fatalf("%s: %v in %q", r.what, err, r.body)
	}
}

// seen is all of an answer that a client can tell apart, but for the time and the number of the request.
func (r reply) seen() string {
	var b strings.Builder
	fmt.Fprintln(&b, r.status)
	for _, name := range slices.Sorted(maps.Keys(r.header)) {
		if name != "Date" && name != "X-Request-Id" {
			fmt.Fprintln(&b, name, r.header[name])
		}
	}
	return b.String() + r.body
}
