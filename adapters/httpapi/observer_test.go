package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// exchanges keeps what an Observer is told.
type exchanges struct {
	mu  sync.Mutex
	all []httpapi.Exchange
}

func (x *exchanges) observe(_ context.Context, e httpapi.Exchange) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all = append(x.all, e)
}

// last waits for the end of the request that was answered last.
func (x *exchanges) last(t *testing.T, n int) httpapi.Exchange {
	t.Helper()
	for range 60_000 {
		x.mu.Lock()
		if len(x.all) == n {
			defer x.mu.Unlock()
			return x.all[n-1]
		}
		x.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("the observer was told of %d requests, not of %d", len(x.all), n)
	return httpapi.Exchange{}
}

func observed(x *exchanges) func(*httpapi.Config) {
	return func(c *httpapi.Config) {
		c.BasePath = "/v4"
		c.Assets = assets.New(memory.New().Assets(), nil)
		c.Observer = x.observe
	}
}

func TestTheObserverIsToldOfEveryRequest(t *testing.T) {
	var x exchanges
	w := newWorld(t, observed(&x))
	manager := "/services/frontline/api/v4/assetManager/"
	for i, c := range []struct {
		method, path, body string
		status             int
		route              string
	}{
		{"GET", "/v4/apps?limit=3", "", 200, "/v4/apps/"},
		{"POST", "/v4/apps/", `{"title":"x","groups":["urn:vitrine:example.test"]}`, 201, "/v4/apps/"},
		{"GET", "/v4/apps/none", "", 404, "/v4/apps/{id}"},
		{"HEAD", "/v4/apps/none/versions/%31", "", 404, "/v4/apps/{id}/versions/{version}"},
		{"DELETE", "/v4/apps/none", "", 405, "/v4/apps/{id}"},
		{"OPTIONS", "/v4/apps/none", "", 204, ""},
		{"GET", "/nothing", "", 404, ""},
		{"FOO", "/v4/apps/", "", 405, "/v4/apps/"},
		{"GET", "/healthz", "", 200, "/healthz"},
		{"GET", manager + "/example.test/assetLibrary/example.test/assets", "", 200, manager + "/{network}/assetLibrary/{library}/assets"},
	} {
		r := w.as(editor, c.method, c.path, c.body).want(c.status)
		method := c.method
		if method == "FOO" {
			method = "other"
		}
		path, _, _ := strings.Cut(c.path, "?")
		want := httpapi.Exchange{ID: r.header.Get("X-Request-Id"), Method: method, Route: c.route, Path: path, Status: c.status, Bytes: int64(len(r.body)), Address: "127.0.0.1", Caller: editor.URN}
		if c.method == "OPTIONS" || c.path == "/healthz" {
			want.Caller = "" // these ask for no token
		}
		if r.status >= 400 && c.method != "HEAD" {
			var body struct{ Code string }
			r.read(&body)
			want.Code = body.Code
		} else if r.status >= 400 {
			want.Code = "not_found"
		}
		got := x.last(t, i+1)
		if got.Duration <= 0 || got.Duration > time.Minute {
			t.Errorf("%s %s took %s", c.method, c.path, got.Duration)
		}
		got.Duration = 0
		if got != want {
			t.Errorf("%s %s: told of %+v, want %+v", c.method, c.path, got, want)
		}
	}
}

func TestTheObserverIsToldWhatWasAStream(t *testing.T) {
	var x exchanges
	w := newWorld(t, observed(&x), func(c *httpapi.Config) { c.Streams = httpapi.NewStreams(); c.Streams.Close() })
	for i, accept := range []string{"text/event-stream", "application/json"} {
		w.as(editor, "GET", "/v4/x/changes", "", header("Accept", accept)).want(200)
		if got := x.last(t, i+1); got.Status != 200 || got.Stream != (i == 0) {
			t.Errorf("%s: told of %+v", accept, got)
		}
	}
}

func TestTheObserverIsToldOfPanicsAndDrops(t *testing.T) {
	for cause, want := range map[any]int{"a bug": 500, http.ErrAbortHandler: 0} {
		var x exchanges
		w := newWorld(t, observed(&x), func(c *httpapi.Config) { c.Apps = appsvc.New(panickingStore{cause}, nil) })
		r, err := http.NewRequest("GET", w.url+"/v4/apps/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "svctoken "+w.token(editor))
		if answer, err := client.Do(r); err == nil {
			answer.Body.Close()
		}
		if got := x.last(t, 1); got.Status != want || got.Route != "/v4/apps/" {
			t.Errorf("%v: told of %+v", cause, got)
		}
	}
}

// A token gets into no line, wherever a client puts it, and no line is long.
func TestTheAccessLogHoldsNoToken(t *testing.T) {
	w := newWorld(t, func(c *httpapi.Config) { c.Observer = httpapi.AccessLog(c.Log) })
	id := w.newApp("x", network)
	token := w.token(editor)
	w.send("GET", "/apps/"+id+"?svctoken="+token, "").want(200)
	w.as(editor, "GET", "/apps/"+token, "").want(404)
	w.as(editor, "GET", "/"+strings.Repeat("x", 900)+"/"+token, "").want(404) // cut in the middle of the token
	w.send("GET", "/apps/?svctoken="+token+"x", "").want(401)
	w.send("GET", "/apps/"+strings.Repeat("a", 100_000), "", header("Authorization", "svctoken a")).want(401)
	last := w.send("OPTIONS", "/apps/%0Anext=line?svctoken="+token, "").want(204)
	var log string
	for range 60_000 { // a line is written after its answer
		if log = w.log.String(); strings.Contains(log, last.header.Get("X-Request-Id")) && strings.Count(log, " msg=answered ") == 7 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if n := strings.Count(log, " msg=answered "); n != 7 {
		t.Errorf("%d lines for 7 requests: %s", n, log)
	}
	for line := range strings.Lines(log) {
		if len(line) > 1500 {
			t.Errorf("a line of %d bytes: %.200s…", len(line), line)
		}
	}
	if strings.Contains(log, token[:len(token)/2]) {
		t.Errorf("the log holds the token: %s", log)
	}
	if want := fmt.Sprintf("method=GET path=/apps/%s route=/apps/{id} address=127.0.0.1 caller=\"%s\" status=200 bytes=", id, editor.URN); !strings.Contains(log, want) {
		t.Errorf("the log does not say %q: %s", want, log)
	}
}
