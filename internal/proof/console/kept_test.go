//go:build proof

package console

import (
	"fmt"
	"testing"
)

const (
	asks = `() => !dispatchEvent(new Event("beforeunload", { cancelable: true }))` // whether leaving the page asks

	questionSchema = `{"type":"object","required":["question"],"properties":{"question":{"type":"string"},` +
		`"text":{"type":"string"},"n":{"type":"integer","maximum":9}}}`
)

// again loads the page anew, as after a reload.
func (p *person) again(view string) {
	p.T.Helper()
	p.Open("about:blank")
	p.Open(p.w.url + "/#" + view)
}

// bad waits until so many fields show that something is wrong.
func (p *person) bad(fields int) {
	p.T.Helper()
	p.Until(`(n) => document.querySelectorAll(".field.bad").length === n`, fields)
}

// An element that does not fit its schema stays in this browser, and everything else is saved. It is brought back after
// a reload, and leaves the browser once it fits.
func TestElementsThatDoNotFit(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", questionSchema)
	id := w.newApp("Winter", poll(`{"question":"Tea?"}`))
	w.request(ann, "PUT", "/apps/"+id+"/tags/production", `{"appVersion":"0"}`)
	p := w.signIn(ann, "/apps/"+id)
	p.saved(0)
	for i := range 2 {
		p.Click(named("Add an element"))
		p.Type(`//dialog//input[@type="search"]`, "poll"+keyEnter)
		p.See(fmt.Sprintf("(%s)[%d]", field("question"), i+2)) // a card that grows moves what is below it
	}
	p.kept(2)
	p.bad(0) // nobody has typed yet
	p.Retype(`(`+field("question")+`)[1]`, "Cocoa?")
	p.Type(`(`+field("text")+`)[3]`, "more")
	w.stored(id, `{"question":"Cocoa?"}`)
	p.kept(2)
	p.bad(0) // the third question was not left, and neither was the second
	p.Click(named("Show where"))
	p.bad(2)
	const second = `//li[contains(@class, "card")][2]`
	p.See(second + `//*[contains(., "The app does not have it yet")]`)

	p.again("/apps/" + id)
	p.kept(2)
	p.bad(0)
	p.holds(`(`+field("text")+`)[3]`, "more")
	p.view("/apps/" + id + "/deployments")
	p.Click(named("Move to the latest"))
	p.Click(`//dialog//a[.="Show what is wrong"]`)
	p.bad(2) // of both elements
	p.Type(`(`+field("question")+`)[2]`, "Milk?")
	w.stored(id, `{"question":"Cocoa?"}`, `{"question":"Milk?"}`)
	p.kept(1)

	// What is stored stands until the change of it fits, and can be brought back.
	p.Type(`(`+field("n")+`)[1]`, "99"+keyTab)
	p.kept(2)
	p.Click(`//li[contains(@class, "card")][1]` + named("Back to what is saved"))
	p.kept(1)
	p.holds(`(`+field("n")+`)[1]`, "")
	p.Type(`(`+field("question")+`)[3]`, "Juice?")
	w.stored(id, `{"question":"Cocoa?"}`, `{"question":"Milk?"}`, `{"text":"more","question":"Juice?"}`)
	p.Until(`() => document.querySelector(".saving.saved") && !Object.keys(localStorage).some((x) => ` +
		`x.startsWith("vitrine.draft"))`)
}

// Text that is not JSON is not saved. The state of saving says so, and leaving the page asks.
func TestTextThatIsNoJSON(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", `{"type":"object","properties":{"question":{"type":"string"},"free":{}}}`)
	id := w.newApp("Winter", poll(`{"question":"Tea?","free":{"a":1}}`))
	p := w.signIn(ann, "/apps/"+id)
	p.saved(0)
	for _, c := range []struct{ tab, area string }{{"JSON", "textarea.whole"}, {"Design", ".card textarea.mono"}} {
		t.Run(c.tab, func(t *testing.T) {
			p := &person{p.For(t), w}
			p.Click(`//button[@role="tab"][.="` + c.tab + `"]`)
			typed := func(text string) {
				t.Helper()
				p.Until(`(area, text) => {
					const control = document.querySelector(area);
					if (!control?.value) return false;
					control.value += text;
					control.dispatchEvent(new Event("input", { bubbles: true }));
					return true;
				}`, c.area, text)
			}
			p.Until(`() => document.querySelector(".saving.saved")`)
			typed(" ,")
			p.See(`//*[contains(@class, "saving") and contains(., "Not saved: what you typed is not JSON")]`)
			p.Until(`() => document.querySelector(".saving.saved") === null`)
			p.Until(asks)
			p.Click(`//nav[@aria-label="Main"]//a[contains(., "Components")]`)
			p.See(`//dialog[.//h2[.="Leave without saving?"] and contains(., "not JSON")]`)
			p.Click(`//dialog` + named("Close"))
			p.Until(`(area) => document.querySelector(area).value.endsWith(" ,")`, c.area)
			// It stays while others save, and while another part of the app is saved.
			version := w.latest(id).Version
			w.request(bob, "PATCH", "/apps/"+id,
				fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":%q},{"op":"replace",`+
					`"path":"/apps/0/elements/0/config/question","value":"by bob %s"}]`, version, c.tab))
			p.Click(named("Show it here"))
			p.Until(`(area) => document.querySelector(area).value.endsWith(" ,")`, c.area)
			p.Run(new(any), `async (area) => {
				const control = document.querySelector(area);
				control.value = control.value.slice(0, -2).replace('"a": 1', '"a": 10').replace('"a":1', '"a":10');
				control.dispatchEvent(new Event("input", { bubbles: true }));
			}`, c.area)
			p.Until(`() => document.querySelector(".saving.saved")`)
			p.Until(`() => !(` + asks + `)()`)
		})
	}
	w.stored(id, `{"question":"by bob Design","free":{"a":100}}`)
}

