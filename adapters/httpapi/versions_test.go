package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
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
	for v := range 4 {
		w.clock.add(time.Millisecond)
		w.retitle(id, v, fmt.Sprint(v+1))
	}
	for _, path := range []string{"/apps/versions/?appId=" + id, "/apps/versions?id=" + id, "/apps/" + id + "/versions/", "/apps/" + id + "/versions"} {
		sep := "?"
		if strings.Contains(path, "?") {
			sep = "&"
		}
		if got := versionsOf(w.as(editor, "GET", path, "").want(200)); got != "4 3 2 1 0" {
			t.Errorf("%s: %s", path, got)
		}
		if got := versionsOf(w.as(editor, "GET", path+sep+"before=2", "").want(200)); got != "1 0" {
			t.Errorf("%s before 2: %s", path, got)
		}
		first := w.as(editor, "GET", path+sep+"limit=2", "").want(200)
		second := w.as(editor, "GET", strings.TrimPrefix(nextOf(first.header.Get("Link")), w.url), "").want(200)
		third := w.as(editor, "GET", strings.TrimPrefix(nextOf(second.header.Get("Link")), w.url), "").want(200)
		if got := versionsOf(first) + "|" + versionsOf(second) + "|" + versionsOf(third); got != "4 3|2 1|0" {
			t.Errorf("%s: pages %s", path, got)
		}
		if link := third.header.Get("Link"); link != "" {
			t.Errorf("%s: the last page links to %s", path, link)
		}
		w.as(editor, "GET", path+sep+"before=99999999999999999999", "").want(400, "63 bits")
		w.as(editor, "GET", path+sep+"before=9223372036854775807", "").want(200, `"version":"4"`)
	}
	w.as(editor, "GET", "/apps/versions/?appId=versions", "").want(404)
}

