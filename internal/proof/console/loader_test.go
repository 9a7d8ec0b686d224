//go:build proof

package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// deliveredElement is an element of an app as the service delivers it.
type deliveredElement struct {
	Key      string         `json:"key"`
	Name     string         `json:"name"`
	Main     string         `json:"main"`
	Headless bool           `json:"headless,omitempty"`
	Config   map[string]any `json:"config"`
}

// deliveredApp is what the service delivers of an app.
type deliveredApp struct {
	ID       string             `json:"id"`
	Tag      string             `json:"tag,omitempty"`
	Version  int                `json:"version"`
	Title    string             `json:"title,omitempty"`
	Elements []deliveredElement `json:"elements"`
	Error    string             `json:"error,omitempty"`
	Code     string             `json:"code,omitempty"`

	Lang      string   `json:"lang,omitempty"`
	Languages []string `json:"languages,omitempty"`
}

// pages has a service that delivers what a test puts into apps, and a site of another origin.
type pages struct {
	*Browser
	service, site *httptest.Server

	mu     sync.Mutex
	apps   map[string]deliveredApp // by tag and id, and by a language too
	asked  []url.Values            // of each delivery
	others atomic.Int32            // deliveries that another server, below /other, was asked for
	status int                     // that deliveries get instead; 0 for none
	hang   chan struct{}           // holds back a script until it is closed
	page   string
	policy string
}

// component is a module that shows its text, counts what happens to it, and fails where its configuration says so.
const component = `
export function mount(element, { config, app, key, server, pageKey, signal, rendered }) {
	if (element) Object.assign(element, { rendered, asked: new URL(server).pathname + ' ' + pageKey })
	window.log = [...window.log ?? [], 'mount ' + app.id + ' ' + key]
	signal.addEventListener('abort', () => log.push('abort ' + key))
	if (config.fails) {
		element.attachShadow({ mode: 'open' }) // which hides what is beside it
		throw new Error('mount fails')
	}
	if (element) {
		element.textContent = config.text
		element.state = Math.random()
	}
	return {
		update(config) {
			log.push('update ' + key)
			if (config.breaks) throw new Error('update fails')
			if (element) element.textContent = config.text
		},
		unmount() { log.push('unmount ' + key) },
	}
}`

func newPages(t *testing.T) *pages {
	w := &pages{Browser: newBrowser(t), apps: map[string]deliveredApp{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{base}/x/vitrine.js", func(a http.ResponseWriter, r *http.Request) {
		text, err := os.ReadFile("../../../adapters/page/static/vitrine.js")
		if err != nil {
			t.Error(err)
		}
		a.Header().Set("Content-Type", "text/javascript")
		_, _ = a.Write(text)
	})
	mux.HandleFunc("GET /v4/x/public/{tag}", w.deliver)
	mux.HandleFunc("GET /other/x/public/{tag}", func(a http.ResponseWriter, r *http.Request) {
		w.others.Add(1)
		w.deliver(a, r)
	})
	mux.HandleFunc("GET /component.js", func(a http.ResponseWriter, r *http.Request) {
		a.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(a, component)
	})
	for path, script := range map[string]string{"/unfinished.js": "export function mount() {",
		"/other.js": "export default 1", "/never.js": "export const mount = () => new Promise(() => {})"} {
		mux.HandleFunc("GET "+path, func(a http.ResponseWriter, r *http.Request) {
			a.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(a, script)
		})
	}
	mux.HandleFunc("GET /plain.js", func(a http.ResponseWriter, r *http.Request) { // its component takes no update
		a.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(a, `export const mount = async (element, { config }) => {
			element.attachShadow({ mode: 'open' })
			element.shadowRoot.append(document.createElement('slot'))
			element.append(config.text)
		}`)
	})
	w.hang = make(chan struct{})
	mux.HandleFunc("GET /hanging.js", func(http.ResponseWriter, *http.Request) { <-w.hang })
	w.service = httptest.NewServer(http.HandlerFunc(func(a http.ResponseWriter, r *http.Request) {
		if r.Method != "GET" || r.Header.Get("Cookie") != "" || r.Header.Get("Authorization") != "" {
			t.Errorf("%s %s with %v", r.Method, r.URL, r.Header)
		}
		a.Header().Set("Access-Control-Allow-Origin", "*")
		mux.ServeHTTP(a, r)
	}))
	t.Cleanup(w.service.Close)
	t.Cleanup(func() { close(w.hang) })
	w.site = httptest.NewServer(http.HandlerFunc(func(a http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		a.Header().Set("Content-Type", "text/html; charset=utf-8")
		if w.policy != "" {
			a.Header().Set("Content-Security-Policy", w.policy)
		}
		fmt.Fprint(a, w.page)
	}))
	t.Cleanup(w.site.Close)
	return w
}

