package console

import "testing"

// The colors are those of the system until somebody chooses, and the choice stays.
func TestTheme(t *testing.T) {
	w := newWorld(t)
	p := w.signIn(ann, "")
	dark := func(want bool) {
		t.Helper()
		p.Until(`(want) => (getComputedStyle(document.body).backgroundColor === "rgb(20, 22, 26)") === want`, want)
	}
	dark(false)
	p.Scheme("dark")
	dark(true)
	p.Click(named("Theme: system"))
	p.See(named("Theme: light"))
	dark(false)
	p.Open(w.url + "/")
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

// Times have the exact one on hover, and errors the id of their request to copy.
func TestTimesAndErrors(t *testing.T) {
	w := newWorld(t)
	w.newApp("Winter")
	p := w.signIn(ann, "")
	p.See(`//time[.="just now" and @title != "" and @datetime != ""]`)
	p.view("/apps/3b241101-e2bb-4255-8caf-4136c566a962")
	p.See(`//*[contains(@class, "empty")]//button[starts-with(., "Request ") and @title != ""]`)
}
