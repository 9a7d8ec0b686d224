//go:build proof

package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/vitrine-go/vitrine/examples/components"
)

// Each example component mounts, shows each of its configs, and leaves nothing behind. Texts stay texts, and no address
// of another scheme than http becomes a link or a picture.
func TestExampleComponents(t *testing.T) {
	var configs map[string]struct{ Fits []json.RawMessage }
	text, err := os.ReadFile(module + "/examples/components/testdata/configs.json")
	if err == nil {
		err = json.Unmarshal(text, &configs)
	}
	if err != nil {
		t.Fatal(err)
	}
	files := http.FileServerFS(components.Files)
	site := newOrigin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/x/public/reviews/example.test/YQ==" { // the example of reviews reads them beside its script
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w,
				`{"title":"Lamp","count":2,"dimensions":[{"name":"default","mean":70.5,"histogram":[0,0,0,0,1,0,0,0,`+
					`0,1]}],"reviews":[{"id":"1","title":"<b>Bright","body_html":"<p>So &lt;b&gt; <a `+
					`href=\"https://example.test/\">here</a> <b>no</b><a href=\"javascript:x\">x</a></p>",`+
					`"created":"2020-01-02T03:04:05Z","ratings":[50],"author":{"name":"Ann"}}]}`)
			return
		}
		if r.URL.Path != "/" {
			files.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><title>components</title><div></div>`)
	}))
	b := newBrowser(t)
	b.Open(site.url + "/")
	for name, c := range configs {
		t.Run(name, func(t *testing.T) {
			var got struct {
				Shown         []string
				Wrong         []string
				Viewed, Empty bool
			}
			b.For(t).Run(&got, `async (name, configs) => {
				const { mount } = await import('/' + name + '.js')
				const wrong = [], shown = []
				let viewed = false
				document.addEventListener('app-view', () => { viewed = true })
				addEventListener('error', (e) => wrong.push(e.message))
				const running = new Set(), set = window.setTimeout, clear = window.clearTimeout
				window.setTimeout = (f, ms) => { const id = set(() => { running.delete(id); f() }, ms); running.add(id); return id }
				window.clearTimeout = (id) => { running.delete(id); clear(id) }
				const div = document.createElement('div')
				document.body.append(div)
				const gone = new AbortController()
				const app = { id: 'a', tag: 'production', version: '1', title: 'App' }
				const element = name === 'views' ? null : div
				const handle = await mount(element, { config: structuredClone(configs[0]), app, key: '0.0', signal: gone.signal })
				for (const config of configs) {
					await handle?.update?.(structuredClone(config))
					const root = div.shadowRoot ?? div
					shown.push(root.innerHTML)
					for (const x of root.querySelectorAll('b, script')) wrong.push('made an element of a text: ' + x.outerHTML)
					for (const x of root.querySelectorAll('[href], [src]')) if (!/^https?:/.test(x.href ?? x.src)) wrong.push('address: ' + (x.href ?? x.src))
				}
				handle?.unmount?.()
				gone.abort()
				await new Promise((r) => set(r, 50))
				for (const id of running) wrong.push('a timer goes on')
				Object.assign(window, { setTimeout: set, clearTimeout: clear })
				div.remove()
				return { shown, wrong, viewed }
			}`, name, c.Fits)
			if len(got.Wrong) > 0 || got.Viewed != (name == "views") {
				t.Errorf("%q, viewed %t", got.Wrong, got.Viewed)
			}
			for i, text := range got.Shown {
				if (text == "") != (name == "views") {
					t.Errorf("config %d is shown as %q", i, text)
				}
			}
		})
	}
}
