//go:build proof

package console

import (
	"strings"
	"testing"
)

// A person works with keys alone, from signing in to a rollback. What has the focus shows it.
func TestByKeyboard(t *testing.T) {
	inLooks(t, byKeyboard, look{1280, "dark"}, look{360, "light"})
}

func byKeyboard(t *testing.T, l look) {
	w := newWorld(t)
	w.component("poll", "1.0.0", `{"type":"object","properties":{"question":{"type":"string"}}}`)
	id := w.newApp("Winter", poll(`{"question":"Tea?"}`), poll(`{"question":"Cocoa?"}`))
	w.request(ann, "PUT", "/apps/"+id+"/tags/production", `{"appVersion":"0"}`)
	p := w.visitor(l.width, l.scheme)
	p.press("Use a token")
	p.reach("Token")
	p.Press(w.token(ann))
	p.press("Sign in")
	p.See(`//table//a[.="Winter"]`)
	p.press("Winter")
	p.saved(0)
	p.reach("question")
	p.Press("Milk?")
	w.stored(id, `{"question":"Milk?"}`, `{"question":"Cocoa?"}`)
	p.saved(1)
	p.Press(keyAlt + keyDown + keyNull)
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
	p.reach("Move to the latest")
	p.Press(keyTab) // to Move
	p.Press(keyEnter)
	p.Until(`() => document.activeElement.matches('dialog input[value="0"]')`)
	p.Press(keyUp)
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
	p.Press(keyControl + "a" + keyNull + `{"type":"object","properties":{"question":{"type":"integer"}}}`)
	p.press("Create")
	p.See(`//dialog//li[contains(., "poll at place 1 of version 1") and contains(., "production")]`)
	p.Press(keyEscape)
	p.Until(`() => document.querySelector("dialog") === null`)
}

// press reaches something with the tab key, and presses enter on it.
func (p *person) press(name string) {
	p.T.Helper()
	p.reach(name)
	p.Press(keyEnter)
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
		p.Press(keyTab)
	}
	p.T.Fatalf("the tab key does not lead to %s: %q", name, seen)
}
