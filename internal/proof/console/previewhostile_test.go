//go:build proof

package console

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// hostile tries what a component must not be able to do in the preview, and shows the list of what it could.
const hostile = `
const could = []
const tried = async (what, f) => { try { if (await f() !== false) could.push(what) } catch {} }
const port = new Promise((found) => {
	const { postMessage } = MessagePort.prototype
	MessagePort.prototype.postMessage = function (...args) { found(this); return postMessage.apply(this, args) }
})
export async function mount(element, { config }) {
	element.textContent = 'begun'
	await tried('read the cookies', () => document.cookie)
	await tried('read the storage', () => sessionStorage.length + localStorage.length)
	await tried('read the document of the console', () => parent.document.title)
	await tried('read the address of the console', () => parent.location.href)
	await tried('read a variable of the console', () => parent.sessionStorage)
	await tried('read a database', () => new Promise((yes, no) => {
		const r = indexedDB.open('x'); r.onsuccess = yes; r.onerror = no }))
	await tried('register a worker', () => navigator.serviceWorker.register('x.js'))
	await tried('open a window', () => open('` + "%[1]s" + `/window') !== null)
	await tried('open a dialog', () => { const t = performance.now(); alert('x'); return performance.now() - t > 200 })
	await tried('navigate the console', () => { top.location = '` + "%[1]s" + `/top' })
	await tried('call the API as the person', async () =>
		(await fetch(config.api + '/x/me', { credentials: 'include' })).ok)
	await tried('submit a form', () => {
		const form = document.createElement('form')
		Object.assign(form, { action: '` + "%[1]s" + `/form', target: '_top' })
		document.body.append(form)
		form.submit()
		form.remove()
		return false
	})
	await tried('follow a link', () => {
		const link = document.createElement('a')
		Object.assign(link, { href: '` + "%[1]s" + `/link', target: '_top' })
		document.body.append(link)
		link.click()
		Object.assign(link, { target: '_blank' }).click()
		Object.assign(link, { href: 'data:text/plain,x', download: 'x' }).click()
		link.remove()
		return false
	})
	const to = await port
	for (const data of [null, 1, 'ready', [], { ready: 'x' }, { height: 1e12 }, { height: NaN }, { click: 'none' },
		{ click: {} }, { error: null }, { error: 'x' }, { error: {} },
		{ error: { key: 'none', message: 'x' } }, { error: { key: 1, message: '<b id=in>'.repeat(1000) } },
		{ navigate: '/' }, { show: 1 }, { token: true }, { pong: 1 }]) to.postMessage(data)
	parent.postMessage({ ready: true }, '*')
	element.textContent = could.join(', ') || 'nothing'
}`

// A component reads nothing of the console, and can make it neither go nor open anything.
func TestHostileComponentInThePreview(t *testing.T) {
	w := newWorld(t)
	elsewhere := newOrigin(t, http.NotFoundHandler())
	at := scripts(t,
		map[string]string{"/hostile.js": fmt.Sprintf(hostile, elsewhere.url),
			"/leaves.js": `export const mount = () => { location = "` + elsewhere.url + `/left" }`})
	w.request(ann, "POST", "/components",
		fmt.Sprintf(`{"name":"hostile","version":"1.0.0","main":"%s/hostile.js","configSchema":{}}`, at))
	w.request(ann, "POST", "/components",
		fmt.Sprintf(`{"name":"leaves","version":"1.0.0","main":"%s/leaves.js","configSchema":{}}`, at))
	payload := `<img src=x onerror="parent.hacked=1"><script>parent.hacked=1</script>`
	id := w.newApp(payload,
		element("hostile", fmt.Sprintf(`{"api":%q,"__proto__":{"polluted":1},"text":%q}`, w.url, payload)))
	p := w.signIn(ann, "/apps/"+id)
	p.Run(new(any),
		`() => { document.cookie = "secret=1"; window.before = location.href; window.dialogs = `+
			`document.querySelectorAll("dialog[open]").length }`)
	p.Click(named("Show the preview"))
	p.shows("nothing")
	p.See(`//section[@aria-label="Preview"]//p[contains(., "The app has failed: <b id=in>")]`)
	time.Sleep(500 * time.Millisecond) // what was begun would have come
	var now struct {
		Same, Hacked bool
		Height       float64
	}
	p.Run(&now, `() => ({ same: location.href === before && document.title.includes("<img"),
		hacked: "hacked" in window || "polluted" in {} || document.querySelector("#in") !== null,
		height: document.querySelector("iframe").getBoundingClientRect().height })`)
	var windows []string
	p.must("GET", "/window/handles", nil, &windows)
	if !now.Same || now.Hacked || now.Height > 20_000 || len(windows) != 1 {
		t.Errorf("%+v, %d windows", now, len(windows))
	}
	// A component that leads the frame elsewhere ends the preview.
	other := w.newApp("Leaves", element("leaves", `{}`))
	p.view("/apps/" + other)
	p.See(`//section[@aria-label="Preview"]//p[.="A component has left the page."]`)
	p.See(named("Open the preview again"))
	elsewhere.mu.Lock()
	defer elsewhere.mu.Unlock()
	if len(elsewhere.asked) > 0 {
		t.Errorf("asked for %q", elsewhere.asked)
	}
}

