package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestTagsArePutMovedListedAndDeleted(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("first", network)
	w.retitle(id, 0, "second")
	tags := "/apps/" + id + "/tags/"
	tag := func(name, version string) string {
		return fmt.Sprintf(`{"appId":%q,"name":%q,"appVersion":%q}`, id, name, version)
	}
	exactly := func(r reply, want string) {
		t.Helper()
		if r.body != want {
			t.Errorf("%s: %s, want %s", r.what, r.body, want)
		}
	}
	exactly(w.as(editor, "GET", tags, "").want(200), `{"tags":[]}`)
	exactly(w.as(editor, "PUT", tags+"live", `{"appVersion":"0"}`).want(201), `{"tags":[`+tag("live", "0")+`]}`)
	exactly(w.as(editor, "PUT", tags+"live", `{"appVersion":"1"}`).want(201), `{"tags":[`+tag("live", "1")+`]}`)
	w.as(editor, "PUT", tags+"Beta", `{"appVersion":"0"}`).want(201)
	exactly(w.as(editor, "GET", strings.TrimSuffix(tags, "/"), "").want(200), `{"tags":[`+tag("Beta", "0")+`,`+tag("live", "1")+`]}`)
	exactly(w.as(editor, "GET", tags+"?embedApps=false", "").want(200), `{"tags":[`+tag("Beta", "0")+`,`+tag("live", "1")+`]}`)
	exactly(w.as(editor, "GET", tags+"live", "").want(200), `{"tags":[`+tag("live", "1")+`]}`)

	one := strings.TrimPrefix(w.as(editor, "GET", "/apps/"+id+"/versions/1", "").body, `{`)
	exactly(w.as(editor, "GET", tags+"live?embedApps=true", "").want(200), `{"tags":[`+tag("live", "1")+`],`+one)
	exactly(w.as(editor, "PUT", tags+"live?embedApps=true", `{"appVersion":"1"}`).want(201), `{"tags":[`+tag("live", "1")+`],`+one)
	if apps := w.as(editor, "GET", tags+"?embedApps=true", "").want(200).apps(); len(apps) != 2 || apps[0].Title != "first" || apps[1].Title != "second" {
		t.Errorf("embedded: %v", apps)
	}
	exactly(w.as(editor, "GET", "/apps/"+id+"/tagged/live", "").want(200), `{`+one)

	if r := w.as(editor, "DELETE", tags+"live?embedApps=true", "", header("Content-Type", "application/json")).want(204); r.body != "" {
		t.Errorf("204 with %q", r.body)
	}
	w.as(editor, "DELETE", tags+"live", "").want(404)
	w.as(editor, "GET", tags+"live", "").want(404)
	w.as(editor, "GET", "/apps/"+id+"/tagged/live", "").want(404)
}

func TestTagsRefuse(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("x", network)
	tags := "/apps/" + id + "/tags/"
	for _, bad := range []string{"yes", "1", "TRUE", "", "true&embedApps=true"} {
		w.as(editor, "GET", tags+"?embedApps="+bad, "").want(400, "embedApps")
		w.as(editor, "GET", tags+"t?embedApps="+bad, "").want(400, "embedApps")
		w.as(editor, "PUT", tags+"t?embedApps="+bad, `{"appVersion":"0"}`).want(400, "embedApps")
		w.as(editor, "DELETE", tags+"t?embedApps="+bad, "").want(400, "embedApps")
	}
	for _, name := range []string{"-x", ".x", "a%20b", "a%2Fb", "%C3%A9", "%FF", "%00", strings.Repeat("t", 129)} {
		w.as(editor, "PUT", tags+name, `{"appVersion":"0"}`).want(400, "tag")
		w.as(editor, "GET", tags+name, "").want(404)
		w.as(editor, "DELETE", tags+name, "").want(404)
		w.as(editor, "GET", "/apps/"+id+"/tagged/"+name, "").want(404)
	}
	w.as(editor, "PUT", tags+strings.Repeat("t", 128), `{"appVersion":"0"}`).want(201)
	w.as(editor, "PUT", tags+"_a.B-9", `{"appVersion":"0"}`).want(201)
}

