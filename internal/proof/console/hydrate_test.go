//go:build proof

package console

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"testing"
)

// Pages of React, Preact, Vue and Svelte that a server has rendered hydrate without a warning, in the two ways of the
// guide: the script comes once the page has hydrated, or a whole element is HTML to the framework, and the script may
// come before. What the apps are keeps its state when the framework renders the page again.
func TestHydration(t *testing.T) {
	w := newPages(t)
	node, npm := tool(t, "node"), tool(t, "npm")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("hydrate")); err != nil {
		t.Fatal(err)
	}
	if out, err := run(dir, npm, "install", "--no-audit", "--no-fund", "--ignore-scripts",
		"--prefer-offline"); err != nil {
		missing(t, "the frameworks do not come from npm: %v\n%s", err, out)
	}
	w.put("a", w.element("0.0", "one"))
	type attributes map[string]string
	script := w.service.URL + "/v4/x/vitrine.js"
	ways := []struct {
		Name       string     `json:"-"`
		Script     string     `json:"script"`
		HTML       string     `json:"html,omitempty"`
		Attributes attributes `json:"attributes,omitempty"`
		before     string
	}{
		{Name: "the script comes after", Script: script,
			Attributes: attributes{"app": "a", "tag": "production", "pageKey": "k"}},
		{Name: "the script comes before", Script: script, HTML: `<vitrine-app app="a" tag="production" page-key="k" ` +
			`data-version="3"><div data-key="0.0" data-component="@x/0.0">one</div></vitrine-app>`,
			before: `<script type="module" src="` + script + `"></script>`},
	}
	args := []string{"build.mjs"}
	for _, way := range ways {
		text, err := json.Marshal(way)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, string(text))
	}
	out, err := run(dir, node, args...)
	var built map[string]struct {
		HTML   []string
		Client string
	}
	if err == nil {
		err = json.Unmarshal(out, &built)
	}
	if err != nil || len(built) != 4 {
		t.Fatalf("%v\n%s", err, out)
	}
	w.Prelude(`window.said = []
		for (const name of ["error", "warn"]) console[name] = (...what) => said.push(what.join(" "))
		window.seen = new Promise((done) => addEventListener("vitrine-shown", done))`)
	for framework, page := range built {
		for i, way := range ways {
			t.Run(framework+"/"+way.Name, func(t *testing.T) {
				w := w.in(t)
				client := page.Client + "; window.hydrated = true"
				if way.before != "" {
					client = "await seen;\n" + client
				}
				w.mu.Lock()
				w.page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>page</title>` + way.before +
					`<div id="root">` + page.HTML[i] + `</div><script>window.props = ` + args[i+1] +
					`</script><script type="module" src="data:text/javascript;base64,` +
					base64.StdEncoding.EncodeToString([]byte(client)) + `"></script>`
				w.mu.Unlock()
				w.Open(w.site.URL)
				w.Until(`() => window.hydrated && document.querySelector("[data-key]")?.textContent === "one"`)
				w.Run(new(any), `() => {
					window.app = document.querySelector("[data-key]")
					document.querySelector("button").click()
				}`)
				w.Until(`() => document.querySelector("button").textContent === "de"`)
				var same bool
				w.Run(&same, `() => app.isConnected && app.state > 0 && app.textContent === "one" &&
					document.querySelectorAll("vitrine-app, [data-key]").length === 2`)
				var said []string
				w.Run(&said, `() => said`)
				if !same || len(said) > 0 {
					t.Errorf("the same: %v; said: %q", same, said)
				}
			})
		}
	}
}
