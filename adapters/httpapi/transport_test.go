package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// everyPath is one path of each kind, with the methods it knows.
var everyPath = map[string]string{
	"/apps/": "GET, HEAD, OPTIONS, POST", "/apps": "GET, HEAD, OPTIONS, POST",
	"/apps/x": "DELETE, GET, HEAD, OPTIONS, PATCH", "/apps/x/undelete": "OPTIONS, POST",
	"/apps/x/erase":   "OPTIONS, POST",
	"/apps/versions/": "GET, HEAD, OPTIONS", "/apps/versions": "GET, HEAD, OPTIONS",
	"/apps/x/versions/": "GET, HEAD, OPTIONS",
	"/apps/x/versions":  "GET, HEAD, OPTIONS", "/apps/x/versions/0": "GET, HEAD, OPTIONS",
	"/apps/versions/restore": "OPTIONS, POST",
	"/apps/x/tags/":          "GET, HEAD, OPTIONS", "/apps/x/tags": "GET, HEAD, OPTIONS",
	"/apps/x/tags/t":   "DELETE, GET, HEAD, OPTIONS, PUT",
	"/apps/x/tagged/t": "GET, HEAD, OPTIONS", "/tags/t": "GET, HEAD, OPTIONS",
	"/components/": "GET, HEAD, OPTIONS, POST",
	"/components":  "GET, HEAD, OPTIONS, POST", "/components/x": "DELETE, GET, HEAD, OPTIONS",
}

var openPaths = []string{"/healthz", "/cors.html", "/openapi.json"}

func TestOtherMethodsAre405WithAllow(t *testing.T) {
	w := newWorld(t)
	for path, allow := range everyPath {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "FOO", "get"} {
			if strings.Contains(allow, method) {
				continue
			}
			r := w.as(editor, method, path, "").want(405)
			if r.header.Get("Allow") != allow {
				t.Errorf("%s %s: Allow %q, want %q", method, path, r.header.Get("Allow"), allow)
			}
		}
	}
	for _, path := range openPaths {
		if r := w.send("POST", path, "").want(405); r.header.Get("Allow") != "GET, HEAD, OPTIONS" {
			t.Errorf("%s: Allow %q", path, r.header.Get("Allow"))
		}
	}
}

func TestNoTokenIs401BeforeAnythingElse(t *testing.T) {
	w := newWorld(t)
	paths := []string{"/", "/nothing", "/apps/x/y/z", "//",
		"/services/frontline/api/v4/assetManager//n/assetLibrary/l/assets", "/Healthz"}
	for path := range everyPath {
		paths = append(paths, path)
	}
	for _, path := range paths {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "FOO"} {
			r := w.send(method, path+"?limit=0&%zz", "", header("Content-Type", "text/plain"),
				header("Content-Encoding", "br"))
			r.want(401)
			if r.header.Get("WWW-Authenticate") != "svctoken" {
				t.Errorf("%s %s: WWW-Authenticate %q", method, path, r.header.Get("WWW-Authenticate"))
			}
		}
	}
	r := w.raw("POST",
		"POST /apps/ HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\nConnection: close\r\n\r\n").want(401)
	if r.header.Get("Location") != "" {
		t.Error("a Location")
	}
}

func TestPreflightNeedsNothing(t *testing.T) {
	w := newWorld(t)
	for _, path := range append([]string{"/nothing", "/apps/", "/apps/?limit=x&%zz"}, openPaths...) {
		r := w.send("OPTIONS", path, "no JSON", header("Content-Encoding", "br"),
			header("Authorization", "x")).want(204)
		for name, want := range map[string]string{
			"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
			"Access-Control-Allow-Headers": "Authorization, Content-Type, If-None-Match, Idempotency-Key, " +
				"If-Match, Range, If-Range",
		} {
			if r.header.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, r.header.Get(name))
			}
		}
	}
}

