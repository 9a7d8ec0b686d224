//go:build proof

package console

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
)

// tells waits until the page says something in its own words. What the service says of it, and the id of the request,
// are shown once the details below are opened.
func (p *person) tells(words string) {
	p.T.Helper()
	told := `//div[contains(@class, "told") and starts-with(., "` + words + `")]`
	p.See(told)
	p.Until(`() => [...document.querySelectorAll(".told details > :not(summary)")].every((x) => !x.checkVisibility())`)
	p.Click(told + `//summary[.="Details"]`)
	p.See(told + `//details/p[string-length(.) > 8]`)
	p.See(told + `//details/button[starts-with(., "Request ") and @title != ""]`)
}

// A person is told what went wrong in the page's own words, in lists and at tags, and when the service is down.
func TestErrorsInWords(t *testing.T) {
	s := newServed(t)
	id := s.newApp("Winter")
	s.request(ann, "PUT", "/apps/"+id+"/tags/production", `{"appVersion":"0"}`)
	t.Run("the service is down at sign-in", func(t *testing.T) {
		p := (&world{t, s.url}).visitor(1280, "light")
		p.Offline(true)
		p.Type(`//dialog//textarea`, s.token(ann))
		p.Click(`//dialog` + named("Sign in"))
		p.See(`//main//h1[.="The page cannot be shown"]`)
		p.See(`//main//div[.="The service cannot be reached."]`)
		p.See(`//main` + named("Try again"))
		p.Offline(false)
	})
	p := s.signIn(ann, "")
	t.Run("the menu has what the service has", func(t *testing.T) { // it has apps alone
		p.For(t).Until(`() => [...document.querySelectorAll("nav a")].filter((x) => x.checkVisibility()).map((x) => ` +
			`x.innerText.trim()).join() === "Apps,Releases,Components"`)
	})
	t.Run("lists", func(t *testing.T) {
		p := &person{p.For(t), s.world}
		busy := vitrine.ErrBusy
		s.store.reads.Store(&busy)
		p.view("/components")
		p.tells("The service is not available at the moment. Try again in ")
		s.store.reads.Store(nil)
		p.view("/apps/3b241101-e2bb-4255-8caf-4136c566a962/history")
		p.tells("This does not exist, or you may not see it.")
	})
	t.Run("tags", func(t *testing.T) {
		p := &person{p.For(t), s.world}
		p.view("/apps/" + id + "/deployments")
		p.Click(named("New tag"))
		p.Type(field("Name"), "production")
		p.Click(`//dialog` + named("Create"))
		p.tells("This tag points to version 0 already. Somebody else has set it.")
		p.Click(`//dialog` + named("Close"))
	})
}

// Who may only read can create no app and change none, and is not asked to.
func TestWhoMayOnlyRead(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", `{"type":"object","properties":{"a":{"type":"string"}}}`)
	p := w.signIn(cleo, "")
	p.See(`//*[contains(@class, "empty") and contains(., "There are no apps that you may see.")]`)
	none := func() {
		t.Helper()
		p.Until(`() => document.querySelector("main h1") && ![...document.querySelectorAll("button")].some((x) => ` +
			`x.textContent.includes("New app"))`)
	}
	none()
	w.newApp("Winter", poll(`{"a":"1"}`))
	p.See(`//table//a[.="Winter"]`)
	none()
	p.Click(`//table//a[.="Winter"]`)
	p.See(`//*[contains(@class, "saving") and contains(., "Read only")]`)
	var writable []string
	p.Run(&writable,
		`async () => [...document.querySelectorAll("main input, main textarea")].filter((x) => !x.readOnly && `+
			`!x.closest(".preview, .comments")).map((x) => x.outerHTML)`)
	if len(writable) != 0 {
		t.Errorf("somebody who may only read can type into %q", writable)
	}
}

// titledSchema is the schema of a component whose fields all have titles.
const titledSchema = `{"type":"object","properties":{
	"question":{"type":"string","title":"Question"},
	"kind":{"title":"Kind of poll",
		"oneOf":[{"const":"s","title":"One answer"},{"const":"m","title":"Several answers"}]},
	"open":{"type":"boolean","title":"Open"},
	"until":{"type":"string","format":"date","title":"Last day"},
	"color":{"type":"string","format":"color","title":"Colour"},
	"answers":{"type":"array","title":"Answers","items":{"type":"object","properties":{
		"text":{"type":"string","title":"Text"},"weight":{"type":"number","title":"Weight"}}}},
	"style":{"title":"Style","oneOf":[{"title":"Plain","type":"object","required":["type"],
		"properties":{"type":{"const":"plain"}}},
		{"title":"Picture","type":"object","required":["type","src"],"properties":{"type":{"const":"picture"},
			"src":{"type":"string","title":"Source"}}}]}}}`

