package page_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/page"
)

func TestFiles(t *testing.T) {
	api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	for base, prefix := range map[string]string{"": "/", "/": "/", "/v4/": "/v4/"} {
		h := page.Before(api, base)
		ask := func(path string, headers ...string) *httptest.ResponseRecorder {
			r := httptest.NewRequest("GET", path, nil)
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		for name, mediaType := range map[string]string{"vitrine.js": "text/javascript", "preview.js": "text/javascript",
			"vitrine.d.ts": "text/plain", "preview.html": "text/html", "show.js": "text/javascript",
			"show.css": "text/css", "vitrine-data.js": "text/javascript",
			"vitrine-data.d.ts": "text/plain"} {
			w := ask(prefix + "x/" + name)
			if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), mediaType) ||
				w.Header().Get("Access-Control-Allow-Origin") != "*" ||
				w.Header().Get("Cache-Control") != "public, max-age=300" {
				t.Errorf("%s: %d %v", name, w.Code, w.Header())
			}
			if again := ask(prefix+"x/"+name, "If-None-Match", w.Header().Get("ETag")); again.Code != 304 ||
				again.Body.Len() != 0 {
				t.Errorf("%s asked again: %d", name, again.Code)
			}
			const want = "default-src 'none'; script-src 'self' http: https:; style-src 'unsafe-inline' https:; " +
				"img-src https: http: data:; " +
				"font-src https: http:; media-src https: http:; connect-src https: http:; base-uri 'none'; " +
				"form-action 'none'; frame-ancestors 'self'"
			if policy := w.Header().Get("Content-Security-Policy"); name == "preview.html" && policy != want {
				t.Errorf("%s: the policy is %q", name, policy)
			}
			if policy := w.Header().Get("Content-Security-Policy"); strings.Contains(policy,
				"frame-ancestors 'self'") != (name == "preview.html") {
				t.Errorf("%s: the policy is %q", name, policy)
			}
		}
		w := ask(prefix + "x/show")
		for name, want := range map[string]string{"Cache-Control": "no-store", "X-Robots-Tag": "noindex",
			"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
			"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": "default-src 'none'; " +
				"script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; " +
				"form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-same-origin"} {
			if have := w.Header().Get(name); have != want || w.Code != 200 {
				t.Errorf("x/show: %d, %s %q, want %q", w.Code, name, have, want)
			}
		}
		for _, path := range []string{"x/", "x/show.html", "x/show/", "x/show/app", "x/none.js", "x/console/main.js",
			"apps/", "y/vitrine.js"} {
			if w := ask(prefix + path); w.Code != http.StatusTeapot {
				t.Errorf("%s does not go to the API: %d", path, w.Code)
			}
		}
	}
}

func TestTheScriptIsSmall(t *testing.T) {
	r := httptest.NewRequest("GET", "/x/vitrine.js", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	w := httptest.NewRecorder()
	page.Handler().ServeHTTP(w, r)
	if n := w.Body.Len(); w.Header().Get("Content-Encoding") != "gzip" || n > 4096 {
		t.Errorf("it has %d bytes in gzip; README.md says at most 4 KiB", n)
	}
}
