//go:build proof

package console

import (
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// TestDemo opens the sample site and the console on the sample data of `vitrine -demo`. With
// VITRINE_PICTURES=../../../adapters/console/pictures it writes the pictures of the README.
func TestDemo(t *testing.T) {
	const frontPage = "/apps/de300000-0000-4000-8000-000000000006"
	w := newWorld(t, "-demo")
	p := w.signIn(
		httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:demo.test:user=demo",
			Moderates: []string{"urn:vitrine:demo.test"}}}, "")
	p.See(`//table//a[contains(., "Front page, winter")]`)
	p.Resize(1280, 800)
	p.Scheme("light")
	p.Open(w.url + "/x/demo/")
	p.Until(`() => {
		const apps = [...document.querySelectorAll("vitrine-app")];
		const parts = apps.flatMap((a) => [...a.children]);
		const pictures = parts.flatMap((e) => [...e.shadowRoot?.querySelectorAll("img") ?? []]).slice(0, 3);
		return apps.length === 6 && apps.every((a) => a.querySelector("[data-key]")) &&
			parts.every((e) => e.shadowRoot?.textContent) && pictures.length === 3 &&
			pictures.every((i) => i.naturalWidth > 0);
	}`)
	p.picture("site")
	p.Open(w.url + "/")
	p.See(`//table//a[contains(., "Front page, winter")]`)
	p.view(frontPage)
	p.Click(named("Show the preview"))
	var shown bool
	for !shown {
		p.Enter(0)
		p.Run(&shown,
			`() => [...document.querySelectorAll("[data-key]")].filter((e) => e.shadowRoot?.textContent).length > 2`)
		p.Enter(nil)
	}
	p.picture("designer")
	p.Scheme("dark")
	p.view(frontPage + "/history?from=14&to=16")
	p.See(`//div[contains(@class, "difference")]//ins`)
	p.picture("history")
}
