package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCreateAppAnswersIDAndURL(t *testing.T) {
	w := newWorld(t)
	w.newComponent("@scope/feed", "1.0.0")
	r := w.as(editor, "POST", "/apps/", `{"title":"One","groups":["urn:vitrine:example.test:site=1"],
		"elements":[{"component":{"name":"@scope/feed","version":"1.0.0"},"config":{"n":9007199254740993,"x":1.10}}]}`).want(201)
	var body map[string]string
	r.read(&body)
	if len(body) != 2 || body["url"] != w.url+"/apps/"+body["id"] || r.header.Get("Location") != body["url"] {
		t.Fatalf("body %v, Location %q", body, r.header.Get("Location"))
	}
	r = w.as(editor, "GET", "/apps/"+body["id"], "").want(200, `"config":{"n":9007199254740993,"x":1.10}`)
	a := r.apps()[0]
	if a.Version != "0" || a.Title != "One" || a.Owner["urn"] != editor.URN || a.UpdatedBy["urn"] != editor.URN ||
		a.CreatedAt != 1_700_000_000_000 || a.UpdatedAt != a.CreatedAt || a.Elements[0].ID != "0" ||
		a.Elements[0].Component["main"] != "https://cdn.example.test/x.js" || a.Elements[0].Component["configSchema"] == nil {
		t.Errorf("%+v", a)
	}
}

func TestCreateAppRefuses(t *testing.T) {
	w := newWorld(t)
	group := `"groups":["urn:vitrine:example.test"]`
	for name, c := range map[string]struct {
		body   string
		status int
		word   string
	}{
		"no title":                    {`{` + group + `}`, 400, "title"},
		"empty title":                 {`{"title":"",` + group + `}`, 400, "title"},
		"title over 1,024 characters": {`{"title":"` + strings.Repeat("é", 1025) + `",` + group + `}`, 400, "title"},
		"no groups":                   {`{"title":"x"}`, 400, "groups"},
		"empty groups":                {`{"title":"x","groups":[]}`, 400, "groups"},
		"null groups":                 {`{"title":"x","groups":null}`, 400, "/groups"},
		"group twice":                 {`{"title":"x","groups":["urn:vitrine:a","urn:vitrine:a"]}`, 400, "groups/1"},
		"group that is no URN":        {`{"title":"x","groups":["site=1"]}`, 400, "groups/0"},
		"101 groups":                  {`{"title":"x","groups":[` + list(101, `"urn:vitrine:example.test:site=%d"`) + `]}`, 400, "groups"},
		"1,001 elements":              {`{"title":"x",` + group + `,"elements":[` + list(1001, `{"component":{"name":"c%d","version":"1"},"config":{}}`) + `]}`, 400, "elements"},
		"unknown member":              {`{"title":"x",` + group + `,"owner":{}}`, 400, `unknown member \"owner\"`},
		"member in another case":      {`{"tItLe":"x",` + group + `}`, 400, "tItLe"},
		"title twice":                 {`{"title":"x","title":"y",` + group + `}`, 400, "title"},
		"title of another type":       {`{"title":1,` + group + `}`, 400, "/title"},
		"element without config":      {`{"title":"x",` + group + `,"elements":[{"component":{"name":"c","version":"1"}}]}`, 400, "elements/0/config"},
		"element without component":   {`{"title":"x",` + group + `,"elements":[{"config":{}}]}`, 400, "elements/0"},
		"unknown component":           {`{"title":"x",` + group + `,"elements":[{"component":{"name":"c","version":"1"},"config":{}}]}`, 422, "component"},
		"group of others":             {`{"title":"x","groups":["urn:vitrine:example.test","urn:vitrine:elsewhere.test"]}`, 403, "elsewhere.test"},
	} {
		t.Run(name, func(t *testing.T) {
			w.as(editor, "POST", "/apps/", c.body).want(c.status, c.word)
		})
	}
	if apps := w.as(editor, "GET", "/apps/", "").want(200).apps(); len(apps) != 0 {
		t.Errorf("a refused request stored %d apps", len(apps))
	}
}