// titled creates a component with a title, which is any JSON.
func (w *world) titled(name, title, schema string) {
	w.t.Helper()
	w.request(ann, "POST", "/components",
		fmt.Sprintf(`{"name":%q,"version":"1.0.0","main":"https://cdn.example.test/x.js","title":%s,"configSchema":%s}`,
			name, title, schema))
}

// A comparison tells of elements by the titles of their components, of fields by their labels, and of values as the
// form shows them.
func TestHistoryInWords(t *testing.T) {
	w := newWorld(t)
	w.titled("org.example.poll", `"Opinion poll"`, titledSchema)
	w.titled("org.example.count", `"Countdown"`,
		`{"type":"object","properties":{"until":{"type":"string","title":"Ends at"}}}`)
	id := w.newApp("Winter",
		element("org.example.poll",
			`{"question":"Tea?","kind":"s","open":true,"until":"2026-12-24","color":"#ff0000",`+
				`"answers":[{"text":"Yes"},{"text":"No"}],"style":{"type":"plain"}}`),
		element("org.example.count", `{"until":"noon"}`))
	version := 0
	change := func(operations ...string) {
		t.Helper()
		w.request(ann, "PATCH", "/apps/"+id,
			fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},%s]`, version,
				strings.Join(operations, ",")))
		version++
	}
	at := func(op, path, value string) string {
		return fmt.Sprintf(`{"op":%q,"path":"/apps/0/elements/%s","value":%s}`, op, path, value)
	}
	change(at("replace", "0/config/kind", `"m"`), at("replace", "0/config/open", `false`),
		at("replace", "0/config/until", `"2026-12-31"`), at("replace", "0/config/color", `"#0000ff"`),
		at("replace", "0/config/style", `{"type":"picture","src":"https://images.example.test/a.png"}`),
		at("add", "0/config/answers/0/weight", `1.50`))
	change(at("add", "0",
		element("org.example.poll",
			`{"question":"Cocoa?","answers":[{"text":"Yes","weight":2}],"style":{"type":"picture","src":"x"},`+
				`"until":"2027-01-06"}`)))
	change(at("replace", "1/config/answers", `[{"text":"Yes"},{"text":"No"},{"text":"Perhaps"}]`))
	change(`{"op":"remove","path":"/apps/0/elements/2"}`)
	change(at("replace", "1/config/question", `"Tea or coffee?"`))
	p := w.signIn(ann, "/apps/"+id+"/history")
	shows := func(label, from, to string) {
		t.Helper()
		path := `//div[contains(@class, "change")][normalize-space(*[contains(@class, "path")])="` + label + `"]`
		if from != "" {
			p.See(path + `/del[normalize-space()="` + from + `"]`)
		}
		p.See(path + `/ins[normalize-space()="` + to + `"]`)
	}
	t.Run("values", func(t *testing.T) {
		p.view("/none")
		p.view("/apps/" + id + "/history?from=0&to=1")
		p.See(`//section[contains(@class, "changed")]/h3[.="changed Opinion poll"]`)
		shows("Kind of poll", "One answer", "Several answers")
		shows("Open", "Yes", "No")
		shows("Last day", "Dec 24, 2026", "Dec 31, 2026")
		shows("Colour", "#ff0000", "#0000ff")
		shows("Answers 1 › Weight", "", "1.50")
		shows("Kind › Style", "Plain", "Picture")
		shows("Style › Source", "", "https://images.example.test/a.png")
		var colors []string
		p.Run(&colors,
			`async () => [...document.querySelectorAll(".swatch")].map((x) => getComputedStyle(x).backgroundColor)`)
		if strings.Join(colors, " ") != "rgb(255, 0, 0) rgb(0, 0, 255)" {
			t.Errorf("the swatches are %q", colors)
		}
	})
	t.Run("whole elements, with their JSON behind a button", func(t *testing.T) {
		p.view("/apps/" + id + "/history?from=1&to=5")
		const added = `//section[contains(@class, "added")]`
		p.See(added + `/h3[.="added Opinion poll 1"]`)
		p.See(added + `//li[.="QuestionCocoa?"]`)
		p.See(added + `//li[.="Last dayJan 6, 2027"]`)
		p.See(added + `//li/ol//li[.="Weight2"] | ` + added + `//ol//li[.="Weight2"]`)
		p.See(added + `//li[contains(., "Picture") and contains(., "Source") and not(contains(., "picture"))]`)
		p.See(`//section[contains(@class, "removed")]/h3[.="removed Countdown"]`)
		p.Until(`() => document.querySelectorAll(".difference pre").length > 0 && ` +
			`[...document.querySelectorAll(".difference pre")].every((x) => !x.checkVisibility())`)
		p.Click(added + `//summary[.="JSON"]`)
		p.See(added + `//pre[contains(., "2027-01-06")]`)
	})
}
