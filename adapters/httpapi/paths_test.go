package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestPathsThatAreNotCanonicalAre404(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("x", network)
	for _, path := range []string{
		"/apps//", "//apps/", "/apps/./", "/apps/../apps/", "/apps/%2e%2e/apps/", "/apps/..", "/apps/.", "/apps/%2e",
		"/%61pps/",
		"/APPS/", "/Apps/" + id, "/apps/" + id + "/", "/apps/" + id + "//versions/", "/apps//versions/0",
		"/apps/" + id + "/tags//",
		"/apps%2F" + id, "/apps/" + id + "%2Fversions", "/apps/%00", "/apps/" + id + "%00", "/apps/%FF",
		"/apps/" + strings.ToUpper(id),
		"/cors.html/", "/healthz/", "/openapi.json/", "/apps/versions/restore/", "/apps/versions/versions/",
		"/apps/versions/tags/",
		"/apps/tags", "/apps/{id}", "/apps/:id", "/components/" + "..", "/", "/apps;x=1", "/apps/%252e%252e/",
	} {
		r := w.rawPath(editor, "GET", path).want(404)
		if r.header.Get("Location") != "" {
			t.Errorf("%s: redirected to %s", path, r.header.Get("Location"))
		}
	}
}

func TestParametersAreUnescapedOnce(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"@scope/name", "a b", "100%", "%2F", "é/ü", "a+b", "a?b#c", ".", "..", "/"} {
		r := w.as(editor, "POST", "/components/",
			fmt.Sprintf(`{"name":%q,"version":"1","main":"/x.js","configSchema":{}}`, name)).want(201)
		var shown struct{ Name string }
		path := strings.TrimPrefix(r.header.Get("Location"), w.url)
		w.rawPath(editor, "GET", path).want(200).read(&shown)
		if shown.Name != name {
			t.Errorf("%s: %q, want %q", path, shown.Name, name)
		}
	}
	w.rawPath(editor, "GET", "/components/%40scope%2Fname").want(200)
	w.rawPath(editor, "GET", "/components/@scope%2Fname").want(200)
	w.rawPath(editor, "GET", "/components/@scope/name").want(404)
	w.rawPath(editor, "GET", "/components/%2540scope%252Fname").want(404)
	w.rawPath(editor, "GET", "/components/é%2F\"ü").want(404)
	w.rawPath(editor, "GET", "/components/é%2Fü").want(200)
	w.rawPath(editor, "GET", "/components/..").want(404) // there is one of this name, but not at this path
	w.rawPath(editor, "GET", "/components/.").want(404)
	w.rawPath(editor, "DELETE", "/components/%40scope%2Fname").want(204)
}

func TestAbsoluteFormOfTheRequestLine(t *testing.T) {
	w := newWorld(t)
	w.rawPath(editor, "GET", "http://other.test/apps/").want(200)
	w.rawPath(editor, "GET", "http://other.test/apps//").want(404)
	w.rawPath(editor, "GET", "*").want(404)
}

