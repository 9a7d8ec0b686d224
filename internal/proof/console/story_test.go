//go:build proof

package console

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof/webdriver"
)

// look is how somebody sees the page.
type look struct {
	width  int
	scheme string
}

// inLooks runs a test once for each of these.
func inLooks(t *testing.T, test func(*testing.T, look), looks ...look) {
	for _, l := range looks {
		t.Run(fmt.Sprintf("%d %s", l.width, l.scheme), func(t *testing.T) { test(t, l) })
	}
}

// visitor is somebody with a browser that has not signed in.
func (w *world) visitor(l look) *person {
	w.t.Helper()
	p := &person{webdriver.New(w.t), w}
	p.Resize(l.width, 780)
	p.Scheme(l.scheme)
	p.Prelude(`performance.setResourceTimingBufferSize(100000)`)
	w.t.Cleanup(p.keepsToItself)
	p.Open(w.url)
	p.See(`//dialog//h2[.="Sign in"]`)
	return p
}

// fits fails if the page is wider than the window.
func (p *person) fits() {
	p.T.Helper()
	var wide []string
	p.Run(&wide, `async () => document.documentElement.scrollWidth <= document.documentElement.clientWidth ? []
		: [...document.querySelectorAll("main *")].filter((x) => x.getBoundingClientRect().right > innerWidth).map((x) => x.outerHTML.slice(0, 100))`)
	if len(wide) > 0 {
		p.T.Errorf("the page is wider than the window: %q", wide)
	}
}

// A person who never saw the page makes a component and an app, edits it, breaks it, compares, restores, tags it for
// production and rolls back, and learns what another version of the component would break. Nothing of it is done for them.
func TestFromNothingToARollback(t *testing.T) {
	inLooks(t, fromNothingToARollback, look{1280, "light"}, look{360, "dark"})
}

func fromNothingToARollback(t *testing.T, l look) {
	w := newWorld(t)
	p := w.visitor(l)
	p.Type(`//dialog//textarea`, w.token(ann))
	p.Click(`//dialog` + named("Sign in"))
	p.See(`//*[contains(., "There are no apps yet")]`)
	p.Click(`//nav[@aria-label="Main"]//a[contains(., "Components")]`)
	p.Click(named("New component"))
	p.Type(field("Name"), "poll")
	p.Type(field("Script"), "cdn.example.test/poll.js")
	schema := func(question string) {
		t.Helper()
		p.Run(new(any), `async (question) => {
			const area = document.querySelector("dialog textarea");
			area.value = '{"type": "object", "required": ["question"], "properties": {"question": ' + question + '}}';
			area.dispatchEvent(new Event("input"));
		}`, question)
	}
	schema(`{"type": "string", "maxLength": 20}`)
	p.Click(`//dialog` + named("Create"))
	p.See(`//code[.="https://cdn.example.test/poll.js"]`)
	p.fits()

	p.Click(`//nav[@aria-label="Main"]//a[contains(., "Apps")]`)
	p.Click(named("New app"))
	p.Type(field("Title"), "Winter")
	p.Click(`//dialog` + named("Create"))
	p.saved(0)
	p.Click(named("Add an element"))
	p.Click(`//dialog//li[contains(., "poll")]`)
	p.Type(field("question"), "Tea?")
	p.saved(1)
	p.fits()
	id := idOf(p)

	p.Click(`//nav//a[.="Deployments"]`)
	p.Click(named("New tag"))
	p.See(option("Version 1", "ann", "added poll"))
	p.fits()
	p.Type(field("Name"), "production")
	p.Click(`//dialog` + named("Create"))
	p.See(`//article[@aria-label="production"]//a[.="Version 1"]`)
	p.fits()

	// It is broken twice: by a value that the service refuses, and by one that it takes.
	p.Click(`//nav//a[.="Designer"]`)
	p.saved(1)
	p.Type(field("question"), " And who takes cocoa instead?")
	p.kept(1)
	p.Click(named("Show where"))
	p.See(`//*[contains(@class, "field") and contains(@class, "bad")]//*[contains(@class, "wrong")]`)
	p.fits()
	p.Retype(field("question"), "Te?")
	p.saved(2)
	p.Click(`//nav//a[.="Deployments"]`)
	p.Click(named("Deploy the latest"))
	p.Click(`//dialog` + named("Move to version 2"))
	p.See(`//article[@aria-label="production"]//a[.="Version 2"]`)

	p.Click(`//nav//a[.="History"]`)
	p.Click(named("Changes of version 2"))
	p.See(`//del[.="Tea"]`)
	p.See(`//ins[.="Te"]`)
	p.fits()
	p.Click(named("Restore version 1"))
	p.Click(`//dialog` + named("Restore"))
	p.See(`//div[contains(@class, "line") and contains(., "restored version 1")]`)
	w.stored(id, `{"question":"Tea?"}`)

	p.Click(`//nav//a[.="Deployments"]`)
	p.Click(named("Roll back"))
	p.Click(`//dialog` + named("Roll back to version 1"))
	p.See(`//article[@aria-label="production"]//a[.="Version 1"]`)

	p.Click(`//nav[@aria-label="Main"]//a[contains(., "Components")]`)
	p.Click(`//a[.="poll"]`)
	p.Click(named("New version"))
	schema(`{"type": "integer"}`)
	p.Click(`//dialog` + named("Create"))
	p.See(`//dialog//li[contains(., "poll at place 1 of version 1") and contains(., "production")]`)
	p.fits()
	p.Click(`//dialog` + named("Close"))
}