// list writes format for 0 to n-1, joined by commas.
func list(n int, format string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(items, ",")
}

func TestLimitsOfAnAppAreReachable(t *testing.T) {
	w := newWorld(t)
	w.newComponent("c", "1")
	groups := list(100, `"urn:vitrine:example.test:site=%d"`)
	elements := strings.TrimSuffix(strings.Repeat(`{"component":{"name":"c","version":"1"},"config":{}},`, 1000), ",")
	w.as(editor, "POST", "/apps/", `{"title":"`+strings.Repeat("é", 1024)+`","groups":[`+groups+`],"elements":[`+elements+`]}`).want(201)
}

func TestListAppsShowsWhatTheCallerMayUse(t *testing.T) {
	w := newWorld(t)
	one := w.newApp("site 1", network+":site=1")
	w.newApp("site 10", network+":site=10")
	if apps := w.as(editor, "GET", "/apps/", "").want(200).apps(); len(apps) != 2 {
		t.Errorf("the network's moderator sees %d apps", len(apps))
	}
	if apps := w.as(siteOne, "GET", "/apps", "").want(200).apps(); len(apps) != 1 || apps[0].ID != one {
		t.Errorf("the moderator of site=1 sees %v", apps)
	}
	if r := w.as(stranger, "GET", "/apps/", "").want(200); r.body != `{"apps":[]}` {
		t.Errorf("a stranger is answered %s", r.body)
	}
}

func TestListAppsSorts(t *testing.T) {
	w := newWorld(t)
	var ids []string
	for i := range 3 {
		ids = append(ids, w.newApp(fmt.Sprint(i), network))
		w.clock.add(time.Millisecond)
	}
	w.retitle(ids[0], 0, "changed last")
	for sort, want := range map[string][]int{
		"": {2, 1, 0}, "?sort=createdAt": {0, 1, 2}, "?sort=-createdAt": {2, 1, 0},
		"?sort=updatedAt": {1, 2, 0}, "?sort=-updatedAt": {0, 2, 1},
	} {
		var got []string
		for _, a := range w.as(editor, "GET", "/apps/"+sort, "").want(200).apps() {
			got = append(got, a.ID)
		}
		if !slices.Equal(got, []string{ids[want[0]], ids[want[1]], ids[want[2]]}) {
			t.Errorf("%q: got %v of %v, want order %v", sort, got, ids, want)
		}
	}
}

func TestListAppsRefusesParameters(t *testing.T) {
	w := newWorld(t)
	for query, word := range map[string]string{
		"sort=title": "sort", "sort=": "sort", "sort=createdAt&sort=createdAt": "sort",
		"limit=0": "limit", "limit=-1": "limit", "limit=501": "limit", "limit=1e3": "limit", "limit=": "limit", "limit=%D9%A1": "limit",
		"limit=+5": "limit", "limit=05": "limit", "limit=99999999999999999999": "limit", "limit=1&limit=2": "limit",
		"after=": "after", "after=!": "after", "after=AAAA": "after", "usingComponent=a&usingComponent=b": "usingComponent",
		"usingComponent=%FF": "usingComponent", "usingComponent=%zz": "usingComponent", "sort=createdAt;limit=1": "sort", "l%69mit=1&limit=%": "limit",
	} {
		w.as(editor, "GET", "/apps/?"+query, "").want(400, word)
	}
	w.as(editor, "GET", "/apps/?limit=500&unknown=1&usingComponent=", "").want(200)
	w.as(editor, "GET", "/apps/?limit=1", "").want(200)
}

