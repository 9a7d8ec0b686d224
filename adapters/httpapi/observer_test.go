package httpapi_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
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
		c.Assets = assets.New(memory.New(), nil)
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
		{"PUT", "/v4/apps/none", "", 405, "/v4/apps/{id}"},
		{"OPTIONS", "/v4/apps/none", "", 204, ""},
		{"GET", "/nothing", "", 404, ""},
		{"FOO", "/v4/apps/", "", 405, "/v4/apps/"},
		{"GET", "/healthz", "", 200, "/healthz"},
		{"GET", manager + "/example.test/assetLibrary/example.test/assets", "", 200,
			manager + "/{network}/assetLibrary/{library}/assets"},
	} {
		r := w.as(editor, c.method, c.path, c.body).want(c.status)
		method := c.method
		if method == "FOO" {
			method = "other"
		}
		path, _, _ := strings.Cut(c.path, "?")
		want := httpapi.Exchange{ID: r.header.Get("X-Request-Id"), Method: method, Route: c.route, Path: path,
			Status: c.status, Bytes: int64(len(r.body)), Address: "127.0.0.1", Caller: editor.URN}
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

func TestRoutesOfTheAssetManagerAreWhereItIs(t *testing.T) {
	var x exchanges
	c := shopConfig()
	observed(&x)(&c)
	c.BasePath, c.AssetPrefix = "/v4", "/v4/library"
	h, err := httpapi.New(c)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("GET", "/v4/library/example.test/assetLibrary/example.test/assets", nil)
	r.AddCookie(&http.Cookie{Name: "who", Value: "ann"})
	h.ServeHTTP(httptest.NewRecorder(), r)
	if got := x.last(t, 1).Route; got != "/v4/library/{network}/assetLibrary/{library}/assets" {
		t.Errorf("told of the route %s", got)
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
		w := newWorld(t, observed(&x), func(c *httpapi.Config) { c.Apps = panicking(cause) })
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

// What the observer is told has no token, as TestNoTokenIsLogged shows, and a line of the log has no more than that.
func TestTheAccessLogHasALineForEachRequest(t *testing.T) {
	var log strings.Builder
	httpapi.AccessLog(slog.New(slog.NewTextHandler(&log, nil)))(t.Context(),
		httpapi.Exchange{ID: "i", Method: "GET", Path: "/apps/a\nb", Route: "/apps/{id}",
			Address: "127.0.0.1", Caller: "c", Status: 200, Bytes: 7, Duration: time.Second})
	const want = ` msg=answered request=i method=GET path="/apps/a\nb" route=/apps/{id} address=127.0.0.1 caller=c ` +
		`status=200 bytes=7 duration=1s`
	if !strings.HasSuffix(log.String(), want+"\n") || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("the log is %s, want one line that ends with %s", log.String(), want)
	}
}
