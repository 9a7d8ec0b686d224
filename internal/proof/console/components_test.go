//go:build proof

package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/examples/components"
)

// Each example component renders each of its configs without a document, takes over what it has rendered, shows each
// config, and leaves nothing behind. Texts stay texts, and no address of another scheme than http becomes a link or a
// picture.
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
		if r.URL.Path == "/x/public/assets/example.test/example.test/NC3xN" && r.URL.Query().Get("key") == "pk_1" {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w,
				`{"folder":{"id":"NC3xN","label":"<b>New"},"assets":[{"text":"Dark <b>Sky","author":{"name":`+
					`"Ann"},"attachments":[{"type":"photo","description":"<b>Sky","url":"%[1]s/x/file/1/a.png?v=1",`+
					`"thumbnail_url":"%[1]s/x/file/1/a.png?v=1&w=320","width":700,"height":500,`+
					`"file":{"name":"a.png","widths":[320,640]}},`+
					`{"type":"link","title":"<b>PDF","url":"%[1]s/x/file/2/b.pdf"},{"type":"link",`+
					`"url":"javascript:x"}]},`+
					`{"text":"Alone","author":{},"attachments":[]}]}`, "http://"+r.Host)
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
	t.Run("wall says in the preview, which has no key, what a page shows", func(t *testing.T) {
		var text string
		b.For(t).Run(&text, `async () => {
			const { mount } = await import('/wall.js')
			const div = document.createElement('div')
			const { signal } = new AbortController()
			await mount(div, { config: { folder: 'a/b/c', heading: 'Press' }, server: location.origin, pageKey: null,
				signal })
			return div.shadowRoot.textContent
		}`)
		if !strings.HasPrefix(text, "PressA page shows the newest assets of the folder here") {
			t.Error(text)
		}
	})
	for name, c := range configs {
		t.Run(name, func(t *testing.T) {
			rendered := renderInNode(t, name, c.Fits, site.url)
			var got struct {
				Shown         []string
				Wrong         []string
				Viewed, Empty bool
			}
			b.For(t).Run(&got, `async (name, configs, rendered) => {
				const { mount } = await import('/' + name + '.js')
				const wrong = [], shown = []
				let viewed = false
				document.addEventListener('app-view', () => { viewed = true })
				addEventListener('error', (e) => wrong.push(e.message))
				const running = new Set(), set = window.setTimeout, clear = window.clearTimeout
				window.setTimeout = (f, ms) => {
					const id = set(() => { running.delete(id); f() }, ms);
					running.add(id);
					return id;
				}
				window.clearTimeout = (id) => { running.delete(id); clear(id) }
				const div = document.createElement('div')
				document.body.append(div)
				const gone = new AbortController()
				const app = { id: 'a', tag: 'production', version: '1', title: 'App' }
				const element = name === 'views' ? null : div
				const check = (root) => {
					for (const x of root.querySelectorAll('b, script')) {
						wrong.push('made an element of a text: ' + x.outerHTML)
					}
					for (const x of root.querySelectorAll('[href], [src]')) {
						if (!/^https?:/.test(x.href ?? x.src)) wrong.push('address: ' + (x.href ?? x.src))
					}
				}
				for (const html of rendered.toReversed()) {
					div.innerHTML = html
					check(div)
				}
				const config = structuredClone(configs[0])
				const handle = await mount(element, { config, app, key: '0.0', server: location.origin + '/',
					pageKey: 'pk_1', signal: gone.signal, rendered: true })
				if (div.firstChild) wrong.push('what was rendered is still there: ' + div.innerHTML)
				for (const config of configs) {
					await handle?.update?.(structuredClone(config))
					const root = div.shadowRoot ?? div
					shown.push(root.innerHTML)
					check(root)
				}
				handle?.unmount?.()
				gone.abort()
				await new Promise((r) => set(r, 50))
				for (const id of running) wrong.push('a timer goes on')
				Object.assign(window, { setTimeout: set, clearTimeout: clear })
				div.remove()
				return { shown, wrong, viewed }
			}`, name, c.Fits, rendered)
			if len(got.Wrong) > 0 || got.Viewed != (name == "views") {
				t.Errorf("%q, viewed %t", got.Wrong, got.Viewed)
			}
			for i, text := range got.Shown {
				if (text == "") != (name == "views") {
					t.Errorf("config %d is shown as %q", i, text)
				}
				// What is seen without scripts has every text that a visitor reads.
				for _, want := range regexp.MustCompile(`<b>\w+|In the morning|Boats|Bright`).FindAllString(
					string(c.Fits[i]), -1) {
					if !strings.Contains(rendered[i], strings.Replace(want, "<b>", "&#60;b&#62;", 1)) {
						t.Errorf("config %d has %q, and is rendered as %q", i, want, rendered[i])
					}
				}
			}
			const widths = `srcset="[^"]*w=320 320w, [^"]*w=640 640w, [^"]*v=1 700w"`
			if all := strings.Join(append(rendered, got.Shown...), "\n"); name == "wall" &&
				(len(regexp.MustCompile(widths).FindAllString(all, -1)) != 4 || strings.Count(all, "Dark") != 2) {
				t.Errorf("wall is shown as %s", all)
			}
			if all := strings.Join(rendered, "\n"); name == "reviews" && !strings.Contains(all,
				"<p>3.5 of 5, 2 reviews</p><ol><li><h3>&#60;b&#62;Bright</h3><p>So &lt;b&gt; here "+
					"nox</p><small>Ann</small></li></ol>") {
				t.Errorf("reviews are rendered as %s", all)
			}
		})
	}
}