func TestListAppsPagesWithLinks(t *testing.T) {
	w := newWorld(t)
	w.newComponent("c", "1")
	for i := range 7 {
		elements := ""
		if i%3 != 0 {
			elements = `,"elements":[{"component":{"name":"c","version":"1"},"config":{}}]`
		}
		w.as(editor, "POST", "/apps/", fmt.Sprintf(`{"title":"%d","groups":[%q]%s}`, i, network, elements)).want(201)
		w.clock.add(time.Millisecond)
	}
	var titles []string
	url := w.url + "/apps/?sort=createdAt&limit=2&usingComponent=c&svctoken=" + w.token(editor)
	for pages := 0; url != ""; pages++ {
		r := w.send("GET", strings.TrimPrefix(url, w.url), "").want(200)
		for _, a := range r.apps() {
			titles = append(titles, a.Title)
		}
		link := r.header.Get("Link")
		if strings.Contains(link, tokenOf(url)) {
			t.Fatalf("the token is in the link %s", link)
		}
		if url = nextOf(link); url != "" {
			if !strings.HasPrefix(url, w.url+"/apps/?") {
				t.Fatalf("link to %s", url)
			}
			url += "&svctoken=" + w.token(editor)
		}
		if pages > 7 {
			t.Fatal("the pages do not end")
		}
	}
	if got := strings.Join(titles, " "); got != "1 2 4 5" {
		t.Errorf("pages hold %s", got)
	}
}

// nextOf returns the URL of a Link header with rel="next", or "".
func nextOf(link string) string {
	url, ok := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
	if !ok {
		return ""
	}
	return url
}

func tokenOf(url string) string {
	_, token, _ := strings.Cut(url, "svctoken=")
	return token
}

func TestUsingComponentLooksAtTheLatestVersion(t *testing.T) {
	w := newWorld(t)
	w.newComponent("c", "1")
	id := w.newApp("plain", network)
	w.as(editor, "PATCH", "/apps/"+id, `[{"op":"test","path":"/apps/0/version","value":"0"},
		{"op":"add","path":"/apps/0/elements/-","value":{"component":{"name":"c","version":"1"},"config":{}}}]`).want(200)
	if n := len(w.as(editor, "GET", "/apps/?usingComponent=c", "").want(200).apps()); n != 1 {
		t.Errorf("%d apps use it", n)
	}
	w.as(editor, "PATCH", "/apps/"+id, `[{"op":"test","path":"/apps/0/version","value":"1"},
		{"op":"remove","path":"/apps/0/elements/0"}]`).want(200)
	if n := len(w.as(editor, "GET", "/apps/?usingComponent=c", "").want(200).apps()); n != 0 {
		t.Errorf("%d apps use it after its removal", n)
	}
}

func TestHiddenAppsReadLikeAbsentOnes(t *testing.T) {
	w := newWorld(t)
	hidden := w.newApp("secret", network+":site=10")
	w.as(editor, "PUT", "/apps/"+hidden+"/tags/live", `{"appVersion":"0"}`).want(201)
	const absent = "6f1c2e0e-8a57-4b7c-9d53-0a2f0f4c1f11"
	version := `{"appVersion":"0"}`
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/apps/{id}", ""}, {"GET", "/apps/{id}/versions/", ""}, {"GET", "/apps/versions/?appId={id}", ""},
		{"GET", "/apps/{id}/versions/0", ""}, {"GET", "/apps/{id}/versions/7", ""},
		{"GET", "/apps/{id}/versions/0/diff/0", ""}, {"GET", "/apps/{id}/versions/0/diff/7", ""}, {"GET", "/apps/{id}/versions/x/diff/0", ""},
		{"GET", "/apps/{id}/history/", ""}, {"GET", "/apps/{id}/tags/", ""},
		{"GET", "/apps/{id}/tags/live", ""}, {"GET", "/apps/{id}/tagged/live", ""}, {"PUT", "/apps/{id}/tags/live", version},
		{"DELETE", "/apps/{id}/tags/live", ""}, {"PATCH", "/apps/{id}", titlePatch(0, "x")},
		{"POST", "/apps/versions/restore", `{"appId":"{id}","appVersion":"0"}`}, {"GET", "/apps/{id}/versions/x", ""},
	} {
		h := w.as(siteOne, c.method, strings.ReplaceAll(c.path, "{id}", hidden), strings.ReplaceAll(c.body, "{id}", hidden)).want(404)
		a := w.as(siteOne, c.method, strings.ReplaceAll(c.path, "{id}", absent), strings.ReplaceAll(c.body, "{id}", absent)).want(404)
		for _, r := range []reply{h, a} {
			r.header.Del("Date")
			r.header.Del("X-Request-Id")
		}
		if h.body != a.body || fmt.Sprint(h.header) != fmt.Sprint(a.header) {
			t.Errorf("%s %s: hidden %q, absent %q", c.method, c.path, h.body, a.body)
		}
	}
	if r := w.as(siteOne, "GET", "/tags/live?appId="+hidden, "").want(200); r.body != `{"tags":[]}` {
		t.Errorf("tags of a hidden app: %s", r.body)
	}
}

