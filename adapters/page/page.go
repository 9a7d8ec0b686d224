package page

import (
	"embed"
	"net/http"
	"strings"

	"github.com/vitrine-go/vitrine/internal/webfile"
)

//go:embed static
var static embed.FS

// files are all files, minified and compressed when they are first asked for.
var files = webfile.Embedded(static, "static")

// below is the folder of the files, below the base path of the API.
const below = "x/"

// cacheControl lets a new release take effect within minutes. Pages load the script again and again, from caches that
// are near.
const cacheControl = "public, max-age=300"

// preview is the Content-Security-Policy of preview.html. Its components come from anywhere and may do what a page may
// do. But the frame has no origin of its own, and only pages of this origin may show it.
const preview = "default-src 'none'; script-src 'self' http: https:; style-src 'unsafe-inline' https:; img-src " +
	"https: http: data:; font-src https: http:; " +
	"media-src https: http:; connect-src https: http:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// Handler serves the files: vitrine.js, vitrine-data.js, their types in vitrine.d.ts and vitrine-data.d.ts,
// preview.html and preview.js, each below x/ of whatever path it is mounted at. All other paths are 404. The files are
// public, so it needs no token.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, name, _ := strings.Cut(r.URL.Path, "/"+below)
		if name == "preview.html" {
			w.Header().Set("Content-Security-Policy", preview)
			w.Header().Set("Referrer-Policy", "no-referrer")
		}
		webfile.Serve(w, r, files()[name], cacheControl)
	})
}

// Before returns a handler for the files and an API at the same address: requests for one of the files go to Handler,
// all others to the API. base is the base path of the API; an empty one is "/".
func Before(api http.Handler, base string) http.Handler {
	base = strings.TrimRight("/"+strings.Trim(base, "/"), "/") + "/" + below
	own := Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, ok := strings.CutPrefix(r.URL.Path, base); ok && files()[name] != nil {
			own.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}
