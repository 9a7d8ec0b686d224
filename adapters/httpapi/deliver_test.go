package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// delivered is a service with two apps, tagged production, and a hidden one.
type delivered struct {
	t      *testing.T
	svc    *appsvc.Service
	views  int // of the store
	tokens *httpapi.Tokens
	h      http.Handler
	ids    []string
	key    string
	lists  bool // the key may list
}

func newDelivered(t *testing.T, c httpapi.Config) *delivered {
	ctx := t.Context()
	d := &delivered{t: t}
	d.svc = appsvc.New(&scripted{Store: memory.New(), view: func(context.Context) error { d.views++; return nil }}, nil)
	ann := vitrine.Caller{URN: "urn:vitrine:example.test:user=ann",
		Moderates: []string{"urn:vitrine:example.test", "urn:vitrine:other.test"}, Components: true}
	for _, m := range []string{
		`{"name":"poll","version":"1","main":"/x/demo/poll.js","title":"Poll","secret":"not for pages",` +
			`"configSchema":{"properties":{"size":{"default":3},"font":{"type":"object",` +
			`"properties":{"bold":{"default":false}}}}}}`,
		`{"name":"count","version":"2","main":"https://cdn.example/count.js","headless":true,"configSchema":{}}`,
	} {
		if _, err := d.svc.As(ann).CreateComponent(ctx,
			appsvc.CreateComponentRequest{Manifest: strings.NewReader(m)}); err != nil {
			t.Fatal(err)
		}
	}
	for i, group := range []string{"urn:vitrine:example.test:site=a", "urn:vitrine:example.test:site=b",
		"urn:vitrine:other.test"} {
		in := appsvc.CreateAppRequest{Title: fmt.Sprint("App ", i) + strings.Repeat(".", 200), Groups: []string{group}}
		in.Elements = []appsvc.NewElement{
			{Component: appsvc.ComponentRef{Name: "poll", Version: "1"}, Config: []byte(`{"q":1.50}`)},
			{Component: appsvc.ComponentRef{Name: "count", Version: "2"}, Config: []byte(`{}`)},
		}
		app, err := d.svc.As(ann).CreateApp(ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		tag := appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: vitrine.Latest}
		if _, err := d.svc.As(ann).PutTag(ctx, tag); err != nil {
			t.Fatal(err)
		}
		d.ids = append(d.ids, app.ID)
	}
	var err error
	if d.tokens, err = httpapi.NewTokens([]byte(strings.Repeat("k", 32)), nil); err != nil {
		t.Fatal(err)
	}
	c.Apps, c.Log = d.svc, slog.New(slog.DiscardHandler)
	c.Authenticate = func(r *http.Request) (httpapi.Principal, error) {
		p, err := d.tokens.Authenticate(r)
		if d.lists {
			p.PublicList, p.Key = true, "pk_12345678"
		}
		return p, err
	}
	if d.h, err = httpapi.New(c); err != nil {
		t.Fatal(err)
	}
	d.key = d.sign(vitrine.Caller{Reads: []string{"urn:vitrine:example.test"}, TagsOnly: true,
		Tags: []string{"production"}})
	return d
}

func (d *delivered) sign(by vitrine.Caller) string {
	by.URN = "urn:vitrine:example.test:user=page"
	key, err := d.tokens.Sign(httpapi.Principal{Caller: by}, time.Now().Add(time.Hour))
	if err != nil {
		d.t.Fatal(err)
	}
	return key
}