// Who signs out leaves nothing in the browser, and is told before. Another caller neither sees nor saves what the one
// before has typed.
func TestKeptForOneCaller(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", questionSchema)
	id := w.newApp("Winter", poll(`{"question":"Tea?"}`))
	p := w.signIn(ann, "/apps/"+id)
	p.saved(0)
	t.Run("the same caller after a 401", func(t *testing.T) {
		p := &person{p.For(t), w}
		p.Run(new(any), `async () => sessionStorage.setItem("vitrine.token", "run out")`)
		p.Retype(field("question"), "typed with a bad token")
		p.See(`//dialog[.//h2[.="Sign in again"]]`)
		p.Type(`//dialog//textarea`, w.token(ann))
		p.Click(`//dialog` + named("Sign in"))
		w.stored(id, `{"question":"typed with a bad token"}`)
	})
	p.Type(field("n"), "99"+keyTab)
	p.kept(1)
	const drafts = `() => Object.keys(localStorage).filter((x) => x.startsWith("vitrine.draft")).length`
	p.Until(`() => (` + drafts + `)() === 1`)
	t.Run("another caller after a 401", func(t *testing.T) {
		p := &person{p.For(t), w}
		p.Run(new(any), `async () => { sessionStorage.setItem("vitrine.token", "run out"); window.before = true; }`)
		p.Type(field("text"), "by ann")
		p.See(`//dialog[.//h2[.="Sign in again"]]`)
		p.Type(`//dialog//textarea`, w.token(bob))
		p.Click(`//dialog` + named("Sign in"))
		p.Until(`() => !window.before`) // the page is another one
		p.saved(1)
		p.holds(field("n"), "")
		p.holds(field("text"), "")
		p.Retype(field("question"), "by bob")
		w.stored(id, `{"question":"by bob"}`)
		p.Until(`() => (` + drafts + `)() === 1`)
	})
	t.Run("the caller of before", func(t *testing.T) {
		p := &person{p.For(t), w}
		p.Open("about:blank")
		p.Open(w.url + "/#token=" + w.token(ann))
		p.Click(`//dialog` + named("Continue as ann"))
		p.See(`//table`)
		p.view("/apps/" + id)
		p.kept(1)
		p.holds(field("n"), "99")
		p.holds(field("text"), "by ann")
		p.holds(field("question"), "by bob")
	})
	t.Run("signing out", func(t *testing.T) {
		p := &person{p.For(t), w}
		p.Click(named("ann"))
		p.Click(named("Sign out"))
		p.Click(`//dialog[.//h2[.="Sign out and lose changes?"]]` + named("Cancel"))
		p.Until(`() => (` + drafts + `)() === 1`)
		p.Click(named("Sign out"))
		p.Click(`//dialog[.//h2[.="Sign out and lose changes?"]]` + named("Sign out"))
		p.See(`//dialog//h2[.="Sign in"]`)
		p.Until(`() => (` + drafts + `)() === 0`)
	})
}

// What was done in the designer can be undone after a look at another view of the app, and of another app.
func TestUndoSurvivesAnotherView(t *testing.T) {
	inLooks(t, undoSurvives, look{1280, "light"}, look{360, "dark"})
}

func undoSurvives(t *testing.T, l look) {
	w := newWorld(t)
	w.component("poll", "1.0.0", questionSchema)
	id := w.newApp("Winter", poll(`{"question":"Tea?"}`))
	p := w.signIn(ann, "/apps/"+id)
	p.Resize(l.width, 900)
	p.Scheme(l.scheme)
	p.saved(0)
	p.Click(named("Add an element"))
	p.Type(`//dialog//input[@type="search"]`, "poll"+keyEnter)
	p.kept(1)
	p.Type(`(`+field("question")+`)[2]`, "Cocoa?")
	p.saved(1)
	p.Type(`(`+field("n")+`)[2]`, "99"+keyTab) // which does not fit, so it is in this browser alone
	p.kept(1)
	p.Click(`//nav//a[.="History"]`)
	p.See(`//div[contains(@class, "line")]`)
	w.request(bob, "PATCH", "/apps/"+id, `[{"op":"test","path":"/apps/0/version","value":"1"},`+
		`{"op":"replace","path":"/apps/0/title","value":"Spring"}]`)
	p.Click(`//nav//a[.="Designer"]`)
	p.kept(1)
	p.holds(`(`+field("n")+`)[2]`, "99")
	p.press("Undo")
	w.stored(id, `{"question":"Tea?"}`, `{"question":"Cocoa?"}`)
	p.holds(`(`+field("n")+`)[2]`, "")
	p.picture(fmt.Sprintf("undo-%d-%s", l.width, l.scheme))
	p.view("/apps")
	p.See(`//table//a[.="Spring"]`)
	p.view("/apps/" + w.newApp("Other"))
	p.saved(0)
	p.Until(`() => document.querySelector('.status button[aria-label="Undo"]').disabled`)
	p.view("/apps/" + id)
	p.saved(2)
	p.press("Redo")
	p.holds(`(`+field("n")+`)[2]`, "99")
	p.Until(`() => {
		const undo = document.querySelector('.status button[aria-label="Undo"]');
		if (!undo.disabled) undo.click();
		return undo.disabled;
	}`)
	w.stored(id, `{"question":"Tea?"}`)
	if title := w.latest(id).Title; title != "Spring" {
		t.Errorf("undo has taken back the title of somebody else: %q", title)
	}
}
