//go:build proof

package console

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// TestReadmePage opens the page of the README, which another site serves, with a delivery token.
func TestReadmePage(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```html\n(.*?)^```$").FindAllSubmatch(readme, -1)
	if len(blocks) != 1 {
		t.Fatalf("the README has %d pages, want one", len(blocks))
	}
	const site = "urn:vitrine:example.test:site=1"
	tokens, err := httpapi.NewTokens([]byte("32 secret bytes, kept by the host"), nil)
	if err != nil {
		t.Fatal(err)
	}
	apps := appsvc.New(memory.New(), nil)
	h, err := httpapi.New(httpapi.Config{Apps: apps, Authenticate: tokens.Authenticate})
	if err != nil {
		t.Fatal(err)
	}
	api := newOrigin(t, h)
	editor := apps.As(vitrine.Caller{URN: "urn:vitrine:example.test:user=editor", Moderates: []string{site}, Components: true})
	_, err = editor.CreateComponent(t.Context(), appsvc.CreateComponentRequest{
		Manifest: []byte(`{"name":"poll","version":"1.0.0","main":"https://example.test/poll.js","configSchema":{}}`)})
	if err != nil {
		t.Fatal(err)
	}
	app, err := editor.CreateApp(t.Context(), appsvc.CreateAppRequest{Title: "Front page", Groups: []string{site}, Elements: []appsvc.NewElement{
		{Component: appsvc.ComponentRef{Name: "poll", Version: "1.0.0"}, Config: []byte(`{"question":"<b>Tea?"}`)}}})
	if err != nil {
		t.Fatal(err)
	}
	next, err := editor.Patch(t.Context(), app.ID, []byte(`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/title","value":"Winter"}]`))
	if err != nil {
		t.Fatal(err)
	}
	page := func(tag string) *origin {
		who := httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:example.test:user=website", Reads: []string{site}, TagsOnly: true, Tags: []string{tag}}}
		token, err := tokens.Sign(who, time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer("http://127.0.0.1:8080", api.url, "$APP", app.ID, "$PAGE", token).Replace(string(blocks[0][1]))
		return newOrigin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			if r.URL.Path == "/" {
				fmt.Fprint(w, `<script>addEventListener("error", (e) => { window.failed = e.message })</script>`, text)
			}
		}))
	}
	b := newBrowser(t)
	// shown opens a page and returns its text once it has a heading or its script has failed.
	shown := func(o *origin) (text string) {
		b.Open(o.url + "/")
		b.Run(&text, `async () => {
			for (let i = 0; i < 1600 && !document.querySelector("h1").textContent && !window.failed; i++) {
				await new Promise((done) => setTimeout(done, 25))
			}
			return window.failed || document.body.innerText.trim().replace(/\s+/g, " ")
		}`)
		return text
	}
	website := page("production")
	for version, want := range map[vitrine.Version]string{app.Version: "Front page poll: <b>Tea?", next.Version: "Winter poll: <b>Tea?"} {
		if _, err := editor.PutTag(t.Context(), appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: version}); err != nil {
			t.Fatal(err)
		}
		if have := shown(website); have != want {
			t.Errorf("the page shows %q, want %q", have, want)
		}
	}
	if have := shown(page("draft")); !strings.Contains(have, "Error: ") || !strings.Contains(have, "tags") {
		t.Errorf("with a token for another tag the page shows %q, want an error", have)
	}
}
