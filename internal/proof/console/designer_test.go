//go:build proof

package console

import (
	"strings"
	"testing"
)

const pollSchema = `{"type":"object","required":["question"],"additionalProperties":false,"properties":{
	"question":{"type":"string","title":"Question","description":"What is asked","minLength":1,"maxLength":80},
	"kind":{"enum":["single","multiple"],"default":"single"},
	"limit":{"type":"integer","minimum":1,"maximum":10,"default":5},
	"open":{"type":"boolean","default":true},
	"color":{"type":"string","format":"color"},
	"answers":{"type":"array","items":{"type":"object","required":["text"],"properties":{
		"text":{"type":"string"},"weight":{"type":"number"}}}},
	"style":{"oneOf":[{"title":"Plain","type":"object","required":["type"],"properties":{"type":{"const":"plain"}}},
		{"title":"Picture","type":"object","required":["type","src"],"properties":{"type":{"const":"picture"},
			"src":{"type":"string","format":"uri"}}}]}}}`

func poll(config string) string { return element("poll", config) }

func element(name, config string) string {
	return `{"component":{"name":"` + name + `","version":"1.0.0"},"config":` + config + `}`
}

// An element is added between two others, with the focus in it.
func TestAnElementIsAddedBetween(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", questionSchema)
	id := w.newApp("Winter", poll(`{"question":"First?"}`), poll(`{"question":"Last?"}`))
	p := w.signIn(ann, "/apps/"+id)
	p.Click(`//li[@aria-label="Element 1: poll"]` + named("Add an element below"))
	p.Type(`//dialog//input[@type="search"]`, "poll"+keyEnter)
	p.Until(`() => document.activeElement.closest("li.card")?.getAttribute("aria-label") === "Element 2: poll"`)
	p.Until(`() => [...document.querySelectorAll("li.card")].map((x) => x.querySelector("input").value).join() === ` +
		`"First?,,Last?"`)
}

// A person makes an app, adds an element, fills in its form and sees what is wrong at the field.
func TestMakingAnApp(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", pollSchema)
	p := w.signIn(ann, "")
	p.See(`//*[contains(., "There are no apps yet")]`)
	p.Click(named("New app"))
	p.Type(field("Title"), "Winter")
	p.Click(`//dialog` + named("Create"))
	p.saved(0)
	p.Click(named("Add an element"))
	p.Type(`//dialog//input[@type="search"]`, "poll"+keyEnter)
	// The question is required: the element is kept in this browser before it is there. The field says so once it was
	// left.
	p.kept(1)
	p.See(`//li[contains(@class, "card") and not(.//*[contains(@class, "bad")])]//*[contains(., "Something in it ` +
		`is missing or not accepted yet")]`)
	p.Until(`(path) => document.activeElement === document.evaluate(path, document, null, 9, null).singleNodeValue`,
		field("Question"))
	// A default is named once, in the words of the field.
	p.See(field("open") + `[option[1][.="Default: Yes"] and not(ancestor::div[contains(@class, "field")][1]` +
		`//*[contains(@class, "default")])]`)
	p.Press(keyTab)
	p.See(`//*[contains(@class, "field") and contains(@class, "bad")][.//label[contains(., ` +
		`"Question")]]//*[contains(., "This is required.")]`)
	p.Type(field("Question"), "Tea?")
	p.saved(1)
	id := idOf(p)
	w.stored(id, `{"question":"Tea?"}`)
	p.Click(field("kind") + `/option[.="multiple"]`)
	p.Type(field("limit"), "7")
	p.Click(field("open") + `/option[.="No"]`)
	p.Click(named("Add to answers"))
	p.Type(`(`+field("text")+`)[1]`, "Yes")
	w.stored(id, `{"question":"Tea?","kind":"multiple","limit":7,"open":false,"answers":[{"text":"Yes"}]}`)
	// A value that the schema refuses stays in its field, with the service's sentence beside it.
	p.Retype(field("limit"), "99")
	p.See(`//*[contains(@class, "field") and contains(@class, "bad")][.//label[contains(., ` +
		`"limit")]]//*[contains(@class, "wrong")]`)
	p.kept(1)
	p.Retype(field("limit"), "9")
	w.stored(id, `{"question":"Tea?","kind":"multiple","limit":9,"open":false,"answers":[{"text":"Yes"}]}`)
	p.Click(`//button[@aria-label="Use the default of limit" or normalize-space()="Use ` +
		`default"][ancestor::div[contains(@class, "field")][1]//label[contains(., "limit")]]`)
	p.Click(`//select[@aria-label="Kind of style"]/option[.="Picture"]`)
	p.Type(field("src"), "https://images.example.test/a.png")
	w.stored(id,
		`{"question":"Tea?","kind":"multiple","open":false,"answers":[{"text":"Yes"}],"style":{"type":"picture",`+
			`"src":"https://images.example.test/a.png"}}`)
	if title := w.latest(id).Title; title != "Winter" {
		t.Errorf("the title is %q", title)
	}
	p.Retype(`//textarea[@aria-label="Title"]`, "Summer")
	p.Until(`() => document.title.startsWith("Summer")`)
	p.Until(`() => document.querySelector(".saving.saved")`)
	if title := w.latest(id).Title; title != "Summer" {
		t.Errorf("the title is %q", title)
	}
	p.Until(`() => { // a title has one line, also if two are pasted
		const title = document.querySelector("textarea.title");
		title.focus();
		title.select();
		document.execCommand("insertText", false, "Two\nlines");
		return title.value === "Two lines";
	}`)
}

