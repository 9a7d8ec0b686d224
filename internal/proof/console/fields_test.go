//go:build proof

package console

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The schemas of the test: what depends on others, what is read only, times, and values with names.
const (
	oldSchema = `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{
		"kind":{"type":"string","const":"always"},"mode":{"enum":["a","b"],"enumNames":["Aha","Bebop"]},
		"card":{"type":"string"},"address":{"type":"string"}},
		"dependencies":{"card":["address"],"address":{"properties":{"country":{"type":"string"}}}}}`
	newSchema = `{"type":"object","properties":{
		"id":{"type":"string","readOnly":true},"size":{"type":"integer","readOnly":true},
		"on":{"type":"boolean","readOnly":true},
		"tint":{"type":"string","format":"color","readOnly":true},
		"list":{"type":"array","items":{"type":"string"},"readOnly":true},
		"part":{"type":"object","readOnly":true,"properties":{"inner":{"type":"string"}}},
		"when":{"type":"string","format":"date-time","title":"When"},
		"opens":{"type":"string","format":"time","title":"Opens"},
		"layout":{"type":"string","enum":["g","r"],
			"oneOf":[{"const":"g","title":"Grid"},{"const":"r","title":"One row"}]},
		"phone":{"type":"string"},"prefix":{"type":"string"}},
		"dependentRequired":{"phone":["prefix"]},
		"dependentSchemas":{"prefix":{"properties":{"country":{"type":"string"}},"required":["country"]}}}`
)

// A form shows what its schema's draft has: fields that depend on others, values by their names, times with their
// zones; and it lets nobody type into what is read only.
func TestFieldsOfSchemas(t *testing.T) {
	inLooks(t, fieldsOfSchemas, look{1280, "light"}, look{360, "dark"})
}

