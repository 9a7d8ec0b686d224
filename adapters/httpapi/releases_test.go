package httpapi_test

import (
	"context"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestReleasesOverHTTP(t *testing.T) {
	var svc *appsvc.Service
	w := newWorld(t, func(c *httpapi.Config) {
		svc = appsvc.New(memory.New(), nil)
		c.Apps = svc
	})
	if err := svc.SetTagRules(context.Background(), []appsvc.TagRule{{Name: "production", Approvals: 1}}); err != nil {
		t.Fatal(err)
	}
	var app, rel struct{ ID, Version string }
	w.as(editor, "POST", "/apps/", `{"title":"x","groups":["`+network+`"]}`).want(201).read(&app)
	tag := "/apps/" + app.ID + "/tags/production"
	w.as(editor, "PUT", tag, `{"appVersion":"0"}`).want(403, "needs_release")
	w.as(editor, "DELETE", tag, "").want(403, "needs_release")
	w.as(editor, "PUT", tag, `{"rollback":true}`).want(404)
	for _, bad := range []string{`{"rollback":false}`, `{"rollback":true,"appVersion":"0"}`,
		`{"rollback":true,"latest":true}`} {
		w.as(editor, "PUT", tag, bad).want(400, "/rollback")
	}
	move := `"moves":[{"app":"` + app.ID + `","tag":"production","to":"0"}]`
	for bad, pointer := range map[string]string{
		`{"name":"r"}`:                 "/moves",
		`{"moves":[]}`:                 "/moves",
		`{` + move + `,"more":1}`:      "/more",
		`{` + move + `,"at":0}`:        "/at",
		`{` + move + `,"at":"x"}`:      "/at",
		`{` + move + `,"until":0}`:     "/until",
		`{` + move + `,"until":5}`:     "/until",
		`{` + move + `,"version":"0"}`: "/version",
		strings.Replace(`{`+move+`}`, `"to":"0"`, `"to":"x"`, 1):                 "/moves/0/to",
		strings.Replace(`{`+move+`}`, `,"to":"0"`, ``, 1):                        "/moves/0/to",
		strings.Replace(`{`+move+`}`, `"to":"0"`, `"to":"0","from":"latest"`, 1): "/moves/0/from",
	} {
		w.as(editor, "POST", "/x/releases/", bad).want(400, `"pointer":"`+pointer+`"`)
	}
	w.as(stranger, "POST", "/x/releases/", `{`+move+`}`).want(404, `"pointer":"/moves/0"`)
	one := w.as(editor, "POST", "/x/releases/", `{"name":"r",`+move+`}`, header("Idempotency-Key", "k")).want(201,
		`"needs":1`, `"from":null`, `"at":null`, `"until":null`, `"conflicts":[]`)
	one.read(&rel)
	if again := w.as(editor, "POST", "/x/releases/", `{"name":"r",`+move+`}`,
		header("Idempotency-Key", "k")).want(201); again.body != one.body {
		t.Errorf("the repeat is answered with %s", again.body)
	}
	at := "/x/releases/" + rel.ID
	seen := func() string {
		w.as(editor, "GET", at, "").want(200).read(&rel)
		return `{"version":"` + rel.Version + `"}`
	}
	if one.header.Get("Location") != w.url+at {
		t.Errorf("Location %q", one.header.Get("Location"))
	}
	asIf := "/apps/" + app.ID + "/tagged/production?release=" + rel.ID
	if r := w.as(editor, "GET", asIf, "").want(200, `"version":"0"`); r.header.Get("Cache-Control") != "no-store" {
		t.Errorf("as if: %v", r.header)
	}
	page := httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=page", Reads: []string{network},
		TagsOnly: true, Tags: []string{"production"}}}
	w.as(page, "GET", asIf, "").want(403)
	w.as(page, "GET", at, "").want(403)
	w.as(stranger, "GET", at, "").want(404)
	w.as(editor, "GET", "/apps/"+app.ID+"/tagged/production?release=", "").want(400)
	w.as(editor, "POST", at+"/run", `{}`).want(400, "/version")
	w.as(editor, "POST", at+"/run", `{"version":"7"}`).want(409, "stale_version", `"version":"0"`)
	w.as(editor, "POST", at+"/run", seen()).want(409, "needs_approval")
	w.as(editor, "POST", at+"/approve", seen()).want(403)
	w.as(editor, "POST", at+"/approve", seen(), header("Idempotency-Key", "k")).want(400)
	const rules = `"rules":[{"name":"production","protected":true,"approvals":1}]}`
	w.as(editor, "GET", "/apps/"+app.ID+"/tags/", "").want(200, `{"tags":[`, rules)
	w.as(editor, "GET", "/apps/"+app.ID+"/tags/?embedApps=true", "").want(200, `"apps":[`, `],"rules":[{`)
	w.as(page, "GET", "/apps/"+app.ID+"/tags/", "").want(403)
	second := httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=second", Moderates: []string{network}}}
	reader := httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=reader", Reads: []string{network}}}
	for _, by := range []httpapi.Principal{editor, second, reader} {
		got := w.as(by, "GET", at, "").want(200)
		may := strings.Contains(got.body, `"mayApprove":true`)
		if may != (by.URN == second.URN) || strings.Contains(got.body, "independent") {
			t.Errorf("%s is told %s", by.URN, got.body)
		}
	}
	w.as(second, "POST", at+"/approve", seen()).want(200, `"approvals":[{"by":{"urn":"`+second.URN+`"}`)
	w.as(editor, "POST", at+"/run", seen()).want(200, `"state":"done"`)
	w.as(editor, "PUT", at, strings.Replace(seen(), "}", `,`+move+`}`, 1)).want(409, "wrong_state")
	w.as(editor, "GET", "/x/releases?state=done&app="+app.ID, "").want(200, rel.ID)
	w.as(editor, "GET", "/x/releases?state=open", "").want(200, `{"releases":[]}`)
	w.as(editor, "GET", "/x/releases?state=x", "").want(400)
	w.as(editor, "GET", "/x/changes?types=release,tag.set", "").want(200, `"type":"release"`, `"state":"done"`,
		`"release":"`+rel.ID+`"`)
	w.as(editor, "GET", tag+"/history/", "").want(200, `"release":"`+rel.ID+`"`)
	w.as(editor, "POST", at+"/undo", seen()).want(200, `"state":"cancelled"`)
	w.as(editor, "GET", tag+"/history/", "").want(200, `"rollback":true`)
	w.as(editor, "PUT", tag, `{"rollback":true}`).want(409, "wrong_state")
	// A release that cannot run says why, to whoever runs it and to whoever looks at it.
	live := strings.Replace(move, "production", "live", 1)
	w.as(editor, "POST", "/x/releases/", `{`+live+`}`).want(201).read(&rel)
	at = "/x/releases/" + rel.ID
	w.as(editor, "PUT", "/apps/"+app.ID+"/tags/live", `{"appVersion":"0"}`).want(201)
	conflicts := `"conflicts":[{"app":"` + app.ID + `","tag":"live","pointsTo":"0","error":"moved"`
	w.as(editor, "POST", at+"/run", seen()).want(409, `"code":"conflicts"`, conflicts)
	w.as(editor, "GET", at, "").want(200, conflicts, `"state":"open"`)
	w.as(editor, "PUT", "/apps/"+app.ID+"/tags/live", `{"rollback":true,"from":"0"}`).want(201, `{"tags":[]}`)
	w.as(editor, "POST", at+"/cancel", seen()).want(200, `"state":"cancelled"`)
}
