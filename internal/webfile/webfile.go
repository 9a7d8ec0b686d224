// Package webfile serves the files of a browser: minified, compressed, and with an ETag, so that a browser fetches each
// once.
package webfile

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"sync"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/js"

	"github.com/vitrine-go/vitrine/internal/drain"
	"github.com/vitrine-go/vitrine/internal/negotiate"
)

// File is one file, plain and compressed, each with an ETag of its own.
type File struct {
	mediaType      string
	plain, zipped  []byte
	etag, zippedAs string
}

// Embedded returns the files of a directory that is a part of the program, by their path below it. They are minified
// and compressed once, when they are first asked for.
func Embedded(program embed.FS, dir string) func() map[string]*File {
	return sync.OnceValue(func() map[string]*File {
		files := map[string]*File{}
		below, err := fs.Sub(program, dir)
		if err == nil {
			err = fs.WalkDir(below, ".", func(name string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				text, err := fs.ReadFile(below, name)
				if err == nil {
					files[name], err = New(name, text)
				}
				return err
			})
		}
		if err != nil {
			panic("an embedded file cannot be read: " + err.Error())
		}
		return files
	})
}

// New returns a file with this name. Its extension gives its media type. Scripts and style sheets lose their comments
// and white space, and the local variables of scripts get short names.
func New(name string, text []byte) (*File, error) {
	m := minify.New()
	m.Add(".js", &js.Minifier{})
	m.Add(".css", &css.Minifier{})
	switch out, err := m.Bytes(path.Ext(name), text); {
	case err == nil:
		text = out
	case !errors.Is(err, minify.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	mediaType := mime.TypeByExtension(path.Ext(name))
	switch path.Ext(name) { // TypeByExtension has other types for these on some machines
	case ".js":
		mediaType = "text/javascript; charset=utf-8"
	case ".css":
		mediaType = "text/css; charset=utf-8"
	case ".svg":
		mediaType = "image/svg+xml"
	case ".ts":
		mediaType = "text/plain; charset=utf-8"
	}
	var zipped bytes.Buffer
	w, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression) // an error is only about the level
	_, _ = w.Write(text)                                       // a buffer takes everything
	_ = w.Close()
	sum := sha256.Sum256(text)
	hash := base64.RawURLEncoding.EncodeToString(sum[:12])
	return &File{mediaType, text, zipped.Bytes(), `"` + hash + `"`, `"` + hash + `-gzip"`}, nil
}

// mostDrained is how many bytes are read of a body that is not needed.
const mostDrained = 256 << 10

// Serve serves a GET or HEAD of the file, compressed if the client accepts gzip. Any other method is 405, and a nil
// file is 404. cache is the Cache-Control of the file.
func Serve(w http.ResponseWriter, r *http.Request, f *File, cache string) {
	drain.Body(w, r, mostDrained)
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Access-Control-Allow-Origin", "*") // as for every response of the server; files have no secrets
	switch {
	case f == nil:
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "a file is read with GET", http.StatusMethodNotAllowed)
		return
	}
	body, etag := f.plain, f.etag
	header.Add("Vary", "Accept-Encoding")
	if negotiate.Takes(r.Header["Accept-Encoding"], "gzip") && len(f.zipped) < len(f.plain) {
		body, etag = f.zipped, f.zippedAs
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("ETag", etag)
	header.Set("Cache-Control", cache)
	if negotiate.Has(r.Header["If-None-Match"], etag) {
		header.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", f.mediaType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // the client may have disconnected
	}
}
