//go:build proof

package console

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
)

// naughty is the Big List of Naughty Strings and the payloads, each text once. The list is under the MIT license; npm
// brings it as big-list-of-naughty-strings, which is named in testdata/package.json.
func naughty(t *testing.T) []string {
	t.Helper()
	list, err := os.ReadFile(filepath.Join(tools(t), "node_modules", "big-list-of-naughty-strings", "blns.json"))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	if err := json.Unmarshal(list, &texts); err != nil || len(texts) < 400 {
		t.Fatalf("%d naughty strings, %v", len(texts), err)
	}
	texts = append(texts, payloads...)
	slices.Sort(texts)
	return slices.DeleteFunc(slices.Compact(texts), func(s string) bool { return s == "" })
}

// manifest is a component whose every text is this one, but for what the service refuses. i makes its name its own.
func (w *world) manifest(i int, text string) (name, version, script string) {
	w.t.Helper()
	members := map[string]any{"name": text, "version": text, "main": text, "description": text, text: text,
		"configSchema": map[string]any{
			"type": "object", "properties": map[string]any{
				text:   map[string]any{"type": "string", "title": text, "description": text, "default": text},
				"kind": map[string]any{"enum": []string{text, "another"}, "title": text},
				"one": map[string]any{
					"oneOf": []any{map[string]any{"title": text, "type": "object",
						"properties": map[string]any{text: map[string]any{"const": text}},
						"required":   []string{text}}}},
			}}}
	fallback := map[string]any{"/name": fmt.Sprint("component ", i), "/version": "1.0.0",
		"/main": "https://cdn.example.test/x.js"}
	for {
		body, err := json.Marshal(members)
		if err != nil {
			w.t.Fatal(err)
		}
		status, answer := w.ask(ann, "POST", "/components", string(body))
		if status == http.StatusCreated {
			return members["name"].(string), members["version"].(string), members["main"].(string)
		}
		var refused struct{ Pointer string }
		if err := json.Unmarshal(answer, &refused); err != nil || fallback[refused.Pointer] == nil {
			w.t.Fatalf("a component for %q: %d %s", text, status, answer)
		}
		members[refused.Pointer[1:]] = fallback[refused.Pointer]
		delete(fallback, refused.Pointer)
	}
}

