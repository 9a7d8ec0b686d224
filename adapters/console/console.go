package console

import (
	"embed"
	"encoding/json"
	"errors"
	"html"
	"maps"
	"net/http"
	"strings"

	"github.com/vitrine-go/vitrine/internal/negotiate"
	"github.com/vitrine-go/vitrine/internal/webfile"
)

//go:embed static
var static embed.FS

// Config has the addresses of the API and the title of the page.
type Config struct {
	// API is the address of the API's base path, as the page's browser reaches it. It must have the origin of the
	// page; a path such as "/app-service/v4/" is enough. By default it is the folder of the page: "./".
	API string
	// AssetPrefix is that of httpapi.Config, as the page's browser reaches it, such as "/app-service/v4/assets". By
	// default it is /services/frontline/api/v4/assetManager/.
	AssetPrefix string
	// Title is shown in the title of the page and beside its logo. By default it is "Vitrine".
	Title string
	// SignIn is the address where people sign in to the embedding program, such as "/login". When the API returns 401,
	// the page shows a button that leads there, with the path and fragment of the page in the parameter to, where the
	// program may send people back to. Without SignIn the page asks for a passkey, where adapters/signin is mounted, or
	// for a token.
	SignIn string
	// SignOut is the address where people sign out of the embedding program, which a button leads to. Without it there
	// is no such button.
	SignOut string
	// AssetNames are the names of the numbers that assets have as via and rights. Others are shown as numbers.
	AssetNames AssetNames
}

// AssetNames are names of numbers that the service gives no meaning to.
type AssetNames struct {
	Via    map[int64]string `json:"via,omitempty"`    // how an asset was added
	Rights map[int64]string `json:"rights,omitempty"` // the status of the rights request
}

// filesBelow is the folder of the page's files, below the page.
const filesBelow = "x/console/"

// policy is the Content-Security-Policy. The page may run scripts, use styles and send requests only from and to its
// own origin, and may make no script out of text. Images of assets come from anywhere, but only over https; video and
// sound come from the library.
const policy = "default-src 'none'; frame-src 'self'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"img-src 'self' https:; media-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types " +
	"'none'"

// New returns the handler of the page. It may be mounted below any path that ends in a slash: that path is the page,
// and its files are in x/console/ below it. It does not know where it is mounted, so it serves the page at every path
// outside of x/console/ that ends in a slash; [Before] forwards only the base and x/console/. A path of neither kind is
// 404. It needs no token: the files are public, and the page sends the token of its user with each request to the API.
//
// The files are minified and compressed once, when New is first called.
func New(c Config) http.Handler {
	if c.API == "" {
		c.API = "./"
	}
	if c.AssetPrefix = strings.TrimRight(c.AssetPrefix, "/"); c.AssetPrefix == "" {
		c.AssetPrefix = "/services/frontline/api/v4/assetManager/"
	}
	if c.Title == "" {
		c.Title = "Vitrine"
	}
	h := handler(maps.Clone(files()))
	made, err := c.page()
	if err == nil {
		h[page], err = webfile.New(page, made)
	}
	if err != nil {
		panic("console: the page cannot be made: " + err.Error())
	}
	return h
}

// page returns the page with the values of c. It does without html/template, which looks up methods by their names, so
// that the linker must keep every exported method of every type in the program.
func (c Config) page() ([]byte, error) {
	text, err := static.ReadFile("static/" + page)
	names, unencodable := json.Marshal(c.AssetNames)
	filled := strings.NewReplacer(
		"{{.API}}", html.EscapeString(c.API),
		"{{.AssetPrefix}}", html.EscapeString(c.AssetPrefix),
		"{{.SignIn}}", html.EscapeString(c.SignIn),
		"{{.SignOut}}", html.EscapeString(c.SignOut),
		"{{.AssetNames}}", html.EscapeString(string(names)),
		"{{.Title}}", html.EscapeString(c.Title)).Replace(string(text))
	return []byte(filled), errors.Join(err, unencodable)
}

// files are all files. They are the same for every handler, except for the page.
var files = webfile.Embedded(static, "static")

// page is the name of the page among the files.
const page = "index.html"

// handler is the files by name, below x/console/.
type handler map[string]*webfile.File

// ServeHTTP serves a file. With no-cache and an ETag the browser asks each time whether its copy is still current, so a
// new release takes effect at once.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	webfile.Serve(w, r, h[h.name(r.URL.Path)], "no-cache")
}

// name returns the name of the file that a path asks for, or "" if there is no such file.
func (h handler) name(path string) string {
	if at := strings.LastIndex(path, "/"+filesBelow); at >= 0 {
		name := path[at+len("/"+filesBelow):]
		if name == page {
			return "" // the page has only one address, the folder above
		}
		return name
	}
	if strings.HasSuffix(path, "/") || path == "" {
		return page
	}
	return ""
}

// Before returns a handler for a page and an API at the same address. Requests go to the page if they are a GET or HEAD
// of base with an explicit text/html in Accept, as browsers send it, or for a path in x/console/ below base; all others
// go to the API. base is the base path of the API; an empty one is "/".
//
// It redirects nothing, since an address may have a token in it: base without its slash goes to the API, which has no
// such path. A program that wants people to get to the page from there redirects that path itself, without the query.
// http.ServeMux does so, with the query, if it has the handler at base with its slash alone.
func Before(api http.Handler, base string, page http.Handler) http.Handler {
	base = "/" + strings.Trim(base, "/")
	if base != "/" {
		base += "/"
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, base+filesBelow):
			page.ServeHTTP(w, r)
			return
		case r.URL.Path == base && (r.Method == http.MethodGet || r.Method == http.MethodHead):
			w = varying{w}
			if wantsHTML(r) {
				page.ServeHTTP(w, r)
				return
			}
		}
		api.ServeHTTP(w, r)
	})
}

// varying is a ResponseWriter that adds Accept to Vary when the handler calls WriteHeader, whatever it has set in Vary
// before. The handlers of this package and of httpapi always call WriteHeader.
type varying struct{ http.ResponseWriter }

func (v varying) WriteHeader(status int) {
	v.Header().Add("Vary", "Accept")
	v.ResponseWriter.WriteHeader(status)
}

func (v varying) Unwrap() http.ResponseWriter { return v.ResponseWriter }

// wantsHTML reports whether Accept names text/html. Programs send */*, which does not name it.
func wantsHTML(r *http.Request) bool { return negotiate.Takes(r.Header["Accept"], "text/html") }