func TestBasePathAndBaseURL(t *testing.T) {
	for name, c := range map[string]struct{ path, url, want string }{
		"at the root":        {"/", "", "{url}"},
		"below a path":       {"/app-service/v4", "", "{url}/app-service/v4"},
		"with slashes":       {"app-service/v4/", "", "{url}/app-service/v4"},
		"at a known address": {"/app-service/v4", "https://api.example.test/v4/", "https://api.example.test/v4"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(conf *httpapi.Config) { conf.BasePath, conf.BaseURL = c.path, c.url })
			base := strings.TrimRight("/"+strings.Trim(c.path, "/"), "/")
			r := w.as(editor, "POST", base+"/apps/", `{"title":"x","groups":["urn:vitrine:example.test"]}`,
				header("X-Forwarded-Host", "evil.test"), header("X-Forwarded-Proto", "https"),
				header("Forwarded", "host=evil.test")).want(201)
			want := strings.ReplaceAll(c.want, "{url}", w.url) + "/apps/"
			if !strings.HasPrefix(r.header.Get("Location"), want) {
				t.Errorf("Location %q, want %s…", r.header.Get("Location"), want)
			}
			w.send("GET", base+"/cors.html", "").want(200)
			w.send("GET", base+"/openapi.json", "").want(200)
			w.send("GET", "/healthz", "").want(200)
			w.as(editor, "GET", base+"/apps", "").want(200)
			if base != "" {
				w.as(editor, "GET", "/apps/", "").want(404)
				w.as(editor, "GET", base+"x/apps/", "").want(404)
				w.as(editor, "GET", base, "").want(404)
			}
		})
	}
	for _, c := range []httpapi.Config{{BasePath: "/a//b"}, {BasePath: "/a/../b"}, {BasePath: "/a b"},
		{BasePath: "/a?b"}, {BasePath: "/%2e"},
		{BasePath: "/healthz"}, {BasePath: "healthz/"}, {BasePath: "/healthz/x"},
		{BasePath: "/services/frontline/api/v4/assetManager"},
		{BasePath: "/services/frontline/api/v4/assetManager/example.test/assetLibrary"},
		{BaseURL: "api.example.test"}, {BaseURL: "ftp://x"}, {BaseURL: "https://u:p@x"}, {BaseURL: "https://x?y"},
		{BaseURL: "https://"}} {
		c.Authenticate = func(*http.Request) (httpapi.Principal, error) { return httpapi.Principal{}, nil }
		if _, err := httpapi.New(c); err == nil {
			t.Errorf("BasePath %q, BaseURL %q: taken", c.BasePath, c.BaseURL)
		}
	}
	for _, path := range []string{"/healthzz", "/services/frontline/api/v4",
		"/services/frontline/api/v4/assetManagers"} {
		w := newWorld(t, func(c *httpapi.Config) { c.BasePath = path })
		w.as(editor, "GET", path+"/apps/", "").want(200)
	}
	if _, err := httpapi.New(httpapi.Config{}); err == nil {
		t.Error("a handler that lets everybody in, or nobody")
	}
	for _, below := range []struct {
		assets, url string
		right       bool
	}{{"", "", true}, {"/v3", "", false}, {"/v4/shop", "", false}, {"/v4", "", true},
		{"/shop/v4/", "", true}, // with http.StripPrefix
		{"/cms", "https://shop.test/cms/", true}, {"/v4", "https://shop.test/cms", false},
		{"", "https://shop.test", true}} {
		c := shopConfig()
		c.BasePath, c.BaseURL = "v4/", below.url
		c.Assets = assets.New(memory.New(), &assets.Options{BasePath: below.assets})
		if _, err := httpapi.New(c); (err == nil) != below.right {
			t.Errorf("BasePath /v4 with %v: %v", below, err)
		}
	}
	for _, c := range []httpapi.Config{{Apps: &appsvc.Service{}}, {Assets: &assets.Service{}},
		{Reviews: &reviews.Service{}}} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.HasSuffix(said, "has no store: make it with New") {
					t.Errorf("a zero Service: %s", said)
				}
			}()
			c.Authenticate = func(*http.Request) (httpapi.Principal, error) { return httpapi.Principal{}, nil }
			_, _ = httpapi.New(c)
		}()
	}
}

// TestThePathCountsWhereItsRawFormIsStale calls the handler as a program does that rewrites paths.
func TestThePathCountsWhereItsRawFormIsStale(t *testing.T) {
	w := newWorld(t)
	r := httptest.NewRequest("GET", "/x/apps%2F", nil)
	r.URL.Path = "/apps/"
	r.Header.Set("Authorization", "svctoken "+w.token(editor))
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	if rec.Code != 200 {
		t.Errorf("status %d", rec.Code)
	}
}

func TestTheAssetManagerHasOneSlashOrTwo(t *testing.T) {
	w := newWorld(t, func(c *httpapi.Config) {
		c.BasePath, c.Assets = "/v4", assets.New(memory.New(), &assets.Options{BasePath: "/v4"})
	})
	const prefix, rest = "/services/frontline/api/v4/assetManager", "example.test/assetLibrary/example.test/assets"
	w.rawPath(editor, "GET", prefix+"/"+rest).want(200)
	w.rawPath(editor, "GET", prefix+"//"+rest).want(200)
	w.rawPath(editor, "GET", prefix+"//"+rest+"/").want(200)
	for _, path := range []string{prefix + "///" + rest, prefix + rest, "/v4" + prefix + "//" + rest,
		prefix + "///assetLibrary/x/assets",
		prefix + "//" + strings.Replace(rest, "/", "//", 1), prefix + "//" + rest + "//", prefix, prefix + "/",
		prefix + "//",
		prefix + "//./assetLibrary/x/assets", prefix + "//example.test/assetLibrary/../assets"} {
		w.rawPath(editor, "GET", path).want(404)
	}
	for _, library := range []string{"%FF", "%00", "%ED%A0%80"} {
		path := prefix + "//example.test/assetLibrary/" + library + "/folders"
		w.as(editor, "POST", path, `{"create":[{"label":"x"}]}`).want(400)
	}
}