// idOf is the id of the app that is shown.
func idOf(p *person) string {
	p.T.Helper()
	var hash string
	p.Run(&hash, `async () => location.hash`)
	return strings.SplitN(strings.TrimPrefix(hash, "#/apps/"), "?", 2)[0]
}

// Elements are duplicated, removed, and moved by buttons, keys and the mouse; each of it can be undone and redone.
func TestArrangingElements(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", `{}`)
	id := w.newApp("Winter", poll(`{"n":"a"}`), poll(`{"n":"b"}`), poll(`{"n":"c"}`))
	p := w.signIn(ann, "/apps/"+id)
	card := func(n string) string { return `//li[contains(@class, "card")][` + n + `]` }
	p.saved(0)
	p.Click(card("1") + named("Move down"))
	w.stored(id, `{"n":"b"}`, `{"n":"a"}`, `{"n":"c"}`)
	p.Type(card("3")+`//select`, keyAlt+keyUp+keyNull)
	w.stored(id, `{"n":"b"}`, `{"n":"c"}`, `{"n":"a"}`)
	p.Drag(card("3")+`//button[contains(@class, "handle")]`, card("1")+`//header`)
	w.stored(id, `{"n":"a"}`, `{"n":"b"}`, `{"n":"c"}`)
	p.Click(card("2") + named("Duplicate"))
	w.stored(id, `{"n":"a"}`, `{"n":"b"}`, `{"n":"b"}`, `{"n":"c"}`)
	p.Click(card("1") + named("Remove"))
	w.stored(id, `{"n":"b"}`, `{"n":"b"}`, `{"n":"c"}`)
	p.Click(named("Undo"))
	w.stored(id, `{"n":"a"}`, `{"n":"b"}`, `{"n":"b"}`, `{"n":"c"}`)
	p.Click(`//div[contains(@class, "status")]` + named("Undo"))
	w.stored(id, `{"n":"a"}`, `{"n":"b"}`, `{"n":"c"}`)
	p.Click(named("Redo"))
	w.stored(id, `{"n":"a"}`, `{"n":"b"}`, `{"n":"b"}`, `{"n":"c"}`)
	if got := w.latest(id).Version; got != "8" {
		t.Errorf("eight changes are version %s", got)
	}
}

// Two people edit one app: changes of different places come together, those of one place are shown side by side.
func TestTwoPeopleEdit(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`)
	id := w.newApp("Winter", poll(`{"a":"1","b":"1"}`), poll(`{"a":"2","b":"2"}`))
	one, two := w.signIn(ann, "/apps/"+id), w.signIn(bob, "/apps/"+id)
	two.saved(0)
	one.Retype(`(`+field("a")+`)[1]`, "ann")
	w.stored(id, `{"a":"ann","b":"1"}`, `{"a":"2","b":"2"}`)
	two.Retype(`(`+field("b")+`)[1]`, "bob")
	two.Click(`//li[contains(@class, "card")][2]` + named("Remove"))
	w.stored(id, `{"a":"ann","b":"bob"}`)
	one.Retype(`(`+field("a")+`)[1]`, "ann again")
	w.stored(id, `{"a":"ann again","b":"bob"}`)
	two.Retype(`(`+field("a")+`)[1]`, "bob too")
	two.See(named("Compare and choose"))
	two.Until(`() => ["borderTopStyle", "marginBottom", "padding"].every((name) => ["none", ` +
		`"0px"].includes(getComputedStyle(document.querySelector(".saving.conflict"))[name]))`)
	two.Click(named("Compare and choose"))
	two.See(`//dialog//pre[.="ann again"]`)
	two.See(`//dialog//pre[.="bob too"]`)
	two.Click(`//dialog//label[contains(., "By ann")]`)
	two.Click(`//dialog` + named("Go on with these"))
	two.Until(`() => document.querySelector(".saving.saved")`)
	w.stored(id, `{"a":"ann again","b":"bob"}`)
	two.Retype(`(`+field("a")+`)[1]`, "bob at last")
	w.stored(id, `{"a":"bob at last","b":"bob"}`)
}

// What the designer tells while one works moves nothing, so that a click does not hit what stood beside its aim.
func TestNothingMovesUnderTheMouse(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`)
	id := w.newApp("Winter", poll(`{"a":"1","b":"1"}`), poll(`{"a":"2","b":"2"}`))
	p := w.signIn(ann, "/apps/"+id)
	p.saved(0)
	where := func() (top float64) {
		p.T.Helper()
		p.Run(&top, `() => document.querySelectorAll(".card")[1].getBoundingClientRect().top`)
		return top
	}
	p.See(`//li[contains(@class, "card")][2]` + field("b"))
	before := where()
	same := func(when string) {
		t.Helper()
		if now := where(); now != before {
			t.Errorf("%s, a card has moved from %v to %v", when, before, now)
		}
	}
	w.request(bob, "PATCH", "/apps/"+id,
		`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/elements/0/config/a",`+
			`"value":"bob"}]`)
	p.See(`//*[contains(@class, "news") and contains(., "is shown now")]`)
	same("when somebody else has saved")
	p.Retype(`(`+field("b")+`)[1]`, "ann")
	p.saved(2)
	p.Until(`() => document.querySelector(".news").hidden`)
	same("when it is saved")
	p.Offline(true)
	p.Retype(`(`+field("b")+`)[1]`, "ann again")
	p.See(`//*[contains(@class, "trouble") and contains(., "saved as soon as")]`)
	same("offline")
	p.Offline(false)
	p.saved(3)
	same("at last")
}
