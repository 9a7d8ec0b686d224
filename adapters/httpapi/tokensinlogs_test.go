package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// Wherever a client puts a token, neither the log nor what the Observer is told has it, whatever the answer is.
func TestNoTokenIsLogged(t *testing.T) {
	const (
		canary = "CaNaRy0123456789"
		jwt    = "eyJhbGciOiJIUzI1NiJ9." + canary + "." + canary
	)
	escaped := func(text string) (out string) {
		for _, b := range []byte(text) {
			out += fmt.Sprintf("%%%02X", b)
		}
		return out
	}
	encodedJWT := escaped("eyJ") + jwt[3:20] + "%2e" + canary + "%252E" + canary
	requests := map[string]*http.Request{}
	for _, method := range []string{"GET", "OPTIONS", "POST"} {
		for _, target := range []string{
			"/apps/;svctoken=" + canary, "/apps/;svctoken=" + jwt, "/apps/x;SvcToken=" + canary + "/versions/",
			"/healthz;svctoken=" + canary,
			"/apps/svctoken%3D" + canary, "/apps/svctoken%253d" + canary, "/apps/%73vctoken=" + canary,
			"/apps/%2553VCTOKEN=" + canary,
			"/apps/" + escaped("svctoken=") + canary, "/apps/Bearer%20" + canary, "/apps/bearer+" + canary,
			"/apps/Authorization:svctoken%20" + canary,
			"/apps/svctoken=a/" + canary, "/apps/" + jwt, "/apps/x" + jwt + "/versions/", "/apps/" + encodedJWT,
			"/" + jwt,
			"/apps/" + strings.Repeat("x", 940) + jwt, "/apps/" + strings.Repeat("x", 960) + ";svctoken=" + canary,
			"/apps/?svctoken=" + canary, "/apps/" + canary + "?svctoken=" + canary, "/apps/?%73vctoken=" + canary,
			"/healthz/" + canary + "?svctoken=" + canary, "/apps/?x=" + jwt,
		} {
			requests[method+" "+target] = httptest.NewRequest(method, target, nil)
		}
		for _, scheme := range []string{"svctoken ", "Bearer ", "BEARER ", "Basic "} {
			r := httptest.NewRequest(method, "/apps/"+canary, nil)
			r.Header.Set("Authorization", scheme+canary)
			requests[method+" "+scheme] = r
		}
	}
	requests["method"] = httptest.NewRequest(jwt, "/apps/", nil)
	for _, panics := range []bool{false, true} {
		var x exchanges
		w := newWorld(t, func(c *httpapi.Config) {
			c.Observer = x.observe
			if panics {
				c.Apps = panicking("a bug with " + encodedJWT + " and /?svctoken=" + canary)
				c.Authenticate = func(*http.Request) (httpapi.Principal, error) { return editor, nil }
			}
		})
		for _, r := range requests {
			w.handler.ServeHTTP(httptest.NewRecorder(), r.Clone(t.Context()))
		}
		if len(x.all) != len(requests) {
			t.Fatalf("the observer was told of %d requests, want %d", len(x.all), len(requests))
		}
		for line := range strings.Lines(w.log.String() + fmt.Sprintf("%+v", x.all)) {
			if i := strings.Index(line, canary[:4]); i >= 0 {
				t.Errorf("panics %t: a token is told: %.300s", panics, line[max(0, i-100):])
			}
		}
		if w.log.String() == "" {
			t.Error("nothing was logged")
		}
	}
}

// What only resembles a token stays, so that the log is of use.
func TestPathsWithoutTokensAreLoggedWhole(t *testing.T) {
	var x exchanges
	w := newWorld(t, func(c *httpapi.Config) { c.Observer = x.observe })
	for _, path := range []string{"/apps/bearer", "/apps/eyJones/versions/", "/apps/svctoken",
		"/apps/a%20b/tags/v1.2.3"} {
		w.handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
		if got := x.all[len(x.all)-1].Path; got != path {
			t.Errorf("%s is logged as %s", path, got)
		}
	}
	w.handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/apps/"+strings.Repeat("a", 100_000), nil))
	if got := x.all[len(x.all)-1].Path; len(got) > 1010 {
		t.Errorf("a long path is logged as %d bytes", len(got))
	}
}
