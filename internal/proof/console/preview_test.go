//go:build proof

package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// scripts is a server of another origin with the scripts of components.
func scripts(t *testing.T, files map[string]string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Content-Type", "text/javascript")
		if files[r.URL.Path] == "" {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprint(w, files[r.URL.Path])
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// script shows the text of its configuration, and fails if that is "bad".
const script = `export function mount(element, { config }) {
	const show = (config) => {
		if (config.text === 'bad') throw new Error('no bad texts')
		element.textContent = config.text + ' ' + config.size
	}
	show(config)
	return { update: show }
}`

const textSchema = `{"type":"object","required":["text"],"properties":{"text":{"type":"string","title":"Text",` +
	`"maxLength":20},"size":{"type":"integer","default":3}}}`

// frame runs a function in the preview, and returns what it returns.
func (p *person) frame(value any, function string, args ...any) {
	p.T.Helper()
	p.Enter(0)
	defer p.Enter(nil)
	p.Run(value, function, args...)
}

// shows waits until the preview has this text.
func (p *person) shows(text string) {
	p.T.Helper()
	p.Until(`() => document.querySelector(".preview iframe")`)
	var got string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if p.frame(&got, `() => document.body.innerText.replace(/\s+/g, ' ').trim()`); got == text {
			return
		}
	}
	p.T.Fatalf("the preview shows %q, want %q", got, text)
}

// picture writes a picture of the window into the folder that VITRINE_PICTURES names, if it does.
func (p *person) picture(name string) {
	p.T.Helper()
	dir := os.Getenv("VITRINE_PICTURES")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), p.Picture(), 0o600); err != nil {
		p.T.Fatal(err)
	}
}

// The designer shows the app beside the form, and what is typed at once.
func TestPreview(t *testing.T) {
	w := newWorld(t)
	at := scripts(t,
		map[string]string{"/text.js": script,
			"/other.js": `export const mount = (element, { config }) => { element.textContent = 'other ' + ` +
				`config.text }`})
	w.request(ann, "POST", "/components",
		fmt.Sprintf(`{"name":"text","version":"1.0.0","main":"%s/text.js","configSchema":%s}`, at, textSchema))
	id := w.newApp("Winter", element("text", `{"text":"one"}`), element("text", `{"text":"two"}`))
	p := w.signIn(ann, "/apps/"+id)
	p.Click(named("Show the preview"))
	p.shows("one 3 two 3")
	card := func(n int) string { return fmt.Sprintf(`//li[contains(@class, "card")][%d]`, n) }
	p.Retype(card(1)+field("Text"), "ONE")
	p.shows("ONE 3 two 3")
	// What breaks the schema leaves what was there before.
	p.Retype(card(1)+field("Text"), "this text is longer than it may be")
	p.See(`//*[contains(., "so the preview is without it: element 1")]`)
	p.shows("ONE 3 two 3")
	// An error stands at its card, and takes down nothing else.
	p.Retype(card(1)+field("Text"), "bad")
	p.See(card(1) + `//*[contains(., "no bad texts")]`)
	p.shows("This has failed: no bad texts two 3")
	p.Retype(card(2)+field("Text"), "TWO")
	p.Retype(card(1)+field("Text"), "good")
	p.shows("good 3 TWO 3")
	// A click on an element opens its form, and the focus in a form marks its element.
	p.frame(new(any), `() => document.querySelectorAll('[data-key]')[1].click()`)
	p.Until(`() => document.querySelectorAll('.card')[1].contains(document.activeElement)`)
	var marked []bool
	for range 100 {
		if p.frame(&marked,
			`() => [...document.querySelectorAll('[data-key]')].map((d) => `+
				`d.hasAttribute('data-marked'))`); slices.Equal(marked, []bool{false, true}) {
			break
		}
	}
	if !slices.Equal(marked, []bool{false, true}) {
		t.Errorf("marked: %v", marked)
	}
	// Another script for the component, in this tab alone.
	p.Click(`//summary[.="Settings"]`)
	p.Retype(`//section[@aria-label="Preview"]`+field("text"), at+"/other.js")
	p.Press(keyTab)
	p.shows("other good other TWO")
}

