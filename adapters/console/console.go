package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"html/template"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/js"

	"github.com/vitrine-go/vitrine/internal/drain"
)

//go:embed static
var static embed.FS

// Config says where the API is, and what the page is called.
type Config struct {
	// API is the address of the API's base path, as the page's browser reaches it. It must have the origin of the
	// page; a path such as "/app-service/v4/" is enough. By default it is the folder of the page: "./".
	API string
	// Title stands in the title of the page and beside its logo. By default it is "Vitrine".
	Title string
}

// filesBelow is the folder of the page's files, below the page.
const filesBelow = "x/console/"

// policy is the Content-Security-Policy. The page may run scripts, use styles and send requests only from and to its own
// origin, and may make no script out of text. Images of assets come from anywhere, but only over https.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' https:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// New returns the handler of the page. It may be mounted below any path that ends in a slash: that path is the page, and its
// files are in x/console/ below it. It does not know where it is mounted, so it answers every path outside of x/console/ that
// ends in a slash with the page; [Before] passes only the base and x/console/. A path of neither kind is 404. It needs no
// token: the files are public, and the page sends the token of its user with each request to the API.
//
// The files are minified and compressed once, when New is first called.
func New(c Config) http.Handler {
	if c.API == "" {
		c.API = "./"
	}
	if c.Title == "" {
		c.Title = "Vitrine"
	}
	h := maps.Clone(files())
	var made bytes.Buffer
	if err := template.Must(template.ParseFS(static, "static/"+page)).Execute(&made, c); err != nil {
		panic("console: the page cannot be made: " + err.Error())
	}
	h[page] = newFile(page, made.Bytes())
	return h
}

// files are all files, minified and compressed when they are first asked for. They are the same for every handler, except for the
// page.
var files = sync.OnceValue(func() handler {
	h := handler{}
	err := fs.WalkDir(static, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := static.ReadFile(name)
		if err != nil {
			return err
		}
		name = strings.TrimPrefix(name, "static/")
		if text, err = minified(name, text); err != nil {
			return err
		}
		h[name] = newFile(name, text)
		return nil
	})
	if err != nil {
		panic("console: an embedded file cannot be read: " + err.Error())
	}
	return h
})

// minified returns a script or a style sheet without comments and white space, and with short names for the local
// variables of a script. Other files are returned unchanged.
func minified(name string, text []byte) ([]byte, error) {
	m := minify.New()
	m.Add(".js", &js.Minifier{})
	m.Add(".css", &css.Minifier{})
	out, err := m.Bytes(path.Ext(name), text)
	if errors.Is(err, minify.ErrNotExist) {
		return text, nil
	}
	return out, err
}

// page is the name of the page among the files.
const page = "index.html"

// handler is the files by name, below x/console/.
type handler map[string]*file

// file is one file, plain and compressed, each with an ETag of its own.
type file struct {
	mediaType      string
	plain, zipped  []byte
	etag, zippedAs string
}

// newFile compresses a file and computes its ETags.
func newFile(name string, text []byte) *file {
	var zipped bytes.Buffer
	w, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression) // an error is only about the level
	_, _ = w.Write(text)                                       // a buffer takes everything
	_ = w.Close()
	sum := sha256.Sum256(text)
	hash := base64.RawURLEncoding.EncodeToString(sum[:12])
	mediaType := mime.TypeByExtension(path.Ext(name))
	switch path.Ext(name) { // TypeByExtension has other types for these on some machines
	case ".js":
		mediaType = "text/javascript; charset=utf-8"
	case ".css":
		mediaType = "text/css; charset=utf-8"
	case ".svg":
		mediaType = "image/svg+xml"
	}
	return &file{mediaType, text, zipped.Bytes(), `"` + hash + `"`, `"` + hash + `-gzip"`}
}

// mostDrained is how many bytes are read of a body that a request has though it needs none.
const mostDrained = 256 << 10

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	drain.Body(w, r, mostDrained)
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Access-Control-Allow-Origin", "*") // as for everything that the server answers; the page has no secrets
	f := h[h.name(r.URL.Path)]
	switch {
	case f == nil:
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "the page is read with GET", http.StatusMethodNotAllowed)
		return
	}
	f.send(w, r)
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

// send answers with the file, compressed if the client takes gzip. With no-cache and an ETag the browser asks each time
// whether its copy is still current, so a new release takes effect at once.
func (f *file) send(w http.ResponseWriter, r *http.Request) {
	body, etag := f.plain, f.etag
	header := w.Header()
	header.Add("Vary", "Accept-Encoding")
	if names(r.Header["Accept-Encoding"], "gzip") && len(f.zipped) < len(f.plain) {
		body, etag = f.zipped, f.zippedAs
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("ETag", etag)
	header.Set("Cache-Control", "no-cache")
	header.Set("Content-Type", f.mediaType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// Before returns a handler for a page and an API at the same address. Requests go to the page if they are a GET or HEAD
// of base with an explicit text/html in Accept, as browsers send it, or for a path in x/console/ below base; all others
// go to the API. base is the base path of the API; an empty one is "/".
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

// varying is a ResponseWriter that adds Accept to Vary when the handler calls WriteHeader, whatever it has set in Vary before.
// The handlers of this package and of httpapi always call WriteHeader.
type varying struct{ http.ResponseWriter }

func (v varying) WriteHeader(status int) {
	v.Header().Add("Vary", "Accept")
	v.ResponseWriter.WriteHeader(status)
}

func (v varying) Unwrap() http.ResponseWriter { return v.ResponseWriter }

// wantsHTML reports whether Accept names text/html. Programs send */*, which does not name it.
func wantsHTML(r *http.Request) bool { return names(r.Header["Accept"], "text/html") }

// names reports whether a header that is a list has an item of this name whose weight is not 0.
func names(header []string, wanted string) bool {
	for item := range strings.SplitSeq(strings.Join(header, ","), ",") {
		name, weight, _ := strings.Cut(item, ";")
		if strings.EqualFold(strings.TrimSpace(name), wanted) {
			q, err := strconv.ParseFloat(strings.TrimPrefix(strings.ReplaceAll(weight, " ", ""), "q="), 64)
			return err != nil || q > 0
		}
	}
	return false
}
