package page_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// Node.js lists and reads what a server publishes, also in many pages and from a busy server, and renders it.
func TestDataInNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil && os.Getenv("VITRINE_CI") == "" {
		t.Skip("Node.js is not in PATH")
	}
	requests := map[string]int{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		requests[r.URL.Path]++
		switch ids := q["app"]; {
		case r.URL.Path == "/v4/x/public/no":
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"error": "this key has other tags", "code": "forbidden"}`)
		case r.URL.Path != "/v4/x/public/pro&mo" || q.Get("key") != "k y":
			t.Errorf("%s", r.URL)
		case requests[r.URL.Path] == 2:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		case len(ids) > 0:
			var apps []string
			for _, id := range ids {
				app := `{"id": %q, "tag": "pro&mo", "version": "7", "title": "T", "elements": [` +
					`{"key": "0.0", "name": "poll", "main": "https://c.example/p.js", "config": {"q": "<\"&>"}}, ` +
					`{"key": "0.1", "name": "views", "headless": true, "main": "x", "config": {}}, ` +
					`{"key": "0.2", "name": "map", "main": "x", "config": {}}]}`
				if lang := q.Get("lang"); lang != "" {
					app = strings.Replace(app, `"title"`, `"lang": "`+lang+`", "title"`, 1)
				}
				if id == "gone" {
					app = `{"id": %q, "error": "it is gone", "code": "not_found"}`
				}
				apps = append(apps, fmt.Sprintf(app, id))
			}
			fmt.Fprintf(w, `{"apps": [%s]}`, strings.Join(apps, ","))
		case q.Get("after") == "":
			fmt.Fprint(w, `{"apps": [{"id": "a"}, {"id": "b"}], "next": "b&b"}`)
		case q.Get("after") == "b&b" && q.Get("limit") == "2":
			fmt.Fprint(w, `{"apps": [{"id": "c"}], "next": null}`)
		}
	}))
	defer s.Close()
	out, err := exec.Command(node, "testdata/data.mjs", s.URL+"/v4").Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var got struct {
		Listed, Apps, Asked, Wrong  []string
		HTML, Refused, Broken, Gone string
		German                      string
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Listed, []string{"a", "b", "c"}) || requests["/v4/x/public/pro&mo"] != 6 {
		t.Errorf("listed %q in %v", got.Listed, requests)
	}
	if n := len(got.Apps); n != 53 || got.Apps[50] != "app50" || got.Apps[51] != "app0" ||
		got.Apps[52] != "it is gone" {
		t.Errorf("apps %q", got.Apps)
	}
	if want := `<vitrine-app app="app0" tag="pro&#38;mo" page-key="k y" server="` + s.URL + `/v4" data-version="7">` +
		`<div data-key="0.0" data-component="poll"><p><"&>,T,0.0,` + s.URL + `/v4,https://c.example/p.js</p></div>` +
		`<div data-key="0.2" data-component="map"></div></vitrine-app>`; got.HTML != want {
		t.Errorf("%s, want %s", got.HTML, want)
	}
	if !strings.Contains(got.German, ` data-version="7" data-lang="de-AT">`) {
		t.Error(got.German)
	}
	if want := "this key has other tags (403 of " + s.URL + "/v4/x/public/no),403,forbidden"; got.Refused != want ||
		!reflect.DeepEqual(got.Asked, []string{"?app=a&key=k+y"}) {
		t.Errorf("%q of %q", got.Refused, got.Asked)
	}
	if !strings.HasPrefix(got.Broken,
		"the element 0.0 (poll) of the app app1 cannot be rendered: ReferenceError: document") {
		t.Error(got.Broken)
	}
	if len(got.Wrong) != 3 || got.Wrong[0] != "key is missing: want server, tag and key,," ||
		got.Wrong[1] != "apps: want an array of ids,," ||
		!strings.HasPrefix(got.Wrong[2], "http://127.0.0.1:1 does not answer: ") {
		t.Errorf("%q", got.Wrong)
	}
	if want := "the app gone cannot be rendered: it is gone,,"; got.Gone != want {
		t.Errorf("%q, want %q", got.Gone, want)
	}
}

// The script of the guide runs as it stands there.
func TestTheScriptOfTheGuideInNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil && os.Getenv("VITRINE_CI") == "" {
		t.Skip("Node.js is not in PATH")
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"apps": [{"id": %q, "tag": "production", "version": "7", "title": "T", "elements": [`+
			`{"key": "0.0", "name": "poll", "main": "https://c.example/p.js", "config": {"q": "Tea?"}}]}]}`,
			r.URL.Query().Get("app"))
	}))
	defer s.Close()
	guide, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```mjs\n(import.*?)^```$").FindAllSubmatch(guide, -1)
	if len(blocks) != 1 {
		t.Fatalf("the guide has %d scripts for Node.js, want one", len(blocks))
	}
	data, err := os.ReadFile("static/vitrine-data.js")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"package.json":    `{"type": "module"}`,
		"vitrine-data.js": string(data),
		"poll.js":         "export const render = ({ config }) => config.q",
		"build.js": "const PAGE = 'pk', APP = 'a1';\n" +
			strings.ReplaceAll(string(blocks[0][1]), "http://127.0.0.1:8080", s.URL) + "console.log(html)",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command(node, "build.js")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil || !strings.Contains(string(out), ">Tea?</div></vitrine-app>") {
		t.Errorf("%v: %s", err, out)
	}
}