// get asks for apps, given as ids; headers are given as pairs.
func (d *delivered) get(path string, headers ...string) (*http.Response, string) {
	d.t.Helper()
	r := httptest.NewRequest("GET", "http://shop.example"+path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	d.h.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return w.Result(), string(body)
}

func TestDelivery(t *testing.T) {
	d := newDelivered(t, httpapi.Config{PublicCache: 30 * time.Second})
	path := "/x/public/production?app=" + d.ids[1] + "&app=" + d.ids[2] + "&app=none&app=" + d.ids[0] + "&key=" + d.key
	answer, body := d.get(path, "Cookie", "a=b", "Origin", "https://page.example")
	elements := `"elements":[{"key":"0.0","name":"poll","version":"1","main":"http://shop.example/x/demo/poll.js",` +
		`"config":{"q":1.50,"size":3,"font":{"bold":false}}},` +
		`{"key":"0.1","name":"count","version":"2","main":"https://cdn.example/count.js","headless":true,"config":{}}]}`
	dots := strings.Repeat(".", 200)
	hidden := `,"error":"no app that this key may read has this id and this tag","code":"not_found"}`
	want := `{"apps":[{"id":"` + d.ids[1] + `","tag":"production","version":"0","title":"App 1` + dots + `",` +
		elements + `,{"id":"` + d.ids[2] + `"` + hidden + `,{"id":"none"` + hidden +
		`,{"id":"` + d.ids[0] + `","tag":"production","version":"0","title":"App 0` + dots + `",` + elements + `]}`
	times := regexp.MustCompile(`"publishedAt":1[0-9]{12},"updatedAt":1[0-9]{12},`)
	if text := times.ReplaceAllString(body, ""); answer.StatusCode != 200 || text != want ||
		len(times.FindAllString(body, -1)) != 2 {
		t.Errorf("%d %s\nwant %s", answer.StatusCode, body, want)
	}
	for name, value := range map[string]string{
		"Cache-Control": "public, max-age=0, s-maxage=30", "Vary": "Accept-Encoding",
		"Access-Control-Allow-Origin": "*",
		"Cache-Tag":                   "app-" + d.ids[1] + ", app-" + d.ids[2] + ", app-none, app-" + d.ids[0],
	} {
		if got := answer.Header.Get(name); got != value {
			t.Errorf("%s: %q, want %q", name, got, value)
		}
	}
	etag := answer.Header.Get("Etag")
	if !strings.HasPrefix(etag, `"`) {
		t.Errorf("ETag %s", etag)
	}
	again, text := d.get(path, "If-None-Match", etag)
	if again.StatusCode != 304 || text != "" || again.Header.Get("Etag") != etag ||
		again.Header.Get("Cache-Control") != answer.Header.Get("Cache-Control") ||
		again.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("asked again: %d %q %v", again.StatusCode, text, again.Header)
	}
	zipped, _ := d.get(path, "Accept-Encoding", "gzip")
	if zipped.Header.Get("Content-Encoding") != "gzip" || zipped.Header.Get("Vary") != "Accept-Encoding" ||
		zipped.Header.Get("Etag") == etag {
		t.Errorf("zipped: %v", zipped.Header)
	}
	if again, _ := d.get(path, "Accept-Encoding", "gzip", "If-None-Match",
		zipped.Header.Get("Etag")); again.StatusCode != 304 || again.Header.Get("Etag") != zipped.Header.Get("Etag") {
		t.Errorf("the zipped one asked again: %d %v", again.StatusCode, again.Header)
	}
	// What changes is seen at once.
	ann := vitrine.Caller{URN: "urn:vitrine:example.test:user=ann", Moderates: []string{"urn:vitrine:example.test"}}
	if err := d.svc.As(ann).DeleteTag(t.Context(),
		appsvc.DeleteTagRequest{AppID: d.ids[0], Name: "production"}); err != nil {
		t.Fatal(err)
	}
	if changed, body := d.get(path, "If-None-Match", etag); changed.StatusCode != 200 ||
		strings.Count(body, "not_found") != 3 {
		t.Errorf("after a change: %d %s", changed.StatusCode, body)
	}
}

