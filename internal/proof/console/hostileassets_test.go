//go:build proof

package console

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// Texts that have broken pages before: each is stored wherever a text can be, and shown as it is.
var payloads = []string{
	`<script>window.broken = 1</script>`, `"><img src=x onerror="window.broken=1">`, `'><svg/onload=window.broken=1>`,
	`javascript:window.broken=1`,
	`{{constructor.constructor('window.broken=1')()}}`, `${window.broken=1}`,
	`<iframe srcdoc="<script>parent.broken=1</script>">`, `</textarea><script>window.broken=1</script>`,
	`<a href="javascript:window.broken=1">x</a>`, `<style>*{display:none}</style>`,
	`<base href="https://evil.example.test/">`, `<meta http-equiv=refresh content="0;url=https://evil.example.test/">`,
	"\u202eabc\u202c", "Ω≈ç√∫˜µ≤≥÷", "田中さんにあげて下さい", "👩‍👩‍👧‍👦🏳️‍🌈", "ﷺ﷽",
	"Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘!", strings.Repeat("long", 60), "a\tb\nc", "__proto__",
	"constructor", "null", "../../etc", "%00%0d%0a",
}

// No text of an asset, a folder or a role becomes markup or script, and nothing leaves the origin, wherever the asset
// shows.
func TestHostileAssets(t *testing.T) {
	w := newWorld(t)
	quote := func(s string) string {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var top string
	var roles, grants []string
	for i, text := range payloads {
		name := nameOf(text, ",:")
		top = w.newFolder(nameOf(text, ""), "/")
		id := w.add(hostileAsset(i, text, top))[0]
		roles = append(roles, "role "+nameOf(text, ""))
		grants = append(grants,
			fmt.Sprintf(`{"operation":"view","role":{"id":%s,"name":%[1]s}}`, quote(nameOf(text, ""))))
		attribute := fmt.Sprintf(`{"key":%s,"value":%s}`, quote(name), quote(text))
		w.request(ann, "POST", library+"/attributes",
			fmt.Sprintf(`{"assets":[%q],"add":[%s,{"key":"plain","value":%s}]}`, id, attribute, quote(text)))
	}
	w.request(ann, "POST", library+"/folder/"+top+"/permissions", `{"create":[`+strings.Join(grants, ",")+`]}`)
	p := w.signIn(ann, "")
	for _, v := range []struct{ address, shows string }{
		{"/assets?tags=" + url.QueryEscape(nameOf(payloads[1], ",:")), `//ul[@aria-label="Assets"]/li`},
		{"/assets?attribute=" + url.QueryEscape("plain:"+payloads[1]), `//ul[@aria-label="Assets"]/li`},
		{"/assets/example.test/example.test/add", `//fieldset[.//legend[.="Tags"]]//label`},
		{"/assets", `//ul[@aria-label="Assets"]/li[12]`},
	} {
		p.view(v.address)
		p.See(v.shows)
		p.harmless(v.address)
		for _, width := range []int{360, 1280} { // a text of 240 letters is one word
			p.Resize(width, 900)
			p.fits()
		}
	}
	t.Run("what an asset has is shown as it is", func(t *testing.T) {
		p.Until(`(n) => document.querySelectorAll(".asset .open").length === n`, len(payloads))
		for i, text := range payloads {
			// The latest asset is the first one.
			p.Run(new(any), `async (i) => document.querySelectorAll(".asset .open")[i].click()`, len(payloads)-1-i)
			p.See(`//dialog//li[contains(., "You may view and edit it")]`)
			var missing []string
			p.Run(&missing, `async (text, name) => {
				const dialog = document.querySelector("dialog");
				const dd = [...dialog.querySelectorAll("dd")].map((x) => x.textContent);
				const missing = [];
				if (dialog.querySelector("h2").textContent !== text) missing.push("author");
				if (!dd.includes(name)) missing.push("tag");
				if (!dd.includes(text)) missing.push("attribute");
				if (![...dialog.querySelectorAll("dt")].some((x) => x.textContent === name)) missing.push("key");
				const stored = JSON.parse(dialog.querySelector("pre").textContent);
				if (stored.content !== text || stored.attachment[0].html !== text ||
					stored[text] !== text && text !== "content") missing.push("content");
				return missing;
			}`, text, nameOf(text, ",:"))
			if len(missing) > 0 {
				t.Errorf("%q: not shown as it is: %q", text, missing)
			}
			p.harmless(fmt.Sprintf("the details of %q", text))
			p.Click(`//dialog` + named("Close"))
		}
	})
	t.Run("facets", func(t *testing.T) {
		p.Run(new(any), `async () => {
			const end = Date.now() + 30000;
			const until = async (f) => {
				while (!f()) {
					if (Date.now() > end) throw new Error(f.toString() + document.querySelector("aside").innerText);
					await new Promise((r) => setTimeout(r, 10));
				}
			};
			const keys = () => [...document.querySelectorAll("details.key summary")];
			await until(() => keys().length >= 20);
			for (const key of keys().map((x) => x.dataset.facet)) {
				const find = () => keys().find((x) => x.dataset.facet === key);
				if (!find().parentElement.open) find().click();
				await until(() => find()?.parentElement.querySelectorAll("li").length > 1);
			}
		}`)
		p.harmless("all facets")
	})
	t.Run("roles and folders", func(t *testing.T) {
		p.view("/assets?folder=" + top)
		p.Click(`//li[@aria-selected="true"]/span/button`)
		p.Click(`//dialog` + named("Permissions"))
		p.Until(`(texts) => texts.every((text) => [...document.querySelectorAll("td")].some((x) => x.textContent `+
			`=== text))`, roles)
		p.harmless("the permissions of a folder")
		p.Click(`(//dialog)[last()]` + named("Close"))
		p.Click(`//dialog` + named("Move"))
		p.See(`//dialog//*[@role="tree"]//li`)
		p.harmless("a choice of folders")
		p.Click(`//dialog` + named("Close"))
	})
	t.Run("texts that are pasted, and the name of a file", func(t *testing.T) {
		p.view("/assets/example.test/example.test/add?by=json")
		for _, text := range payloads {
			p.See(`//textarea[contains(@class, "whole")]`)
			p.Run(new(any), `async (text) => {
				const area = document.querySelector("textarea.whole");
				area.value = text;
				area.dispatchEvent(new Event("input"));
			}`, fmt.Sprintf(`[{"id": %[1]s, %[1]s: 1, %[1]s: 2}, %[2]s]`, quote(text), text))
			p.See(`//li[contains(., "is there twice") and contains(., "Line 1")]`)
			p.harmless("pasted " + text)
		}
		p.Run(new(any), `async (name) => {
			const area = document.querySelector("textarea.whole");
			area.value = "";
			area.dispatchEvent(new Event("input"));
			const files = new DataTransfer();
			files.items.add(new File(['{"id": "x", "generator": {"id": 5}, "content": {}}'], name));
			document.querySelector(".drop").dispatchEvent(
				new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
		}`, payloads[1])
		p.Click(`//button[@role="tab" and .="From a file"]`)
		p.Click(named("Add 1 asset"))
		p.See(`//h2[.="Done, but for some"]`)
		p.harmless("the name of a file")
	})
}

// nameOf is a payload as it can be a name: without control characters, and without those that separate names.
func nameOf(text, separators string) string {
	name := strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == '\u202e' || r == '\u202c' || strings.ContainsRune(separators, r) {
			return -1
		}
		return r
	}, text))
	if runes := []rune(name); len(runes) > 60 {
		name = string(runes[:60])
	}
	return name
}

