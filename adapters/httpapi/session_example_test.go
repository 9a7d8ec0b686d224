package httpapi_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// beside gives the paths of the API to api, and all others to pages. A ServeMux cannot do this, since it redirects
// the double slash in the paths of the asset manager.
func beside(api, pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, prefix := range []string{"/api/", "/services/", "/healthz"} {
			if strings.HasPrefix(r.URL.EscapedPath(), prefix) {
				api.ServeHTTP(w, r)
				return
			}
		}
		pages.ServeHTTP(w, r)
	})
}

// A program with pages of its own knows its users by a session cookie. A browser sends the cookie with requests of
// other sites too, so the handler refuses writes that come from them.
func Example_sessionCookie() {
	var sessions sync.Map // of httpapi.Principal, by the value of the cookie
	api, err := httpapi.New(httpapi.Config{
		Apps:     appsvc.New(memory.New(), nil),
		BasePath: "/api",
		Authenticate: func(r *http.Request) (httpapi.Principal, error) {
			cookie, err := r.Cookie("session")
			if err != nil {
				return httpapi.Principal{}, fmt.Errorf("%w: no session cookie", httpapi.ErrUnauthenticated)
			}
			who, known := sessions.Load(cookie.Value)
			if !known {
				return httpapi.Principal{}, fmt.Errorf("%w: the session has ended", httpapi.ErrUnauthenticated)
			}
			return who.(httpapi.Principal), nil
		},
	})
	if err != nil {
		panic(err)
	}
	pages := http.NewServeMux()
	pages.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) { // without the password, here
		id := rand.Text()
		sessions.Store(id,
			httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:example.test:user=ann",
				Moderates: []string{"urn:vitrine:example.test"}}})
		http.SetCookie(w,
			&http.Cookie{Name: "session", Value: id, Path: "/", HttpOnly: true, Secure: true,
				SameSite: http.SameSiteLaxMode})
	})
	program := beside(api, pages)

	login := httptest.NewRecorder()
	program.ServeHTTP(login, httptest.NewRequest("POST", "/login", nil))
	cookie := login.Result().Cookies()[0]
	// create sends what a browser does for a page of some site: the header Sec-Fetch-Site says which.
	create := func(from, site, contentType string, cookies ...*http.Cookie) {
		r := httptest.NewRequest("POST", "/api/apps/",
			strings.NewReader(`{"title":"Hello","groups":["urn:vitrine:example.test"]}`))
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Sec-Fetch-Site", site)
		for _, cookie := range cookies {
			r.AddCookie(cookie)
		}
		answer := httptest.NewRecorder()
		program.ServeHTTP(answer, r)
		fmt.Printf("%s: %d\n", from, answer.Code)
	}
	create("a script of our own page", "same-origin", "application/json", cookie)
	create("a form on another site", "cross-site", "text/plain", cookie)
	create("a script of another site", "cross-site", "application/json", cookie)
	create("a page of ours without a session", "same-origin", "application/json")
	// Output:
	// a script of our own page: 201
	// a form on another site: 403
	// a script of another site: 403
	// a page of ours without a session: 401
}
