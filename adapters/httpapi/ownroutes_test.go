package httpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// shopConfig knows people by the cookie "who".
func shopConfig() httpapi.Config {
	return httpapi.Config{Apps: appsvc.New(memory.New(), nil), Challenge: `Session realm="shop"`,
		TrustedOrigins: []string{"https://www.shop.example"},
		Authenticate: func(r *http.Request) (httpapi.Principal, error) {
			c, err := r.Cookie("who")
			switch {
			case err != nil:
				return httpapi.Principal{}, httpapi.Unauthenticated("sign in at /login first")
			case c.Value == "broken":
				return httpapi.Principal{}, io.ErrUnexpectedEOF
			}
			return httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=" + c.Value,
				TagsOnly: c.Value == "page", Moderates: []string{network}}}, nil
		}}
}

// Routes of the program's own know the same callers as the API, refuse the same requests with the same words, and
// answer errors alike.
func TestRoutesOfOnesOwn(t *testing.T) {
	c := shopConfig()
	api, err := httpapi.New(c)
	if err != nil {
		t.Fatal(err)
	}
	known, err := httpapi.Known(c)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", api)
	mux.Handle("/own/", known(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		by := httpapi.CallerOf(r.Context())
		if _, err := c.Apps.As(by.Caller).App(r.Context(), strings.TrimPrefix(r.URL.Path, "/own/")); err != nil {
			httpapi.WriteError(w, r, err)
			return
		}
		fmt.Fprint(w, by.URN)
	})))
	ann := vitrine.Caller{URN: network + ":user=ann", Moderates: []string{network}}
	app, err := c.Apps.As(ann).CreateApp(t.Context(), appsvc.CreateAppRequest{Title: "x", Groups: []string{network}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, r)
		return answer
	}
	if answer := ask("GET", "/own/"+app.ID, "Cookie", "who=ann"); answer.Code != 200 ||
		answer.Body.String() != network+":user=ann" || answer.Header().Get("X-Request-Id") == "" ||
		answer.Header().Get("Content-Security-Policy") != "" {
		t.Errorf("%d %s %v", answer.Code, answer.Body, answer.Header())
	}
	for _, x := range []struct {
		what, method string
		status       int
		says         string
		headers      []string
	}{
		{"nobody", "GET", 401, `"error":"sign in at /login first","code":"unauthorized"`, nil},
		{"an absent app", "GET", 404, `"code":"not_found"`, []string{"Cookie", "who=ann"}},
		{"the sessions are down", "GET", 503, `"code":"unavailable"`, []string{"Cookie", "who=broken"}},
		{"a page's caller", "GET", 403, `"code":"forbidden"`, []string{"Cookie", "who=page"}},
		{"another site", "DELETE", 403, `"code":"forbidden"`,
			[]string{"Cookie", "who=ann", "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}},
	} {
		own, same := ask(x.method, "/own/none", x.headers...), ask(x.method, "/apps/none", x.headers...)
		for path, answer := range map[string]*httptest.ResponseRecorder{"/own": own, "/apps": same} {
			if answer.Code != x.status || !strings.Contains(answer.Body.String(), x.says) ||
				(x.status == 401) != (answer.Header().Get("WWW-Authenticate") == `Session realm="shop"`) {
				t.Errorf("%s at %s: %d %s", x.what, path, answer.Code, answer.Body)
			}
		}
		if own.Body.String() != same.Body.String() {
			t.Errorf("%s: %s at the route of its own, %s at the API", x.what, own.Body, same.Body)
		}
	}
	trusted := []string{"Cookie", "who=ann", "Sec-Fetch-Site", "cross-site", "Origin", "https://www.shop.example"}
	if answer := ask("POST", "/own/"+app.ID, trusted...); answer.Code != 200 {
		t.Errorf("a trusted origin at a route of its own: %d %s", answer.Code, answer.Body)
	}
	if answer := ask("DELETE", "/apps/"+app.ID, trusted...); answer.Code != 204 {
		t.Errorf("a trusted origin: %d %s", answer.Code, answer.Body)
	}
	hidden := httptest.NewRecorder()
	httpapi.WriteError(hidden, httptest.NewRequest("GET", "/", nil), io.ErrUnexpectedEOF)
	if hidden.Code != 500 || !strings.Contains(hidden.Body.String(), `"error":"internal error","code":"internal"`) {
		t.Errorf("an error of the program: %d %s", hidden.Code, hidden.Body)
	}
}

func TestAnXRequestIdIsTakenWhereItIsSane(t *testing.T) {
	w := newWorld(t)
	for id, taken := range map[string]bool{"a": true, "01J.x_-9": true, strings.Repeat("x", 128): true,
		strings.Repeat("x", 129): false, "": false, "a b": false, "<x>": false, "é": false} {
		if got := w.as(editor, "GET", "/apps/", "",
			header("X-Request-Id", id)).header.Get("X-Request-Id"); (got == id) != taken || got == "" {
			t.Errorf("%q becomes %q", id, got)
		}
	}
}

func TestAConfigThatCannotBeMounted(t *testing.T) {
	for _, prefix := range []string{"/api/apps", "/api", "/api/x/assets", "/healthz", "/a b", "/a/../b"} {
		c := shopConfig()
		c.BasePath, c.AssetPrefix = "/api", prefix
		if _, err := httpapi.New(c); err == nil || !strings.Contains(err.Error(), "AssetPrefix") {
			t.Errorf("AssetPrefix %s: %v", prefix, err)
		}
	}
	c := shopConfig()
	c.TrustedOrigins = []string{"shop.example"}
	if _, err := httpapi.New(c); err == nil || !strings.Contains(err.Error(), "TrustedOrigins") {
		t.Errorf("an origin without a scheme: %v", err)
	}
}
