//go:build proof

package console

import (
	"fmt"
	"testing"
)

// An editor translates an app beside its base. What is missing is counted and marked, the preview follows the language,
// and what does not fit in one language is said there.
func TestLanguagesOfTexts(t *testing.T) {
	inLooks(t, languagesOfTexts, look{1280, "light"}, look{1280, "dark"}, look{360, "light"}, look{360, "dark"})
}

func languagesOfTexts(t *testing.T, l look) {
	w := newWorld(t, "-languages", "en,de,fr")
	at := scripts(t, map[string]string{"/text.js": script})
	w.request(ann, "POST", "/components", fmt.Sprintf(
		`{"name":"text","version":"1.0.0","main":"%s/text.js","configSchema":%s}`, at, textSchema))
	id := w.newApp("Tea", element("text", `{"text":"Tea"}`),
		element("text", `{"text":{"lang:en":"Hot","lang:de":"Heiss"}}`))
	p := w.signIn(ann, "/apps/"+id)
	p.Resize(l.width, 900)
	p.Scheme(l.scheme)
	p.Click(named("Show the preview"))
	p.shows("Tea 3 Hot 3")
	card := func(n int) string { return fmt.Sprintf(`//li[contains(@class, "card")][%d]`, n) }
	p.See(field("Language") + `/option[.="French, 1 missing"]`)
	p.See(card(2) + `//*[contains(., "Also in German.")]`)

	p.Click(field("Language") + `/option[starts-with(., "German")]`)
	p.shows("Tea 3 Heiss 3")
	p.Click(card(1) + named("Translate Text into German"))
	p.Type(card(1)+field("German"), "Tee")
	w.stored(id, `{"text":{"lang:en":"Tea","lang:de":"Tee"}}`, `{"text":{"lang:en":"Hot","lang:de":"Heiss"}}`)
	p.shows("Tee 3 Heiss 3")
	p.See(field("Language") + `/option[.="French, 2 missing"]`)
	p.Retype(card(1)+field("German"), "Tee, der viel zu lang ist")
	p.Click(named("Show what is wrong"))
	p.See(card(1) + `//div[@lang="de"]//*[contains(@class, "bad")]//*[contains(@class, "wrong") and contains(., "20")]`)
	p.shows("Tee 3 Heiss 3")
	p.Retype(card(1)+field("German"), "Grüner Tee")
	p.shows("Grüner Tee 3 Heiss 3")
	p.look(string(axeCore(t)))
	p.fits()
	p.picture(fmt.Sprintf("languages-%d-%s", l.width, l.scheme))

	p.Click(field("Language") + `/option[starts-with(., "French")]`)
	p.See(card(2) + `//div[@lang="fr"]//*[.="missing: pages show English"]`)
	p.shows("Tea 3 Hot 3")
	p.Click(card(2) + named("The same in all languages"))
	w.stored(id, `{"text":{"lang:en":"Tea","lang:de":"Grüner Tee"}}`, `{"text":"Hot"}`)
	p.Click(named("Undo"))
	w.stored(id, `{"text":{"lang:en":"Tea","lang:de":"Grüner Tee"}}`, `{"text":{"lang:en":"Hot","lang:de":"Heiss"}}`)

	// The differences of versions are told by language.
	p.view("/apps/" + id + "/history?from=1&to=2")
	p.See(`//*[contains(@class, "difference")]//*[contains(., "German")]`)
}

// What stands for all languages is not overwritten in the second one: it is translated. The field of the other language
// has the focus at once, where the text may be left out, too.
func TestTranslate(t *testing.T) {
	w := newWorld(t, "-languages", "en,de")
	w.request(ann, "POST", "/components", `{"name":"long","version":"1.0.0","main":"/long.js","configSchema":{`+
		`"type":"object","properties":{"name":{"type":"string"}}}}`)
	id := w.newApp("Tea", element("long", `{"name":"Tea"}`))
	p := w.signIn(ann, "/apps/"+id)
	p.Click(field("Language") + `/option[starts-with(., "German")]`)
	p.See(`//*[contains(@class, "label")]//*[.="English, in all languages"]`)
	p.Until(`() => document.querySelector(".card textarea, .card input[type=text]").readOnly`)
	p.Click(named("Translate name into German"))
	p.Until(`() => document.activeElement.closest("[lang=de] input, [lang=de] textarea")`)
	p.Type(field("German"), "Tee")
	p.Click(field("Language") + `/option[starts-with(., "English")]`)
	p.Retype(field("English"), "Black tea")
	p.Click(named("The same in all languages"))
	w.stored(id, `{"name":"Black tea"}`)
	p.Retype(field("name"), "Green tea") // the base is written as it was before there were languages
	w.stored(id, `{"name":"Green tea"}`)
}
