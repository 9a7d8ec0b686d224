//go:build proof

package console

import (
	"strings"
	"testing"
)

// A page asks for its language where an app has several, and only there.
func TestLoaderLanguages(t *testing.T) {
	w := newPages(t)
	w.Prelude(listening)
	translate := func(w *pages, id string, texts ...string) {
		for i, lang := range []string{"en", "de", "fr"}[:len(texts)] {
			w.put(id, w.element("0.0", texts[i]))
			w.mu.Lock()
			app := w.apps["production "+id]
			app.Lang, app.Languages = lang, []string{"en", "de", "fr"}
			for _, name := range []string{"", lang, lang + "-AT"} {
				if i == 0 || name != "" {
					w.apps[strings.TrimSpace("production "+id+" "+name)] = app
				}
			}
			w.mu.Unlock()
		}
		w.mu.Lock()
		w.apps["production "+id] = w.apps["production "+id+" en"]
		w.mu.Unlock()
	}
	asked := func(w *pages) string {
		var out []string
		for _, q := range w.requests() {
			out = append(out, q.Get("app")+q.Get("lang"))
		}
		return strings.Join(out, " ")
	}
	shows := func(w *pages, text string) {
		w.Until(`(text) => document.body.innerText.replace(/\s+/g, ' ').trim() === text`, text)
	}
	for name, test := range map[string]struct{ html, text, asked string }{
		"the language of the page": {`<div lang="de-AT"><vitrine-app app="a"></vitrine-app></div>`, "Tee",
			"a ade-AT"},
		"that of the element": {`<div lang="de"><vitrine-app app="a" lang="fr"></vitrine-app></div>`,
			"thé", "a afr"},
		"the base":                        {`<div lang="en"><vitrine-app app="a"></vitrine-app></div>`, "tea", "a"},
		"none":                            {`<vitrine-app app="a"></vitrine-app>`, "tea", "a"},
		"a malformed one":                 {`<div lang="de_AT"><vitrine-app app="a"></vitrine-app></div>`, "tea", "a"},
		"an app without texts in several": {`<div lang="de"><vitrine-app app="b"></vitrine-app></div>`, "plain", "b"},
		"two apps, one of which has texts": {`<div lang="de"><vitrine-app app="a"></vitrine-app><vitrine-app ` +
			`app="b"></vitrine-app></div>`, "Tee plain", "a ade"},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			translate(w, "a", "tea", "Tee", "thé")
			w.put("b", w.element("0.0", "plain"))
			w.open(test.html)
			shows(w, test.text)
			if got := asked(w); got != test.asked {
				t.Errorf("asked %q, want %q", got, test.asked)
			}
		})
	}
	t.Run("the language of the page changes, and that of a part of it", func(t *testing.T) {
		w := w.in(t)
		translate(w, "a", "tea", "Tee", "thé")
		w.open(`<vitrine-app app="a"></vitrine-app><div lang="fr"><vitrine-app app="a"></vitrine-app></div>`)
		shows(w, "tea thé")
		w.Run(new(any), `() => { document.documentElement.lang = 'de' }`)
		shows(w, "Tee thé")
		w.Run(new(any), `() => { document.querySelector('div[lang]').lang = 'en' }`)
		shows(w, "Tee tea")
		if got := asked(w); got != "a afr a ade aen" {
			t.Errorf("asked %q", got)
		}
	})
	t.Run("what a server has rendered is taken over in its language alone, and changes", func(t *testing.T) {
		w := w.in(t)
		translate(w, "a", "tea", "Tee", "thé")
		const mark = `<script>for (const div of document.querySelectorAll('[data-key]')) div.before_ = true</script>`
		const inside = `<div data-key="0.0" data-component="@x/0.0">TEE</div></vitrine-app>`
		w.open(`<div lang="de"><vitrine-app app="a" live="1" data-version="3" data-lang="de">` + inside +
			`<vitrine-app app="a" data-version="3" data-lang="en">` + inside + `</div>` + mark)
		shows(w, "Tee Tee")
		var got []bool
		w.Run(&got, `() => [...document.querySelectorAll('[data-key]')].map((div) => !!div.before_ && div.rendered)`)
		if !got[0] || got[1] {
			t.Errorf("taken over: %v", got)
		}
		var shown []string
		if w.Run(&shown, `() => shown`); len(shown) != 1 || !strings.Contains(shown[0], `"version":3,"lang":"de"}`) {
			t.Errorf("%q", shown)
		}
		translate(w, "a", "tea 2", "Tee 2", "thé 2")
		shows(w, "Tee 2 Tee")
		w.Run(new(any), `() => { document.querySelector('vitrine-app').lang = 'fr' }`)
		shows(w, "thé 2 Tee")
		w.Run(new(any), `() => { document.querySelector('vitrine-app').removeAttribute('lang') }`)
		shows(w, "Tee 2 Tee")
	})
}