func TestEveryAnswerHasItsHeaders(t *testing.T) {
	w := newWorld(t, func(c *httpapi.Config) {
		inner := c.Authenticate
		c.Authenticate = func(r *http.Request) (httpapi.Principal, error) {
			if token, _ := httpapi.RequestToken(r); token == "panic" {
				panic("a fault in the embedding program")
			}
			return inner(r)
		}
	})
	id := w.newApp("x", network)
	etag := w.as(editor, "GET", "/apps/"+id, "").header.Get("ETag")
	ids := map[string]bool{}
	for _, r := range []reply{
		w.as(editor, "GET", "/apps/"+id, "").want(200),
		w.as(editor, "GET", "/apps/"+id, "", header("If-None-Match", etag)).want(304),
		w.as(editor, "POST", "/apps/", `{"title":"x","groups":["urn:vitrine:example.test"]}`).want(201),
		w.as(editor, "PUT", "/apps/"+id+"/tags/t", `{"appVersion":"0"}`).want(201),
		w.as(editor, "DELETE", "/apps/"+id+"/tags/t", "").want(204),
		w.as(editor, "POST", "/apps/", `{`).want(400), w.send("GET", "/apps/", "").want(401),
		w.as(stranger, "POST", "/components/", `{}`).want(403), w.as(editor, "GET", "/nothing", "").want(404),
		w.as(editor, "PUT", "/apps/", "").want(405),
		w.as(editor, "POST", "/apps/", "x", setType("text/plain")).want(415),
		w.send("OPTIONS", "/apps/", "").want(204), w.send("GET", "/healthz", "").want(200),
		w.send("GET", "/cors.html", "").want(200),
		w.send("GET", "/openapi.json", "").want(200),
		w.send("GET", "/apps/?svctoken=panic", "").want(500, "internal error"),
	} {
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Access-Control-Allow-Origin": "*",
			"Access-Control-Expose-Headers": "Location, ETag, Link, X-Request-Id, Retry-After, " +
				"Content-Range, Accept-Ranges",
			"Access-Control-Allow-Credentials": "",
		} {
			if r.header.Get(name) != want {
				t.Errorf("%s (%d): %s is %q, want %q", r.what, r.status, name, r.header.Get(name), want)
			}
		}
		page := strings.Contains(r.what, "cors.html")
		if framed := !strings.Contains(r.header.Get("Content-Security-Policy"),
			"frame-ancestors 'none'"); framed != page {
			t.Errorf("%s: may be framed: %v", r.what, framed)
		}
		if ct := r.header.Get("Content-Type"); r.body != "" && !page && ct != "application/json; charset=utf-8" {
			t.Errorf("%s (%d): Content-Type %q", r.what, r.status, ct)
		}
		requestID := r.header.Get("X-Request-Id")
		if len(requestID) != 16 || ids[requestID] {
			t.Errorf("%s: request id %q is none of its own", r.what, requestID)
		}
		ids[requestID] = true
	}
}

func TestHEADAnswersLikeGETWithoutABody(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("x", network)
	for _, path := range []string{"/apps/", "/apps/" + id, "/apps/" + id + "/versions/0", "/components/", "/healthz",
		"/cors.html", "/openapi.json", "/apps/none"} {
		get, head := w.as(editor, "GET", path, ""), w.as(editor, "HEAD", path, "")
		if head.status != get.status || head.body != "" ||
			head.header.Get("Content-Length") != fmt.Sprint(len(get.body)) {
			t.Errorf("%s: GET %d with %d bytes, HEAD %d with %q", path, get.status, len(get.body), head.status,
				head.header.Get("Content-Length"))
		}
	}
}

func TestWhatTheStoreSaysStaysInTheLog(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		says   string
	}{
		{errors.New("secret detail: disk /dev/sda"), 500, "internal error"},
		{fmt.Errorf("secret detail: %w", vitrine.ErrBusy), 503,
			`{"error":"the store is not available at the moment: try again","code":"unavailable"}`},
		{fmt.Errorf("secret detail: %w", context.Canceled), 503, "again"},
		{fmt.Errorf("secret detail: %w", vitrine.ErrFull), 507, "full"},
		{fmt.Errorf("secret detail: %w", context.DeadlineExceeded), 503, "again"},
		{fmt.Errorf("secret detail: %w", vitrine.ErrUnknown), 503, "not known whether the write was kept"},
		{fmt.Errorf("secret detail: %w: %w", vitrine.ErrUnknown, context.DeadlineExceeded), 503,
			"not known whether the write was kept"},
	} {
		apps := broken(func(context.Context) error { return c.err })
		w := newWorld(t, func(conf *httpapi.Config) { conf.Apps = apps })
		r := w.as(editor, "GET", "/apps/", "").want(c.status, c.says)
		if strings.Contains(r.body, "secret") {
			t.Errorf("%d: the client reads %s", c.status, r.body)
		}
		if log := w.log.String(); !strings.Contains(log, "secret detail") ||
			!strings.Contains(log, r.header.Get("X-Request-Id")) {
			t.Errorf("%d: logged %q for request %s", c.status, log, r.header.Get("X-Request-Id"))
		}
		if retry := r.header.Get("Retry-After"); (retry != "") != (c.status == 503) {
			t.Errorf("%d: Retry-After %q", c.status, retry)
		}
	}
}