// A key that may list gets what the tag publishes, in pages that caches may keep, and nothing else.
func TestListOfWhatATagPublishes(t *testing.T) {
	d := newDelivered(t, httpapi.Config{PublicCache: 30 * time.Second})
	path := "/x/public/production?key=" + d.key
	if answer, body := d.get(path); answer.StatusCode != 403 || answer.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("a delivery token lists: %d %s", answer.StatusCode, body)
	}
	d.lists = true
	times := regexp.MustCompile(`:1[0-9]{12}`)
	item := func(i int) string {
		return fmt.Sprintf(`{"id":"%s","title":"App %d%s","version":"0","tag":"production","publishedAt":0,`+
			`"updatedAt":0}`,
			d.ids[i], i, strings.Repeat(".", 200))
	}
	answer, body := d.get(path)
	if want := `{"apps":[` + item(0) + "," + item(1) + `],"next":null}`; answer.StatusCode != 200 ||
		times.ReplaceAllString(body, ":0") != want ||
		answer.Header.Get("Cache-Tag") != "tag-production, key-pk_12345678" ||
		answer.Header.Get("Cache-Control") != "public, max-age=0, s-maxage=30" {
		t.Errorf("%d %v %s\nwant %s", answer.StatusCode, answer.Header, body, want)
	}
	if again, _ := d.get(path, "If-None-Match", answer.Header.Get("Etag")); again.StatusCode != 304 {
		t.Errorf("asked again: %d", again.StatusCode)
	}
	var first struct{ Next string }
	if _, body := d.get(path + "&limit=1"); json.Unmarshal([]byte(body), &first) != nil ||
		!strings.HasPrefix(times.ReplaceAllString(body, ":0"), `{"apps":[`+item(0)+`],"next":"`) {
		t.Errorf("the first page is %s", body)
	}
	if _, body := d.get(path + "&limit=1&after=" + first.Next); times.ReplaceAllString(body, ":0") !=
		`{"apps":[`+item(1)+`],"next":null}` {
		t.Errorf("the second page is %s", body)
	}
	for query, status := range map[string]int{"&limit=501": 400, "&limit=x": 400, "&after=": 400, "&after=x": 400,
		"&app=" + d.ids[0] + "&limit=1": 400, "&app=" + d.ids[0] + "&after=" + first.Next: 400, "&app=": 400,
		"&spam=": 400} {
		if answer, body := d.get(path + query); answer.StatusCode != status {
			t.Errorf("%s: %d %s", query, answer.StatusCode, body)
		}
	}
	if answer, _ := d.get("/x/public/staging?key=" + d.key); answer.StatusCode != 403 {
		t.Errorf("another tag: %d", answer.StatusCode)
	}
	d.lists = false // and at once
	if answer, _ := d.get(path); answer.StatusCode != 403 {
		t.Errorf("a key that may not list any more: %d", answer.StatusCode)
	}
}

func TestDeliveryRefuses(t *testing.T) {
	d := newDelivered(t, httpapi.Config{PublicCache: time.Minute})
	person := d.sign(vitrine.Caller{Moderates: []string{"urn:vitrine:example.test"}})
	other := d.sign(vitrine.Caller{Reads: []string{"urn:vitrine:example.test"}, TagsOnly: true,
		Tags: []string{"staging"}})
	many := strings.Builder{}
	for i := range 51 {
		fmt.Fprintf(&many, "&app=%d", i)
	}
	one := "?app=" + d.ids[0]
	for _, c := range []struct {
		query   string
		headers []string
		status  int
	}{
		{one, nil, 401},
		{one + "&key=", nil, 401},
		{one + "&key=nonsense", nil, 401},
		{one + "&key=" + person, nil, 401},
		{one + "&key=" + d.key + "&key=" + d.key, nil, 400},
		{one + "&key=" + other, nil, 403},
		{one + "&key=" + d.key, []string{"Authorization", "Bearer " + d.key}, 400},
		{one + "&key=" + d.key + "&svctoken=" + d.key, nil, 400},
		{one + "&key=" + d.key + "&spam=1", nil, 400},
		{"?key=" + d.key, nil, 403},
		{"?app=&key=" + d.key, nil, 400},
		{one + "&app=" + d.ids[0] + "&key=" + d.key, nil, 400},
		{"?key=" + d.key + many.String(), nil, 400},
	} {
		answer, body := d.get("/x/public/production"+c.query, c.headers...)
		if answer.StatusCode != c.status || answer.Header.Get("Cache-Control") != "no-store" ||
			answer.Header.Get("Cache-Tag") != "" || strings.Contains(body, d.key) {
			t.Errorf("%.60s: %d %q %s, want %d", c.query, answer.StatusCode, answer.Header.Get("Cache-Control"), body,
				c.status)
		}
		if c.status == 401 && !strings.Contains(body, "in the query parameter key") {
			t.Errorf("%.60s: %s does not name the key", c.query, body)
		}
	}
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"} {
		for _, path := range []string{"/x/public/production", "/x/public/", "/x/public/a/b/c", "/x/public/reviews/n/c",
			"/x/%70ublic/production"} {
			w := httptest.NewRecorder()
			d.h.ServeHTTP(w, httptest.NewRequest(method, path+one, strings.NewReader("x")))
			if w.Code < 400 || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s %s: %d %q", method, path, w.Code, w.Header().Get("Cache-Control"))
			}
		}
	}
	for _, path := range []string{"/x/public/none", "/x/public/a%20b"} {
		if answer, _ := d.get(path + one + "&key=" + d.key); answer.StatusCode != 403 {
			t.Errorf("%s: %d", path, answer.StatusCode)
		}
	}
}

