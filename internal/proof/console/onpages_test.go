//go:build proof

package console

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// pageKey is a key that reads the tag production and nothing else.
func (w *world) pageKey() string {
	return w.token(httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=page", Reads: []string{network}, TagsOnly: true, Tags: []string{"production"}}})
}

// site serves one page under an origin of its own.
func site(t *testing.T, policy, html string) *origin {
	return newOrigin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if policy != "" {
			w.Header().Set("Content-Security-Policy", policy)
		}
		fmt.Fprint(w, "<!doctype html><title>site</title>", html)
	}))
}

// A page of another origin, with a strict policy, shows sixty apps of the program in two requests. One that is broken spoils no other, a tag
// that moves is seen within the seconds of live, and the page goes on when the network is back.
func TestAppsOnAPage(t *testing.T) {
	w := newWorld(t)
	at := scripts(t, map[string]string{"/text.js": `export function mount(element, { config }) {
		window.first ??= performance.now()
		if (config.text === 'bad') throw new Error('no bad texts')
		element.textContent = config.text
		element.state = Math.random()
		return { update(config) { element.textContent = config.text } }
	}`})
	w.request(ann, "POST", "/components", fmt.Sprintf(`{"name":"text","version":"1.0.0","main":"%s/text.js","configSchema":%s}`, at, textSchema))
	w.request(ann, "POST", "/components", fmt.Sprintf(`{"name":"gone","version":"1.0.0","main":"%s/gone.js","configSchema":{}}`, at))
	var ids []string
	for i := range 60 {
		elements := []string{element("text", fmt.Sprintf(`{"text":"app %d"}`, i)), element("text", `{"text":"more"}`)}
		if i == 7 {
			elements = []string{element("gone", `{}`), element("text", `{"text":"bad"}`), element("text", `{"text":"fine"}`)}
		}
		id := w.newApp(fmt.Sprint("App ", i), elements...)
		w.request(ann, "PUT", "/apps/"+id+"/tags/production", `{"appVersion":"0"}`)
		ids = append(ids, id)
	}
	html := &strings.Builder{}
	key := w.pageKey()
	fmt.Fprintf(html, `<script type="module" src="%s/x/vitrine.js"></script>`, w.url)
	for i, id := range ids {
		live := ""
		if i == 0 {
			live = ` live="1"`
		}
		fmt.Fprintf(html, `<vitrine-app app="%s" tag="production" key="%s"%s></vitrine-app>`, id, key, live)
	}
	page := site(t, "default-src 'none'; script-src "+w.url+" "+at+"; connect-src "+w.url, html.String())
	b := newBrowser(t)
	b.Prelude(`window.errors = []; document.addEventListener('vitrine-error', (e) => errors.push([e.detail.app, e.detail.key].join()))`)
	b.Prelude(`addEventListener("securitypolicyviolation", (e) => errors.push(e.blockedURI))`)
	b.Open(page.url + "/")
	b.Until(`() => document.body.innerText.split('more').length === 60 && document.body.innerText.includes('fine') && errors.length === 2`)
	var got struct {
		Errors   []string
		First    float64
		Requests []string
	}
	b.Run(&got, `() => ({ errors: errors.sort(), first, requests: performance.getEntriesByType('resource').filter((x) => x.initiatorType === 'fetch').map((x) => x.name) })`)
	if strings.Join(got.Errors, " ") != ids[7]+",0.0 "+ids[7]+",0.1" {
		t.Errorf("errors: %q", got.Errors)
	}
	apps := 0
	for _, name := range got.Requests[:min(2, len(got.Requests))] {
		apps += strings.Count(name, "app=")
	}
	if apps != 60 {
		t.Errorf("the first two of %d requests are for %d apps", len(got.Requests), apps)
	}
	t.Logf("the first of 120 elements is mounted %.0f ms after the page was opened", got.First)

	// A tag moves: within a second, and the element that was moved keeps its state.
	app := "/apps/" + ids[0]
	b.Run(new(any), `() => { window.state = document.querySelector('[data-key="0.0"]').state }`)
	w.request(ann, "PATCH", app, `[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"move","from":"/apps/0/elements/0","path":"/apps/0/elements/1"},{"op":"replace","path":"/apps/0/elements/1/config/text","value":"changed"}]`)
	w.request(ann, "PUT", app+"/tags/production", `{"appVersion":"1"}`)
	moved := time.Now()
	b.Until(`() => document.querySelector('vitrine-app').innerText.replace(/\s+/g, ' ') === 'more changed'`)
	t.Logf("a moved tag is seen after %v", time.Since(moved))
	var same bool
	if b.Run(&same, `() => document.querySelector('[data-key="0.0"]').state === state`); !same {
		t.Error("a moved element lost its state")
	}
	b.Offline(true)
	w.request(ann, "PUT", app+"/tags/production", `{"appVersion":"0"}`)
	b.Until(`() => errors.length === 3`)
	b.Offline(false)
	b.Until(`() => document.querySelector('vitrine-app').innerText.replace(/\s+/g, ' ') === 'app 0 more'`)
	w.request(ann, "DELETE", app+"/tags/production", "")
	b.Until(`() => document.querySelector('vitrine-app').innerText === ''`)
}
