package httpapi

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// crowd is a server over one app with versions that make a page of some MiB, and a small budget.
type crowd struct {
	*handler
	t   *testing.T
	srv *httptest.Server
	id  string
}

func newCrowd(t *testing.T, bytes int64) *crowd {
	network := "urn:vitrine:example.test"
	apps := appsvc.New(memory.New(), nil)
	h, err := New(Config{Apps: apps, Limits: Limits{Memory: bytes}, Authenticate: func(r *http.Request) (Principal, error) {
		token, err := RequestToken(r)
		return Principal{Caller: vitrine.Caller{URN: network + ":user=" + token, Moderates: []string{network}, Components: token == "editor"}}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{handler: h.(*handler), t: t}
	c.memory.patience = 100 * time.Millisecond
	c.srv = httptest.NewServer(h)
	t.Cleanup(c.srv.Close)
	c.do("editor", "POST", "/components/", `{"name":"n","version":"1","main":"https://example.test/x.js","configSchema":{}}`, 201)
	text := strings.Repeat("0123456789abcdef", 200<<10/16)
	made := c.do("editor", "POST", "/apps/", `{"title":"Long","groups":["`+network+`"],"elements":[{"component":{"name":"n","version":"1"},"config":{"text":"`+text+`"}}]}`, 201)
	_, c.id, _ = strings.Cut(made, `{"id":"`)
	c.id, _, _ = strings.Cut(c.id, `"`)
	for v := range 10 {
		c.do("editor", "PATCH", "/apps/"+c.id, fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace","path":"/apps/0/title","value":"%[1]d"}]`, v), 200)
	}
	return c
}

func (c *crowd) do(user, method, path, body string, want int) string {
	c.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "svctoken "+user)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	if w.Code != want {
		c.t.Fatalf("%s %s: %d, want %d: %.300s", method, path, w.Code, want, w.Body)
	}
	if want == 503 && (w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "no memory")) {
		c.t.Errorf("%s %s: %v %s", method, path, w.Header(), w.Body)
	}
	return w.Body.String()
}

// unread asks for a path over a connection and reads nothing.
func (c *crowd) unread(user, path string) net.Conn {
	c.t.Helper()
	conn, err := net.Dial("tcp", c.srv.Listener.Addr().String())
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken %s\r\n\r\n", path, user)
	return conn
}

// until waits for what happens in other goroutines.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never is so that %s", what)
		}
	}
}

// TestAnswersThatAreNotReadTakeBoundedMemory sends requests for long responses and reads none of them. Their callers get no
// more memory than their share, other callers are answered, and in the end all memory is returned.
func TestAnswersThatAreNotReadTakeBoundedMemory(t *testing.T) {
	t.Parallel()
	const most = 64 << 20 // whose eighth has room for one long answer that a connection's buffers do not take
	c := newCrowd(t, most)
	long := "/apps/" + c.id + "/versions/?limit=500"
	// A page of 2 MiB fits into the buffers of a connection, so that one whole share is taken by hand.
	taken := holder{all: c.memory, w: httptest.NewRecorder(), caller: "urn:vitrine:example.test:user=mallory"}
	if !taken.take(t.Context(), most/8, time.Second) {
		t.Fatal("there is no room")
	}
	c.do("mallory", "GET", long, "", 503)
	c.do("mallory", "GET", "/apps/"+c.id, "", 503)
	c.do("mallory", "GET", "/apps/?limit=0", "", 400)
	c.do("alice", "GET", long, "", 200)
	taken.release()
	c.do("mallory", "GET", long, "", 200)
	for range 8 {
		defer c.unread("mallory", long).Close()
	}
	until(t, "all is given back", func() bool { return c.memory.used.Load() == 0 })
}

