package httpapi_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	remote "github.com/vitrine-go/vitrine/adapters/client"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
)

// Texts are answered in one language where it is asked for, and to pages, and caches keep no answer of other languages.
func TestLanguages(t *testing.T) {
	ctx := t.Context()
	var svc *appsvc.Service
	w := newWorld(t, func(c *httpapi.Config) { svc = c.Apps })
	set := func(list ...string) {
		if err := svc.SetLanguages(ctx, list); err != nil {
			t.Fatal(err)
		}
	}
	w.as(editor, "GET", "/x/languages", "").want(200, `{"languages":[]}`)
	w.newComponent("poll", "1.0.0")
	create := func(config string) string {
		var body struct{ ID string }
		w.as(editor, "POST", "/apps/", `{"title":"x","groups":["`+network+`"],"elements":[{"component":`+
			`{"name":"poll","version":"1.0.0"},"config":`+config+`}]}`).want(201).read(&body)
		w.as(editor, "PUT", "/apps/"+body.ID+"/tags/live", `{"appVersion":"0"}`).want(201)
		return body.ID
	}
	plain := create(`{"question":"x"}`)
	before := w.as(editor, "GET", "/apps/"+plain, "").header.Get("Etag")
	set("en", "de")
	for _, by := range []httpapi.Principal{editor, stranger,
		{Caller: vitrine.Caller{URN: network + ":user=page", TagsOnly: true, Tags: []string{"live"}}}} {
		w.as(by, "GET", "/x/languages", "").want(200, `{"languages":["en","de"]}`)
	}
	const stored = `"config":{"question":{"lang:en":"Tea","lang:de":"/x/file/a/Tee.png"}}`
	id := create(strings.TrimPrefix(stored, `"config":`))
	key, err := w.tokens.Sign(httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=page",
		Reads: []string{network}, TagsOnly: true, Tags: []string{"live"}}}, w.clock.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	const english, german = `"lang":"en","fallbacks":0,"languages":["en","de"],`,
		`"lang":"de","fallbacks":0,"languages":["en","de"],`
	reads := []string{"/apps/" + id, "/apps/" + id + "/versions/0", "/apps/" + id + "/tagged/live"}
	etags := map[string]string{}
	for _, path := range reads {
		if r := w.as(editor, "GET", path, "").want(200, stored); strings.Contains(r.body, "fallbacks") {
			t.Error(r.body)
		}
		seen := []string{""}
		for _, lang := range []string{"en", "de", "de-AT", "fr"} {
			r := w.as(editor, "GET", path+"?lang="+lang, "").want(200)
			want := english + `"title":"x"`
			if strings.HasPrefix(lang, "de") {
				want = german + `"title":"x"`
			}
			etag := r.header.Get("Etag")
			if !strings.Contains(r.body, want) || strings.Contains(r.body, "lang:") ||
				r.header.Get("Cache-Control") != "private, no-cache" || strings.Contains(fmt.Sprint(seen), etag) {
				t.Errorf("%s in %s: %v %s", path, lang, r.header, r.body)
			}
			w.as(editor, "GET", path+"?lang="+lang, "", header("If-None-Match", etag)).want(304)
			seen = append(seen, etag)
			etags[path+"?lang="+lang] = etag
		}
		for _, wrong := range []string{"", "de_AT", "!", "de&lang=en"} {
			w.as(editor, "GET", path+"?lang="+wrong, "").want(400, `"parameter":"lang"`)
		}
	}
	public := "/x/public/live?key=" + key + "&app=" + id
	delivered := w.send("GET", public, "").want(200, english, `"question":"Tea"`)
	w.send("GET", public+"&lang=de-CH", "").want(200, german, `"question":"`+w.url+`/x/file/a/Tee.png"`)
	w.send("GET", public+"&lang=de_CH", "").want(400, `"parameter":"lang"`)
	w.send("GET", "/x/public/live?lang=de&key="+key, "").want(400, `"parameter":"lang"`)
	set("de", "en")
	again := w.send("GET", public, "", header("If-None-Match", delivered.header.Get("Etag"))).want(200, `"lang":"de"`)
	if delivered.header.Get("Cache-Control") != "public, no-cache" || again.header.Get("Etag") == "" {
		t.Error(delivered.header)
	}
	for path, etag := range etags {
		w.as(editor, "GET", path, "", header("If-None-Match", etag)).want(200, `"languages":["de","en"]`)
	}
	r := w.as(editor, "GET", "/apps/"+plain, "").want(200)
	if r.header.Get("Etag") != before || strings.Contains(r.body, "fallbacks") {
		t.Errorf("an app without texts: %v %s", r.header, r.body)
	}
	if r := w.send("GET", strings.Replace(public, id, plain, 1), "").want(200); strings.Contains(r.body, "fallbacks") {
		t.Error(r.body)
	}
	w.as(editor, "PATCH", "/apps/"+id, `[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"add","path":`+
		`"/apps/0/elements/0/config/question/lang:fr","value":"Thé"}]`).
		want(422, `"code":"schema"`, `"pointer":"/question/lang:fr"`, "want lang:de or lang:en")

	// the client
	s := httptest.NewServer(w.handler)
	defer s.Close()
	token, err := w.tokens.Sign(editor, w.clock.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	c, err := remote.New(remote.Config{URL: s.URL, Token: remote.Static(token), CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if list, err := c.Apps.Languages(ctx); err != nil || fmt.Sprint(list) != "[de en]" {
		t.Error(list, err)
	}
	for _, lang := range []string{"", "en", "de", "en"} {
		app, err := c.Apps.In(lang).App(ctx, id)
		if err != nil || app.Lang != lang || len(app.Languages) != len(lang) {
			t.Errorf("%q: %+v %v", lang, app, err)
		}
	}
}
