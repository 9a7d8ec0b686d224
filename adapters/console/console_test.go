package console_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/console"
)

// ask sends a request with these headers, given as pairs.
func ask(t *testing.T, h http.Handler, method, path string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestThePageAndItsFiles(t *testing.T) {
	page := console.New(console.Config{API: "/v4/", Title: `Shop <"&'>`, SignIn: "/login"})
	for _, c := range []struct {
		path, mediaType, has string
	}{
		{"/", "text/html; charset=utf-8", "<title>Shop &lt;&#34;&amp;&#39;&gt;</title>"},
		{"/", "text/html; charset=utf-8", `content="/v4/"`},
		{"/", "text/html; charset=utf-8", `content="/login"`},
		{"/mounted/anywhere/", "text/html; charset=utf-8", `src="x/console/main.js"`},
		{"/x/console/main.js", "text/javascript; charset=utf-8", "import"},
		{"/mounted/x/console/views/apps.js", "text/javascript; charset=utf-8", "import"},
		{"/x/console/console.css", "text/css; charset=utf-8", ":root"},
		{"/x/console/icon.svg", "image/svg+xml", "<svg"},
	} {
		r := ask(t, page, "GET", c.path)
		if body := text(t, r); r.StatusCode != 200 || r.Header.Get("Content-Type") != c.mediaType ||
			!strings.Contains(body, c.has) {
			t.Errorf("%s: %d %q, want %q in it", c.path, r.StatusCode, r.Header.Get("Content-Type"), c.has)
		}
	}
	for _, path := range []string{"/other", "/x/console/", "/x/console/none.js", "/x/console/index.html",
		"/x/console/../console.go", "/x/console/views"} {
		if r := ask(t, page, "GET", path); r.StatusCode != 404 {
			t.Errorf("%s: %d, want 404", path, r.StatusCode)
		}
	}
	if r := ask(t, page, "POST", "/"); r.StatusCode != 405 || r.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d, %q", r.StatusCode, r.Header.Get("Allow"))
	}
	if r := ask(t, page, "HEAD", "/"); r.StatusCode != 200 || text(t, r) != "" || r.ContentLength == 0 {
		t.Errorf("HEAD: %d", r.StatusCode)
	}
}

func TestEveryAnswerHasThePolicy(t *testing.T) {
	const want = "default-src 'none'; frame-src 'self'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
		"img-src 'self' https:; media-src 'self'; base-uri 'none'; " +
		"form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
	page := console.New(console.Config{})
	for _, path := range []string{"/", "/x/console/main.js", "/none"} {
		header := ask(t, page, "GET", path).Header
		if header.Get("Content-Security-Policy") != want || header.Get("X-Content-Type-Options") != "nosniff" ||
			header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", path, header)
		}
	}
}

func TestFilesAreCompressedAndKept(t *testing.T) {
	page := console.New(console.Config{})
	plain := ask(t, page, "GET", "/x/console/console.css")
	whole := text(t, plain)
	for _, refused := range []string{"", "identity", "gzip;q=0", "br"} {
		if r := ask(t, page, "GET", "/x/console/console.css", "Accept-Encoding",
			refused); r.Header.Get("Content-Encoding") != "" || text(t, r) != whole {
			t.Errorf("%q is answered with %q", refused, r.Header.Get("Content-Encoding"))
		}
	}
	zipped := ask(t, page, "GET", "/x/console/console.css", "Accept-Encoding", "br, gzip;q=0.8")
	unzip, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := io.ReadAll(unzip); err != nil || string(same) != whole {
		t.Errorf("the compressed file is another one: %v", err)
	}
	if plain.Header.Get("ETag") == zipped.Header.Get("ETag") ||
		!strings.Contains(zipped.Header.Get("Vary"), "Accept-Encoding") {
		t.Errorf("both forms have the ETag %s", plain.Header.Get("ETag"))
	}
	for _, etag := range []string{plain.Header.Get("ETag"), `"x", W/` + plain.Header.Get("ETag")} {
		if r := ask(t, page, "GET", "/x/console/console.css", "If-None-Match", etag); r.StatusCode != 304 ||
			text(t, r) != "" {
			t.Errorf("If-None-Match %s: %d", etag, r.StatusCode)
		}
	}
	if r := ask(t, page, "GET", "/x/console/console.css", "If-None-Match", `"other"`); r.StatusCode != 200 {
		t.Errorf("another ETag: %d", r.StatusCode)
	}
}