// A component gets the address of a file of the library as on a page, whole, wherever its script comes from.
func TestPreviewOfFiles(t *testing.T) {
	w := newWorld(t)
	at := scripts(t, map[string]string{"/file.js": `export function mount(element, { config }) {
		element.textContent = [config.src, ...config.more.map(({ src }) => src)].join(" ")
	}`})
	w.request(ann, "POST", "/components",
		fmt.Sprintf(`{"name":"file","version":"1.0.0","main":"%s/file.js","configSchema":{}}`, at))
	id := w.newApp("Winter", element("file", `{"src":"/x/file/1/a.png?v=1","more":[{"src":"/x/file/2/b.png"},`+
		`{"src":"/x/other"}]}`))
	p := w.signIn(ann, "/apps/"+id)
	p.Click(named("Show the preview"))
	p.shows(w.url + "/x/file/1/a.png?v=1 " + w.url + "/x/file/2/b.png /x/other")
}

// Any version is shown in the same frame, from the history and from a deployment.
func TestPreviewOfVersions(t *testing.T) {
	w := newWorld(t)
	at := scripts(t, map[string]string{"/text.js": script})
	w.request(ann, "POST", "/components",
		fmt.Sprintf(`{"name":"text","version":"1.0.0","main":"%s/text.js","configSchema":%s}`, at, textSchema))
	id := w.newApp("Winter", element("text", `{"text":"one"}`))
	w.request(ann, "PUT", "/apps/"+id+"/tags/production", `{"latest":true}`)
	w.request(ann, "PATCH", "/apps/"+id,
		`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace",`+
			`"path":"/apps/0/elements/0/config/text","value":"bad"}]`)
	p := w.signIn(ann, "/apps/"+id+"/history")
	p.Click(named("Show version 1"))
	p.Click(`//dialog` + named("Show the preview"))
	p.See(`//dialog//*[contains(., "Element 1 has failed: no bad texts. Tell whoever makes this component.")]`)
	p.Click(`//dialog` + named("Close"))
	p.view("/apps/" + id + "/deployments")
	p.Click(`//article` + named("Show"))
	p.shows("one 3")
}

// The preview is as wide as a phone where it stands beside the form. On a phone it is shown beside the field that has
// the focus, at the element of the field.
func TestPreviewAtPhoneWidth(t *testing.T) {
	w := newWorld(t)
	at := scripts(t, map[string]string{"/text.js": `export function mount(element, { config }) {
		element.textContent = config.text;
		element.style.cssText = "display: block; height: 900px";
	}`})
	w.request(ann, "POST", "/components",
		fmt.Sprintf(`{"name":"text","version":"1.0.0","main":"%s/text.js","configSchema":%s}`, at, textSchema))
	id := w.newApp("Winter", element("text", `{"text":"one"}`), element("text", `{"text":"two"}`))
	p := w.signIn(ann, "/apps/"+id)
	p.Click(named("Show the preview"))
	p.shows("one two")
	wide := `() => document.querySelector(".preview iframe").clientWidth > 400`
	p.Until(wide)
	p.press("Phone width")
	p.Until(`() => document.querySelector(".preview iframe").clientWidth === 360`)
	axe := axeCore(t)
	p.look(axe)
	p.picture("phone-1280-light")
	p.view("/none")
	p.view("/apps/" + id)
	p.Until(`() => document.querySelector(".preview iframe")?.clientWidth === 360`)
	p.Click(named("Phone width"))
	p.Until(wide)
	p.Resize(360, 780)
	p.press("Preview")
	p.Until(`() => {
		const { top, bottom } = document.querySelector(".preview").getBoundingClientRect();
		return top > innerHeight / 2 && bottom === innerHeight;
	}`)
	for n, above := range []string{"< 400", "> 800"} {
		p.Click(fmt.Sprintf(`(%s)[%d]`, field("Text"), n+1))
		p.Until(`() => document.querySelector(".preview").scrollTop ` + above)
		p.Until(`() => {
			const field = document.activeElement.getBoundingClientRect();
			return field.top >= 0 && field.bottom <= document.querySelector(".preview").getBoundingClientRect().top;
		}`)
	}
	for _, scheme := range []string{"light", "dark"} {
		p.Scheme(scheme)
		p.look(axe)
		p.picture("docked-360-" + scheme)
	}
	p.press("Close the preview")
	p.Until(`() => document.activeElement.textContent === "Preview"`)
}
