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

// show is the Content-Security-Policy of the page of a link that shows an app. The page loads its own files alone, and
// the app in the frame of preview.html. No other page may frame it.
const show = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-same-origin"

// showPage is the name of that page, whose file is show.html.
const showPage = "show"

// Handler serves the files: vitrine.js, vitrine-data.js, their types in vitrine.d.ts and vitrine-data.d.ts,
// preview.html, the page show, and what these two load, each below x/ of whatever path it is mounted at. All other
// paths are 404. The files are public, so it needs no token.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, name, _ := strings.Cut(r.URL.Path, "/"+below)
		cache := cacheControl
		switch name {
		case "preview.html":
			w.Header().Set("Content-Security-Policy", preview)
			w.Header().Set("Referrer-Policy", "no-referrer")
		case showPage:
			w.Header().Set("Content-Security-Policy", show)
			w.Header().Set("Referrer-Policy", "no-referrer")
			w.Header().Set("X-Robots-Tag", "noindex")
			cache = "no-store"
		}
		webfile.Serve(w, r, file(name), cache)
	})
}

// file returns the file with a name, nil if there is none.
func file(name string) *webfile.File {
	switch name {
	case showPage:
		return files()["show.html"]
	case "show.html": // it has one address
		return nil
	}
	return files()[name]
}

// Before returns a handler for the files and an API at the same address: requests for one of the files go to Handler,
// all others to the API. base is the base path of the API; an empty one is "/".
func Before(api http.Handler, base string) http.Handler {
	base = strings.TrimRight("/"+strings.Trim(base, "/"), "/") + "/" + below
	own := Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, ok := strings.CutPrefix(r.URL.Path, base); ok && file(name) != nil {
			own.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}
