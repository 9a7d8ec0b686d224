//go:build proof

package console

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Ann makes a link to her draft and sends it to somebody without an account, who sees the app, in each language and
// width, and sees it change, until Ann revokes the link. What runs in the app gets neither the secret nor the origin.
func TestALinkToShow(t *testing.T) {
	w := newWorld(t, "-languages", "en,de")
	at := scripts(t, map[string]string{"/text.js": `export function mount(element, { config }) {
		let of = "nothing"
		try { of = top.location.hash + top.document.title + document.cookie + localStorage.length } catch {}
		const show = (config) =>
			(element.textContent = config.text + " sees " + of + " from " + document.referrer + ".")
		show(config)
		return { update: show }
	}`})
	w.request(ann, "POST", "/components",
		fmt.Sprintf(`{"name":"text","version":"1.0.0","main":"%s/text.js","configSchema":%s}`, at, textSchema))
	id := w.newApp("Winter campaign", element("text", `{"text":{"lang:en":"Tea","lang:de":"Tee"}}`))
	p := w.signIn(ann, "/apps/"+id)
	p.Click(named("Link to show"))
	p.Type(`//dialog`+field("Note"), "for the agency")
	p.Click(`//dialog` + named("Make the link"))
	p.See(`//dialog//li[contains(., "The latest version") and contains(., "for the agency")]`)
	var link string
	p.Run(&link, `() => document.querySelector("dialog pre").textContent`)
	_, secret, _ := strings.Cut(link, "/x/show#")
	if !strings.HasPrefix(link, w.url+"/x/show#sh_") {
		t.Fatal(link)
	}
	looks := []look{{1280, "light"}, {1280, "dark"}, {360, "light"}, {360, "dark"}}
	p.inEach("link-dialog", looks)

	visitor := &person{newBrowser(t), w}
	visitor.Prelude(
		`const later = window.setTimeout; window.setTimeout = (f, ms, ...args) => later(f, ms === 60_000 ? ` +
			`500 : ms, ...args)`)
	visitor.Resize(1280, 900)
	visitor.Open(link)
	visitor.seesInFrame("Tea sees nothing from .")
	visitor.See(`//p[contains(., "Version 0, the latest one. This link works until ")]`)
	visitor.inEach("link", looks)
	visitor.Click(`//label[contains(., "Phone")]/input`)
	visitor.Until(`() => document.querySelector("iframe").getBoundingClientRect().width === 392 ||
		document.querySelector("iframe").getBoundingClientRect().width === 390`)
	visitor.picture("link-phone")
	visitor.Run(new(any), `() => { const s = document.querySelector("select"); s.value = "de";
		s.dispatchEvent(new Event("change", { bubbles: true })) }`)
	visitor.seesInFrame("Tee sees nothing from .")
	w.request(ann, "PATCH", "/apps/"+id, `[{"op":"test","path":"/apps/0/version","value":"0"},`+
		`{"op":"replace","path":"/apps/0/elements/0/config/text/lang:de","value":"Kakao"}]`)
	visitor.seesInFrame("Kakao sees nothing from .")
	visitor.See(`//p[contains(., "Version 1, the latest one.")]`)
	var asked []string
	visitor.Run(&asked, `() => performance.getEntriesByType("resource").map((r) => r.name)`)
	if strings.Contains(strings.Join(asked, " "), secret) {
		t.Errorf("an address has the secret: %q", asked)
	}
	visitor.Offline(true)
	visitor.See(`//p[contains(., "The service does not answer")]`)
	visitor.Offline(false)
	p.Resize(1280, 900)
	p.Click(`//dialog//button[starts-with(@aria-label, "Revoke the link")]`)
	visitor.See(`//h1[.="This link shows nothing"]`)
	visitor.Until(`() => !document.querySelector("iframe")`)
	visitor.inEach("link-ended", looks)
	visitor.Open("about:blank")
	visitor.Open(w.url + "/x/show")
	visitor.See(`//h1[.="This link shows nothing"]`)

	var rel struct{ ID string }
	if err := json.Unmarshal(w.request(ann, "POST", "/x/releases", fmt.Sprintf(
		`{"name":"Friday","moves":[{"app":%q,"tag":"live","to":"0"}]}`, id)), &rel); err != nil {
		t.Fatal(err)
	}
	p.view("/releases/" + rel.ID)
	p.Click(`//article` + named("Link to show"))
	p.Click(`//dialog` + named("Make the link"))
	p.See(`//dialog//li[contains(., "The version of a release")]`)
	p.Run(&link, `() => document.querySelector("dialog pre").textContent`)
	visitor.Open("about:blank")
	visitor.Open(link)
	visitor.See(`//p[contains(., "Version 0, which a release is to publish.")]`)
	visitor.seesInFrame("Tea sees nothing from .")
}

// seesInFrame waits until the only frame of the page has this text.
func (p *person) seesInFrame(text string) {
	p.T.Helper()
	p.Until(`() => document.querySelector("iframe")`)
	p.w.until(text, func() (have string, same bool) {
		p.frame(&have, `() => document.body.innerText.trim()`)
		return have, have == text
	})
}

// inEach looks at the page in each of these looks.
func (p *person) inEach(name string, looks []look) {
	p.T.Helper()
	for _, l := range looks {
		p.Resize(l.width, 900)
		p.Scheme(l.scheme)
		p.fits()
		p.picture(fmt.Sprintf("%s-%d-%s", name, l.width, l.scheme))
	}
	p.Scheme("light")
	p.Resize(1280, 900)
}
