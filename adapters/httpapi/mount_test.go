package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

const twoSlashes = "/services/frontline/api/v4/assetManager//example.test/assetLibrary/example.test/assets"

// TestBelowAServeMux tests what the package's comment says about a ServeMux.
func TestBelowAServeMux(t *testing.T) {
	w := newWorld(t, func(c *httpapi.Config) {
		c.BasePath, c.Assets = "/api", assets.New(memory.New(), nil)
	})
	w.as(editor, "POST", "/api/components/",
		`{"name":"@scope/name","version":"1","main":"https://cdn.example.test/x.js","configSchema":{}}`).want(201)
	mux := http.NewServeMux()
	mux.Handle("/", w.handler)
	ask := func(h http.Handler, path string) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, httptest.NewRequest("GET", path+"?svctoken="+w.token(editor), nil))
		return answer
	}
	oneSlash := strings.Replace(twoSlashes, "//", "/", 1)
	for _, path := range []string{"/api/components/%40scope%2Fname", "/api/components", "/api/components/", oneSlash,
		"/healthz"} {
		if answer := ask(mux, path); answer.Code != 200 {
			t.Errorf("%s below a ServeMux: status %d", path, answer.Code)
		}
	}
	answer := ask(mux, twoSlashes)
	if at := answer.Header().Get("Location"); answer.Code != 307 || !strings.HasPrefix(at, oneSlash+"?svctoken=") {
		t.Errorf("two slashes below a ServeMux: status %d, Location %q", answer.Code, at)
	}
	if answer := ask(beside(w.handler, http.NotFoundHandler()), twoSlashes); answer.Code != 200 {
		t.Errorf("two slashes beside other pages: status %d", answer.Code)
	}
}