// TestAPatchThatFindsNoRoomChangesNothing patches while the caller's share has no memory left: the patch is 503 and stores
// nothing, and succeeds when the memory is free.
func TestAPatchThatFindsNoRoomChangesNothing(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 8<<20)
	taken := holder{all: c.memory, w: httptest.NewRecorder(), caller: "urn:vitrine:example.test:user=mallory"}
	taken.take(t.Context(), 900<<10, time.Second)
	patch := `[{"op":"test","path":"/apps/0/version","value":"10"},{"op":"replace","path":"/apps/0/title","value":"new"}]`
	c.do("mallory", "PATCH", "/apps/"+c.id, patch, 503)
	if got := c.do("alice", "GET", "/apps/"+c.id, "", 200); !strings.Contains(got, `"version":"10"`) {
		t.Errorf("it was stored: %.200s", got)
	}
	taken.release()
	c.do("mallory", "PATCH", "/apps/"+c.id, patch, 200)
}

// TestLargeResponsesAreCounted, also those of endpoints that ask for no memory themselves, and those of writes that return an app.
func TestLargeResponsesAreCounted(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 8<<20)
	c.do("editor", "POST", "/components/", `{"name":"long","version":"1","main":"https://example.test/x.js","configSchema":{},"description":"`+strings.Repeat("long ", 40<<10)+`"}`, 201)
	tag := "/apps/" + c.id + "/tags/live?embedApps=true"
	taken := holder{all: c.memory, w: httptest.NewRecorder(), caller: "urn:vitrine:example.test:user=mallory"}
	taken.take(t.Context(), 900<<10, time.Second)
	c.do("mallory", "PUT", tag, `{"appVersion":"3"}`, 503)
	c.do("alice", "GET", tag, "", 404) // the tag was not made
	restore := `{"appId":"` + c.id + `","appVersion":"3"}`
	c.do("mallory", "POST", "/apps/versions/restore", restore, 503)
	if got := c.do("alice", "GET", "/apps/"+c.id, "", 200); !strings.Contains(got, `"version":"10"`) {
		t.Errorf("it was restored: %.200s", got)
	}
	c.do("alice", "PUT", tag, `{"appVersion":"3"}`, 201)
	for _, path := range []string{tag, "/components/long"} {
		c.do("mallory", "GET", path, "", 503)
		c.do("alice", "GET", path, "", 200)
	}
	taken.release()
	c.do("mallory", "PUT", tag, `{"appVersion":"4"}`, 201)
	c.do("mallory", "POST", "/apps/versions/restore", restore, 201)
	for _, path := range []string{tag, "/components/long"} {
		c.do("mallory", "GET", path, "", 200)
	}
}

// TestAPageThatFindsNoRoomIsGatheredAgain tests that a page is read a second time when there is memory for it.
func TestAPageThatFindsNoRoomIsGatheredAgain(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 64<<20)
	c.memory.patience = 10 * time.Second
	taken := holder{all: c.memory, w: httptest.NewRecorder(), caller: "urn:vitrine:example.test:user=alice"}
	taken.take(t.Context(), 7<<20, time.Second)
	done := make(chan int)
	go func() {
		defer close(done) // also where do ends the goroutine
		done <- len(c.do("alice", "GET", "/apps/"+c.id+"/versions/?limit=500", "", 200))
	}()
	until(t, "it waits", func() bool {
		c.memory.mu.Lock()
		defer c.memory.mu.Unlock()
		return c.memory.waiting.Len() > 0
	})
	taken.release()
	if n := <-done; n < 2<<20 {
		t.Errorf("an answer of %d bytes", n)
	}
}

// Completing the configs of a 200 KB app may take many times its size. That is counted, up to a quarter of
// the budget, so that one request finds room beside others.
func TestAppsWithDefaultsAreCounted(t *testing.T) {
	c := newCrowd(t, 8<<20)
	path := "/apps/" + c.id + "?withDefaults=true"
	for _, beside := range []struct {
		bytes int64
		want  int
	}{{4 << 20, 200}, {6 << 20, 503}} {
		other := holder{all: c.memory, caller: "other", w: httptest.NewRecorder()}
		if !other.take(t.Context(), beside.bytes, 0) {
			t.Fatal("there is no room for the other request")
		}
		c.do("reader", "GET", path, "", beside.want)
		other.release()
	}
}
