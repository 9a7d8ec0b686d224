package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/client"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
)

func TestConfigurationsThatCannotWorkAreRefused(t *testing.T) {
	token := client.Static("x")
	for _, test := range []struct {
		c    client.Config
		want string
	}{
		{client.Config{Token: token}, "URL"},
		{client.Config{URL: "api.example.test", Token: token}, "URL"},
		{client.Config{URL: "ftp://api.example.test", Token: token}, "URL"},
		{client.Config{URL: "https://user@api.example.test", Token: token}, "URL"},
		{client.Config{URL: "https://api.example.test?x", Token: token}, "URL"},
		{client.Config{URL: "https://api.example.test", AssetsURL: "x", Token: token}, "AssetsURL"},
		{client.Config{URL: "https://api.example.test"}, "Token"},
	} {
		if _, err := client.New(test.c); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test.c, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	lib := assets.Library{Network: "n:1", ID: "a/b"}
	for _, test := range []struct{ url, assetsURL, app, asset string }{
		{"https://h.example/v4/", "", "https://h.example/v4/apps/%40a%2Fb%20%25",
			"https://h.example/services/frontline/api/v4/assetManager//n%3A1/assetLibrary/a%2Fb/asset/%2E%2E"},
		{"http://h.example", "http://m.example/am/", "http://h.example/apps/%40a%2Fb%20%25",
			"http://m.example/am//n%3A1/assetLibrary/a%2Fb/asset/%2E%2E"},
	} {
		c, s := scripted(t, func(c *client.Config) { c.URL, c.AssetsURL = test.url, test.assetsURL }, done)
		_, _ = c.Apps.App(t.Context(), "@a/b %")
		_, _ = c.Assets.Asset(t.Context(), lib, "..")
		if have := s.asked[0].URL.String(); have != test.app {
			t.Errorf("%s, want %s", have, test.app)
		}
		if have := s.asked[1].URL.String(); have != test.asset {
			t.Errorf("%s, want %s", have, test.asset)
		}
	}
}

// The token goes to the service in a header, and nowhere else: not into errors, and not to where the
// service sends.
func TestTheTokenStaysWithTheService(t *testing.T) {
	var strayed atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "svctoken secret" || strings.Contains(r.URL.String(), "secret") {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	c := ok(client.New(client.Config{URL: server.URL, Token: client.Static("secret"), Attempts: 1}))(t)
	for name, call := range calls {
		if err := call(t.Context(), c); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	server.Close()
	for name, call := range calls {
		if err := call(t.Context(), c); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if strayed.Load() != 0 {
		t.Errorf("%d requests went where the service sent them", strayed.Load())
	}
}

func TestATokenThatIsNoneIsNotSent(t *testing.T) {
	failed := errors.New("no session")
	for _, source := range []func(context.Context) (string, error){
		client.Static(""), client.Static("a b"), client.Static("a\r\nb"), func(context.Context) (string, error) {
			return "", failed
		},
	} {
		c, s := scripted(t, func(c *client.Config) { c.Token = source }, done)
		if err := calls["read"](t.Context(), c); err == nil || len(s.asked) != 0 || errors.Is(err, vitrine.ErrUnknown) {
			t.Errorf("%v, sent %d times", err, len(s.asked))
		}
	}
}

func TestAnswersThatAreNotOfThisServiceAreErrors(t *testing.T) {
	long := line{200, `{"apps":[` + anApp + strings.Repeat(" ", 1000) + `]}`, "", nil}
	c, _ := scripted(t, func(c *client.Config) { c.AnswerBytes = int64(len(long.body)) }, long)
	must(t, calls["read"](t.Context(), c))
	c, _ = scripted(t, func(c *client.Config) { c.AnswerBytes = int64(len(long.body) - 1) }, long)
	if err := calls["read"](t.Context(), c); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Error(err)
	}
	for _, body := range []string{"", "<html>", `{}`, `{"apps":[]}`, `{"apps":[{}]}`,
		`{"apps":[` + anApp + `,` + anApp + `]}`,
		`{"apps":[` + strings.Replace(anApp, `"3"`, `3`, 1) + `]}`,
		`{"apps":[` + strings.Replace(anApp, `"3"`, `"03"`, 1) + `]}`} {
		c, _ := scripted(t, nil, line{200, body, "", nil})
		var e *client.Error
		if err := calls["read"](t.Context(), c); err == nil || errors.As(err, &e) {
			t.Errorf("%s: %v", body, err)
		}
	}
	c, _ = scripted(t, nil, line{204, "", "", nil})
	if err := c.Reviews.Export(t.Context(), "", io.Discard); err == nil {
		t.Error("an answer without an export is taken for one")
	}
	c, _ = scripted(t, nil, line{200, `{"history":[]}`, "", nil})
	if _, err := c.Apps.Diff(t.Context(), "a", vitrine.NewVersion(0), vitrine.Latest); err == nil ||
		!strings.Contains(err.Error(), "GET /apps/a/history/") {
		t.Error("a history without versions is taken for one")
	}
}

func TestWhatIsKeptIsAskedForAndNotSentAgain(t *testing.T) {
	s := newServer(t)
	var answered []string
	spy := func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			answer, err := next.RoundTrip(r)
			if err == nil && r.Method == "GET" {
				answered = append(answered, fmt.Sprint(answer.StatusCode))
			}
			return answer, err
		})
	}
	c := s.client(editor, func(c *client.Config) { c.CacheBytes, c.Transport = 1<<20, spy(c.Transport) })
	services := services{c.Apps, c.Assets, c.Reviews}
	app := newApp(t, services, "x", site)
	ok(c.Apps.PutTag(t.Context(), appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: vitrine.NewVersion(0)}))(t)
	answered = nil
	for range 2 {
		same(t, app, ok(c.Apps.App(t.Context(), app.ID))(t))
		same(t, app, ok(c.Apps.TaggedApp(t.Context(), app.ID, "live"))(t))
	}
	next := ok(c.Apps.Patch(t.Context(), app.ID, bytes.NewReader(retitle(vitrine.NewVersion(0), "y"))))(t)
	same(t, next, ok(c.Apps.App(t.Context(), app.ID))(t))
	same(t, next, ok(c.Apps.App(t.Context(), app.ID))(t))
	if want := []string{"200", "200", "304", "304", "200", "304"}; !slices.Equal(answered, want) {
		t.Errorf("answered %q, want %q", answered, want)
	}
	c = s.client(editor, func(c *client.Config) { c.CacheBytes, c.Transport = 100, spy(c.Transport) })
	answered = nil
	for range 2 {
		same(t, next, ok(c.Apps.App(t.Context(), app.ID))(t))
	}
	if want := []string{"200", "200"}; !slices.Equal(answered, want) {
		t.Errorf("answered %q though the cache has no room, want %q", answered, want)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A response that is kept for one caller is not shown to another one: the service decides each time.
func TestTheCacheShowsNothingToWhoMayNotSeeIt(t *testing.T) {
	s := newServer(t)
	by := editor
	c := s.client(editor, func(c *client.Config) {
		c.CacheBytes = 1 << 20
		c.Token = func(context.Context) (string, error) { return s.token(by), nil }
	})
	app := newApp(t, services{c.Apps, c.Assets, c.Reviews}, "x", network)
	ok(c.Apps.App(t.Context(), app.ID))(t)
	by = siteOne
	_, err := c.Apps.App(t.Context(), app.ID)
	wantError(t, "another caller", err, vitrine.ErrNotFound)
}

func TestIteratorsWalkThroughAllPages(t *testing.T) {
	s := newServer(t)
	c := s.client(editor, nil)
	both := services{c.Apps, c.Assets, c.Reviews}
	var id string
	for i := range 5 {
		id = newApp(t, both, fmt.Sprint(i), site).ID
		add(t, both, post(fmt.Sprint(i), "word"))
		newFolder(t, both, fmt.Sprint("folder ", i), "")
	}
	for v := range 4 {
		ok(c.Apps.Patch(t.Context(), id, bytes.NewReader(retitle(vitrine.NewVersion(int64(v)), fmt.Sprint("v", v)))))(t)
		ok(c.Apps.PutTag(t.Context(),
			appsvc.PutTagRequest{AppID: id, Name: fmt.Sprint("t", v), Version: vitrine.NewVersion(int64(v))}))(t)
	}
	ctx := t.Context()
	apps := c.Apps.AllApps(ctx, appsvc.ListAppsRequest{Limit: 2})
	for range 2 { // a walk can be begun anew
		count(t, "apps", apps, 5)
	}
	count(t, "versions", c.Apps.AllVersions(ctx, appsvc.ListVersionsRequest{AppID: id, Limit: 2}), 5)
	count(t, "history", c.Apps.AllHistory(ctx, appsvc.ListHistoryRequest{AppID: id, Limit: 2}), 5)
	count(t, "tags", c.Apps.AllTags(ctx, appsvc.ListTagsRequest{AppID: id, Limit: 3}), 4)
	count(t, "components", c.Apps.AllComponents(ctx, appsvc.ListComponentsRequest{}), 1)
	count(t, "assets", c.Assets.AllAssets(ctx, lib, assets.SearchRequest{Query: "word", Limit: 2}), 5)
	count(t, "assets, ascending", c.Assets.AllAssets(ctx, lib, assets.SearchRequest{Order: "asc", Limit: 2}), 5)
	count(t, "no assets", c.Assets.AllAssets(ctx, lib, assets.SearchRequest{Query: "none"}), 0)
	count(t, "folders", c.Assets.AllFolders(ctx, lib, assets.ListFoldersRequest{Limit: 2}), 5)
	for range apps {
		break // more must not be asked for
	}
	for _, err := range c.Apps.AllVersions(ctx, appsvc.ListVersionsRequest{AppID: "none"}) {
		wantError(t, "no app", err, vitrine.ErrNotFound)
	}
}

// count walks and says where it does not meet so many things, each once.
func count[T any](t *testing.T, what string, walk func(func(T, error) bool), want int) {
	t.Helper()
	seen := map[string]bool{}
	n := 0
	for v, err := range walk {
		must(t, err)
		seen[fmt.Sprintf("%+v", v)] = true
		n++
	}
	if n != want || len(seen) != want {
		t.Errorf("%s: %d, %d of them different, want %d", what, n, len(seen), want)
	}
}

// A page may end before its limit: the header Link says whether there is another one.
func TestFoldersAreReadUntilNoLinkLeadsOn(t *testing.T) {
	page := func(id, link string) line {
		return line{200, `{"folders":[{"id":"` + id + `","path":"/","label":"x","inherit":true,"deleted":false}]}`,
			link, nil}
	}
	c, s := scripted(t, nil, page("1", `Link: <?limit=2&since=1>; rel="next"`), page("2", ""))
	count(t, "folders", c.Assets.AllFolders(t.Context(), lib, assets.ListFoldersRequest{Limit: 2}), 2)
	if len(s.asked) != 2 || s.asked[1].URL.RawQuery != "limit=2&since=1" {
		t.Errorf("%d requests, the last of %s", len(s.asked), s.asked[len(s.asked)-1].URL)
	}
}

// The client has the methods of a Session, and no others. But CheckMember, Network, Within and Trying are for
// servers, and In returns either.
func TestTheClientHasTheMethodsOfSessions(t *testing.T) {
	sameMethods(t, reflect.TypeFor[*assets.Session](), reflect.TypeFor[*client.Assets]())
	sameMethods(t, reflect.TypeFor[*assets.Session](), reflect.TypeFor[assetService]())
	sameMethods(t, reflect.TypeFor[*appsvc.Session](), reflect.TypeFor[*client.Apps]())
	sameMethods(t, reflect.TypeFor[*reviews.Session](), reflect.TypeFor[*client.Reviews]())
}

// sameMethods compares two types' methods and their signatures, receivers aside.
func sameMethods(t *testing.T, a, b reflect.Type) {
	t.Helper()
	have, want := methods(b), methods(a)
	for name, signature := range want {
		if have[name] != signature {
			t.Errorf("%v has %s%s, %v has %s%s", a, name, signature, b, name, have[name])
		}
	}
	for name := range have {
		if want[name] == "" {
			t.Errorf("%v has %s, %v has not", b, name, a)
		}
	}
}

// methods returns the signatures of the exported methods of a type, by name.
func methods(t reflect.Type) map[string]string {
	out := map[string]string{}
	for m := range t.Methods() {
		first := 1 // the receiver comes first
		if t.Kind() == reflect.Interface {
			first = 0
		}
		signature := ""
		for i := first; i < m.Type.NumIn(); i++ {
			signature += fmt.Sprint(m.Type.In(i), ", ")
		}
		signature += "->"
		for i := range m.Type.NumOut() {
			signature += fmt.Sprint(" ", m.Type.Out(i))
		}
		out[m.Name] = signature
	}
	delete(out, "In")
	if strings.HasSuffix(t.String(), ".Session") {
		delete(out, "CheckMember")
		delete(out, "Network")
		delete(out, "Within")
		delete(out, "Trying")
	}
	return out
}

// Only the cursor of a Link is used: where it leads is up to who made it.
func TestTheNextPageIsAskedOfTheSameService(t *testing.T) {
	c, s := scripted(t, nil,
		line{200, `{"apps":[` + anApp + `]}`, `Link: <https://evil.example.test/steal?after=c&x=y>; rel="next"`, nil},
		line{200, `{"apps":[]}`, "", nil})
	for _, err := range c.Apps.AllApps(t.Context(), appsvc.ListAppsRequest{Limit: 1}) {
		must(t, err)
	}
	if len(s.asked) != 2 || s.asked[1].URL.String() != "https://api.example.test/v4/apps/?after=c&limit=1" {
		t.Errorf("%d requests, the last of %s", len(s.asked), s.asked[len(s.asked)-1].URL)
	}
}

// An import is sent as it is read, and one that is refused is hardly read.
func TestImportsAreStreamed(t *testing.T) {
	const size = 8 << 20
	s := newServer(t)
	lines := &endless{left: size}
	report := ok(s.client(editor, nil).Reviews.Import(t.Context(),
		reviews.ImportRequest{Network: "", File: lines, DryRun: true}))(t)
	if report.Lines != size || lines.most > 1<<20 {
		t.Errorf("%d lines, read %d bytes at a time", report.Lines, lines.most)
	}
	lines = &endless{left: size}
	_, err := s.client(reader, nil).Reviews.Import(t.Context(),
		reviews.ImportRequest{Network: "example.test", File: lines})
	wantError(t, "a reader", err, vitrine.ErrForbidden)
	if lines.left < size-1<<20 {
		t.Errorf("%d bytes were read of a file that was refused", size-lines.left)
	}
}

// endless is a long file of blank lines.
type endless struct{ left, most int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	for i := range n {
		p[i] = '\n'
	}
	e.left, e.most = e.left-n, max(e.most, n)
	return n, nil
}
