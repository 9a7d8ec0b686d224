package httpapi

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// crowd is a server over one app with versions that make a page of some MiB, and with few slots for large requests: 16,
// and 2 a caller.
type crowd struct {
	*handler
	t   *testing.T
	srv *httptest.Server
	id  string
}

func newCrowd(t *testing.T) *crowd {
	network := "urn:vitrine:example.test"
	apps := appsvc.New(memory.New(), nil)
	h, err := New(Config{Apps: apps, Limits: Limits{Memory: 16 * slotBytes},
		Authenticate: func(r *http.Request) (Principal, error) {
			token, err := RequestToken(r)
			return Principal{Caller: vitrine.Caller{URN: network + ":user=" + token, Moderates: []string{network},
				Components: token == "editor"}}, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{handler: h.(*handler), t: t}
	c.srv = httptest.NewServer(h)
	t.Cleanup(c.srv.Close)
	c.do("editor", "POST", "/components/",
		`{"name":"n","version":"1","main":"https://example.test/x.js","configSchema":{}}`, 201)
	text := strings.Repeat("0123456789abcdef", 200<<10/16)
	made := c.do("editor", "POST", "/apps/",
		`{"title":"Long","groups":["`+network+
			`"],"elements":[{"component":{"name":"n","version":"1"},"config":{"text":"`+text+`"}}]}`, 201)
	_, c.id, _ = strings.Cut(made, `{"id":"`)
	c.id, _, _ = strings.Cut(c.id, `"`)
	for v := range 10 {
		c.do("editor", "PATCH", "/apps/"+c.id,
			fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace",`+
				`"path":"/apps/0/title","value":"%[1]d"}]`, v), 200)
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

// take takes slots for a caller, until the function that it returns is called.
func (c *crowd) take(user string, count int) (leave func()) {
	c.t.Helper()
	x := taken(c.t, c.large, "urn:vitrine:example.test:user="+user, "", count)
	return func() { x.keep(0) }
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

// TestLargeRequestsHaveSlots: a caller without a free slot gets no large response, and small ones as always; another
// caller gets both. In the end all slots are free, also when responses were not read.
func TestLargeRequestsHaveSlots(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	long := "/apps/" + c.id + "/versions/?limit=500"
	leave := c.take("mallory", 2)
	c.do("mallory", "GET", long, "", 503)
	c.do("mallory", "GET", "/apps/"+c.id, "", 503)
	c.do("mallory", "POST", "/components/", `{"description":"`+strings.Repeat("long ", 20<<10)+`"}`, 403)
	c.do("mallory", "POST", "/apps/", `{"title":"`+strings.Repeat("long ", 20<<10)+`"}`, 503)
	c.do("mallory", "GET", "/apps/?limit=0", "", 400)
	c.do("alice", "GET", long, "", 200)
	leave()
	c.do("mallory", "GET", long, "", 200)
	for range 8 {
		defer c.unread("mallory", long).Close()
	}
	until(t, "all slots are free", func() bool { return c.large.inUse() == 0 })
}

// TestAPatchThatFindsNoRoomChangesNothing patches while the caller has no slot left: the patch is 503 and stores
// nothing, and succeeds when there are slots again.
func TestAPatchThatFindsNoRoomChangesNothing(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	leave := c.take("mallory", 2)
	patch := `[{"op":"test","path":"/apps/0/version","value":"10"},{"op":"replace","path":"/apps/0/title",` +
		`"value":"new"}]`
	c.do("mallory", "PATCH", "/apps/"+c.id, patch, 503)
	if got := c.do("alice", "GET", "/apps/"+c.id, "", 200); !strings.Contains(got, `"version":"10"`) {
		t.Errorf("it was stored: %.200s", got)
	}
	leave()
	c.do("mallory", "PATCH", "/apps/"+c.id, patch, 200)
}

// TestLargeResponsesAreCounted, also those of endpoints that reserve no memory themselves, and those of writes that
// return an app.
func TestLargeResponsesAreCounted(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	c.do("editor", "POST", "/components/",
		`{"name":"long","version":"1","main":"https://example.test/x.js","configSchema":{},"description":"`+
			strings.Repeat("long ", 40<<10)+`"}`, 201)
	tag := "/apps/" + c.id + "/tags/live?embedApps=true"
	leave := c.take("mallory", 2)
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
	leave()
	c.do("mallory", "PUT", tag, `{"appVersion":"4"}`, 201)
	c.do("mallory", "POST", "/apps/versions/restore", restore, 201)
	for _, path := range []string{tag, "/components/long"} {
		c.do("mallory", "GET", path, "", 200)
	}
}

// TestAPageThatFindsNoRoomIsGatheredAgain tests that a page is read a second time when there is a slot for it.
func TestAPageThatFindsNoRoomIsGatheredAgain(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	leave := c.take("alice", 2)
	done := make(chan int)
	go func() {
		defer close(done) // also where do ends the goroutine
		done <- len(c.do("alice", "GET", "/apps/"+c.id+"/versions/?limit=500", "", 200))
	}()
	time.Sleep(200 * time.Millisecond) // while it waits
	leave()
	if n := <-done; n < 2<<20 {
		t.Errorf("an answer of %d bytes", n)
	}
}

// Completing the configs of a 200 KB app may take many times its size, and so two slots.
func TestAppsWithDefaultsAreCounted(t *testing.T) {
	c := newCrowd(t)
	path := "/apps/" + c.id + "?withDefaults=true"
	leave := c.take("reader", 1)
	c.do("reader", "GET", "/apps/"+c.id, "", 200)
	c.do("reader", "GET", path, "", 503)
	leave()
	c.do("reader", "GET", path, "", 200)
}

// Whatever erases waits for a slot for as long as erasures take, and erases nothing without one. An export waits for a
// second, and other reads of reviews for none.
func TestErasuresAndExportsHaveSlots(t *testing.T) {
	const network = "urn:vitrine:example.test"
	const library = assetPrefix + "/example.test/assetLibrary/example.test"
	synctest.Test(t, func(t *testing.T) {
		db := memory.New()
		by := vitrine.Caller{URN: network + ":user=ann", Moderates: []string{network}}
		served, err := New(Config{
			Apps: appsvc.New(db, nil), Assets: assets.New(db, nil), Reviews: reviews.New(db, nil),
			Authenticate: func(*http.Request) (Principal, error) { return Principal{Caller: by}, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		h := served.(*handler)
		do := func(method, path, body string, want int) string {
			r := httptest.NewRequest(method, path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != want || want == 503 && w.Header().Get("Retry-After") == "" {
				t.Errorf("%s %s: %d %v, want %d: %s", method, path, w.Code, w.Header(), want, w.Body)
			}
			return w.Body.String()
		}
		id := func(made string) string {
			_, id, _ := strings.Cut(made, `"id":"`)
			id, _, _ = strings.Cut(id, `"`)
			return id
		}
		app := id(do("POST", "/apps/", `{"title":"x","groups":["`+network+`"]}`, 201))
		do("DELETE", "/apps/"+app, "", 204)
		do("POST", library+"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{"content":"x"}}]}`, 200)
		folder := id(do("POST", library+"/folders", `{"create":[{"label":"x"}]}`, 200))
		for _, erasure := range []struct {
			method, path, body string
			done               int
		}{
			{"POST", "/apps/" + app + "/erase", "", 204},
			{"POST", library + "/folders", fmt.Sprintf(`{"delete":[%q],"purge":[%[1]q]}`, folder), 200},
			{"DELETE", "/x/reviews?network=example.test&everything=true", "", 404}, // the network has no reviews
		} {
			all := taken(t, h.erasures, by.URN, "", h.erasures.perCaller)
			begun := time.Now()
			do(erasure.method, erasure.path, erasure.body, 503)
			if took := time.Since(begun); took != erasePatience {
				t.Errorf("%s %s: 503 after %v", erasure.method, erasure.path, took)
			}
			time.AfterFunc(erasePatience/2, func() { all.keep(0) })
			do(erasure.method, erasure.path, erasure.body, erasure.done)
			if took := time.Since(begun) - erasePatience; took != erasePatience/2 {
				t.Errorf("%s %s: done after %v", erasure.method, erasure.path, took)
			}
		}
		do("DELETE", "/x/reviews?network=example.test&everything=true&dryRun=true", "", 404)
		const export = "/x/reviews/export?network=example.test"
		all := taken(t, h.exports, by.URN, "", h.exports.perCaller)
		begun := time.Now()
		do("GET", export, "", 503)
		if took := time.Since(begun); took != slotPatience {
			t.Errorf("an export is 503 after %v", took)
		}
		do("HEAD", export, "", 200)
		do("GET", "/x/reviews/collections?network=example.test", "", 200)
		all.keep(0)
		do("GET", export, "", 200)
		if n := h.exports.inUse(); n != 0 {
			t.Errorf("%d exports are under way in the end", n)
		}
	})
}

func TestTheLoadCountsWhatIsUnderWay(t *testing.T) {
	h := newCrowd(t).handler
	if load, ok := LoadOf(h); !ok || load != (Load{}) {
		t.Errorf("at rest: %+v, %v", load, ok)
	}
	taken(t, h.large, "a", "", 2)
	taken(t, h.uploads, "a", "n", 1)
	taken(t, h.exports, "a", "", 1)
	if load, _ := LoadOf(h); load != (Load{Memory: 2 * slotBytes, Uploads: 1, Exports: 1}) {
		t.Errorf("%+v", load)
	}
	if _, ok := LoadOf(http.NotFoundHandler()); ok {
		t.Error("another handler has a load")
	}
}
