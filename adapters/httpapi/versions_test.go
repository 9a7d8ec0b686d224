package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// versionsOf returns the versions that an answer lists, in words.
func versionsOf(r reply) string {
	r.t.Helper()
	var out []string
	for _, a := range r.apps() {
		out = append(out, a.Version)
	}
	return strings.Join(out, " ")
}

func TestVersionsAreListedNewestFirstAtBothPaths(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("0", network)
	for v := range 2 {
		w.retitle(id, v, fmt.Sprint(v+1))
	}
	for _, path := range []string{"/apps/versions/?appId=" + id + "&", "/apps/versions?id=" + id + "&",
		"/apps/" + id + "/versions/?", "/apps/" + id + "/versions?"} {
		first := w.as(editor, "GET", path+"limit=2", "").want(200)
		second := w.as(editor, "GET", strings.TrimPrefix(nextOf(first.header.Get("Link")), w.url), "").want(200)
		if got := versionsOf(first) + "|" + versionsOf(second); got != "2 1|0" || second.header.Get("Link") != "" {
			t.Errorf("%s: pages %s, the last of which links to %q", path, got, second.header.Get("Link"))
		}
		w.as(editor, "GET", path+"before=99999999999999999999", "").want(400, "63 bits")
		w.as(editor, "GET", path+"before=9223372036854775807", "").want(200, `"version":"2"`)
	}
	w.as(editor, "GET", "/apps/versions/?appId=versions", "").want(404)
}

func TestOneVersionIsImmutable(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("first", network)
	w.clock.add(time.Second)
	w.retitle(id, 0, "second")
	old := w.as(editor, "GET", "/apps/"+id+"/versions/0", "").want(200)
	if a := old.apps()[0]; a.Title != "first" || a.Version != "0" {
		t.Errorf("%s", old.body)
	}
	for path, want := range map[string]string{
		"/apps/" + id + "/versions/0": "private, max-age=31536000, immutable",
		"/apps/" + id:                 "private, no-cache",
		"/apps/":                      "private, no-cache",
		"/apps/" + id + "/versions/9": "private, no-cache",
	} {
		got := w.as(editor, "GET", path, "").header
		if got.Get("Cache-Control") != want ||
			(got.Get("Vary") == "Authorization, Cookie") != strings.HasPrefix(path, "/apps/"+id) &&
				!strings.HasSuffix(path, "/9") {
			t.Errorf("%s: Cache-Control %q, Vary %q, want %q, and what is kept is kept for its caller", path,
				got.Get("Cache-Control"), got.Values("Vary"), want)
		}
		if got := w.send("GET", path+"?svctoken="+w.token(editor), "").header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s with the token in the query: Cache-Control %q", path, got)
		}
	}
	for _, version := range []string{"9", "01", "-1", "x", "latest", "9223372036854775808", "0.0", "%30%30"} {
		w.as(editor, "GET", "/apps/"+id+"/versions/"+version, "").want(404)
	}
}

func TestALongVersionIsKeptForItsCallerAndItsEncoding(t *testing.T) {
	w := newWorld(t, func(c *httpapi.Config) { c.CompressFrom = 1 })
	r := w.as(editor, "GET", "/apps/"+w.newApp("first", network)+"/versions/0", "").want(200)
	if vary := r.header.Values("Vary"); !slices.Equal(vary, []string{"Accept-Encoding", "Authorization, Cookie"}) {
		t.Errorf("Vary %q", vary)
	}
}

