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
	loader "github.com/vitrine-go/vitrine/adapters/page"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/examples/components"
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
	api := newOrigin(t, loader.Before(h, ""))
	scripts := http.FileServerFS(components.Files)
	cdn := newOrigin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		scripts.ServeHTTP(w, r)
	}))
	editor := apps.As(vitrine.Caller{URN: "urn:vitrine:example.test:user=editor", Moderates: []string{site}, Components: true})
	_, err = editor.CreateComponent(t.Context(), appsvc.CreateComponentRequest{
		Manifest: []byte(`{"name":"poll","version":"1.0.0","main":"` + cdn.url + `/poll.js","configSchema":{}}`)})
	if err != nil {
		t.Fatal(err)
	}
	app, err := editor.CreateApp(t.Context(), appsvc.CreateAppRequest{Title: "Front page", Groups: []string{site}, Elements: []appsvc.NewElement{
		{Component: appsvc.ComponentRef{Name: "poll", Version: "1.0.0"}, Config: []byte(`{"question":"<b>Tea?","answers":[{"text":"Yes"}]}`)}}})
	if err != nil {
		t.Fatal(err)
	}
	next, err := editor.Patch(t.Context(), app.ID, []byte(`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/elements/0/config/question","value":"Coffee?"}]`))
	if err != nil {
		t.Fatal(err)
	}
	website := func(tag string) *origin {
		who := httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:example.test:user=website", Reads: []string{site}, TagsOnly: true, Tags: []string{tag}}}
		token, err := tokens.Sign(who, time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer("http://127.0.0.1:8080", api.url, "$APP", app.ID, "$PAGE", token).Replace(string(blocks[0][1]))
		return newOrigin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			if r.URL.Path == "/" {
				fmt.Fprint(w, `<script>addEventListener("vitrine-error", (e) => { window.failed = e.detail.error.message })</script>`, text)
			}
		}))
	}
	b := newBrowser(t)
	deploy := func(v vitrine.Version) {
		t.Helper()
		if _, err := editor.PutTag(t.Context(), appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: v}); err != nil {
			t.Fatal(err)
		}
	}
	const shows = `(text) => document.querySelector("[data-key]")?.shadowRoot?.querySelector("form")?.innerText.trim().replace(/\s+/g, " ") === text`
	deploy(app.Version)
	b.Open(website("production").url + "/")
	b.Until(shows, "<b>Tea? Yes")
	deploy(next.Version) // the page is live
	b.Until(shows, "Coffee? Yes")
	b.Open(website("draft").url + "/")
	b.Until(`() => window.failed?.includes("403")`)
}