func TestAPageEndsEarlyWhenItsBytesAreFull(t *testing.T) {
	w := newWorld(t, func(c *httpapi.Config) {
		c.Apps = appsvc.New(memory.New().Apps(), &appsvc.Options{Limits: appsvc.Limits{PageBytes: 1}})
	})
	id := w.newApp("0", network)
	w.retitle(id, 0, "1")
	w.as(editor, "PUT", "/apps/"+id+"/tags/a", `{"appVersion":"0"}`).want(201)
	w.as(editor, "PUT", "/apps/"+id+"/tags/b", `{"appVersion":"1"}`).want(201)
	w.newApp("second", network)
	w.newComponent("a", "1")
	w.newComponent("b", "1")
	for _, path := range []string{"/apps/", "/apps/" + id + "/versions/", "/apps/" + id + "/tags/?embedApps=true", "/components/"} {
		first := w.as(editor, "GET", path, "").want(200)
		next := nextOf(first.header.Get("Link"))
		second := w.as(editor, "GET", strings.TrimPrefix(next, w.url), "").want(200)
		if next == "" || first.body == second.body || second.header.Get("Link") != "" {
			t.Errorf("%s: %s, then %s (%s)", path, first.body, second.body, second.header.Get("Link"))
		}
	}
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
		if got.Get("Cache-Control") != want || (got.Get("Vary") == "Authorization, Cookie") != strings.HasPrefix(path, "/apps/"+id) && !strings.HasSuffix(path, "/9") {
			t.Errorf("%s: Cache-Control %q, Vary %q, want %q, and what is kept is kept for its caller", path, got.Get("Cache-Control"), got.Values("Vary"), want)
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
			if r.body != "" || r.header.Get("ETag") != etag || r.header.Get("Cache-Control") == "" || r.header.Get("Content-Type") != "" {
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
	if etag := w.as(editor, "GET", "/apps/none", "", header("If-None-Match", "*")).want(404).header.Get("ETag"); etag != "" {
		t.Errorf("a 404 has the ETag %s", etag)
	}
}

func TestRestore(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("first", network)
	w.retitle(id, 0, "second")
	w.as(editor, "PUT", "/apps/"+id+"/tags/live", `{"appVersion":"1"}`).want(201)
	r := w.as(editor, "POST", "/apps/versions/restore", fmt.Sprintf(`{"appId":%q,"appVersion":"0"}`, id)).want(201)
	if a := r.apps()[0]; a.Version != "2" || a.Title != "first" || r.header.Get("Location") != w.url+"/apps/"+id+"/versions/2" {
		t.Errorf("%s at %s", r.body, r.header.Get("Location"))
	}
	w.as(editor, "POST", "/apps/versions/restore", fmt.Sprintf(`{"id":%q,"version":"2"}`, id)).want(201, `"version":"3"`)
	w.as(editor, "GET", "/apps/"+id+"/tags/live", "").want(200, `"appVersion":"1"`)
}

// A body may say that it means the latest version, in place of naming one.
func TestABodyMayMeanTheLatestVersion(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("x", network)
	w.retitle(id, 0, "y")
	tag, restore := "/apps/"+id+"/tags/live", func(more string) string { return fmt.Sprintf(`{"appId":%q,%s}`, id, more) }
	if r := w.as(editor, "PUT", tag, `{"latest":true}`).want(201); !strings.Contains(r.body, `"appVersion":"1"`) {
		t.Errorf("the tag: %s", r.body)
	}
	if r := w.as(editor, "POST", "/apps/versions/restore", restore(`"latest":true`)).want(201); r.apps()[0].Version != "2" || r.apps()[0].Title != "y" {
		t.Errorf("restored: %s", r.body)
	}
	for _, wrong := range []string{`"latest":false`, `"latest":true,"appVersion":"0"`, `"latest":false,"appVersion":"0"`, `"latest":"true"`, `"latest":1`, `"Latest":true`} {
		w.as(editor, "PUT", tag, "{"+wrong+"}").want(400, "atest")
		w.as(editor, "POST", "/apps/versions/restore", restore(wrong)).want(400, "atest")
	}
	w.as(editor, "PUT", tag, `{"latest":null}`).want(400, "/appVersion")
	w.as(editor, "POST", "/apps/versions/restore", restore(`"latest":true,"version":"0"`)).want(400, "/latest")
	w.as(stranger, "PUT", tag, `{"latest":true}`).want(404)
}

func TestConfigsAreAnsweredWithDefaults(t *testing.T) {
	w := newWorld(t)
	w.as(editor, "POST", "/components/", `{"name":"poll","version":"1","main":"/x.js","configSchema":{"properties":{"size":{"default":1.10},"ask":{"default":"Tea?"}}}}`).want(201)
	var app struct{ ID string }
	w.as(editor, "POST", "/apps/", `{"title":"x","groups":["`+network+`"],"elements":[{"component":{"name":"poll","version":"1"},"config":{"ask":"Cocoa?"}}]}`).want(201).read(&app)
	w.as(editor, "PUT", "/apps/"+app.ID+"/tags/live", `{"appVersion":"0"}`).want(201)
	w.as(editor, "DELETE", "/components/poll", "").want(204) // the element's own copy has the schema
	for _, path := range []string{"", "/versions/0", "/tagged/live"} {
		path = "/apps/" + app.ID + path
		plain := w.as(editor, "GET", path, "").want(200, `"config":{"ask":"Cocoa?"}`)
		if r := w.as(editor, "GET", path+"?withDefaults=false", "").want(200); r.body != plain.body || r.header.Get("ETag") != plain.header.Get("ETag") {
			t.Errorf("%s?withDefaults=false: %s with %s", path, r.body, r.header.Get("ETag"))
		}
		full := w.as(editor, "GET", path+"?withDefaults=true", "").want(200)
		if want := strings.Replace(plain.body, `{"ask":"Cocoa?"}`, `{"ask":"Cocoa?","size":1.10}`, 1); full.body != want {
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

func TestAnAnswerWithTooManyDefaultsIsRefused(t *testing.T) {
	w := newWorld(t)
	large := strings.Repeat("x", 200<<10)
	w.as(editor, "POST", "/components/", `{"name":"poll","version":"1","main":"/x.js","configSchema":{"items":{},"properties":{"a":{"items":{"properties":{"b":{"default":"`+large+`"}}}}}}}`).want(201)
	var app struct{ ID string }
	w.as(editor, "POST", "/apps/", `{"title":"x","groups":["`+network+`"],"elements":[{"component":{"name":"poll","version":"1"},"config":{"a":[`+
		strings.Repeat("{},", 100)+`{}]}}]}`).want(201).read(&app)
	w.as(editor, "GET", "/apps/"+app.ID+"?withDefaults=true", "").want(422, `"code":"cost"`, `"parameter":"withDefaults"`)
	w.as(editor, "GET", "/apps/"+app.ID, "").want(200)
}

func TestHistoryAndDiff(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("first", network)
	w.retitle(id, 0, "second <&>")
	w.retitle(id, 1, "third")
	w.as(editor, "POST", "/apps/versions/restore", `{"appId":"`+id+`","appVersion":"1"}`).want(201)
	w.as(editor, "PUT", "/apps/"+id+"/tags/live", `{"appVersion":"3"}`).want(201)
	const title = `"changes":[{"op":"replace","path":"/apps/0/title"}],"changesTruncated":false`
	entries := []string{
		`"restoredFrom":"1","tags":["live"],` + title, `"restoredFrom":null,"tags":[],` + title, `"restoredFrom":null,"tags":[],` + title,
		`"restoredFrom":null,"tags":[],"changes":[],"changesTruncated":false`,
	}
	history := "/apps/" + id + "/history"
	w.as(editor, "GET", history, "").want(200, append(entries, `{"history":[{"version":"3","updatedAt":1`, `"updatedBy":{"urn":"`+editor.URN+`"}`)...)
	next := history + "/?limit=1"
	for i, entry := range entries {
		r := w.as(editor, "GET", next, "").want(200, fmt.Sprintf(`{"history":[{"version":"%d"`, 3-i), entry+"}]}")
		link := r.header.Get("Link")
		if (link == "") != (i == len(entries)-1) {
			t.Fatalf("page %d has the link %q", i, link)
		}
		if link != "" {
			next = strings.TrimPrefix(strings.TrimSuffix(link, `>; rel="next"`), "<"+w.url)
		}
	}
	w.as(editor, "GET", history+"?before=1", "").want(200, `{"history":[{"version":"0"`)
	w.as(editor, "GET", history+"?before=0", "").want(200, `{"history":[]}`)

	r := w.as(editor, "GET", "/apps/"+id+"/versions/2/diff/1", "").want(200)
	patch := `[{"op":"test","path":"/apps/0/version","value":"2"},{"op":"replace","path":"/apps/0/title","value":"second <&>"}]`
	if want := `{"from":"2","to":"1","patch":` + patch + `}`; r.body != want {
		t.Errorf("got %s, want %s", r.body, want)
	}
	w.as(editor, "PATCH", "/apps/"+id, patch).want(409, `"version":"3"`)
	var d struct{ Patch json.RawMessage }
	w.as(editor, "GET", "/apps/"+id+"/versions/3/diff/2", "").want(200).read(&d)
	w.as(editor, "PATCH", "/apps/"+id, string(d.Patch)).want(200, `"title":"third"`, `"version":"4"`)
}