func (w *pages) deliver(a http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.status != 0 {
		a.WriteHeader(w.status)
		fmt.Fprint(a, `{"error": "the service says why", "code": "because"}`)
		return
	}
	w.asked = append(w.asked, r.URL.Query())
	out := struct {
		Apps []deliveredApp `json:"apps"`
	}{}
	for _, id := range r.URL.Query()["app"] {
		found, ok := w.apps[r.PathValue("tag")+" "+id+" "+r.URL.Query().Get("lang")]
		if !ok {
			found, ok = w.apps[r.PathValue("tag")+" "+id]
		}
		if !ok {
			found = deliveredApp{ID: id, Error: "there is no such app", Code: "not_found"}
		}
		out.Apps = append(out.Apps, found)
	}
	a.Header().Set("Cache-Control", "public, max-age=0")
	_ = json.NewEncoder(a).Encode(out)
}

// put makes an app with elements that each show their text. A text that begins with "!" is of a component that fails.
func (w *pages) put(id string, elements ...deliveredElement) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.apps["production "+id] = deliveredApp{ID: id, Tag: "production", Version: 3, Title: "T " + id,
		Elements: append([]deliveredElement{}, elements...)} // [] in JSON, also without elements
}

func (w *pages) element(key, text string) deliveredElement {
	return deliveredElement{Key: key, Name: "@x/" + key, Main: w.service.URL + "/component.js",
		Config: map[string]any{"text": text}}
}

// open opens a page with these elements.
func (w *pages) open(body string) {
	w.mu.Lock()
	w.page = `<!doctype html><title>site</title>` +
		strings.ReplaceAll(body, "<vitrine-app app=", `<vitrine-app tag="production" key="k" app=`) +
		`<script type="module" src="` + w.service.URL + `/v4/x/vitrine.js"></script>`
	w.asked = nil
	w.mu.Unlock()
	w.Open(w.site.URL)
}

// listening is a script that keeps the errors of the page.
const listening = `window.shown = []; document.addEventListener('vitrine-shown', e => shown.push([e.target.tagName, ` +
	`e.bubbles, JSON.stringify(e.detail), e.target.querySelectorAll('[data-key]').length].join(' '))); window.log = ` +
	`[]; window.errors = []; window.said = []; console.error = (...what) => ` +
	`said.push(what.join(' ')); document.addEventListener('vitrine-error', e => errors.push([e.detail.app, ` +
	`e.detail.key, e.detail.component, e.detail.error.message, e.target.tagName, e.detail.error.code]))`

func (w *pages) requests() []url.Values {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked
}