func TestReadsOfOneVersionCarryAnETag(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("first", network)
	w.as(editor, "PUT", "/apps/"+id+"/tags/live", `{"appVersion":"0"}`).want(201)
	for _, path := range []string{"/apps/" + id, "/apps/" + id + "/versions/0", "/apps/" + id + "/tagged/live"} {
		r := w.as(editor, "GET", path, "").want(200)
		etag := r.header.Get("ETag")
		if len(etag) < 3 || etag[0] != '"' {
			t.Fatalf("%s: ETag %q is not strong", path, etag)
		}
		for _, held := range []string{etag, "W/" + etag, "*", `"x", ` + etag, `W/"y",` + etag + `, "z"`} {
			r := w.as(editor, "GET", path, "", header("If-None-Match", held)).want(304)
			if r.body != "" || r.header.Get("ETag") != etag || r.header.Get("Cache-Control") == "" ||
				r.header.Get("Content-Type") != "" {
				t.Errorf("%s: 304 with %v and %q", path, r.header, r.body)
			}
			w.as(editor, "HEAD", path, "", header("If-None-Match", held)).want(304)
		}
		w.as(editor, "GET", path, "", header("If-None-Match", `"x"`), header("If-None-Match", etag)).want(304)
		for _, other := range []string{`"x"`, strings.Trim(etag, `"`), `W/"x"`, ""} {
			w.as(editor, "GET", path, "", header("If-None-Match", other)).want(200)
		}
		w.as(stranger, "GET", path, "", header("If-None-Match", etag)).want(404)
	}
	before := w.as(editor, "GET", "/apps/"+id, "").header.Get("ETag")
	w.retitle(id, 0, "second")
	w.as(editor, "GET", "/apps/"+id, "", header("If-None-Match", before)).want(200)
	if etag := w.as(editor, "GET", "/apps/none", "",
		header("If-None-Match", "*")).want(404).header.Get("ETag"); etag != "" {
		t.Errorf("a 404 has the ETag %s", etag)
	}
}

func TestRestore(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("first", network)
	w.retitle(id, 0, "second")
	r := w.as(editor, "POST", "/apps/versions/restore", fmt.Sprintf(`{"appId":%q,"appVersion":"0"}`, id)).want(201)
	if a := r.apps()[0]; a.Version != "2" || a.Title != "first" ||
		r.header.Get("Location") != w.url+"/apps/"+id+"/versions/2" {
		t.Errorf("%s at %s", r.body, r.header.Get("Location"))
	}
	w.as(editor, "POST", "/apps/versions/restore", fmt.Sprintf(`{"id":%q,"version":"2"}`, id)).want(201,
		`"version":"3"`)
}

func TestConfigsAreAnsweredWithDefaults(t *testing.T) {
	w := newWorld(t)
	w.as(editor, "POST", "/components/",
		`{"name":"poll","version":"1","main":"/x.js","configSchema":{"properties":{"size":{"default":1.10},`+
			`"ask":{"default":"Tea?"}}}}`).want(201)
	var app struct{ ID string }
	w.as(editor, "POST", "/apps/",
		`{"title":"x","groups":["`+network+
			`"],"elements":[{"component":{"name":"poll","version":"1"},"config":{"ask":"Cocoa?"}}]}`).want(201).read(
		&app)
	w.as(editor, "PUT", "/apps/"+app.ID+"/tags/live", `{"appVersion":"0"}`).want(201)
	w.as(editor, "DELETE", "/components/poll", "").want(204) // the element's own copy has the schema
	for _, path := range []string{"", "/versions/0", "/tagged/live"} {
		path = "/apps/" + app.ID + path
		plain := w.as(editor, "GET", path, "").want(200, `"config":{"ask":"Cocoa?"}`)
		if r := w.as(editor, "GET", path+"?withDefaults=false", "").want(200); r.body != plain.body ||
			r.header.Get("ETag") != plain.header.Get("ETag") {
			t.Errorf("%s?withDefaults=false: %s with %s", path, r.body, r.header.Get("ETag"))
		}
		full := w.as(editor, "GET", path+"?withDefaults=true", "").want(200)
		if want := strings.Replace(plain.body, `{"ask":"Cocoa?"}`, `{"ask":"Cocoa?","size":1.10}`,
			1); full.body != want {
			t.Errorf("%s?withDefaults=true: %s, want %s", path, full.body, want)
		}
		etag := full.header.Get("ETag")
		w.as(editor, "GET", path+"?withDefaults=true", "", header("If-None-Match", etag)).want(304)
		w.as(editor, "GET", path, "", header("If-None-Match", etag)).want(200)
		for _, wrong := range []string{"1", "TRUE", "", "true&withDefaults=true"} {
			w.as(editor, "GET", path+"?withDefaults="+wrong, "").want(400, "withDefaults")
		}
	}
}