// renderInNode returns what a component renders of each config in Node.js, where there is no document.
func renderInNode(t *testing.T, name string, configs []json.RawMessage, server string) (rendered []string) {
	t.Helper()
	list, err := json.Marshal(configs)
	if err != nil {
		t.Fatal(err)
	}
	const script = `
		const [file, configs, server, main] = process.argv.slice(1)
		const { render } = await import(file)
		const app = { id: 'a', tag: 'production', version: '1', title: 'App' }
		const context = { app, key: '0.0', server, pageKey: 'pk_1', main }
		const all = JSON.parse(configs).map((config) => render({ ...context, config }))
		console.log(JSON.stringify(await Promise.all(all)))`
	file, err := filepath.Abs(module + "/examples/components/" + name + ".js")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(tool(t, "node"), "--input-type=module", "-e", script, file, string(list), server+"/",
		server+"/"+name+".js").Output()
	if err == nil {
		err = json.Unmarshal(out, &rendered)
	}
	if err != nil || len(rendered) != len(configs) {
		t.Fatalf("%s cannot be rendered: %v: %s", name, err, out)
	}
	return rendered
}

// Whoever adds an element sees a picture of each component that has one. One of another host is shown to those who let
// the pictures of assets be shown.
func TestComponentsHavePictures(t *testing.T) {
	w := newWorld(t, "-demo")
	demo := httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:demo.test:user=demo",
		Moderates: []string{"urn:vitrine:demo.test"}, Components: true}}
	w.request(demo, "POST", "/components", `{"name":"elsewhere","version":"1","main":"/x.js","configSchema":{},`+
		`"preview":"https://pictures.example.test/a.png"}`)
	w.component("plain", "1", `{}`)
	p := w.signIn(demo, "/apps/de300000-0000-4000-8000-000000000006")
	p.Click(named("Add an element"))
	p.See(`//dialog//*[@role="option"][contains(., "Poll")]//img` +
		`[contains(@src, "/x/demo/pictures/poll-component.svg")]`)
	p.Until(`() => {
		const pictures = [...document.querySelectorAll("dialog [role=option] img")];
		const waits = pictures.find((i) => !i.complete || i.naturalWidth === 0);
		waits?.scrollIntoView(); // they are loaded when they are seen
		return pictures.length === 6 && !waits;
	}`)
	p.looked("pictures", axeCore(t))
	p.Press("countd" + keyEnter)
	p.Until(`() => document.activeElement.closest("li.card")?.getAttribute("aria-label").includes("Countdown")`)
	p.Run(new(any), `async () => sessionStorage.setItem("vitrine.images", "yes")`)
	p.Click(named("Add an element"))
	p.See(`//dialog//*[@role="option"][contains(., "elsewhere")]//img[@referrerpolicy="no-referrer"]`)
}
