//go:build proof

package console

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	loader "github.com/vitrine-go/vitrine/adapters/page"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/examples/components"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// TestReadmePage opens the page of the README, which another site serves, with a delivery token.
func TestReadmePage(t *testing.T) {
	openPage(t, blockOf(t, "README.md", "html"), components.Files, "<b>Tea? Yes", "Coffee? Yes")
}

// TestGuidePage does so with the page and the component of the guide to pages.
func TestGuidePage(t *testing.T) {
	const guide = "adapters/page/README.md"
	script := fstest.MapFS{"poll.js": {Data: []byte(blockOf(t, guide, "js"))}}
	openPage(t, blockOf(t, guide, "html"), script, "<b>Tea?", "Coffee?")
}

// TestReviewsPage opens the page of the guide to reviews, which shows a collection with a public key.
func TestReviewsPage(t *testing.T) {
	service := reviews.New(memory.New(), nil)
	file := `{"source":"shop.example","title":"Kettle","created":"2019-01-05T09:30:00Z","id":"a2V0dGxl",` +
		`"dimensions":["default"],"reviews":[` +
		`{"id":"1","imported_display_name":"user-1","title":"Quick","body_html":"<p>Boils in a minute.</p>",` +
		`"created":"2019-04-02T10:00:00Z","ratings":[100]}]}`
	if _, err := service.As(vitrine.Caller{Operator: true}).Import(t.Context(),
		reviews.ImportRequest{Network: "shop.example", File: strings.NewReader(file)}); err != nil {
		t.Fatal(err)
	}
	const key = "a-public-key"
	h, err := httpapi.New(httpapi.Config{Reviews: service,
		Authenticate: func(r *http.Request) (httpapi.Principal, error) {
			if token, err := httpapi.RequestToken(r); err != nil || token != key {
				return httpapi.Principal{}, httpapi.ErrUnauthenticated
			}
			return httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:shop.example:user=page",
				Reads: []string{"urn:vitrine:shop.example"}, TagsOnly: true, PublicReviews: true}}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	page := strings.NewReplacer("http://127.0.0.1:8080", newOrigin(t, h).url, "$KEY",
		key).Replace(blockOf(t, "reviews/README.md", "html"))
	files := http.FileServerFS(components.Files)
	site := newOrigin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			files.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, page)
	}))
	b := newBrowser(t)
	b.Open(site.url + "/")
	b.Until(`() => document.querySelector("#reviews").shadowRoot?.textContent.includes("Boils in a minute.")`)
}

// blockOf returns the block of a language that a document has; with words, the one that has them.
func blockOf(t *testing.T, document, lang string, words ...string) string {
	text, err := os.ReadFile("../../../" + document)
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile("(?ms)^```"+lang+"\n(.*?)^```$").FindAllSubmatch(text, -1)
	for _, word := range words {
		all = slices.DeleteFunc(all, func(m [][]byte) bool { return !strings.Contains(string(m[1]), word) })
	}
	if len(all) != 1 {
		t.Fatalf("%s has %d blocks of %s with %q, want one", document, len(all), lang, words)
	}
	return string(all[0][1])
}

// openPage opens a page with an app whose only element has the script poll.js, and waits for what it shows, before and
// after the tag has moved.
func openPage(t *testing.T, page string, files fs.FS, before, after string) {
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
	scripts := http.FileServerFS(files)
	cdn := newOrigin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		scripts.ServeHTTP(w, r)
	}))
	editor := apps.As(vitrine.Caller{URN: "urn:vitrine:example.test:user=editor", Moderates: []string{site},
		Components: true})
	_, err = editor.CreateComponent(t.Context(), appsvc.CreateComponentRequest{
		Manifest: strings.NewReader(`{"name":"poll","version":"1.0.0","main":"` + cdn.url +
			`/poll.js","configSchema":{}}`)})
	if err != nil {
		t.Fatal(err)
	}
	app, err := editor.CreateApp(t.Context(),
		appsvc.CreateAppRequest{Title: "Front page", Groups: []string{site}, Elements: []appsvc.NewElement{
			{Component: appsvc.ComponentRef{Name: "poll", Version: "1.0.0"},
				Config: []byte(`{"question":"<b>Tea?","answers":[{"text":"Yes"}]}`)}}})
	if err != nil {
		t.Fatal(err)
	}
	next, err := editor.Patch(t.Context(), app.ID,
		strings.NewReader(`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace",`+
			`"path":"/apps/0/elements/0/config/question","value":"Coffee?"}]`))
	if err != nil {
		t.Fatal(err)
	}
	website := func(tag string) *origin {
		who := httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:example.test:user=website",
			Reads: []string{site}, TagsOnly: true, Tags: []string{tag}}}
		token, err := tokens.Sign(who, time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer("http://127.0.0.1:8080", api.url, "$APP", app.ID, "$PAGE", token).Replace(page)
		return newOrigin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Security-Policy",
				"default-src 'none'; script-src 'unsafe-inline' "+api.url+" "+cdn.url+"; connect-src "+api.url)
			if r.URL.Path == "/" {
				fmt.Fprint(w,
					`<script>addEventListener("vitrine-error", (e) => { window.failed = e.detail.error.code `+
						`})</script>`, text)
			}
		}))
	}
	b := newBrowser(t)
	deploy := func(v vitrine.Version) {
		t.Helper()
		if _, err := editor.PutTag(t.Context(),
			appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: v}); err != nil {
			t.Fatal(err)
		}
	}
	const shows = `(text) => {
		const element = document.querySelector("[data-key]")
		return (element?.shadowRoot?.querySelector("form") ?? element)?.innerText.trim().replace(/\s+/g, " ") === text
	}`
	deploy(app.Version)
	b.Open(website("production").url + "/")
	b.Until(shows, before)
	b.Until(`() => {
		const form = document.querySelector("[data-key]").shadowRoot?.querySelector("form")
		return !form || getComputedStyle(form).borderRadius === "12px"
	}`)
	deploy(next.Version) // the page is live
	b.Until(shows, after)
	b.Open(website("draft").url + "/")
	b.Until(`() => window.failed === "forbidden"`)
}
