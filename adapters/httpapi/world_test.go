package httpapi_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

const network = "urn:vitrine:example.test"

// The callers of the tests.
var (
	editor = httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=editor", Moderates: []string{network},
		Components: true}}
	siteOne = httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=one",
		Moderates: []string{network + ":site=1"}}}
	stranger = httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=stranger"}}
)

// world is a server over an empty memory store.
type world struct {
	t       testing.TB
	url     string
	addr    string
	handler http.Handler
	tokens  *httpapi.Tokens
	log     *lockedBuffer
	clock   *clock
	client  *http.Client // like the variable client, but it also compares each exchange with openapi.json
	told    *transport
}

// clock is a time that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

var testKey = []byte("a key for tests, 32 bytes long..")

// newWorld starts a server; each of change may alter its configuration.
func newWorld(t testing.TB, change ...func(*httpapi.Config)) *world {
	t.Helper()
	w := &world{t: t, log: &lockedBuffer{}, clock: &clock{now: time.UnixMilli(1_700_000_000_000)}}
	var err error
	if w.tokens, err = httpapi.NewTokens(testKey, &httpapi.TokenOptions{Now: w.clock.Now}); err != nil {
		t.Fatal(err)
	}
	c := httpapi.Config{
		Apps:         appsvc.New(memory.New(), &appsvc.Options{Now: w.clock.Now}),
		Authenticate: w.tokens.Authenticate,
		Log:          slog.New(slog.NewTextHandler(w.log, nil)),
	}
	for _, f := range change {
		f(&c)
	}
	h, err := httpapi.New(c)
	if err != nil {
		t.Fatal(err)
	}
	w.handler = h
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	w.url, w.addr = s.URL, s.Listener.Addr().String()
	w.told = described(t, c)
	w.client = &http.Client{CheckRedirect: client.CheckRedirect, Transport: w.told}
	return w
}

// reply is an answer, read to its end.
type reply struct {
	t      testing.TB
	what   string
	status int
	header http.Header
	body   string
}

// option changes a request before it is sent.
type option func(*http.Request)

func header(name, value string) option { return func(r *http.Request) { r.Header.Add(name, value) } }

func setType(value string) option {
	return func(r *http.Request) { r.Header["Content-Type"] = []string{value} }
}

// client follows no redirect, as there must be none, and takes compressed answers only where a test
// says so.
var client = &http.Client{Transport: &http.Transport{DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func (w *world) token(p httpapi.Principal) string {
	w.t.Helper()
	token, err := w.tokens.Sign(p, w.clock.Now().Add(time.Hour))
	if err != nil {
		w.t.Fatal(err)
	}
	return token
}

// as sends a request with the token of p, and a body of the media type that the endpoint takes.
func (w *world) as(p httpapi.Principal, method, path, body string, options ...option) reply {
	w.t.Helper()
	options = append([]option{header("Authorization", "svctoken "+w.token(p))}, options...)
	return w.send(method, path, body, options...)
}

func (w *world) send(method, path, body string, options ...option) reply {
	w.t.Helper()
	r, err := http.NewRequest(method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, o := range options {
		o(r)
	}
	answer, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return reply{w.t, method + " " + path, answer.StatusCode, answer.Header, string(text)}
}

// raw writes text to a connection of its own and reads one answer to method.
func (w *world) raw(method, text string) reply {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, text); err != nil {
		w.t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		w.t.Fatalf("%s: %v", firstLine(text), err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	w.describe(text, answer, body)
	return reply{w.t, firstLine(text), answer.StatusCode, answer.Header, string(body)}
}

// describe compares what was written to a connection, and its response, with openapi.json.
func (w *world) describe(text string, answer *http.Response, body []byte) {
	w.t.Helper()
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
	if err != nil {
		return // nothing that has an operation
	}
	if raw := r.URL.RawPath; raw != "" && raw != r.URL.EscapedPath() {
		return // not escaped as paths are
	}
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		sent = nil
	}
	x := exchange{Method: r.Method, URL: r.URL, Header: r.Header, Body: sent, Status: answer.StatusCode,
		Answer: answer.Header, Content: body}
	if err := w.told.Document.Check(w.told.Base, x); err != nil {
		w.told.Tell(err)
	}
}

// rawPath sends a request as p with exactly this path.
func (w *world) rawPath(p httpapi.Principal, method, path string) reply {
	w.t.Helper()
	return w.raw(method,
		fmt.Sprintf("%s %s HTTP/1.1\r\nHost: example.test\r\nAuthorization: svctoken %s\r\nConnection: close\r\n\r\n",
			method, path, w.token(p)))
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\r\n")
	return s[:min(len(s), 120)]
}

// want checks the status; of an error also the form of its body, and that it holds each word.
func (r reply) want(status int, words ...string) reply {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("%s: status %d, want %d: %s", r.what, r.status, status, r.body)
	}
	if status >= 400 && !strings.HasPrefix(r.what, "HEAD") {
		var body struct{ Error, Code string }
		if err := json.Unmarshal([]byte(r.body), &body); err != nil || body.Error == "" || body.Code == "" {
			r.t.Fatalf("%s: the body of an error is %q", r.what, r.body)
		}
	}
	for _, word := range words {
		if !strings.Contains(r.body, word) {
			r.t.Fatalf("%s: %q does not say %q", r.what, r.body, word)
		}
	}
	return r
}

// read decodes the body.
func (r reply) read(v any) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.body), v); err != nil {
		r.t.Fatalf("%s: %v in %q", r.what, err, r.body)
	}
}

// app is what the tests look at of an app.
type app struct {
	ID        string            `json:"id"`
	Version   string            `json:"version"`
	Title     string            `json:"title"`
	Owner     map[string]string `json:"owner"`
	CreatedAt int64             `json:"createdAt"`
	UpdatedAt int64             `json:"updatedAt"`
	UpdatedBy map[string]string `json:"updatedBy"`
	Groups    []string          `json:"groups"`
	Elements  []struct {
		ID        string
		Component map[string]any
		Config    json.RawMessage
	} `json:"elements"`
}

func (r reply) apps() []app {
	r.t.Helper()
	var body struct{ Apps []app }
	r.read(&body)
	return body.Apps
}

// newApp creates an app in a group and returns its id.
func (w *world) newApp(title, group string) string {
	w.t.Helper()
	r := w.as(editor, "POST", "/apps/", fmt.Sprintf(`{"title":%q,"groups":[%q]}`, title, group)).want(201)
	var body struct{ ID string }
	r.read(&body)
	return body.ID
}

// retitle makes the next version of an app.
func (w *world) retitle(id string, version int, title string) {
	w.t.Helper()
	w.as(editor, "PATCH", "/apps/"+id, titlePatch(version, title)).want(200)
}

func titlePatch(version int, title string) string {
	return fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace","path":"/apps/0/title",`+
		`"value":%q}]`, version, title)
}

// newComponent makes a component known.
func (w *world) newComponent(name, version string) {
	w.t.Helper()
	w.as(editor, "POST", "/components/", fmt.Sprintf(
		`{"name":%q,"version":%q,"main":"https://cdn.example.test/x.js","configSchema":{}}`, name, version)).want(201)
}
