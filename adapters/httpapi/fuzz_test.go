package httpapi_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// fuzzHandler returns a handler over a small store, and the id of an app in it.
func fuzzHandler(f *testing.F) (*httpapi.Tokens, http.Handler, string) {
	f.Helper()
	tokens, err := httpapi.NewTokens(testKey, nil)
	if err != nil {
		f.Fatal(err)
	}
	apps := appsvc.New(memory.New(), nil)
	by := vitrine.Caller{URN: editor.URN, Moderates: editor.Moderates}
	var id string
	for range 3 {
		app, err := apps.As(by).CreateApp(f.Context(), appsvc.CreateAppRequest{Title: "x", Groups: []string{network}})
		if err != nil {
			f.Fatal(err)
		}
		id = app.ID
	}
	h, err := httpapi.New(httpapi.Config{
		Apps: apps, Assets: assets.New(memory.New(), nil), Reviews: reviews.New(memory.New(), nil),
		Authenticate: tokens.Authenticate, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		f.Fatal(err)
	}
	return tokens, h, id
}

// checkAnswer is what holds for the answer to any request whatever.
func checkAnswer(t *testing.T, rec *httptest.ResponseRecorder) {
	t.Helper()
	if rec.Code >= 500 || rec.Code >= 300 && rec.Code < 400 && rec.Code != 304 {
		t.Errorf("status %d: %s", rec.Code, rec.Body)
	}
	if body := rec.Body.Bytes(); len(body) > 0 && (!json.Valid(body) || !utf8.Valid(body)) {
		t.Errorf("%d with a body that is no JSON: %q", rec.Code, body)
	}
	if rec.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Error("no CORS header")
	}
}

func FuzzQueryParameters(f *testing.F) {
	tokens, h, id := fuzzHandler(f)
	token, err := tokens.Sign(editor, time.Now().Add(24*time.Hour))
	if err != nil {
		f.Fatal(err)
	}
	for _, query := range []string{"", "limit=1", "limit=500&sort=-updatedAt", "after=AAAAAAAAAAAAAAAA",
		"before=1&limit=2", "appId=" + id, "embedApps=true",
		"usingComponent=x&a=%zz;b", "limit=%D9%A1", "after=%FF&before=%00", "svctoken=x", "limit=1&limit=2", "=&&=",
		"%", "query=a+b&tags=x,y&via=1&rights=x",
		"since=AA&until=BB", "folderTree=1&order=asc", "id=1,2&path=/,/1/2", "key=k&key=l"} {
		f.Add(query)
	}
	const library = "/services/frontline/api/v4/assetManager//example.test/assetLibrary/example.test"
	paths := []string{library + "/assets", library + "/folders", library + "/attributes", "/apps/", "/apps/versions/",
		"/apps/" + id + "/versions/", "/apps/" + id + "/tags/", "/tags/t", "/components/", "/apps/" + id}
	f.Fuzz(func(t *testing.T, query string) {
		for _, path := range paths {
			r := httptest.NewRequest("GET", path, nil)
			r.URL.RawQuery = query
			r.Header.Set("Authorization", "svctoken "+token)
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, r)
			checkAnswer(t, rec)
			for link := rec.Header().Get("Link"); link != ""; link = "" {
				next, err := url.Parse(strings.TrimSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`))
				if err != nil || next.Query().Has("svctoken") {
					t.Errorf("%s?%s links to %s", path, query, link)
				}
			}
		}
	})
}

func FuzzPath(f *testing.F) {
	tokens, h, id := fuzzHandler(f)
	token, err := tokens.Sign(editor, time.Now().Add(24*time.Hour))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range []string{"/apps/" + id, "/apps/../apps/", "/components/%40a%2Fb", "//", "/%2e/",
		"/apps/%00/tags/%FF", "/services/frontline/api/v4/assetManager//n/assetLibrary/l/assets", "", "*"} {
		f.Add("GET", path)
		f.Add("DELETE", path)
	}
	f.Fuzz(func(t *testing.T, method, path string) {
		u, err := url.ParseRequestURI("/" + strings.TrimPrefix(path, "/"))
		if err != nil {
			return
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.URL, r.Method = u, method
		r.URL.RawQuery = ""
		for _, auth := range []string{"", "svctoken " + token} {
			r.Header.Set("Authorization", auth)
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, r)
			if !strings.HasSuffix(u.Path, "/cors.html") {
				checkAnswer(t, rec)
			}
		}
	})
}

// FuzzToken looks for a token that is accepted although its signature is not ours, and for a payload that is accepted
// although its claims break a rule.
func FuzzToken(f *testing.F) {
	tokens, h, _ := fuzzHandler(f)
	good, err := tokens.Sign(editor, time.Now().Add(time.Hour))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, `{"sub":"x","exp":99999999999}`)
	f.Add("a.b.c", `{"sub":"x","exp":1e400,"nbf":-0,"moderates":[]}`)
	f.Add("", `[]`)
	f.Fuzz(func(t *testing.T, token, claims string) {
		if _, err := tokens.Verify(token); err == nil && token != good {
			if parsed, err := jwt.Parse(token, func(*jwt.Token) (any, error) {
				return testKey, nil
			}, jwt.WithValidMethods([]string{"HS256"})); err != nil || !parsed.Valid {
				t.Errorf("%q was taken", token)
			}
		}
		r := httptest.NewRequest("GET", "/apps/", nil)
		r.Header.Set("Authorization", token)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		checkAnswer(t, rec)

		p, err := tokens.Verify(forge(t, jwt.SigningMethodHS256, testKey, claims))
		if err == nil && (p.URN == "" || !json.Valid([]byte(claims))) {
			t.Errorf("the claims %q were taken for %+v", claims, p)
		}
	})
}