func TestAClientThatClosesItsSideEarlyIsToldSo(t *testing.T) {
	w := newWorld(t, func(c *httpapi.Config) {
		c.Apps = broken(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	})
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintf(conn, "GET /apps/ HTTP/1.0\r\nAuthorization: svctoken %s\r\n\r\n", w.token(editor))
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.0 503 ") ||
		!strings.Contains(string(answer), `{"error":"the connection was closed before`) {
		t.Errorf("%s, error %v", answer, err)
	}
	if log := w.log.String(); log != "" {
		t.Errorf("logged %s", log)
	}
}

func TestAPanicIs500AndTheServerLives(t *testing.T) {
	w := newWorld(t, func(c *httpapi.Config) { c.Apps = panicking("a bug") })
	for range 2 {
		r := w.as(editor, "GET", "/apps/", "").want(500, `{"error":"internal error","code":"internal"}`)
		if log := w.log.String(); !strings.Contains(log, "a bug") || !strings.Contains(log, "goroutine") ||
			!strings.Contains(log, r.header.Get("X-Request-Id")) {
			t.Errorf("logged %q", log)
		}
	}
	aborting := newWorld(t, func(c *httpapi.Config) { c.Apps = panicking(http.ErrAbortHandler) })
	r, err := http.NewRequest("GET", aborting.url+"/apps/?svctoken="+aborting.token(editor), nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := w.client.Do(r); err == nil {
		answer.Body.Close()
		t.Error("http.ErrAbortHandler was answered")
	}
}

func TestHealthAsksWhetherTheServiceIsReady(t *testing.T) {
	var state error
	w := newWorld(t, func(c *httpapi.Config) { c.Ready = func(context.Context) error { return state } })
	w.send("GET", "/healthz", "").want(200)
	state = fmt.Errorf("ready: %w", vitrine.ErrFull)
	if r := w.send("GET", "/healthz", "").want(200); r.body != `{"status":"ok","writes":"full"}` {
		t.Error(r.body)
	}
	state = os.ErrClosed
	if r := w.send("GET", "/healthz", "").want(503); r.header.Get("Retry-After") == "" ||
		strings.Contains(r.body, "closed") {
		t.Errorf("%s %v", r.body, r.header)
	}
}

// Ready is called only once at a time, even if a call ignores the end of its context and never returns.
func TestHealthIsAnsweredWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, release := 0, make(chan struct{})
		h, err := httpapi.New(httpapi.Config{
			Authenticate: func(*http.Request) (httpapi.Principal, error) { return editor, nil },
			Ready:        func(context.Context) error { asked++; <-release; return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		health := func(want int) {
			t.Helper()
			begun, rec := time.Now(), httptest.NewRecorder()
			h.ServeHTTP(rec, httptest.NewRequest("GET", "/healthz", nil))
			if took := time.Since(begun); rec.Code != want || took > time.Second {
				t.Errorf("%d after %s, want %d", rec.Code, took, want)
			}
		}
		health(503)
		health(503)
		synctest.Wait()
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
		close(release)
		synctest.Wait()
		health(200)
	})
}

func TestAServiceThatIsNilLeavesItsRoutesOut(t *testing.T) {
	w := newWorld(t, func(c *httpapi.Config) { c.Apps = nil })
	for _, path := range []string{"/apps/", library + "/assets", "/x/reviews/collections"} {
		w.as(editor, "GET", path, "").want(404)
	}
	w.as(editor, "GET", "/x/me", "").want(200, `"absent":["apps","assets","reviews"]`)
	w.send("GET", "/healthz", "").want(200)
}