func TestTagsMoveFromWhereTheyShould(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("x", network)
	w.retitle(id, 0, "y")
	tag := "/apps/" + id + "/tags/t"
	for _, bad := range []string{`""`, `"00"`, `"latest"`, `0`, `false`, `[]`, `{}`, `"-1"`} {
		w.as(editor, "PUT", tag, `{"appVersion":"0","from":`+bad+`}`).want(400, `"pointer":"/from"`, `/from: want a version, or null if the tag must not be there`)
	}
	w.as(editor, "PUT", tag, `{"appVersion":"0","from":"1"}`).want(409, `"code":"moved"`, `"pointer":"/from"`, `"version":"1"`, `"pointsTo":null`)
	w.as(editor, "PUT", tag, `{"appVersion":"0","from":null}`).want(201)
	w.as(editor, "PUT", tag, `{"appVersion":"1","from":null}`).want(409, `"code":"moved"`, `"version":"1"`, `"pointsTo":"0"`)
	w.as(editor, "PUT", tag, `{"latest":true,"from":"0"}`).want(201, `"appVersion":"1"`)
	w.as(editor, "PUT", tag, `{"appVersion":"0","from":"0"}`).want(409, `"pointsTo":"1"`)
}

func TestTagsHaveAHistory(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("x", network)
	w.retitle(id, 0, "y")
	history := "/apps/" + id + "/tags/t/history"
	w.as(editor, "GET", history, "").want(404)
	w.as(editor, "PUT", "/apps/"+id+"/tags/t", `{"appVersion":"1"}`).want(201)
	w.as(editor, "PUT", "/apps/"+id+"/tags/t", `{"appVersion":"0"}`).want(201)
	w.as(editor, "DELETE", "/apps/"+id+"/tags/t", "").want(204)
	w.as(editor, "GET", "/apps/"+id+"/tags/t", "").want(404)
	moves := []string{`"from":"0","to":null}`, `"from":"1","to":"0"}`, `"from":null,"to":"1"}`}
	w.as(editor, "GET", history+"/", "").want(200, moves...)
	next := history + "/?limit=1"
	for i, move := range moves {
		r := w.as(editor, "GET", next, "").want(200, `{"moves":[{"at":`, move+"]}")
		link := r.header.Get("Link")
		if (link == "") != (i == len(moves)-1) {
			t.Fatalf("page %d has the link %q", i, link)
		}
		if link != "" {
			next = strings.TrimPrefix(strings.TrimSuffix(link, `>; rel="next"`), "<"+w.url)
		}
	}
	w.as(editor, "GET", history+"?before=AAAAAAAAAAAAAAAA", "").want(400, `"parameter":"before"`)
}

func TestTagsOfOneNameAcrossApps(t *testing.T) {
	w := newWorld(t)
	first, second := w.newApp("1", network+":site=1"), w.newApp("2", network+":site=2")
	for _, id := range []string{first, second} {
		w.as(editor, "PUT", "/apps/"+id+"/tags/live", `{"appVersion":"0"}`).want(201)
	}
	count := func(r reply) int {
		var body struct{ Tags []struct{ AppID string } }
		r.read(&body)
		return len(body.Tags)
	}
	path := "/tags/live?appId=" + second + "&appId=" + first + "&appId=none"
	if n := count(w.as(editor, "GET", path, "").want(200)); n != 2 {
		t.Errorf("the network's moderator sees %d tags", n)
	}
	if n := count(w.as(siteOne, "GET", path, "").want(200)); n != 1 {
		t.Errorf("the site's moderator sees %d tags", n)
	}
	if n := count(w.as(editor, "GET", "/tags/other?appId="+first, "").want(200)); n != 0 {
		t.Errorf("%d tags of a name that no app has", n)
	}
	w.as(editor, "GET", "/tags/live", "").want(400, "appId")
	w.as(editor, "GET", "/tags/live?appId=x"+strings.Repeat("&appId=x", 99), "").want(200)
	w.as(editor, "GET", "/tags/live?appId=x"+strings.Repeat("&appId=x", 100), "").want(400, "appId")
}
