package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
)

const manifest = `{"name":"@scope/feed","version":"1.2.0","main":"https://cdn.example.test/feed.js","configSchema":{"type":"object"},"description":"posts"}`

func TestComponentsAreCreatedShownAndDeleted(t *testing.T) {
	w := newWorld(t)
	r := w.as(editor, "POST", "/components", manifest).want(201)
	url := w.url + "/components/%40scope%2Ffeed"
	if r.body != `{"url":"`+url+`"}` || r.header.Get("Location") != url {
		t.Errorf("%s at %s", r.body, r.header.Get("Location"))
	}
	w.as(editor, "POST", "/components/", strings.Replace(manifest, "1.2.0", "1.10.0", 1)).want(201)
	w.as(editor, "POST", "/components/", strings.Replace(manifest, "1.2.0", "1.9.0", 1)).want(201)
	r = w.as(stranger, "GET", "/components/%40scope%2Ffeed", "").want(200)
	if want := `{"name":"@scope/feed","version":"1.10.0","latestVersion":"1.10.0","description":"posts","main":"https://cdn.example.test/feed.js"}`; r.body != want {
		t.Errorf("%s, want %s", r.body, want)
	}
	w.newComponent("plain", "1.0.0")
	w.as(stranger, "GET", "/components/plain", "").want(200, `"description":null`)
	var list struct {
		Components []map[string]string
	}
	w.as(stranger, "GET", "/components/", "").want(200).read(&list)
	if len(list.Components) != 2 || list.Components[0]["name"] != "@scope/feed" || list.Components[0]["version"] != "1.10.0" ||
		len(list.Components[0]) != 4 || list.Components[0]["id"] == "" || list.Components[0]["main"] == "" {
		t.Errorf("%v", list)
	}
	w.as(editor, "DELETE", "/components/%40scope%2Ffeed", "", header("Content-Type", "application/json")).want(204)
	w.as(editor, "GET", "/components/%40scope%2Ffeed", "").want(404)
	w.as(editor, "DELETE", "/components/%40scope%2Ffeed", "").want(404)
}

func TestTheVersionsOfAComponentAreListedInPages(t *testing.T) {
	w := newWorld(t)
	for _, version := range []string{"1.2.0", "2.0.0", "1.10.0"} {
		w.as(editor, "POST", "/components/", strings.Replace(manifest, "1.2.0", version, 1)).want(201)
	}
	const path = "/components/%40scope%2Ffeed/versions"
	r := w.as(stranger, "GET", path+"?limit=2", "").want(200)
	var list struct{ Components []map[string]any }
	r.read(&list)
	first := list.Components[0]
	if len(list.Components) != 2 || len(first) != 5 || first["version"] != "1.10.0" || first["description"] != "posts" || first["id"] == "" || first["main"] == "" {
		t.Errorf("%s", r.body)
	}
	want := "<" + w.url + path + `/?after=2.0.0&limit=2>; rel="next"`
	if link := r.header.Get("Link"); link != want {
		t.Errorf("Link: %s, want %s", link, want)
	}
	if r := w.as(stranger, "GET", path+"/?after=2.0.0", "").want(200, `"version":"1.2.0"`); r.header.Get("Link") != "" || strings.Contains(r.body, "2.0.0") {
		t.Errorf("the last page: %s with Link %q", r.body, r.header.Get("Link"))
	}
}

func TestAComponentVersionIsAnsweredAsItWasGiven(t *testing.T) {
	w := newWorld(t)
	w.as(editor, "POST", "/components/", `{"id":"i","version":"1 ü","name":"a/b","more":{"x":[1.10]},"main":"/x.js","configSchema":{"default":9007199254740993}}`).want(201)
	r := w.as(stranger, "GET", "/components/a%2Fb/versions/1%20%C3%BC", "").want(200)
	const want = `{"name":"a/b","version":"1 ü","id":"i","description":null,"main":"/x.js","configSchema":{"default":9007199254740993},"more":{"x":[1.10]}}`
	if r.body != want {
		t.Errorf("%s, want %s", r.body, want)
	}
	w.as(stranger, "GET", "/components/a%2Fb/versions/2", "").want(404, "has no version")
	w.as(stranger, "GET", "/components/none/versions/1", "").want(404)
}

func TestAComponentIsChecked(t *testing.T) {
	w := newWorld(t)
	manifest := func(name, version, schema string) string {
		return fmt.Sprintf(`{"name":%q,"version":%q,"main":"m.js","configSchema":%s}`, name, version, schema)
	}
	w.as(editor, "POST", "/components/", manifest("@x/text", "1", "{}")).want(201)
	w.as(editor, "POST", "/apps/", `{"title":"x","groups":["`+network+`"],"elements":[{"component":{"name":"@x/text","version":"1"},"config":{"a":1}}]}`).want(201)
	check := "/components/%40x%2Ftext/check"
	w.as(editor, "POST", check, manifest("@x/text", "2", `{"properties":{"a":{"type":"string"}},"tpye":"object"}`)).
		want(200, `{"apps":1,"versions":1,"elements":1,"warnings":[{"pointer":"/tpye"`, `"version":"0","tags":[],"element":"0","violations":[{"pointer":"/a","keyword":"type"`, `"next":null}`)
	w.as(editor, "POST", check, manifest("@x/text", "2", `{}`)).want(200, `"warnings":[],"broken":[],"next":null}`)
	w.as(siteOne, "POST", check, manifest("@x/text", "2", `{}`)).want(403)
	w.as(siteOne, "POST", check, "{").want(403) // before the body is looked at
	w.as(editor, "POST", check, manifest("text", "2", `{}`)).want(400, `"pointer":"/name"`)
	w.as(editor, "POST", check, manifest("@x/text", "1", `{}`)).want(400, "exists already")
	w.as(editor, "POST", check, manifest("@x/text", "2", `{"type":1}`)).want(400, `"pointer":"/configSchema`)
	for _, query := range []string{"?limit=1", "?dryRun=true"} {
		w.as(editor, "POST", check+query, manifest("@x/text", "2", `{}`)).want(400, `"parameter":`)
	}
	for _, after := range []string{"", "x", "AAAAAAAAAAAAAAAAAAAAAAAAAAAA"} {
		w.as(editor, "POST", check+"?after="+after, manifest("@x/text", "2", `{}`)).want(400, `"parameter":"after"`)
	}
	w.as(editor, "POST", check, manifest("@x/text", "2", `{}`), header("Idempotency-Key", "k")).want(400, "Idempotency-Key")
	w.as(editor, "GET", "/components/%40x%2Ftext/versions/2", "").want(404)
}