func TestPatchStatuses(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("first", network)
	path := "/apps/" + id
	test := `{"op":"test","path":"/apps/0/version","value":"0"}`
	for name, c := range map[string]struct {
		patch  string
		status int
	}{
		"no version test":           {`[{"op":"replace","path":"/apps/0/title","value":"x"}]`, 400},
		"version test without text": {`[{"op":"test","path":"/apps/0/version","value":0}]`, 400},
		"not an array":              {`{}`, 400},
		"unknown operation":         {`[` + test + `,{"op":"spam","path":"/apps/0/title"}]`, 400},
		"stale version":             {titlePatch(4, "x"), 409},
		"failed test":               {`[` + test + `,{"op":"test","path":"/apps/0/title","value":"other"}]`, 409},
		"nothing at the path":       {`[` + test + `,{"op":"remove","path":"/apps/0/elements/3"}]`, 422},
		"read-only member":          {`[` + test + `,{"op":"replace","path":"/apps/0/owner/urn","value":"urn:vitrine:x:user=me"}]`, 422},
		"group of others":           {`[` + test + `,{"op":"add","path":"/apps/0/groups/-","value":"urn:vitrine:elsewhere.test"}]`, 403},
		"1,001 operations":          {`[` + strings.TrimSuffix(strings.Repeat(test+",", 1001), ",") + `]`, 413},
		"over 1 MiB":                {`[{"op":"test","path":"/apps/0/version","value":"` + strings.Repeat("0", 1<<20) + `"}]`, 413},
	} {
		t.Run(name, func(t *testing.T) { w.as(editor, "PATCH", path, c.patch).want(c.status) })
	}
	if r := w.as(editor, "PATCH", path, `[`+test+`]`).want(200); r.apps()[0].Version != "0" {
		t.Errorf("a patch that changes nothing made %s", r.body)
	}
	patched := w.as(editor, "PATCH", path, titlePatch(0, "second"), setType("application/json-patch+json")).want(200)
	if a := patched.apps()[0]; a.Version != "1" || a.Title != "second" {
		t.Errorf("patched to %s", patched.body)
	}
	if read := w.as(editor, "GET", path, "").want(200); read.body != patched.body {
		t.Errorf("patch answered %s, a read %s", patched.body, read.body)
	}
}