func TestPeopleGetThePageAndProgramsTheAPI(t *testing.T) {
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		clear(w.Header()) // as who refuses a request may do
		w.WriteHeader(http.StatusUnauthorized)
	})
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for _, base := range []string{"/", "", "/v4", "/v4/"} {
		h := console.Before(api, base, console.New(console.Config{}))
		root := "/"
		if strings.Contains(base, "v4") {
			root = "/v4/"
		}
		for _, c := range []struct {
			method, path, accept string
			page                 bool
		}{
			{"GET", root, browser, true}, {"HEAD", root, browser, true},
			{"GET", root + "x/console/main.js", "*/*", true},
			{"GET", root, "*/*", false}, {"GET", root, "text/html;q=0", false}, {"GET", root, "", false},
			{"GET", root, "application/json", false}, {"POST", root, browser, false},
			{"GET", root + "apps", browser, false}, {"GET", root + "x/me", browser, false},
			{"GET", "/other/x/console/main.js", browser, false},
		} {
			r := ask(t, h, c.method, c.path, "Accept", c.accept)
			if page := r.Header.Get("Content-Security-Policy") != ""; page != c.page {
				t.Errorf("base %q: %s %s of %q is answered by the page: %v", base, c.method, c.path, c.accept, page)
			}
			if c.path == root && c.method == "GET" &&
				!strings.Contains(strings.Join(r.Header.Values("Vary"), ","), "Accept") {
				t.Errorf("%s has no Vary: Accept", root)
			}
		}
	}
}

// served returns the files of the page by their names, as they are sent.
func served(t *testing.T) map[string]string {
	t.Helper()
	page, all := console.New(console.Config{}), map[string]string{}
	err := fs.WalkDir(os.DirFS("static"), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			address := "/x/console/" + name
			if name == "index.html" {
				address = "/"
			}
			all[name] = text(t, ask(t, page, "GET", address))
		}
		return err
	})
	if err != nil || len(all) < 10 {
		t.Fatalf("%d files, %v", len(all), err)
	}
	return all
}

// No module imports, directly or through others, one that imports it, at once or when it is needed.
func TestModulesImportOneAnotherInOneDirection(t *testing.T) {
	modules := served(t)
	imported := regexp.MustCompile(`(?:\bfrom|\bimport\(?)\s*"(\.[^"]+)"`)
	var trail []string
	followed, imports := map[string]bool{}, 0
	var follow func(name string)
	follow = func(name string) {
		if at := slices.Index(trail, name); at >= 0 {
			t.Errorf("modules import one another in a circle: %s", strings.Join(append(trail[at:], name), " -> "))
		}
		if followed[name] {
			return
		}
		followed[name] = true
		trail = append(trail, name)
		for _, found := range imported.FindAllStringSubmatch(modules[name], -1) {
			imports++
			follow(path.Join(path.Dir(name), found[1]))
		}
		trail = trail[:len(trail)-1]
	}
	follow("main.js")
	if imports < len(modules) {
		t.Errorf("%d imports were found in %d files", imports, len(modules))
	}
}

// What is sent is small, has no way to make markup or script of text, and no control that takes numbers by itself:
// type="number" makes 1999 of 19,99 and changes by the wheel.
func TestTheFilesAreSmallAndMakeNoMarkup(t *testing.T) {
	const most, mostAtFirst = 450_000, 100_000 // bytes, before compression
	forbidden := regexp.MustCompile(
		`(?i)innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|` +
			`\beval\(|new Function|javascript:|\son[a-z]+="|style="|https?://(?:[a-z0-9-]+\.)+[a-z]{2,` +
			`}|type:\s*"(?:number|range)"|valueAsNumber`)
	const allowed = "http://www.w3.org/2000/svg"
	total, bodies := 0, served(t)
	for name, body := range bodies {
		total += len(body)
		for i, line := range strings.Split(body, "\n") {
			if found := forbidden.FindString(strings.ReplaceAll(line, allowed, "")); found != "" {
				t.Errorf("%s:%d has %q", name, i+1, found)
			}
		}
	}
	if total >= most {
		t.Errorf("the files have %d bytes together, want less than %d", total, most)
	}
	first := 0
	imported := regexp.MustCompile(`(?:\bfrom|\bimport)\s*"(\.[^"]+)"`)
	var load func(name string)
	load = func(name string) {
		body, unloaded := bodies[name]
		if !unloaded {
			return
		}
		delete(bodies, name)
		first += len(body)
		for _, found := range imported.FindAllStringSubmatch(body, -1) {
			load(path.Join(path.Dir(name), found[1]))
		}
	}
	for _, name := range []string{"index.html", "console.css", "main.js", "views/apps.js"} {
		load(name)
	}
	if _, later := bodies["views/history.js"]; first >= mostAtFirst || !later || bodies["api.js"] != "" {
		t.Errorf("the first view has %d bytes, want less than %d; left for later are %q", first, mostAtFirst,
			slices.Sorted(maps.Keys(bodies)))
	}
	t.Logf("%d bytes, %d of them at first", total, first)
}