func fieldsOfSchemas(t *testing.T, l look) {
	w := newWorld(t)
	w.component("old", "1.0.0", oldSchema)
	w.component("new", "1.0.0", newSchema)
	id := w.newApp("Drafts", element("old", `{}`))
	p := w.signIn(ann, "")
	p.Resize(l.width, 900)
	p.Scheme(l.scheme)
	p.command("Emulation.setTimezoneOverride", map[string]any{"timezoneId": "Europe/Berlin"})
	p.view("/apps/" + id)
	p.saved(0)
	label := func(name string) string {
		return `//*[self::label or contains(@class, "name")][normalize-space()="` + name + `"]`
	}
	required := func(name string) string {
		return `//label[starts-with(., "` + name + `")][.//*[contains(@class, "required")]]`
	}

	// const came with draft-06, so in draft-04 it asks for nothing; dependencies does.
	p.Type(field("kind"), "any")
	w.stored(id, `{"kind":"any"}`)
	p.Click(field("mode") + `/option[.="Bebop"]`)
	p.See(label("address"))
	p.Type(field("card"), "1")
	p.See(required("address"))
	p.Type(field("address"), "Quay 1")
	p.Type(field("country"), "NL")
	w.stored(id, `{"kind":"any","mode":"b","card":"1","address":"Quay 1","country":"NL"}`)

	given := `"id":"7","size":3,"on":true,"tint":"#112233","list":["x"],"part":{"inner":"y"}`
	id = w.newApp("Drafts", element("new", `{`+given+`,"when":"2026-01-05T09:30:00Z","opens":"09:30","layout":"r"}`))
	p.view("/apps/" + id)
	p.saved(0)
	p.See(label("id"))
	var open []string
	p.Run(&open,
		`async () => [...document.querySelectorAll(".card .body :is(input, select, textarea)")]
			.filter((x) => !x.readOnly && !x.disabled)
		.map((x) => x.closest(".field").querySelector(".name").firstChild.textContent)`)
	if got := strings.Join(open, ","); got != "When,Opens,layout,phone,prefix" {
		t.Errorf("fields that can be changed: %s", got)
	}
	p.Until(`() => {
		const fixed = [...document.querySelectorAll(".card .body .tools")]
			.filter((x) => x.textContent.includes("read only")).map((x) => x.closest(".field, .group"));
		return fixed.length === 6 &&
			!fixed.some((x) => [...x.querySelectorAll("button:not([aria-expanded])")].some((y) => y.checkVisibility()));
	}`)
	p.See(field("layout") + `/option[.="One row"]`)
	shows := func(name, want string) {
		t.Helper()
		p.Until(`(xpath, want) => document.evaluate(xpath, document, null, 9, null).singleNodeValue?.value === want`,
			field(name), want)
	}
	says := func(name, text string) {
		t.Helper()
		p.See(`//*[contains(@class, "field")][.//label[starts-with(., "` + name + `")]][contains(., "` + text + `")]`)
	}
	shows("When", "2026-01-05T10:30")
	says("When", "Europe/Berlin")
	shows("Opens", "09:30")
	says("Opens", "It has no zone")
	axe, err := os.ReadFile(filepath.Join(tools(t), "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	p.look(string(axe))
	p.picture(fmt.Sprintf("fields-%d-%s", l.width, l.scheme))

	// A pick is stored with the zone of this computer, and a time of a day keeps the zone that it has.
	pick := func(name, value string) {
		t.Helper()
		p.Until(`(xpath, value) => {
			const input = document.evaluate(xpath, document, null, 9, null).singleNodeValue;
			if (!["time", "datetime-local"].includes(input?.type)) return false;
			input.focus();
			input.value = value;
			return input.dispatchEvent(new Event("input", { bubbles: true }));
		}`, field(name), value)
	}
	pick("When", "2026-07-05T10:30")
	w.stored(id, `{`+given+`,"when":"2026-07-05T10:30:00+02:00","opens":"09:30","layout":"r"}`)
	p.Click(named("Add the zone of this computer"))
	p.Until(`() => ![...document.querySelectorAll("button")].some((x) => x.textContent.startsWith("Add the zone") ` +
		`&& x.checkVisibility())`)
	var opens string
	p.Run(&opens, `async () => {
		const minutes = -new Date().getTimezoneOffset();
		return "+0" + minutes / 60 + ":00";
	}`)
	w.stored(id, `{`+given+`,"when":"2026-07-05T10:30:00+02:00","opens":"09:30:00`+opens+`","layout":"r"}`)
	pick("Opens", "11:45")
	w.stored(id, `{`+given+`,"when":"2026-07-05T10:30:00+02:00","opens":"11:45:00`+opens+`","layout":"r"}`)

	// What has no zone says so, and what is no time is edited as it is.
	w.request(ann, "PATCH", "/apps/"+id, `[{"op":"test","path":"/apps/0/version","value":"`+w.latest(id).Version+`"},
		{"op":"replace","path":"/apps/0/elements/0/config/when","value":"2026-01-05T09:30:00"},
		{"op":"replace","path":"/apps/0/elements/0/config/opens","value":"at noon"}]`)
	p.view("/none")
	p.view("/apps/" + id)
	shows("When", "2026-01-05T09:30")
	says("When", "It has no zone, so every visitor sees this hour of their own day.")
	p.See(`//*[contains(@class, "field")][.//label[starts-with(., "When")]][not(contains(., "Europe/Berlin"))]`)
	shows("Opens", "at noon")

	p.Type(field("phone"), "1")
	p.See(required("prefix"))
	p.Type(field("prefix"), "31")
	p.See(required("country"))
	p.picture(fmt.Sprintf("dependents-%d-%s", l.width, l.scheme))
	p.view("/apps/" + id + "/history?from=0&to=1")
	p.See(`//time[@datetime="2026-01-05T09:30:00Z" and contains(., "10:30")]`)

	p.command("Emulation.setTimezoneOverride", map[string]any{"timezoneId": "UTC"})
	p.view("/apps/" + w.newApp("Drafts", element("new", `{}`)))
	for _, name := range []string{"When", "Opens"} {
		p.See(`//*[contains(@class, "field")][.//label[starts-with(., "` + name + `")]]` +
			`//*[contains(@class, "count") and .="UTC"]`)
	}

	p.view("/components/new")
	p.See(`//li[starts-with(., "when") and contains(., "date and time")]`)
	p.See(`//li[starts-with(., "opens") and contains(., "time of a day")]`)
	p.See(`//li[starts-with(., "size") and contains(., "whole number, read only")]`)
}