func TestDeliveryHasABound(t *testing.T) {
	d := newDelivered(t, httpapi.Config{})
	ann := vitrine.Caller{URN: "urn:vitrine:example.test:user=ann", Moderates: []string{"urn:vitrine:example.test"}}
	query := ""
	for range 6 {
		app, err := d.svc.As(ann).CreateApp(t.Context(),
			appsvc.CreateAppRequest{Title: "Large", Groups: []string{"urn:vitrine:example.test:site=a"},
				Elements: []appsvc.NewElement{
					{Component: appsvc.ComponentRef{Name: "count", Version: "2"},
						Config: []byte(`{"text":"` + strings.Repeat("x", 900<<10) + `"}`)}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.svc.As(ann).PutTag(t.Context(),
			appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: vitrine.Latest}); err != nil {
			t.Fatal(err)
		}
		query += "&app=" + app.ID
	}
	answer, body := d.get("/x/public/production?key=" + d.key + query + "&app=" + d.ids[0])
	var out struct {
		Apps []struct{ Code, Title string }
	}
	if err := json.Unmarshal([]byte(body), &out); err != nil || answer.StatusCode != 200 ||
		answer.Header.Get("Cache-Control") != "public, no-cache" {
		t.Fatal(answer.StatusCode, answer.Header, err)
	}
	for i, app := range out.Apps {
		if (app.Code == "too_large") != (i == 4 || i == 5) {
			t.Errorf("app %d: %+v", i, app)
		}
	}
}

// An answer is used again for half a second, until something changes or the key allows something else.
func TestDeliveryAgain(t *testing.T) {
	d := newDelivered(t, httpapi.Config{})
	by := vitrine.Caller{URN: "urn:vitrine:example.test:user=page", Reads: []string{"urn:vitrine:example.test"},
		TagsOnly: true, Tags: []string{"production"}}
	revoked := false
	c := httpapi.Config{Apps: d.svc, Log: slog.New(slog.DiscardHandler)}
	c.Authenticate = func(r *http.Request) (httpapi.Principal, error) {
		if r.Header.Get("Cookie") != "" || r.Header.Get("X-Forwarded-User") != "" || r.URL.RawQuery != "" {
			t.Errorf("the key alone counts, have %v %s", r.Header, r.URL)
		}
		if revoked {
			return httpapi.Principal{}, httpapi.ErrUnauthenticated
		}
		return httpapi.Principal{Caller: by}, nil
	}
	var err error
	if d.h, err = httpapi.New(c); err != nil {
		t.Fatal(err)
	}
	path := "/x/public/production?app=" + d.ids[0] + "&app=" + d.ids[2] + "&key=k"
	var first string
	d.views = 0 // each delivery that is not from the cache is one
	want := func(asked, found int, what string) {
		t.Helper()
		answer, body := d.get(path, "Cookie", "a=b", "X-Forwarded-User", "ann")
		if first == "" {
			first = body
		}
		if answer.StatusCode != 200 || d.views != asked || strings.Count(body, "not_found") != 2-found ||
			found == 1 && body != first {
			t.Errorf("%s: %d, asked %d times, want %d; %s", what, answer.StatusCode, d.views, asked, body)
		}
	}
	want(1, 1, "at first")
	want(1, 1, "again")
	elsewhere := httptest.NewRequest("GET", "http://other.example"+path, nil)
	w := httptest.NewRecorder()
	if d.h.ServeHTTP(w, elsewhere); !strings.Contains(w.Body.String(), `"main":"http://other.example/x/demo/poll.js"`) {
		t.Errorf("under another address: %s", w.Body)
	}
	d.views--
	by.Reads = []string{"urn:vitrine:example.test:site=b"}
	want(2, 0, "with fewer rights")
	by.Tags = []string{"staging"}
	if answer, _ := d.get(path); answer.StatusCode != 403 {
		t.Errorf("without the tag: %d", answer.StatusCode)
	}
	by.Reads, by.Tags = []string{"urn:vitrine:example.test"}, []string{"production"}
	want(3, 1, "with the rights back")
	ann := vitrine.Caller{URN: "urn:vitrine:example.test:user=ann", Moderates: []string{"urn:vitrine:example.test"}}
	if err := d.svc.As(ann).DeleteTag(t.Context(),
		appsvc.DeleteTagRequest{AppID: d.ids[0], Name: "production"}); err != nil {
		t.Fatal(err)
	}
	want(4, 0, "after a change")
	want(4, 0, "and again")
	time.Sleep(550 * time.Millisecond)
	want(5, 0, "after half a second")
	revoked = true
	if answer, _ := d.get(path); answer.StatusCode != 401 {
		t.Errorf("revoked: %d", answer.StatusCode)
	}
}
