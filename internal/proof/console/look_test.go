//go:build proof

package console

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLook(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", `{"type":"object","properties":{"a":{"type":"string","maxLength":3}}}`)
	id := w.newApp("Winter", poll(`{"a":"1"}`))
	w.request(ann, "PATCH", "/apps/"+id,
		`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/title","value":"Winter,`+
			` on"}]`)
	w.request(ann, "PUT", "/apps/"+id+"/tags/production", `{"appVersion":"0"}`)
	w.request(ann, "PUT", "/apps/"+id+"/tags/staging", `{"appVersion":"1"}`)
	p := w.signIn(ann, "")
	p.See(`//time[.="just now" and @title != "" and @datetime != ""]`)
	t.Run("a tag has the same color in every view", func(t *testing.T) { (&person{p.For(t), w}).colors(id) })
	t.Run("the views of an app stay in place", func(t *testing.T) { (&person{p.For(t), w}).staysInPlace(id) })
	t.Run("theme", func(t *testing.T) { (&person{p.For(t), w}).theme() })
}

// A window that becomes narrow, as a phone that is turned does, shows the cards of an app as narrow as itself, those
// also that were in sight while it was wide.
func TestNarrowed(t *testing.T) {
	w := newWorld(t)
	var fields []string
	for i := range 20 {
		fields = append(fields, fmt.Sprintf(`"field %02d":{"type":"string"}`, i))
	}
	w.component("poll", "1.0.0", `{"type":"object","properties":{`+strings.Join(fields, ",")+`}}`)
	p := w.signIn(ann, "/apps/"+w.newApp("Winter", poll(`{}`), poll(`{}`), poll(`{}`), poll(`{}`)))
	p.Resize(1280, 900)
	p.saved(0)
	p.See(`//li[contains(@class, "card")][4]` + field("field 19"))
	p.Run(new(any), `async () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`)
	p.Resize(360, 900)
	p.Run(new(any), `async () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`)
	p.fits()
}

// theme checks that the colors are those of the system until somebody chooses, and that the choice stays.
func (p *person) theme() {
	p.Resize(1280, 900)
	dark := func(want bool) {
		p.T.Helper()
		p.Until(`(want) => (getComputedStyle(document.body).backgroundColor === "rgb(20, 22, 26)") === want`, want)
	}
	dark(false)
	p.Scheme("dark")
	dark(true)
	p.Click(named("Theme: system"))
	p.See(named("Theme: light"))
	dark(false)
	p.Open(p.w.url + "/")
	p.See(named("Theme: light"))
	dark(false)
	p.Scheme("light")
	p.Click(named("Theme: light"))
	p.See(named("Theme: dark"))
	dark(true)
	p.Click(named("Theme: dark"))
	p.See(named("Theme: system"))
	dark(false)
}

// staysInPlace checks that the views of an app have one width, and that nothing of the frame moves when somebody goes
// from one to the other.
func (p *person) staysInPlace(id string) {
	place := func(what string) (all string) {
		p.T.Helper()
		p.Run(&all, `async (what) => JSON.stringify([...document.querySelectorAll(what)].map((x) => `+
			`[x.localName].concat(["x", "y", "width"].map((n) => x.getBoundingClientRect()[n]))))`, what)
		return all
	}
	stays := func(what string, views ...string) {
		p.T.Helper()
		first := ""
		for _, name := range views {
			p.Click(fmt.Sprintf(`//nav//a[.=%q and not(@aria-current)]`, name))
			p.See(fmt.Sprintf(`//nav//a[.=%q and @aria-current]`, name))
			p.See(`//main//h1`)
			if now := place(what); first == "" {
				first = now
			} else if now != first {
				p.T.Errorf("%s: %s\nbefore: %s", name, now, first)
			}
		}
	}
	for _, width := range []int{1280, 360} {
		p.Resize(width, 300) // where some views have a scrollbar, and some have none
		bar := ".bar nav a, "
		if width == 360 {
			bar = "" // it is scrolled to where somebody is
		} else {
			stays(".bar nav a", "Assets", "Components", "Reviews", "Apps")
		}
		p.view("/apps/" + id)
		stays(bar+"main nav a, .page", "History", "Deployments", "Designer")
	}
	p.Click(`//button[.="JSON"]`)
	before := place("[role=tab]")
	p.Click(`//button[.="Design"]`)
	if now := place("[role=tab]"); now != before {
		p.T.Errorf("the tabs are at %s, and were at %s", now, before)
	}
}

// colors checks that a tag has the same color in every view, and that what is wrong is red wherever it is told.
func (p *person) colors(id string) {
	colors := func(of string) (color string) {
		p.T.Helper()
		p.Run(&color,
			`async (of) => [...new Set([...document.querySelectorAll(of)].map((x) => getComputedStyle(x).color + " `+
				`on " + getComputedStyle(x).backgroundColor))].join(" and ")`, of)
		return color
	}
	p.See(`//table//*[contains(@class, "tag") and .="production"]`)
	p.See(`//table//td[contains(@class, "tags") and contains(., "1 version behind")]`)
	list := colors(".tag")
	p.view("/apps/" + id + "/history")
	p.See(`//main//*[contains(@class, "line")]//*[contains(@class, "tag") and .="staging"]`)
	if history := colors(".tag"); history != list || strings.Contains(list, " and ") {
		p.T.Errorf("tags have the colors %s in the list of apps, and %s in the history", list, history)
	}
	const red = "rgb(179, 38, 30)"
	p.view("/reviews")
	file := filepath.Join(p.T.TempDir(), "legacy.ndjson")
	if err := os.WriteFile(file, []byte(reviewLine("Ym9vdHM=", "900")), 0o600); err != nil {
		p.T.Fatal(err)
	}
	p.Type(`//input[@type="file"]`, file)
	p.See(`//details[contains(@class, "rule")]//*[.="1 error"]`)
	p.Click(`(//details[contains(@class, "rule")])[1]/summary`)
	p.See(`//mark`)
	if of := colors(".rule .chip, .rule mark"); !strings.HasPrefix(of, red) || strings.Contains(of, " and ") {
		p.T.Errorf("an error in a file is %s", of)
	}
}