// hostileAsset is an asset that has a payload wherever the service takes a text.
func hostileAsset(i int, text, folder string) string {
	name := nameOf(text, ",:")
	folders := []string{}
	if folder != "" {
		folders = append(folders, folder)
	}
	content := map[string]any{
		"content": text, "lang": text,
		"attributedTo": map[string]any{"id": text, "displayName": text, "username": text, "description": text,
			"location": text, "icon": map[string]any{"displayName": text}},
		"attachment": []any{map[string]any{"version": "1.0", "type": "rich", "title": text, "html": text,
			"author_name": text, "provider_name": text,
			"url":           map[string]any{"href": "https://evil.example.test/a.png"},
			"thumbnail_url": map[string]any{"href": "https://evil.example.test/b.png"}, text: text}},
	}
	if text != "content" {
		content[text] = text
	}
	out, err := json.Marshal(map[string]any{"id": fmt.Sprint(name, " ", i), "generator": map[string]any{"id": name},
		"folders": folders, "safe_tags": []string{name}, "content": content})
	if err != nil {
		panic(err)
	}
	return string(out)
}

// harmless fails if a text of the view has become markup, has run, or has reached another origin.
func (p *person) harmless(view string) {
	p.T.Helper()
	var shown struct {
		Broken         bool
		Markup, Origin []string
		Refused        string
	}
	p.Run(&shown, `async () => {
		await new Promise((r) => setTimeout(r, 50)); // what would be fetched or run by a text
		const markup = [...document.querySelectorAll(
			"script, iframe, img, style, base, meta[http-equiv], a[href^='javascript' i]")]
			.filter((x) => !["icon.svg", "main.js"].some((f) => (x.src ?? "").endsWith("/x/console/" + f)));
		markup.push(...[...document.querySelectorAll("*")].filter((x) => x.getAttributeNames()
			.some((name) => name.startsWith("on") || name === "srcdoc" ||
				name === "style" && !/^--hue: \d+;$/.test(x.getAttribute("style")))));
		const origin = performance.getEntriesByType("resource").map((x) => x.name)
			.filter((x) => new URL(x).origin !== location.origin || x.includes("eyJ"));
		return { broken: "broken" in window, markup: markup.map((x) => x.outerHTML), origin,
			refused: window.refusedByPolicy ?? "" };
	}`)
	if shown.Broken || len(shown.Markup) > 0 || len(shown.Origin) > 0 || shown.Refused != "" {
		p.T.Errorf("%s: a text ran: %v; markup %q; other addresses %q; refused by the policy: %q", view, shown.Broken,
			shown.Markup, shown.Origin, shown.Refused)
	}
}