// Each text of the list is in every place of apps and components where the service takes it. The page shows it as it
// is, none becomes markup, runs, opens a dialog or sends a request, and what is edited and saved keeps every byte.
func TestNaughtyStrings(t *testing.T) {
	w := newWorld(t)
	texts := naughty(t)
	quote := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}

	// A component and an element for each text, and one component with all of them.
	type component struct{ Name, Version, Script string }
	var components []component
	var elements []string
	schema, config, about := map[string]any{}, map[string]string{},
		map[string]any{"name": "many", "version": "1.0.0", "main": "https://cdn.example.test/x.js",
			"description": strings.Join(texts, "\n")}
	for i, text := range texts {
		var c component
		c.Name, c.Version, c.Script = w.manifest(i, text)
		components = append(components, c)
		elements = append(elements,
			fmt.Sprintf(`{"component":{"name":%s,"version":%s},"config":{%s:%[3]s,"kind":%[3]s,"one":{%[3]s:%[3]s}}}`,
				quote(c.Name), quote(c.Version), quote(text)))
		schema[text] = map[string]any{"type": "string", "description": text}
		config[text] = text
		about["x "+text] = text
	}
	about["configSchema"] = map[string]any{"type": "object", "properties": schema}
	w.request(ann, "POST", "/components", quote(about))
	id := w.newApp("All", elements...)
	var titles []string
	for _, text := range texts {
		if status, _ := w.ask(ann, "POST", "/apps",
			fmt.Sprintf(`{"title":%s,"groups":[%q],"elements":[]}`, quote(text),
				network+":site=blog")); status == http.StatusCreated {
			titles = append(titles, text)
		}
	}
	hostile := ann
	hostile.URN = network + ":user=" + url.PathEscape(payloads[1])
	history := w.newApp("History", `{"component":{"name":"many","version":"1.0.0"},"config":{}}`)
	var tags []string
	for i, text := range texts {
		path := "/apps/0/elements/0/config/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(text)
		w.request(hostile, "PATCH", "/apps/"+history,
			fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"add","path":%s,"value":%s}]`, i,
				quote(path), quote(text)))
		if appsvc.ValidTagName(text) {
			w.request(hostile, "PUT", "/apps/"+history+"/tags/"+text, fmt.Sprintf(`{"appVersion":"%d"}`, i))
			tags = append(tags, text)
		}
	}
	names := slices.DeleteFunc(slices.Clone(components), func(c component) bool {
		return strings.HasPrefix(c.Name, "component ")
	})
	t.Logf("of %d texts %d are names of components, %d titles, %d tags", len(texts), len(names), len(titles), len(tags))
	if len(texts)-len(names) > 20 || len(texts)-len(titles) > 20 || len(tags) < 20 {
		t.Error("too few texts are tried")
	}

	p := w.signIn(ann, "")
	// texts waits until the elements have exactly these texts, in any order.
	exactly := func(t *testing.T, selector string, want []string) {
		t.Helper()
		p := &person{p.For(t), w}
		p.Until(`(selector, n) => {
			document.querySelector(".foot button:not([hidden])")?.click();
			return document.querySelectorAll(selector).length === n &&
				!document.querySelector(".foot button:not([hidden])");
		}`, selector, len(want))
		var have []string
		p.Run(&have, `async (selector) => [...document.querySelectorAll(selector)].map((x) => x.textContent)`, selector)
		want = slices.Sorted(slices.Values(want))
		slices.Sort(have)
		if !slices.Equal(have, want) {
			for i := range have {
				if have[i] != want[i] {
					t.Fatalf("%s shows %q, want %q", selector, have[i], want[i])
				}
			}
		}
		p.harmless(selector)
	}
	pick := func(of func(component) string) (all []string) {
		for _, c := range components {
			all = append(all, of(c))
		}
		return all
	}
	t.Run("the list of apps", func(t *testing.T) {
		p.view("/apps")
		exactly(t, "tbody a.name", append([]string{"All", "History"}, titles...))
	})
	t.Run("the list of components", func(t *testing.T) {
		p.view("/components")
		exactly(t, "tbody a.name", append(pick(func(c component) string { return c.Name }), "many"))
		exactly(t, "tbody td:nth-child(2)", append(pick(func(c component) string { return c.Version }), "1.0.0"))
		exactly(t, "tbody td code",
			append(pick(func(c component) string { return c.Script }), "https://cdn.example.test/x.js"))
	})
	t.Run("a component", func(t *testing.T) {
		p := &person{p.For(t), w}
		p.view("/components/many")
		p.See(`//ul[contains(@class, "tree")]`)
		var missing []string
		p.Run(&missing, `async (texts) => {
			const of = (selector) => new Set([...document.querySelectorAll(selector)].map((x) => x.textContent));
			const [members, keys, values, inputs, labels, help] = ["code.member", "dt", "dd", ".card .field",
				".card label", ".card .help"].map(of);
			if (!values.has(texts.join("\n"))) return ["the description"];
			const seen = (x) => /[^\p{C}\p{M}\p{Z}]/u.test(x); // a description without it is left out
			return texts.filter((x) => !members.has(x) || !keys.has("x " + x) || !values.has(JSON.stringify(x)) ||
				!labels.has(x) || seen(x) && !help.has(x));
		}`, texts)
		if len(missing) > 0 {
			t.Errorf("these are not shown as they are: %q", missing)
		}
		p.harmless("a component")
	})
	t.Run("titles above the views of an app", func(t *testing.T) {
		p := &person{p.For(t), w}
		for i, text := range titles {
			if i%40 != 0 {
				continue
			}
			app := w.newApp(text)
			p.view("/apps/" + app)
			p.Until(`(text) => document.querySelector("textarea.title")?.value === text && document.title.length > 0`,
				text)
			for _, view := range []string{"history", "deployments"} {
				p.view("/apps/" + app + "/" + view)
				p.Until(`(text) => document.querySelector("h1").textContent === text`, text)
			}
			p.harmless(text)
		}
	})
	t.Run("history", func(t *testing.T) {
		p := &person{p.For(t), w}
		p.view("/apps/" + history + "/history")
		p.Until(`() => {
			document.querySelector(".foot button:not([hidden])")?.click();
			return document.querySelector(".line") && !document.querySelector(".foot button:not([hidden])");
		}`)
		var missing []string
		p.Run(&missing, `async (texts, tags) => {
			const lines = [...document.querySelectorAll(".line .what")].map((x) => x.textContent);
			const flags = new Set([...document.querySelectorAll(".line .tag")].map((x) => x.textContent));
			// Names are cut after 200 characters.
			const shown = (x) => ([...x].length > 200 ? [...x].slice(0, 200).join("") + "…" : x);
			return [...texts.filter((x) => !lines.some((line) => line.includes(" added " + shown(x) + " of many "))),
				...tags.filter((x) => !flags.has(x))];
		}`, texts, tags)
		if len(missing) > 0 {
			t.Errorf("these are not shown as they are: %q", missing)
		}
		p.harmless("history")
	})
	t.Run("deployments", func(t *testing.T) {
		p.view("/apps/" + history + "/deployments")
		exactly(t, "article h2", tags)
		p.Click(`//article[1]` + named("Use it"))
		p.harmless("a tag in use")
		p.Click(`//dialog` + named("Close"))
	})
	t.Run("the choice of a component", func(t *testing.T) {
		p := &person{p.For(t), w}
		p.view("/apps/" + history)
		p.Click(named("Add an element"))
		p.See(`//dialog//li`)
		var missing []string
		p.Run(&missing, `async (names) => {
			const search = document.querySelector("dialog input");
			return names.filter((name) => {
				search.value = name;
				search.dispatchEvent(new Event("input"));
				const shown = [...document.querySelectorAll("dialog li .name")].map((x) => x.textContent);
				return !shown.includes(name) && shown.length < 200;
			});
		}`, pick(func(c component) string { return c.Name }))
		if len(missing) > 0 {
			t.Errorf("these are not shown as they are: %q", missing)
		}
		p.harmless("the choice of a component")
		p.Click(`//dialog` + named("Close"))
	})
	want := func(change string) (all []string) {
		for _, text := range texts {
			all = append(all,
				quote(map[string]any{text: text + change, "kind": text, "one": map[string]any{text: text}}))
		}
		return all
	}
	holds := func(t *testing.T, version int, want []string) {
		t.Helper()
		p := &person{p.For(t), w}
		p.saved(version)
		for i, e := range w.latest(id).Elements {
			var stored any
			if err := json.Unmarshal(e.Config, &stored); err != nil {
				t.Fatal(err)
			}
			if have := quote(stored); have != want[i] {
				t.Errorf("version %d has the config %s, want %s", version, have, want[i])
			}
		}
	}
	t.Run("the designer", func(t *testing.T) {
		p := &person{p.For(t), w}
		p.view("/apps/" + id)
		p.saved(0)
		p.Until(`(n) => {
			document.querySelector(".card .later")?.scrollIntoView(); // a form is built when it comes in sight
			return document.querySelectorAll(".card .body .field").length >= n;
		}`, 3*len(texts))
		var missing []string
		p.Run(&missing, `async (texts, components) => {
			const cards = [...document.querySelectorAll(".card")];
			// The name of a member stands for a title without it, and a description is left out.
			const seen = (x) => /[^\p{C}\p{M}\p{Z}]/u.test(x);
			return texts.filter((text, i) => {
				const some = (selector, fits) => [...cards[i].querySelectorAll(selector)].some(fits);
				return cards[i].querySelector("h2").textContent !== components[i].Name ||
					cards[i].querySelector("header select").value !== components[i].Version ||
					!some("input, textarea", (x) => x.value === text) ||
					seen(text) && !some("label", (x) => x.textContent === text) ||
					seen(text) && !some(".help", (x) => x.textContent === text) ||
					!some("option", (x) => x.textContent === text);
			});
		}`, texts, components)
		if len(missing) > 0 {
			t.Errorf("these are not shown as they are: %q", missing)
		}
		p.harmless("the designer")
		p.Run(new(any), `async (texts) => {
			const cards = [...document.querySelectorAll(".card")];
			texts.forEach((text, i) => {
				const input = [...cards[i].querySelectorAll("input, textarea")].find((x) => x.value === text);
				input.value += "!";
				input.dispatchEvent(new Event("input"));
			});
		}`, texts)
		holds(t, 1, want("!"))
	})
	t.Run("elements as JSON", func(t *testing.T) {
		p := &person{p.For(t), w}
		p.Click(`//button[@role="tab"][.="JSON"]`)
		p.Run(new(any), `async (texts) => {
			const area = document.querySelector("textarea.whole");
			const elements = JSON.parse(area.value);
			const wrong = texts.filter((text, i) => elements[i].config.kind !== text ||
				!Object.hasOwn(elements[i].config, text) || elements[i].config[text] !== text + "!");
			if (wrong.length > 0) throw new Error(JSON.stringify(wrong));
			texts.forEach((text, i) => {
				if (text === "kind" || text === "one") return;
				Object.defineProperty(elements[i].config, text, { value: text + "?" });
			});
			area.value = JSON.stringify(elements);
			area.dispatchEvent(new Event("input"));
		}`, texts)
		holds(t, 2, want("?"))
		p.harmless("elements as JSON")
	})
	t.Run("a comparison", func(t *testing.T) {
		p := &person{p.For(t), w}
		p.view("/apps/" + id + "/history?from=0&to=2")
		p.See(`//div[contains(@class, "difference")]//ins`)
		var missing []string
		p.Run(&missing, `async (texts, components) => {
			const parts = [...document.querySelectorAll(".difference .part")];
			// Names are cut after 200 characters.
			const shown = (x) => ([...x].length > 200 ? [...x].slice(0, 200).join("") + "…" : x);
			/** The texts of all nodes but those of one kind. */
			const without = (node, name) => [...node.childNodes].filter((x) => x.nodeName !== name)
				.map((x) => x.textContent).join("");
			return texts.filter((text, i) => {
				const p = parts[i]?.querySelector(".change");
				const words = p?.querySelector(":scope > [dir]");
				return !words || p.querySelector(".path").textContent !== shown(text) ||
					without(words, "INS") !== text || without(words, "DEL") !== text + "?" ||
					parts[i].querySelector("h3").textContent !== "changed " + shown(components[i].Name);
			});
		}`, texts, components)
		if len(missing) > 0 {
			t.Errorf("these are not shown as they are: %q", missing)
		}
		p.harmless("a comparison")
	})
	t.Run("one element with all of them", func(t *testing.T) {
		p := &person{p.For(t), w}
		p.view("/apps/" + history)
		p.saved(len(texts))
		p.Until(`(text) => {
			document.querySelector(".card .later")?.scrollIntoView();
			const input = [...document.querySelectorAll(".card input, .card textarea")].find((x) => x.value === text);
			if (!input) return false;
			input.value = "changed";
			input.dispatchEvent(new Event("input"));
			return true;
		}`, texts[len(texts)/2])
		p.saved(len(texts) + 1)
		stored := map[string]string{}
		if err := json.Unmarshal(w.latest(history).Elements[0].Config, &stored); err != nil {
			t.Fatal(err)
		}
		config[texts[len(texts)/2]] = "changed"
		if !maps.Equal(stored, config) {
			t.Errorf("the config is %s", quote(stored))
		}
		p.harmless("one element with all of them")
	})
	t.Run("no text makes a view wider than the window", func(t *testing.T) {
		p := &person{p.For(t), w}
		p.Resize(360, 900)
		for _, v := range []struct{ address, shows string }{
			{"/apps", `//tbody//a`}, {"/apps/" + history, `//li[contains(@class, "card")]//input`},
			{"/apps/" + history + "/history", `//div[contains(@class, "line")]`},
			{"/apps/" + history + "/deployments", named("Use it")}, {"/components", `//tbody//a`},
			{"/components/many", `//ul[contains(@class, "tree")]`},
		} {
			p.view("/none")
			p.view(v.address)
			p.See(v.shows)
			p.fits()
		}
		p.Resize(1280, 900)
	})
	t.Run("texts that their controls cannot have", func(t *testing.T) {
		p := &person{p.For(t), w}
		w.component("page", "1.0.0",
			`{"type":"object","properties":{"when":{"type":"string","format":"date"},"mail":{"type":"string",`+
				`"format":"email"},"lines":{"type":"string"}}}`)
		id := w.newApp("Texts", element("page", `{"when":"tomorrow","mail":" at home ","lines":"one\r\ntwo"}`))
		p.view("/apps/" + id)
		p.saved(0)
		p.holds(field("when"), "tomorrow")
		p.holds(field("mail"), " at home ")
		p.holds(field("lines"), `"one\r\ntwo"`)
		p.Run(new(any), `async () => {
			const area = [...document.querySelectorAll("textarea")].find((x) => x.value.startsWith('"one'));
			area.value = area.value.replace("two", "three");
			area.dispatchEvent(new Event("input"));
		}`)
		p.Type(field("when"), " morning")
		w.stored(id, `{"when":"tomorrow morning","mail":" at home ","lines":"one\r\nthree"}`)
	})
}