// TestWhatAPatchMakesIs422 breaks the shape of the result, by patches that are well-formed.
func TestWhatAPatchMakesIs422(t *testing.T) {
	w := newWorld(t)
	w.newComponent("c", "1")
	r := w.as(editor, "POST", "/apps/", fmt.Sprintf(
		`{"title":"t","groups":[%q],"elements":[{"component":{"name":"c","version":"1"},"config":{}}]}`, network)).want(201)
	var made struct{ ID string }
	r.read(&made)
	deep := strings.Repeat(`{"a":`, 61) + "1" + strings.Repeat("}", 61)
	for name, op := range map[string]string{
		"component name null":        `"replace","path":"/apps/0/elements/0/component/name","value":null`,
		"component version a number": `"replace","path":"/apps/0/elements/0/component/version","value":1`,
		"component a string":         `"replace","path":"/apps/0/elements/0/component","value":"c"`,
		"component without manifest": `"replace","path":"/apps/0/elements/0/component","value":{"name":"c","version":"1"}`,
		"component main missing":     `"remove","path":"/apps/0/elements/0/component/main"`,
		"new element with main":      `"replace","path":"/apps/0/elements/0","value":{"component":{"name":"c","version":"1","main":"/x.js"},"config":{}}`,
		"new element without name":   `"add","path":"/apps/0/elements/-","value":{"component":{"version":"1"},"config":{}}`,
		"new element, version null":  `"add","path":"/apps/0/elements/-","value":{"component":{"name":"c","version":null},"config":{}}`,
		"an element a string":        `"replace","path":"/apps/0/elements/0","value":"x"`,
		"element id removed":         `"remove","path":"/apps/0/elements/0/id"`,
		"element id a number":        `"replace","path":"/apps/0/elements/0/id","value":0`,
		"config nested too deep":     `"replace","path":"/apps/0/elements/0/config","value":{"deeper":` + deep + `}`,
		"config a string":            `"replace","path":"/apps/0/elements/0/config","value":"x"`,
		"title null":                 `"replace","path":"/apps/0/title","value":null`,
		"title empty":                `"replace","path":"/apps/0/title","value":""`,
		"groups empty":               `"replace","path":"/apps/0/groups","value":[]`,
		"group no URN":               `"add","path":"/apps/0/groups/-","value":"x"`,
		"elements null":              `"replace","path":"/apps/0/elements","value":null`,
		"the document a string":      `"replace","path":"","value":"x"`,
	} {
		t.Run(name, func(t *testing.T) {
			patch := `[{"op":"test","path":"/apps/0/version","value":"0"},{"op":` + op + `}]`
			w.as(editor, "PATCH", "/apps/"+made.ID, patch).want(422)
		})
	}
	if a := w.as(editor, "GET", "/apps/"+made.ID, "").apps()[0]; a.Version != "0" {
		t.Errorf("the app is at version %s", a.Version)
	}
}

func TestIdempotencyKey(t *testing.T) {
	w := newWorld(t)
	key := header("Idempotency-Key", "k-1")
	body := fmt.Sprintf(`{"title":"once","groups":[%q]}`, network)
	first := w.as(editor, "POST", "/apps/", body, key).want(201)
	if again := w.as(editor, "POST", "/apps/", body, key).want(201); again.body != first.body {
		t.Errorf("repeated: %s, first: %s", again.body, first.body)
	}
	w.as(editor, "POST", "/apps/", strings.Replace(body, "once", "twice", 1), key).want(422, "Idempotency-Key")
	if n := len(w.as(editor, "GET", "/apps/", "").apps()); n != 1 {
		t.Errorf("%d apps", n)
	}
	w.clock.add(25 * time.Hour)
	if later := w.as(editor, "POST", "/apps/", body, key).want(201); later.body == first.body {
		t.Error("the key outlived its day")
	}
	w.as(editor, "POST", "/apps/", body, header("Idempotency-Key", strings.Repeat("k", 255))).want(201)
	for _, bad := range []string{"", "with space", strings.Repeat("k", 256), "é", "tab\there"} {
		w.as(editor, "POST", "/apps/", body, header("Idempotency-Key", bad)).want(400, "Idempotency-Key")
	}
	w.as(editor, "POST", "/apps/", body, key, key).want(400, "Idempotency-Key")
}

func TestStoredBytesAreAnsweredAsTheyAre(t *testing.T) {
	w := newWorld(t)
	w.newComponent("c", "1")
	config := `{"b":1,"a":[1.10,1e2,9007199254740993],"<":"\u2028</script>","é":"\ud83d\ude00"}`
	r := w.as(editor, "POST", "/apps/", fmt.Sprintf(`{"title":"t","groups":[%q],"elements":[{"component":{"name":"c","version":"1"},"config":%s}]}`, network, config)).want(201)
	var made struct{ ID string }
	r.read(&made)
	if got := string(w.as(editor, "GET", "/apps/"+made.ID, "").apps()[0].Elements[0].Config); got != config {
		t.Errorf("config %s came back as %s", config, got)
	}
	if !json.Valid([]byte(w.as(editor, "GET", "/apps/", "").body)) {
		t.Error("the list is no JSON")
	}
}
