package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestAnAppIsDeletedBroughtBackAndErased(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("Front page", network)
	w.as(editor, "PUT", "/apps/"+id+"/tags/draft", `{"appVersion":"0"}`).want(201)
	before := w.as(editor, "GET", "/apps/"+id, "").want(200)
	w.as(editor, "POST", "/apps/"+id+"/undelete", "").want(409, `"code":"wrong_state"`)
	w.as(editor, "POST", "/apps/"+id+"/erase", "").want(409, `"code":"wrong_state"`)
	w.as(editor, "DELETE", "/apps/"+id, "", header("Idempotency-Key", "k")).want(400)
	if r := w.as(editor, "DELETE", "/apps/"+id, "").want(204); r.body != "" {
		t.Errorf("a body %q", r.body)
	}
	for _, request := range []string{"GET /apps/" + id, "GET /apps/" + id + "/tags/draft",
		"GET /apps/" + id + "/history/", "DELETE /apps/" + id, "GET /apps/versions/?appId=" + id} {
		method, path, _ := strings.Cut(request, " ")
		w.as(editor, method, path, "").want(404, `"code":"not_found"`)
	}
	if list := w.as(editor, "GET", "/apps/?view=summary", "").want(200); list.body != `{"apps":[]}` {
		t.Error(list.body)
	}
	w.as(editor, "GET", "/apps/?deleted=true&view=summary&q=FRONT", "").want(200, `"title":"Front page"`,
		`"deletedAt":`, `"deletedBy":{"urn":"`+editor.URN+`"}`)
	w.as(editor, "GET", "/apps/?deleted=yes", "").want(400, "deleted")
	if back := w.as(editor, "POST", "/apps/"+id+"/undelete", "").want(200); back.body != before.body {
		t.Errorf("it came back as %s, was %s", back.body, before.body)
	}
	w.as(editor, "DELETE", "/apps/"+id, "").want(204)
	w.as(editor, "POST", "/apps/"+id+"/erase", "").want(204)
	w.as(editor, "POST", "/apps/"+id+"/erase", "").want(404)
	w.as(editor, "GET", "/x/changes?types=app.deleted,app.undeleted,app.erased", "").want(200, `"type":"app.erased"`)
}

func TestASummaryHasNoElements(t *testing.T) {
	w := newWorld(t)
	w.newComponent("poll", "1.0.0")
	var first string
	for i := range 3 {
		r := w.as(editor, "POST", "/apps/",
			fmt.Sprintf(`{"title":"Écran %d","groups":[%q],"elements":[{"component":{"name":"poll",`+
				`"version":"1.0.0"},"config":{}}]}`, i, network)).want(201)
		first = strings.TrimPrefix(r.header.Get("Location"), w.url+"/apps/")
	}
	w.as(editor, "PUT", "/apps/"+first+"/tags/live", `{"appVersion":"0"}`).want(201)
	w.as(editor, "GET", "/apps/?view=summary&q=ecran+2", "").want(200,
		`{"apps":[{"id":"`+first+
			`","version":"0","createdAt":1700000000000,"updatedAt":1700000000000,"updatedBy":{"urn":"`+editor.URN+`"},`+
			`"title":"Écran 2","owner":{"urn":"`+editor.URN+`"},"groups":["`+network+
			`"],"components":["poll"],"tags":[{"name":"live","appVersion":"0"}]}]}`)
	for query, want := range map[string]int{
		"q=ec": 3, "q=cran": 0, "q=%2C": 0, "q=": 3, "group=" + network: 3, "group=" + network + ":site=9": 0,
		"owner=" + editor.URN: 3, "owner=urn:x:y:user=z": 0,
		"usingComponent=poll&usingVersion=1.0.0": 3, "usingComponent=poll&usingVersion=2": 0,
		"q=ec&usingComponent=poll&owner=" + editor.URN + "&group=" + network: 3,
	} {
		for _, view := range []string{"", "&view=summary"} {
			if n := len(w.as(editor, "GET", "/apps/?"+query+view, "").want(200).apps()); n != want {
				t.Errorf("%s: %d apps, want %d", query+view, n, want)
			}
		}
	}
	for _, query := range []string{"usingVersion=1", "view=full", "view=", "group=x",
		"q=" + strings.Repeat("a", 1025)} {
		w.as(editor, "GET", "/apps/?"+query, "").want(http.StatusBadRequest,
			`"parameter":"`+strings.Split(query, "=")[0]+`"`)
	}
}

func TestSearchInContentOverHTTP(t *testing.T) {
	w := newWorld(t)
	w.newComponent("poll", "1.0.0")
	for _, title := range []string{"Tea", "Cocoa"} {
		w.as(editor, "POST", "/apps/", fmt.Sprintf(`{"title":%q,"groups":[%q],"elements":[{"component":{"name":"poll",`+
			`"version":"1.0.0"},"config":{"q":{"lang:en":"Cocoa or <tea>?"}}}]}`, title, network)).want(201)
	}
	for _, view := range []string{"", "&view=summary"} {
		r := w.as(editor, "GET", "/apps/?q=tea+co&limit=1&in=content"+view, "").want(200,
			`"found":[{"element":"0.0","pointer":"/q/lang:en","text":"Cocoa or <tea>?"}]}]}`)
		next := strings.TrimPrefix(nextOf(r.header.Get("Link")), w.url)
		rest := w.as(editor, "GET", next, "").want(200)
		if both := r.body + rest.body; !strings.Contains(both, `"title":"Tea"`) ||
			!strings.Contains(both, `"title":"Cocoa"`) {
			t.Error(both)
		}
		if link := rest.header.Get("Link"); link != "" {
			w.as(editor, "GET", strings.TrimPrefix(nextOf(link), w.url), "").want(200, `{"apps":[]}`)
		}
	}
	w.as(editor, "GET", "/apps/?q=tea&in=title,content", "").want(200, `"title":"Tea"`, `"title":"Cocoa"`)
	w.as(editor, "GET", "/apps/?q=absent&in=title,content", "").want(200, `{"apps":[]}`)
	w.as(stranger, "GET", "/apps/?q=tea&in=content", "").want(200, `{"apps":[]}`)
	for query, parameter := range map[string]string{"q=a&in=content&sort=-updatedAt": "sort", "in=content": "in",
		"q=a&in=": "in", "q=a&in=body": "in"} {
		w.as(editor, "GET", "/apps/?"+query, "").want(http.StatusBadRequest, `"parameter":"`+parameter+`"`)
	}
}

func TestAVersionHasANote(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("x", network)
	w.as(editor, "PATCH", "/apps/"+id,
		`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"add","path":"/note","value":"why"},`+
			`{"op":"replace","path":"/apps/0/title","value":"y"}]`).want(200)
	w.as(editor, "POST", "/apps/versions/restore", `{"appId":"`+id+`","appVersion":"0","note":"back"}`).want(201)
	w.as(editor, "GET", "/apps/"+id+"/history/", "").want(200, `"note":"back"`, `"note":"why"`)
	w.as(editor, "GET", "/x/changes", "").want(200, `"note":"back"`, `"note":"why"`)
	w.as(editor, "POST", "/apps/versions/restore",
		`{"appId":"`+id+`","appVersion":"0","note":"`+strings.Repeat("x", 1025)+`"}`).want(400, `"pointer":"/note"`)
}
