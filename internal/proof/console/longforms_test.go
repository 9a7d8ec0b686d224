//go:build proof

package console

import (
	"fmt"
	"strings"
	"testing"
)

// longSchema has groups of fields, 500 in all.
func longSchema() string {
	var groups []string
	for g := range 20 {
		var fields []string
		for i := range 25 {
			fields = append(fields, fmt.Sprintf(`"field %03d":{"type":"string","maxLength":9}`, g*25+i))
		}
		groups = append(groups, fmt.Sprintf(`"group %02d":{"type":"object","properties":{%s}}`, g,
			strings.Join(fields, ",")))
	}
	return `{"type":"object","properties":{` + strings.Join(groups, ",") + `}}`
}

// A form of 500 fields opens at once: only what is seen is built. All of it is reached by scrolling, by the address of
// a field and by what is wrong, and groups and elements fold.
func TestLongForms(t *testing.T) {
	w := newWorld(t)
	w.component("long", "1.0.0", longSchema())
	var groups []string
	for g := range 20 {
		groups = append(groups, fmt.Sprintf(`"group %02d":{"field %03d":"some text"}`, g, g*25+24))
	}
	long := element("long", "{"+strings.Join(groups, ",")+"}")
	id := w.newApp("Long", long, long)
	p := w.signIn(ann, "/apps")
	p.See(`//table//a[.="Long"]`)
	var took float64
	p.Run(&took, `async (id) => {
		const { field } = await import(new URL("x/console/elements/form.js", location));
		const answer = await fetch("apps/" + id,
			{ headers: { Authorization: "Bearer " + sessionStorage.getItem("vitrine.token") } });
		const [element] = (await answer.json()).apps[0].elements;
		const schema = element.component.configSchema;
		const began = performance.now();
		const form = field({ schema, root: schema, name: "Config", bare: true, required: true, value: element.config,
			onchange() {}, atOnce: { left: 40 } });
		document.querySelector("main").append(form.node);
		form.node.getBoundingClientRect();
		const took = performance.now() - began;
		form.node.remove();
		return took;
	}`, id)
	t.Logf("a form of 500 fields is made and laid out in %.0f ms", took)
	p.Run(&took, `async (id) => {
		const began = performance.now();
		location.hash = "#/apps/" + id;
		while (!document.querySelector(".card .field input[id]")) await new Promise((done) => setTimeout(done, 5));
		return performance.now() - began;
	}`, id)
	t.Logf("the designer with two forms of 500 fields shows the first of them after %.0f ms", took)
	p.saved(0)
	var built int
	if p.Run(&built, `async () => document.querySelectorAll(".card .field").length`); built > 300 {
		t.Errorf("%d of 1,000 fields are built at first", built)
	}
	axe := axeCore(t)
	p.looked("long", axe)
	// By scrolling.
	p.Until(`async () => {
		scrollBy(0, 2000);
		await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
		const [, second] = document.querySelectorAll(".card");
		return second.querySelector('[data-part="field 499"] input');
	}`)
	p.Retype(`//li[contains(@class, "card")][2]`+field("field 499"), "the end")
	p.saved(1)
	// By the address of a field.
	p.view("/none")
	p.view("/apps/" + id + "?at=" + "0.1" + "&field=/group%2015/field%20399")
	p.Until(`() => document.activeElement.value === "some text" && ` +
		`document.activeElement.labels[0].textContent.startsWith("field 399")`)
	// By folding.
	p.Click(`(` + named("Fold group 15") + `)[1]`)
	p.Until(`() => !document.querySelector('[data-part="group 15"] .members').checkVisibility()`)
	p.Run(new(any), `async () => scrollTo(0, 0)`)
	p.Click(named("Fold all"))
	p.Until(`() => [...document.querySelectorAll(".card > .body")].every((x) => !x.checkVisibility())`)
	p.See(`//li[contains(@class, "card")][1]//header[contains(., "some text")]`)
	p.looked("folded", axe)
	p.Click(named("Open all"))
	p.Until(`() => document.querySelector(".card > .body").checkVisibility()`)
	p.Click(`(` + named("Fold the element") + `)[1]`)
	// What is wrong in something folded is opened.
	w.request(ann, "PATCH", "/apps/"+id, `[{"op":"test","path":"/apps/0/version","value":"1"},`+
		`{"op":"replace","path":"/apps/0/title","value":"Longer"}]`)
	p.Click(`//button[@role="tab"][.="JSON"]`)
	p.Until(`() => document.querySelector("textarea.whole").value.includes("some text")`)
	p.Run(new(any), `async () => {
		const area = document.querySelector("textarea.whole");
		area.value = area.value.replace('"field 249": "some text"', '"field 249": "far too long a text"');
		area.dispatchEvent(new Event("input"));
	}`)
	p.Click(`//button[@role="tab"][.="Design"]`)
	p.kept(1)
	p.Click(named("Show where"))
	p.Until(`() => document.activeElement.value === "far too long a text" && document.activeElement.checkVisibility()`)
}

// scrollTo scrolls to what this selector finds, so that it is built.
func (p *person) scrollTo(selector string) {
	p.T.Helper()
	p.Until(`async (selector) => {
		const found = document.querySelector(selector);
		found?.scrollIntoView({ block: "center" });
		return found;
	}`, selector)
}
