//go:build proof

package console

import (
	"fmt"
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
	p.See(`//article[@aria-label="production"]//span[.="4 versions behind"]`)
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
	p.Press("?")
	p.See(`//dialog//h2[.="Keyboard"]`)
	p.Until(`() => document.querySelector("dialog").scrollWidth === document.querySelector("dialog").clientWidth`)
	p.Press(keyEscape)
	p.Until(`() => document.querySelector("dialog") === null`)
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

// What is moved by keys, a card or an item of a list, stays in sight with the focus, wherever it goes.
func TestMovingByKeyboard(t *testing.T) {
	inLooks(t, movingByKeyboard, look{1280, "light"}, look{360, "dark"})
}

func movingByKeyboard(t *testing.T, l look) {
	w := newWorld(t)
	w.component("poll", "1.0.0",
		`{"type":"object","properties":{"question":{"type":"string"},"answers":{"type":"array","items":{"type":"object",
		"properties":{"text":{"type":"string"},"more":{"type":"string","maxLength":500}}}}}}`)
	answers := `,"answers":[{"text":"0"},{"text":"1"},{"text":"2"},{"text":"3"},{"text":"4"}]`
	var elements []string
	for i := range 6 {
		elements = append(elements, poll(fmt.Sprintf(`{"question":"%d"%s}`, i, answers)))
	}
	id := w.newApp("Winter", elements...)
	p := w.signIn(ann, "/apps/"+id)
	p.Resize(l.width, 780)
	p.Scheme(l.scheme)
	p.saved(0)
	p.See(`//li[contains(@class, "card")][6]` + field("question"))
	// inSight checks that what has the focus is in a moved thing at this place, and is not covered.
	inSight := func(after, moved string, place int) {
		t.Helper()
		var fault string
		p.Run(&fault, `async (moved, place) => {
			await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
			const e = document.activeElement;
			const at = e.closest(moved);
			if (!at) return "the focus is on " + e.outerHTML.slice(0, 100);
			const now = [...at.parentElement.children].indexOf(at);
			if (now !== place) return "it is at place " + now;
			const { left, top, right, bottom } = e.getBoundingClientRect();
			const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
			return e === hit || e.contains(hit) ? ""
				: "it is at " + top + ", covered by " + (hit?.outerHTML.slice(0, 100) ?? "nothing");
		}`, moved, place)
		if fault != "" {
			t.Errorf("after %s: %s", after, fault)
		}
	}
	focus := func(xpath string) {
		t.Helper()
		p.Until(`(xpath) => {
			const e = document.evaluate(xpath, document, null, 9, null).singleNodeValue;
			e.focus();
			return e === document.activeElement;
		}`, xpath)
	}
	focus(`//li[contains(@class, "card")][1]` + field("question"))
	for i := range 5 {
		p.Press(keyAlt + keyDown + keyNull)
		inSight("Alt and the arrow down in a card", ".card", i+1)
	}
	for i := range 5 {
		p.Press(keyAlt + keyUp + keyNull)
		inSight("Alt and the arrow up in a card", ".card", 4-i)
	}
	focus(`//li[contains(@class, "card")][1]` + named("Move down"))
	for i := range 5 {
		p.Press(keyEnter)
		inSight("Enter on Move down of a card", ".card", i+1)
	}
	focus(`//li[contains(@class, "card")][2]//ol/li[1]` + field("text"))
	for i := range 4 {
		p.Press(keyAlt + keyDown + keyNull)
		inSight("Alt and the arrow down in an item", ".items > li", i+1)
	}
	focus(`//li[contains(@class, "card")][2]//ol/li[5]` + named("Move up"))
	for i := range 4 {
		p.Press(keyEnter)
		inSight("Enter on Move up of an item", ".items > li", 3-i)
	}
}

// What has the focus in the tree of folders shows it around the whole item, wherever the tree is scrolled to.
func TestFocusInTheTree(t *testing.T) {
	w := newWorld(t)
	for i := range 20 {
		w.newFolder(fmt.Sprintf("Below %02d", i), "/"+w.newFolder(fmt.Sprintf("Folder %02d", i), "/"))
	}
	inLooks(t, func(t *testing.T, l look) {
		p := &person{w.signIn(ann, "/assets").For(t), w}
		p.Resize(l.width, 780)
		p.Scheme(l.scheme)
		if l.width == 360 {
			p.Click(named("Folders and filters"))
		}
		p.See(`//*[@role="treeitem"][20]`)
		p.Until(`() => {
			document.querySelector('[role="treeitem"]').focus();
			return document.activeElement.role === "treeitem";
		}`)
		for _, keys := range []string{keyDown, keyRight + keyDown + keyDown, keyEnd, keyUp, keyHome} {
			p.Press(keys)
			p.Until(`() => {
				const e = document.activeElement;
				const [ring, tree] = [getComputedStyle(e), e.closest('[role="tree"]').getBoundingClientRect()];
				const beyond = parseFloat(ring.outlineOffset) + parseFloat(ring.outlineWidth);
				const { left, right, top } = e.getBoundingClientRect();
				return ring.outlineStyle === "solid" && parseFloat(ring.outlineWidth) >= 2
					&& left - beyond >= tree.left && right + beyond <= tree.right && top - beyond >= tree.top;
			}`)
		}
	}, look{1280, "dark"}, look{360, "light"})
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
			const text = e === document.body || e.id === "main" ? "" : e.textContent;
			return { name: (e.ariaLabel || e.labels?.[0]?.textContent || text).trim(),
				shown: ring.outlineStyle !== "none" && parseFloat(ring.outlineWidth) >= 2 };
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