func TestLoader(t *testing.T) {
	w := newPages(t)
	w.Prelude(listening)
	t.Run("the apps of a page come in one request and are mounted in order", func(t *testing.T) {
		w := w.in(t)
		silent := w.element("0.1", "silent")
		silent.Headless = true
		w.put("a", w.element("0.0", "one"), silent, w.element("2.0", "two"))
		w.put("b", w.element("0.0", "three"))
		w.open(`<vitrine-app app="a"><p>wait</p></vitrine-app><vitrine-app app="b"></vitrine-app><vitrine-app ` +
			`app="b"></vitrine-app>`)
		w.Until(`() => document.body.innerText.replace(/\s+/g, ' ').trim() === 'one two three three'`)
		if asked := w.requests(); len(asked) != 1 || asked[0].Encode() != "app=a&app=b&key=k" {
			t.Errorf("asked %v", asked)
		}
		var html string
		w.Run(&html, `() => document.querySelector('vitrine-app').innerHTML`)
		if html != `<div data-key="0.0" data-component="@x/0.0">one</div><div data-key="2.0" `+
			`data-component="@x/2.0">two</div>` {
			t.Error(html)
		}
		var log []string
		w.Run(&log, `() => log.filter(l => l.startsWith('mount a'))`)
		if got := strings.Join(log, ","); got != "mount a 0.0,mount a 0.1,mount a 2.0" {
			t.Error(got)
		}
	})
	t.Run("what fails takes down nothing else", func(t *testing.T) {
		w := w.in(t)
		broken, absent := w.element("0.1", "x"), w.element("0.2", "x")
		broken.Config["fails"] = true
		absent.Main = w.service.URL + "/absent.js"
		unfinished, other := w.element("0.3", "x"), w.element("0.4", "x")
		unfinished.Main, other.Main = w.service.URL+"/unfinished.js", w.service.URL+"/other.js"
		w.put("a", w.element("0.0", "one"), broken, absent, unfinished, other, w.element("2.0", "two"))
		var body strings.Builder
		for i := range 20 {
			w.put(fmt.Sprint("app", i), w.element("0.0", "fine"))
			fmt.Fprintf(&body, `<vitrine-app app="app%d"></vitrine-app>`, i)
		}
		w.open(body.String() +
			`<vitrine-app app="a"><template slot="error"><b>sorry</b></template></vitrine-app><vitrine-app ` +
			`app="gone"><i>inside</i></vitrine-app>`)
		w.Until(`() => errors.length === 5 && document.body.innerText.split('fine').length === 21 && ` +
			`document.querySelector('[app=a]').innerText.replace(/\s+/g, ' ') === 'one sorry sorry sorry sorry two'`)
		var errors [][]string
		w.Run(&errors, `() => errors.sort()`)
		for _, want := range []string{
			"[a 0.1 @x/0.1 mount fails DIV ]",
			"[a 0.2 @x/0.2 its script " + absent.Main +
				" cannot be used: it is not there, not sent as JavaScript, or its server sends no " +
				"Access-Control-Allow-Origin DIV ]",
			"[a 0.3 @x/0.3 its script " + unfinished.Main +
				" cannot be used: SyntaxError: Unexpected end of input DIV ]",
			"[a 0.4 @x/0.4 its script " + other.Main + " cannot be used: it exports no function mount DIV ]",
			"there is no such app VITRINE-APP not_found",
		} {
			if got := fmt.Sprint(errors); !strings.Contains(got, want) {
				t.Errorf("%s, want %s", got, want)
			}
		}
		var said []string
		if w.Run(&said, `() => said`); len(said) != 5 ||
			!slices.Contains(said, "vitrine-app a 0.1 @x/0.1 Error: mount fails") {
			t.Errorf("the browser's console has %q", said)
		}
		var inside string
		w.Run(&inside, `() => document.querySelector('[app=gone]').innerText`)
		if inside != "inside" {
			t.Error(inside)
		}
	})
	t.Run("the page keeps failures out of the browser's console", func(t *testing.T) {
		w := w.in(t)
		broken := w.element("0.0", "x")
		broken.Config["fails"] = true
		w.put("a", broken)
		w.open(`<script>addEventListener('vitrine-error', event => event.preventDefault())</script><vitrine-app ` +
			`app="a"></vitrine-app>`)
		w.Until(`() => errors.length === 1 && said.length === 0`)
	})
	t.Run("a script that hangs holds up no other for long", func(t *testing.T) {
		w := w.in(t)
		hanging := w.element("0.0", "x")
		hanging.Main = w.service.URL + "/hanging.js"
		w.put("a", hanging, w.element("0.1", "one"), w.element("0.2", "two"))
		w.open(`<vitrine-app app="a"></vitrine-app>`)
		w.Until(`() => document.body.innerText.replace(/\s+/g, ' ').trim() === 'one two' && performance.now() < ` +
			`5000 && errors.length === 0`)
	})
	t.Run("a component that never finishes to mount is told of, and stays", func(t *testing.T) {
		w := w.in(t)
		never := w.element("0.0", "x")
		never.Main = w.service.URL + "/never.js"
		w.put("a", never, w.element("0.1", "one"))
		w.open(`<script>{ const later = setTimeout; window.setTimeout = (f, ms, ...a) =>
			later(f, ms === 10000 ? 300 : ms, ...a) }</script><vitrine-app app="a"></vitrine-app>`)
		w.Until(`() => errors.length === 1 && document.querySelectorAll('[data-key]').length === 2`)
		var got string
		w.Run(&got, `() => errors[0].join(' ')`)
		if got != "a 0.0 @x/0.0 what mount promises is not there after ten seconds DIV " {
			t.Error(got)
		}
	})
	t.Run("an app without a good key shows the template and says why", func(t *testing.T) {
		w := w.in(t)
		w.put("a", w.element("0.0", "one"))
		w.mu.Lock()
		w.status = 401
		w.mu.Unlock()
		const wait = `wait<template slot="error">sorry</template></vitrine-app>`
		w.open(`<vitrine-app app="a">` + wait + `<vitrine-app tag="production" app="b">` + wait +
			`<vitrine-app appid="c" tag="production" key="k">` + wait + `<vitrine-app></vitrine-app>`)
		w.Until(`() => document.body.innerText.replace(/\s+/g, '') === 'sorrysorrysorry' && errors.length === 3`)
		var got [][]string
		w.Run(&got, `() => errors.map(e => [e[0], e[3], e[5] ?? '']).sort()`)
		if fmt.Sprint(got) != "[[ <vitrine-app> has no attribute app ] [a the service says why because] "+
			"[b <vitrine-app> has no attribute page-key ]]" {
			t.Error(got)
		}
		w.mu.Lock()
		w.status = 0
		w.mu.Unlock()
		w.Run(new(any), `() => document.querySelector('[app=a]').setAttribute('key', 'good')`)
		w.Until(`() => document.querySelector('[app=a]').innerText === 'one'`)
	})
	t.Run("a live app changes in place", func(t *testing.T) {
		w := w.in(t)
		plain := deliveredElement{Key: "0.3", Name: "plain", Main: w.service.URL + "/plain.js",
			Config: map[string]any{"text": "plain"}}
		w.put("a", w.element("0.0", "one"), w.element("0.1", "two"), w.element("0.2", "three"), plain)
		w.open(`<vitrine-app app="a" live="1"></vitrine-app>`)
		w.Until(`() => document.body.innerText.includes('plain')`)
		w.Run(new(any),
			`() => { window.states = Object.fromEntries([...document.querySelectorAll('[data-key]')].map(d => `+
				`[d.dataset.key, d.state])); log = [] }`)
		changed := plain
		changed.Config = map[string]any{"text": "changed"}
		w.put("a", changed, w.element("0.2", "three"), w.element("0.0", "ONE"), w.element("4.3", "new"))
		w.Until(`() => document.body.innerText.replace(/\s+/g, ' ').trim() === 'changed three ONE new'`)
		var same bool
		w.Run(&same,
			`() => ['0.0', '0.2'].every(k => document.querySelector('[data-key="' + k + '"]').state === states[k])`)
		var log []string
		w.Run(&log, `() => log.sort()`)
		if got := strings.Join(log, ","); !same || got != "abort 0.1,mount a 4.3,unmount 0.1,update 0.0" {
			t.Error(same, got)
		}
	})
	t.Run("attributes and properties have names that frameworks keep", func(t *testing.T) {
		w := w.in(t)
		for _, id := range []string{"a", "b", "c", "d"} {
			w.put(id, w.element("0.0", id))
		}
		w.open(`<vitrine-app pagekey="k" tag="production" app="a"></vitrine-app>
			<vitrine-app key="wrong" page-key="k" tag="production" app="b"></vitrine-app>
			<script>
				const set = { app: "c", tag: "production", pageKey: "k", live: true, server: undefined };
				document.body.append(Object.assign(document.createElement("vitrine-app"), set));
			</script>
			<script type="module" src="` + w.service.URL + `/v4/x/vitrine.js?again"></script>
			<script type="module" src="` + w.service.URL + `/other/x/vitrine.js"></script>`)
		w.Until(`() => document.body.innerText.replace(/\s+/g, ' ').trim() === 'a b c'`)
		if asked := w.requests(); len(asked) != 1 || asked[0].Encode() != "app=a&app=b&app=c&key=k" {
			t.Errorf("asked %v", asked)
		}
		var got []string
		w.Run(&got, `() => {
			const c = document.querySelector('[app=c]');
			const has = (live) => (c.live = live, String([c.live, c.getAttribute('live')]));
			const seen = [c.outerHTML.slice(0, c.outerHTML.indexOf('>')), has(2), has("0"), has("soon"), has(null)];
			document.querySelector('[app=b]').pageKey = null;
			Object.assign(c, { app: 'd', server: new URL('../../other/', c.ownerDocument.scripts.item(1).src).href });
			return [...seen, c.pageKey, c.tag, c.server.slice(-7)];
		}`)
		const want = `<vitrine-app app="c" tag="production" page-key="k" live="" 2,2 0,0 true,soon false, k ` +
			`production /other/`
		if strings.Join(got, " ") != want {
			t.Errorf("%q, want %q", strings.Join(got, " "), want)
		}
		w.Until(`() => document.body.innerText.replace(/\s+/g, ' ').trim() === 'a b d' &&
			errors.some((e) => e[0] === 'b' && e[3] === '<vitrine-app> has no attribute page-key')`)
		if n := w.others.Load(); n != 1 {
			t.Errorf("another server was asked %d times", n)
		}
		var asked []string
		w.Run(&asked, `() => [...document.querySelectorAll('[data-key]')].map((div) => div.asked)`)
		if got := strings.Join(asked, ", "); got != "/v4/ k, /v4/ k, /other/ k" {
			t.Errorf("components are told of these servers and keys: %s", got)
		}
	})
	t.Run("the script of the guide chooses a variant for each visitor", func(t *testing.T) {
		w := w.in(t)
		w.put("a", w.element("0.0", "A"))
		w.mu.Lock()
		variant := w.apps["production a"]
		variant.Tag, variant.Elements = "variant-b", []deliveredElement{w.element("0.0", "B")}
		w.apps["variant-b a"] = variant
		w.mu.Unlock()
		const choose = `<script type="module">window.analytics = (...what) => { window.told = String(what) };`
		for _, chance := range []string{"0.2", "0.7"} {
			tag, text := "production", "A"
			if chance > "0.5" {
				tag, text = "variant-b", "B"
			}
			page := `<vitrine-app app="a"></vitrine-app>` + choose + `Math.random = () => ` + chance + `;` +
				blockOf(t, "adapters/page/README.md", "mjs", "localStorage") + `</script>`
			for range 2 { // the choice is kept
				w.open(page)
				w.Until(`(want) => window.told + ' ' + document.body.innerText.trim() === want`,
					"shown,a,"+tag+" "+text)
				page = strings.ReplaceAll(page, chance, "0."+map[string]string{"0.2": "7", "0.7": "2"}[chance])
			}
			w.Run(new(any), `() => (localStorage.clear(), true)`)
		}
	})
	t.Run("what a server has rendered is taken over, in the same version alone", func(t *testing.T) {
		w := w.in(t)
		w.put("a", w.element("0.0", "one"), w.element("0.1", "two"), w.element("0.2", "three"))
		w.put("b", w.element("0.0", "four"))
		const mark = `<script>for (const div of document.querySelectorAll('[data-key]')) div.before_ = true</script>`
		w.open(`<vitrine-app app="a" data-version="3"><div data-key="0.1" data-component="@x/0.1">TWO</div>
			<div data-key="0.0" data-component="@x/0.0"></div><div data-key="0.2" data-component="@x/old">THREE</div>
			</vitrine-app><vitrine-app app="b" data-version="2"><div data-key="0.0" data-component="@x/0.0">FOUR</div>
			</vitrine-app>` + mark)
		w.Until(`() => document.body.innerText.replace(/\s+/g, ' ').trim() === 'one two three four' && shown.length ` +
			`=== 2`)
		var got []string
		w.Run(&got, `() => [...document.querySelectorAll('[data-key]')].map((div) =>
			div.dataset.key + ' ' + div.dataset.component + ' ' + !!div.before_ + ' ' + div.rendered)`)
		if have := strings.Join(got, ", "); have != "0.0 @x/0.0 true false, 0.1 @x/0.1 true true, "+
			"0.2 @x/0.2 false false, 0.0 @x/0.0 false false" {
			t.Error(have)
		}
	})
	t.Run("a page is told once which version of an app it shows", func(t *testing.T) {
		w := w.in(t)
		w.put("a", w.element("0.0", "one"))
		w.open(`<vitrine-app app="a" live="1"></vitrine-app><vitrine-app app="a"></vitrine-app>` +
			`<vitrine-app app="gone"></vitrine-app>`)
		w.Until(`() => document.body.innerText.replace(/\s+/g, ' ').trim() === 'one one' && errors.length === 1`)
		w.put("a", w.element("0.0", "changed"))
		w.Until(`() => document.body.innerText.replace(/\s+/g, ' ').trim() === 'changed one'`)
		var shown []string
		if w.Run(&shown, `() => shown`); len(shown) != 1 ||
			shown[0] != `VITRINE-APP true {"app":"a","tag":"production","version":3} 1` {
			t.Errorf("%q", shown)
		}
	})
	t.Run("attributes may change", func(t *testing.T) {
		w := w.in(t)
		w.put("a", w.element("0.0", "one"))
		w.put("b", w.element("0.0", "two"))
		w.mu.Lock()
		w.apps["staging a"] = deliveredApp{ID: "a", Tag: "staging",
			Elements: []deliveredElement{w.element("0.0", "staged"), w.element("1.0", "more")}}
		w.mu.Unlock()
		w.open(`<vitrine-app app="a"></vitrine-app>`)
		w.Until(`() => document.body.innerText.trim() === 'one'`)
		w.Run(new(any), `() => { log = []; document.querySelector('vitrine-app').setAttribute('tag', 'staging') }`)
		w.Until(`() => document.body.innerText.replace(/\s+/g, ' ').trim() === 'staged more' && log.join() === ` +
			`'update 0.0,mount a 1.0'`)
		w.Run(new(any),
			`() => { const a = document.querySelector('vitrine-app'); a.setAttribute('tag', 'production'); `+
				`a.setAttribute('app', 'b') }`)
		w.Until(`() => document.body.innerText.trim() === 'two'`)
		w.Run(new(any), `() => { log = []; document.querySelector('vitrine-app').remove() }`)
		w.Until(`() => log.join() === 'abort 0.0,unmount 0.0' || log.join() === 'unmount 0.0,abort 0.0'`)
	})
	t.Run("a strict policy is enough", func(t *testing.T) {
		w := w.in(t)
		w.put("a", w.element("0.0", "one"))
		w.policy = "default-src 'none'; script-src " + w.service.URL + "; connect-src " + w.service.URL
		defer func() { w.policy = "" }()
		w.open(`<vitrine-app app="a"></vitrine-app>`)
		w.Until(`() => document.body.innerText.trim() === 'one'`)
	})
	t.Run("offline and back", func(t *testing.T) {
		w := w.in(t)
		w.put("a", w.element("0.0", "one"))
		w.open(`<vitrine-app app="a" live="1"></vitrine-app>`)
		w.Until(`() => document.body.innerText.trim() === 'one'`)
		w.Offline(true)
		w.put("a", w.element("0.0", "two"))
		w.Until(`() => errors.length === 1`)
		w.Offline(false)
		w.Until(`() => document.body.innerText.trim() === 'two'`)
	})
	t.Run("a service that is down shows later", func(t *testing.T) {
		w := w.in(t)
		w.put("a", w.element("0.0", "one"))
		w.mu.Lock()
		w.status = 503
		w.mu.Unlock()
		w.open(`<vitrine-app app="a">wait</vitrine-app>`)
		w.Until(`() => errors.length === 1 && document.body.innerText.trim() === 'wait'`)
		w.mu.Lock()
		w.status = 0
		w.mu.Unlock()
		w.Until(`() => document.body.innerText.trim() === 'one'`)
	})
	t.Run("a thousand moves keep the state", func(t *testing.T) {
		w := w.in(t)
		w.put("a")
		w.open(`<vitrine-app app="a"></vitrine-app>`)
		w.Until(`() => shown.length === 1`) // else the answer of the service may come after show
		var wrong string
		w.Run(&wrong, `async main => {
			const host = document.querySelector('vitrine-app')
			await customElements.whenDefined('vitrine-app')
			const elements = Array.from({ length: 20 }, (_, i) =>
				({ key: '0.' + i, name: 'x', main, config: { text: 'e' + i } }))
			const show = () => host.show({ id: 'a', version: 1, elements })
			await show()
			while ([...host.children].some(d => d.state === undefined)) await new Promise(done => setTimeout(done, 10))
			const states = Object.fromEntries([...host.children].map(d => [d.dataset.key, d.state]))
			for (let i = 0; i < 1000; i++) {
				elements.splice(i * 7 % 20, 0, ...elements.splice(i * 13 % 20, 1))
				await show()
				if ([...host.children].map(d => d.dataset.key).join() !== elements.map(e => e.key).join())
					return 'order after ' + i
			}
			if ([...host.children].some(d => d.state === undefined || d.state !== states[d.dataset.key])) return 'state'
			return log.filter(l => !l.startsWith('mount')).join()
		}`, w.service.URL+"/component.js")
		if wrong != "" {
			t.Error(wrong)
		}
	})
	t.Run("more than fifty apps", func(t *testing.T) {
		w := w.in(t)
		var body strings.Builder
		for i := range 60 {
			w.put(fmt.Sprint("app", i), w.element("0.0", "fine"))
			fmt.Fprintf(&body, `<vitrine-app app="app%d"></vitrine-app>`, i)
		}
		w.open(body.String())
		w.Until(`() => document.body.innerText.split('fine').length === 61`)
		if asked := w.requests(); len(asked) != 2 || len(asked[0]["app"])+len(asked[1]["app"]) != 60 {
			t.Errorf("asked %v", asked)
		}
	})
}

// in is the world for a subtest.
func (w *pages) in(t *testing.T) *pages {
	w.Browser = w.Browser.For(t)
	return w
}