// A frame that does not answer for five seconds is offered to be closed; the console goes on meanwhile.
func TestHangingPreview(t *testing.T) {
	w := newWorld(t)
	at := scripts(t, map[string]string{"/text.js": `export function mount(element, { config }) {
		const show = ({ text }) => { element.textContent = text;
			const end = Date.now() + ({ slow: 7000, hang: 20000 }[text] ?? 0); while (Date.now() < end); }
		show(config)
		return { update: show }
	}`})
	w.request(ann, "POST", "/components",
		fmt.Sprintf(`{"name":"text","version":"1.0.0","main":"%s/text.js","configSchema":%s}`, at, textSchema))
	id := w.newApp("Winter", element("text", `{"text":"one"}`))
	p := w.signIn(ann, "/apps/"+id)
	p.Click(named("Show the preview"))
	p.shows("one")
	// All of it is one script, since the driver waits for frames that hang.
	var took struct {
		Slow, Back, Hang, Saved, Again float64
		Closed                         string
	}
	p.Run(&took, `async () => {
		const until = async (f) => { while (!f()) await new Promise((r) => setTimeout(r, 20)) };
		const said = document.querySelector(".preview .wrong");
		const type = (text) => {
			const input = document.querySelector(".card input");
			input.focus();
			input.select();
			document.execCommand("insertText", false, text);
			return performance.now();
		};
		const since = (then) => Math.round(performance.now() - then);
		const took = {};
		let then = type("slow");
		await until(() => said.checkVisibility());
		took.slow = since(then);
		await until(() => !said.checkVisibility());
		took.back = since(then);
		then = type("hang");
		setTimeout(type, 100, "typed on");
		await until(() => document.querySelector(".saving.saved")?.innerText.includes("version 2"));
		took.saved = since(then);
		await until(() => said.checkVisibility());
		took.hang = since(then);
		said.querySelector("button").click();
		const again = () => [...document.querySelectorAll(".preview button")]
			.find((b) => b.textContent === "Open the preview again");
		await until(again);
		took.closed = document.querySelector(".preview .empty p").textContent;
		then = performance.now();
		again().click();
		await Promise.race([new Promise((r) => document.querySelector(".preview iframe").addEventListener("load", r)),
			new Promise((r) => setTimeout(r, 30_000))]);
		took.again = since(then);
		return took;
	}`)
	if t.Logf("in milliseconds: %+v", took); took.Slow < 4000 || took.Slow > 20_000 || took.Back < 6500 ||
		took.Hang < 4000 || took.Hang > 20_000 || took.Saved > 4000 || took.Closed != "The preview was closed." {
		t.Error("want an offer after 5 seconds, which goes when the frame answers, and a console that goes on " +
			"meanwhile")
	}
	w.stored(id, `{"text":"typed on"}`)
}

// What is typed shows within 100 milliseconds, 19 times in 20.
func TestPreviewIsFast(t *testing.T) {
	w := newWorld(t)
	at := scripts(t, map[string]string{"/text.js": `export function mount(element, { config }) {
		const show = ({ text }) => { element.textContent = text;
			requestAnimationFrame(() => (window.seen ??= {})[text] = performance.timeOrigin + performance.now()) }
		show(config)
		return { update: show }
	}`})
	w.request(ann, "POST", "/components",
		fmt.Sprintf(`{"name":"text","version":"1.0.0","main":"%s/text.js","configSchema":%s}`, at,
			strings.Replace(textSchema, `"maxLength":20`, `"maxLength":200`, 1)))
	var elements []string
	for range 20 {
		elements = append(elements, element("text", `{"text":"one"}`))
	}
	id := w.newApp("Winter", elements...)
	p := w.signIn(ann, "/apps/"+id)
	p.Click(named("Show the preview"))
	p.shows(strings.TrimSpace(strings.Repeat("one ", 20)))
	p.Retype(`(`+field("Text")+`)[1]`, "a")
	var typed, seen map[string]float64
	p.Run(&typed, `async () => {
		const typed = {};
		for (let i = 0; i < 60; i++) {
			const now = performance.timeOrigin + performance.now();
			document.execCommand("insertText", false, "x");
			typed[document.activeElement.value] = now;
			await new Promise((r) => setTimeout(r, 100));
		}
		return typed;
	}`)
	p.frame(&seen, `() => new Promise((r) => setTimeout(r, 500, window.seen))`)
	var took []float64
	for text, at := range typed {
		if seen[text] == 0 {
			t.Errorf("%q was not shown", text)
		}
		took = append(took, seen[text]-at)
	}
	slices.Sort(took)
	p95 := took[len(took)*95/100]
	t.Logf("a key is seen after %.0f ms, 19 in 20 within %.0f ms", took[len(took)/2], p95)
	if p95 > 500 { // on a machine that does much else; alone it is below 100
		t.Errorf("19 of 20 keys are seen within %.0f ms", p95)
	}
}
