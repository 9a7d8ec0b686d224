//go:build proof

package console

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// pageKey is a key that reads the tag production and nothing else.
func (w *world) pageKey() string {
	return w.token(
		httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=page", Reads: []string{network}, TagsOnly: true,
			Tags: []string{"production"}}})
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

// A page of another origin, with a strict policy, shows sixty apps of the program in two requests. One that is broken
// spoils no other, a tag that moves is seen within the seconds of live, and the page goes on when the network is back.
func TestAppsOnAPage(t *testing.T) {
	w := newWorld(t)
	at := scripts(t, map[string]string{"/text.js": `export function mount(element, { config }) {
		window.first ??= performance.now()
		if (config.text === 'bad') throw new Error('no bad texts')
		element.textContent = config.text
		element.state = Math.random()
		return { update(config) { element.textContent = config.text } }
	}`})
	w.request(ann, "POST", "/components",
		fmt.Sprintf(`{"name":"text","version":"1.0.0","main":"%s/text.js","configSchema":%s}`, at, textSchema))
	w.request(ann, "POST", "/components",
		fmt.Sprintf(`{"name":"gone","version":"1.0.0","main":"%s/gone.js","configSchema":{}}`, at))
	var ids []string
	for i := range 60 {
		elements := []string{element("text", fmt.Sprintf(`{"text":"app %d"}`, i)), element("text", `{"text":"more"}`)}
		if i == 7 {
			elements = []string{element("gone", `{}`), element("text", `{"text":"bad"}`),
				element("text", `{"text":"fine"}`)}
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
	b.Prelude(`window.errors = []; document.addEventListener('vitrine-error', (e) => errors.push([e.detail.app, ` +
		`e.detail.key].join()))`)
	b.Prelude(`addEventListener("securitypolicyviolation", (e) => errors.push(e.blockedURI))`)
	b.Open(page.url + "/")
	b.Until(`() => document.body.innerText.split('more').length === 60 && document.body.innerText.includes('fine') ` +
		`&& errors.length === 2`)
	var got struct {
		Errors   []string
		First    float64
		Requests []string
	}
	b.Run(&got, `() => ({ errors: errors.sort(), first, requests: `+
		`performance.getEntriesByType('resource').filter((x) => x.initiatorType === 'fetch').map((x) => x.name) })`)
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
	w.request(ann, "PATCH", app,
		`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"move","from":"/apps/0/elements/0",`+
			`"path":"/apps/0/elements/1"},{"op":"replace","path":"/apps/0/elements/1/config/text","value":"changed"}]`)
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

// behind starts nginx with the file of examples/deploy, without TLS, before the program, and returns its address.
func (w *world) behind(t *testing.T) string {
	t.Helper()
	nginx := "/usr/sbin/nginx"
	if _, err := os.Stat(nginx); err != nil {
		nginx = tool(t, "nginx")
	}
	text, err := os.ReadFile(module + "/examples/deploy/nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	var ports [3]string
	for i := range ports {
		if ports[i], err = program.FreePort(); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	conf := strings.NewReplacer("server 127.0.0.1:8080;", "server "+strings.TrimPrefix(w.url, "http://")+";",
		"listen 80;", "listen 127.0.0.1:"+ports[0]+";", "listen [::]:80;", "",
		"listen 443 ssl http2;", "listen 127.0.0.1:"+ports[1]+";", "listen [::]:443 ssl http2;", "", "127.0.0.1:8079",
		"127.0.0.1:"+ports[2],
		"/var/cache/vitrine", dir+"/cache", "/var/log/nginx/", dir+"/").Replace(string(text))
	conf = regexp.MustCompile(`\s*ssl_certificate.*`).ReplaceAllString(conf, "")
	user := ""
	if os.Getuid() == 0 {
		user = "user root;"
	}
	places := ""
	for _, what := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		places += fmt.Sprintf("%s_temp_path %s/%s; ", what, dir, what)
	}
	main := fmt.Sprintf("daemon off; master_process off; %s pid %s/pid; error_log stderr; events {} http { %s "+
		"include %s/vitrine.conf; }", user, dir, places, dir)
	for name, text := range map[string]string{"vitrine.conf": conf, "nginx.conf": main} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	url := "http://127.0.0.1:" + ports[1]
	s, err := program.StartServer(nil, "/bin/sh", "-c",
		fmt.Sprintf("echo serving %s; exec %s -p %s -c %s/nginx.conf", url, nginx, dir, dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		answer, err := http.Get(url + "/healthz")
		if err == nil {
			_ = answer.Body.Close()
			return url
		}
		if time.Now().After(end) {
			t.Fatalf("nginx does not answer: %v\n%s", err, s.Log())
		}
	}
}

// A stranger writes two components and a page. They are registered, configured and previewed in the console, deployed
// there, shown by the page from the cache of nginx, and follow the tag.
func TestFromTwoComponentsToAPage(t *testing.T) {
	w := newWorld(t, "-trust-proxy", "127.0.0.1", "-public-cache", "2s")
	w.url = w.behind(t)
	at := scripts(t, map[string]string{
		"/greeting.js": `export function mount(element, { config }) {
			const show = ({ text }) => { element.textContent = text + '!' }
			show(config)
			return { update: show }
		}`,
		"/stars.js": `export function mount(element, { config: { stars } }) { element.textContent = ` +
			`'★'.repeat(stars) }`,
	})
	p := w.signIn(ann, "/components")
	for _, c := range [][]string{
		{"greeting", `{"type":"object","required":["text"],"properties":{"text":{"type":"string","title":"Text"}}}`},
		{"stars", `{"type":"object","properties":{"stars":{"type":"integer","title":"Stars","default":3,` +
			`"maximum":5}}}`},
	} {
		p.view("/components")
		p.Click(named("New component"))
		p.Type(field("Name"), c[0])
		p.Retype(field("Script"), at+"/"+c[0]+".js")
		p.Retype(`//dialog//textarea`, c[1])
		p.Click(`//dialog` + named("Create"))
		p.Until(`(hash) => location.hash.startsWith(hash)`, "#/components/"+c[0])
	}
	p.view("/apps")
	p.Click(named("New app"))
	p.Type(field("Title"), "Winter")
	p.Click(`//dialog` + named("Create"))
	p.saved(0)
	p.Click(named("Show the preview"))
	p.Click(named("Add an element"))
	p.Click(`//dialog//li[contains(., "greeting")]`)
	p.Type(field("Text"), "Hello")
	p.Click(named("Add an element"))
	p.Click(`//dialog//li[contains(., "stars")]`)
	p.shows("Hello! ★★★")
	id := idOf(p)
	w.stored(id, `{"text":"Hello"}`, `{}`)
	p.view("/apps/" + id + "/deployments")
	p.Click(named("New tag"))
	p.Type(field("Name"), "production")
	p.Click(`//dialog` + named("Create"))
	p.Click(`//article[@aria-label="production"]` + named("Use it"))
	p.See(`//dialog//pre[contains(., "<vitrine-app")]`)
	var lines string
	p.Run(&lines,
		`() => [...document.querySelectorAll('dialog pre')].find((x) => `+
			`x.innerText.includes('<vitrine-app')).innerText`)
	p.Click(`//dialog` + named("Close"))
	lines = strings.NewReplacer("MAKE_A_KEY_FIRST", w.pageKey(), " live></vitrine-app>",
		" live=1>…</vitrine-app>").Replace(lines)
	page := site(t, "", lines)
	visitor := newBrowser(t)
	visitor.Open(page.url + "/")
	const shows = `(text) => document.querySelector('vitrine-app').innerText.replace(/\s+/g, ' ').trim() === text`
	visitor.Until(shows, "Hello! ★★★")
	// The second visitor's answer comes from nginx.
	var asked string
	visitor.Run(&asked,
		`() => performance.getEntriesByType('resource').find((x) => x.name.includes('/x/public/')).name`)
	for range 2 {
		visitor.Run(new(any), `(url) => fetch(url, { cache: 'reload' }).then((r) => r.text())`, asked)
	}
	r, err := http.NewRequest("GET", asked, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip, deflate, br, zstd")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if answer.StatusCode != 200 || answer.Header.Get("X-Cache-Status") != "HIT" || !strings.HasPrefix(asked, w.url) {
		t.Errorf("the second visitor gets %d %v %s", answer.StatusCode, answer.Header, body)
	}
	// Another version is made and deployed, and the page follows.
	p.view("/apps/" + id)
	p.Retype(field("Text"), "Goodbye")
	p.Retype(field("Stars"), "5")
	p.shows("Goodbye! ★★★★★")
	p.Until(`() => document.querySelector(".saving.saved")`)
	w.stored(id, `{"text":"Goodbye"}`, `{"stars":5}`)
	visitor.Until(shows, "Hello! ★★★")
	p.view("/apps/" + id + "/deployments")
	p.Click(`//article[@aria-label="production"]` + named("Move to the latest"))
	p.Click(`//dialog//button[starts-with(normalize-space(), "Move to version")]`)
	visitor.Until(shows, "Goodbye! ★★★★★")
}
