package httpapi_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// takes is a request with these codings in Accept-Encoding. With such a header the client does not decompress the
// response.
func takes(codings ...string) option {
	return func(r *http.Request) { r.Header["Accept-Encoding"] = codings }
}

// plain is the body of an answer, uncompressed.
func (r reply) plain() string {
	r.t.Helper()
	if r.header.Get("Content-Encoding") == "" {
		return r.body
	}
	z, err := gzip.NewReader(strings.NewReader(r.body))
	if err != nil {
		r.t.Fatalf("%s: %v", r.what, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		r.t.Fatalf("%s: %v", r.what, err)
	}
	return string(text)
}

func compressFrom(n int) func(*httpapi.Config) {
	return func(c *httpapi.Config) { c.CompressFrom = n }
}

func TestAcceptEncodingDecides(t *testing.T) {
	w := newWorld(t, compressFrom(1))
	path := "/apps/" + w.newApp("x", network)
	for _, c := range []struct {
		lists  []string
		zipped bool
	}{
		{nil, false}, {[]string{"gzip"}, true}, {[]string{"br", "deflate, gzip"}, true}, {[]string{"identity"}, false},
		{[]string{"gzip;q=0"}, false},
	} {
		r := w.as(editor, "GET", path, "", takes(c.lists...)).want(200)
		if zipped := r.header.Get("Content-Encoding") == "gzip"; zipped != c.zipped {
			t.Errorf("Accept-Encoding %.60q: compressed: %v", c.lists, zipped)
		}
		if !strings.HasPrefix(r.plain(), `{"apps":[`) {
			t.Errorf("Accept-Encoding %.60q: %.100q", c.lists, r.body)
		}
	}
}

func TestLongAnswersAreCompressedForThoseWhoTakeIt(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("x", network)
	size := len(w.as(editor, "GET", "/apps/"+id, "").body)
	for _, c := range []struct {
		name   string
		from   int
		zipped bool
	}{{"at the length", size, true}, {"one byte short", size + 1, false}, {"off", -1, false},
		{"the default", 0, false}} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, compressFrom(c.from))
			path := "/apps/" + w.newApp("x", network)
			r := w.as(editor, "GET", path, "", takes("gzip")).want(200)
			if zipped := r.header.Get("Content-Encoding") == "gzip"; zipped != c.zipped ||
				slices.Contains(r.header.Values("Vary"), "Accept-Encoding") != c.zipped {
				t.Errorf("%d bytes: %v", size, r.header)
			}
			plain := w.as(editor, "GET", path, "").want(200)
			if plain.header.Get("Content-Encoding") != "" || plain.header.Get("Vary") != r.header.Get("Vary") {
				t.Errorf("who takes nothing gets %v", plain.header)
			}
			if plain.body != r.plain() {
				t.Errorf("%q is %q uncompressed", plain.body, r.plain())
			}
		})
	}
	long := w.newApp(strings.Repeat("x", 1024), network)
	for v := range 16 { // 16 versions of 1 KB are over 16 KiB
		w.retitle(long, v, strings.Repeat("y", 1000)+string(rune('a'+v)))
	}
	if r := w.as(editor, "GET", "/apps/"+long+"/versions/", "",
		takes("gzip")); r.header.Get("Content-Encoding") != "gzip" || len(r.body) > 5000 {
		t.Errorf("%d bytes, %v", len(r.body), r.header)
	}
}

// Each form of a response has an ETag of its own. The ETag of the plain form does not match the compressed one, nor the
// other way round.
func TestIfNoneMatchIsAboutTheFormThatWouldBeSent(t *testing.T) {
	w := newWorld(t, compressFrom(1))
	path := "/apps/" + w.newApp("x", network)
	plain := w.as(editor, "GET", path, "").want(200).header.Get("ETag")
	zipped := w.as(editor, "GET", path, "", takes("gzip")).want(200).header.Get("ETag")
	if plain == zipped || strings.Count(zipped, `"`) != 2 {
		t.Fatalf("ETags %s and %s", plain, zipped)
	}
	for _, c := range []struct {
		codings, held string
		status        int
	}{
		{"", plain, 304}, {"", zipped, 200}, {"gzip", zipped, 304}, {"gzip", plain, 200}, {"gzip;q=0", plain, 304},
		{"gzip", plain + ", " + zipped, 304}, {"gzip", "W/" + zipped, 304}, {"gzip", "*", 304},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			r := w.as(editor, method, path, "", takes(c.codings), header("If-None-Match", c.held)).want(c.status)
			want := plain
			if c.codings == "gzip" {
				want = zipped
			}
			if r.header.Get("ETag") != want || r.header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s, takes %q, holds %s: %d %v", method, c.codings, c.held, r.status, r.header)
			}
			if r.status == 304 &&
				(r.body != "" || r.header.Get("Content-Encoding") != "" || r.header.Get("Content-Type") != "") {
				t.Errorf("304 with %v and %q", r.header, r.body)
			}
		}
	}
}

func TestHEADOfACompressedAnswer(t *testing.T) {
	w := newWorld(t, compressFrom(1))
	path := "/apps/" + w.newApp("x", network)
	get, head := w.as(editor, "GET", path, "", takes("gzip")), w.as(editor, "HEAD", path, "", takes("gzip"))
	for _, name := range []string{"Content-Length", "Content-Encoding", "Content-Type", "ETag", "Vary"} {
		if get.header.Get(name) == "" || head.header.Get(name) != get.header.Get(name) {
			t.Errorf("%s: GET %q, HEAD %q", name, get.header.Get(name), head.header.Get(name))
		}
	}
	if head.body != "" {
		t.Errorf("HEAD has a body of %d bytes", len(head.body))
	}
}

func TestErrorsAndChangesAreCompressedAlike(t *testing.T) {
	w := newWorld(t, compressFrom(1))
	if text := w.as(editor, "GET", "/nothing", "", takes("gzip")).plain(); !strings.Contains(text, `"error"`) {
		t.Errorf("404 is %q", text)
	}
	r := w.as(editor, "POST", "/apps/", `{"title":"x","groups":["urn:vitrine:example.test"]}`, takes("gzip")).want(201)
	if r.header.Get("Content-Encoding") != "gzip" || r.header.Get("Location") == "" ||
		!strings.Contains(r.plain(), `"url"`) {
		t.Errorf("201 %v", r.header)
	}
	if r := w.as(editor, "OPTIONS", "/apps/", "", takes("gzip")).want(204); r.header.Get("Content-Encoding") != "" ||
		r.body != "" {
		t.Errorf("204 %v", r.header)
	}
}
