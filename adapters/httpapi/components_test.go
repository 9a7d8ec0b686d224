package httpapi_test

import (
	"strings"
	"testing"
)

const manifest = `{"name":"@scope/feed","version":"1.2.0","main":"https://cdn.example.test/feed.js",` +
	`"configSchema":{"type":"object"},"description":"posts"}`

func TestComponentsAreCreatedShownAndDeleted(t *testing.T) {
	w := newWorld(t)
	r := w.as(editor, "POST", "/components", manifest).want(201)
	url := w.url + "/components/%40scope%2Ffeed"
	if r.body != `{"url":"`+url+`","warnings":[]}` || r.header.Get("Location") != url {
		t.Errorf("%s at %s", r.body, r.header.Get("Location"))
	}
	w.as(editor, "POST", "/components/", strings.Replace(manifest, "1.2.0", "1.10.0", 1)).want(201)
	w.as(editor, "POST", "/components/", strings.Replace(manifest, "1.2.0", "1.9.0", 1)).want(201)
	r = w.as(stranger, "GET", "/components/%40scope%2Ffeed", "").want(200)
	if want := `{"name":"@scope/feed","version":"1.10.0","latestVersion":"1.10.0","description":"posts",` +
		`"main":"https://cdn.example.test/feed.js"}`; r.body != want {
		t.Errorf("%s, want %s", r.body, want)
	}
	w.newComponent("plain", "1.0.0")
	w.as(stranger, "GET", "/components/plain", "").want(200, `"description":null`)
	var list struct {
		Components []map[string]string
	}
	w.as(stranger, "GET", "/components/", "").want(200).read(&list)
	if len(list.Components) != 2 || list.Components[0]["name"] != "@scope/feed" ||
		list.Components[0]["version"] != "1.10.0" ||
		len(list.Components[0]) != 5 || list.Components[0]["description"] != "posts" ||
		list.Components[0]["id"] == "" || list.Components[0]["main"] == "" {
		t.Errorf("%v", list)
	}
	w.as(editor, "DELETE", "/components/%40scope%2Ffeed", "", header("Content-Type", "application/json")).want(204)
	w.as(editor, "GET", "/components/%40scope%2Ffeed", "").want(404)
	w.as(editor, "DELETE", "/components/%40scope%2Ffeed", "").want(404)
}

// Whoever forgets the new text takes nothing out.
func TestReplaceNeedsTheNewText(t *testing.T) {
	w := newWorld(t)
	for _, body := range []string{`{"find":"tea"}`, `{"find":"tea","replace":null}`} {
		w.as(editor, "POST", "/x/replace", body).want(400, "/replace")
	}
	w.as(editor, "POST", "/x/replace", `{"find":"tea","replace":""}`).want(200)
}