// The same is done with keys alone. What has the focus shows it.
func TestByKeyboard(t *testing.T) {
	inLooks(t, byKeyboard, look{1280, "dark"}, look{360, "light"})
}

func byKeyboard(t *testing.T, l look) {
	w := newWorld(t)
	w.component("poll", "1.0.0", `{"type":"object","properties":{"question":{"type":"string"}}}`)
	id := w.newApp("Winter", poll(`{"question":"Tea?"}`), poll(`{"question":"Cocoa?"}`))
	w.request(ann, "PUT", "/apps/"+id+"/tags/production", `{"appVersion":"0"}`)
	p := w.visitor(l)
	p.Press(w.token(ann))
	p.press("Sign in")
	p.See(`//table//a[.="Winter"]`)
	p.press("Winter")
	p.saved(0)
	p.reach("question")
	p.Press("Milk?")
	w.stored(id, `{"question":"Milk?"}`, `{"question":"Cocoa?"}`)
	p.saved(1)
	p.Press(webdriver.Alt + webdriver.Down + webdriver.Null)
	w.stored(id, `{"question":"Cocoa?"}`, `{"question":"Milk?"}`)
	p.saved(2)
	p.press("Undo")
	w.stored(id, `{"question":"Milk?"}`, `{"question":"Cocoa?"}`)
	p.saved(3)
	p.press("History")
	p.See(`//button[@aria-expanded and contains(., "1–3")]`)
	p.press("1–3")
	p.press("Changes of version 1")
	p.See(`//del[.="Tea"]`)
	p.press("Restore version 0")
	p.See(`//dialog//h2[.="Restore version 0?"]`)
	p.press("Restore")
	p.See(`//div[contains(@class, "line") and contains(., "restored version 0")]`)
	p.press("Deployments")
	p.See(`//article[@aria-label="production"]//span[.="4 behind"]`)
	p.press("Move")
	p.Until(`() => document.activeElement.matches('dialog input[value="0"]')`)
	p.Press(webdriver.Up)
	p.press("Go on")
	p.See(`//dialog//h2[.="Move production?"]`)
	p.press("Move to version 1")
	p.See(`//article[@aria-label="production"]//a[.="Version 1"]`)
	p.reach("Use it")
	p.Press("gc")
	p.See(`//h1[.="Components"]`)
	p.press("poll")
	p.See(`//h1[.="poll"]`)
	p.press("New version")
	p.See(`//dialog//h2[.="New version of poll"]`)
	p.reach("Schema of configs")
	p.Press(webdriver.Control + "a" + webdriver.Null + `{"type":"object","properties":{"question":{"type":"integer"}}}`)
	p.press("Create")
	p.See(`//dialog//li[contains(., "poll at place 1 of version 1") and contains(., "production")]`)
	p.Press(webdriver.Escape)
	p.Until(`() => document.querySelector("dialog") === null`)
}

// press reaches something with the tab key, and presses enter on it.
func (p *person) press(name string) {
	p.T.Helper()
	p.reach(name)
	p.Press(webdriver.Enter)
}

// reach presses the tab key until the focus is on something whose name begins so.
func (p *person) reach(name string) {
	p.T.Helper()
	var seen []string
	for range 100 {
		var focus struct {
			Name  string
			Shown bool
		}
		p.Run(&focus, `async () => {
			const e = document.activeElement;
			const ring = getComputedStyle(e);
			return { name: (e.ariaLabel || e.labels?.[0]?.textContent || (e === document.body || e.id === "main" ? "" : e.textContent)).trim(), shown: ring.outlineStyle !== "none" && parseFloat(ring.outlineWidth) >= 2 };
		}`)
		if strings.HasPrefix(focus.Name, name) {
			if !focus.Shown {
				p.T.Errorf("%s does not show that it has the focus", name)
			}
			return
		}
		seen = append(seen, focus.Name)
		p.Press(webdriver.Tab)
	}
	p.T.Fatalf("the tab key does not lead to %s: %q", name, seen)
}
