//go:build proof

package console

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// With a store that is full or cannot be reached, the page says so, keeps what is typed and goes on by itself.
func TestStoreThatFails(t *testing.T) {
	s := newServed(t)
	s.component("poll", "1.0.0", `{"type":"object","properties":{"a":{"type":"string"}}}`)
	id := s.newApp("Winter", poll(`{"a":"1"}`))
	p := s.signIn(ann, "/apps/"+id)
	p.saved(0)
	for _, c := range []struct {
		name, says string
		err        error
	}{
		{"full", "full", vitrine.ErrFull},
		{"busy", "not available", vitrine.ErrBusy},
	} {
		t.Run("a store that is "+c.name+" while typing", func(t *testing.T) {
			s.store.writes.Store(&c.err)
			p.Retype(field("a"), "typed while "+c.name)
			p.See(`//*[contains(@class, "saving") and contains(., "Waiting, will go on")]`)
			p.See(`//*[contains(@class, "trouble") and contains(., "` + c.says + `")]`)
			p.Type(field("a"), ", and more")
			s.store.writes.Store(nil)
			s.stored(id, `{"a":"typed while `+c.name+`, and more"}`)
			p.Until(`() => document.querySelector(".saving.saved") && document.querySelector(".trouble").hidden`)
		})
	}
	t.Run("a dialog keeps what is in it, and is sent once more", func(t *testing.T) {
		full := vitrine.ErrFull
		p.view("/apps")
		p.Click(named("New app"))
		p.Type(field("Title"), "Spring")
		p.Click(`//dialog//label[contains(@title, "site=blog")]//input`)
		s.store.writes.Store(&full)
		p.Click(`//dialog` + named("Create"))
		p.See(`//dialog//*[@role="alert" and contains(., "full")]`)
		s.store.writes.Store(nil)
		p.Click(`//dialog` + named("Create"))
		p.Until(`() => document.title.startsWith("Spring")`)
	})
	busy := vitrine.ErrBusy
	t.Run("a list that is not there yet comes by itself", func(t *testing.T) {
		s.store.reads.Store(&busy)
		p.view("/apps")
		p.See(`//*[contains(@class, "toast") and contains(., "asked again in ")]`)
		s.store.reads.Store(nil)
		p.See(`//table//a[.="Spring"]`)
	})
	t.Run("no view waits without end", func(t *testing.T) {
		s.store.reads.Store(&busy)
		for _, view := range []string{"/apps/" + id, "/components", "/components/poll",
			"/apps/" + id + "/deployments"} {
			p.view("/none")
			p.See(`//h1[.="There is no such page."]`)
			p.view(view)
			p.See(`//main//*[contains(., "not available")]`)
			var waiting bool
			p.Run(&waiting,
				`async () => !!document.querySelector("main [aria-busy]") || `+
					`document.querySelector("main").innerText.includes("Loading")`)
			if waiting {
				t.Errorf("%s waits and says that it does not", view)
			}
		}
		s.store.reads.Store(nil)
		p.Click(named("Try again"))
		p.See(`//*[contains(., "No tags yet")]`)
	})
}

// What the service refuses for good is said, and what was typed stays.
func TestRefusals(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0",
		`{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"integer","maximum":9}}}`)
	id := w.newApp("Winter", poll(`{"a":"1"}`))
	version := 0
	regroup := func(groups ...string) {
		t.Helper()
		w.request(ann, "PATCH", "/apps/"+id,
			fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace",`+
				`"path":"/apps/0/groups","value":["%s"]}]`, version, strings.Join(groups, `","`)))
		version++
	}
	const blog, shop = network + ":site=blog", network + ":site=shop"
	reader := httpapi.Principal{Caller: vitrine.Caller{URN: bob.URN, Moderates: []string{blog},
		Reads: []string{network}}}
	t.Run("403", func(t *testing.T) {
		p := w.signIn(reader, "/apps/"+id)
		p.saved(0)
		p.Offline(true)
		p.Retype(field("a"), "typed without the right")
		p.See(`//*[contains(@class, "saving") and contains(., "Offline")]`)
		regroup(shop)
		p.Offline(false)
		p.See(`//*[contains(@class, "saving") and contains(., "Not saved")]`)
		p.See(`//*[contains(@class, "trouble") and contains(., "not change it")]`)
		p.holds(field("a"), "typed without the right")
		regroup(blog)
		w.stored(id, `{"a":"typed without the right"}`)
		version++
	})
	t.Run("404, gone while open", func(t *testing.T) {
		by := reader
		by.Reads = nil
		p := w.signIn(by, "/apps/"+id)
		p.saved(version)
		p.Offline(true)
		p.Retype(field("a"), "typed into nothing")
		p.See(`//*[contains(@class, "saving") and contains(., "Offline")]`)
		regroup(shop)
		p.Offline(false)
		p.See(`//*[contains(@class, "saving") and contains(., "Gone")]`)
		p.Type(field("a"), ", and on")
		p.Click(`//button[@role="tab"][.="JSON"]`)
		p.Until(`() => document.querySelector("textarea.whole").value.includes("typed into nothing, and on")`)
		regroup(blog)
		p.Click(named("Try again"))
		w.stored(id, `{"a":"typed into nothing, and on"}`)
		version++
	})
	t.Run("413 and 422", func(t *testing.T) {
		p := w.signIn(ann, "/apps/"+id)
		p.saved(version)
		const typed = `(n) => {
			const input = document.querySelector(".card input");
			input.value = "x".repeat(n);
			input.dispatchEvent(new Event("input"));
		}`
		p.Run(new(any), "async "+typed, 1<<20)
		p.See(`//*[contains(@class, "trouble") and contains(., "This is more than the service takes")]`)
		p.Until(`() => document.querySelector(".card input").value.length === 1 << 20`)
		p.Run(new(any), "async "+typed, 3)
		w.stored(id, `{"a":"xxx"}`)
		p.Type(field("n"), "99"+keyTab)
		p.See(`//*[contains(@class, "field") and contains(@class, "bad")][.//label[contains(., "n")]]`)
		p.holds(field("n"), "99")
		p.Retype(field("n"), "9")
		w.stored(id, `{"a":"xxx","n":9}`)
	})
}

// holds waits until a control has this value.
func (p *person) holds(control, value string) {
	p.T.Helper()
	p.Until(`(path, value) => document.evaluate(path, document, null, 9, null).singleNodeValue?.value === value`,
		control, value)
}
