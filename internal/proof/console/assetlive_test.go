//go:build proof

package console

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// add adds assets and returns their ids.
func (w *world) add(assets ...string) []string {
	w.t.Helper()
	var made struct{ Added []struct{ ID string } }
	if err := json.Unmarshal(w.request(bob, "POST", library+"/assets", `{"add":[`+strings.Join(assets, ",")+`]}`),
		&made); err != nil {
		w.t.Fatal(err)
	}
	var ids []string
	for _, a := range made.Added {
		ids = append(ids, a.ID)
	}
	return ids
}

// What others do in a library appears without a reload, and the list stays where it is.
func TestLiveAssets(t *testing.T) {
	w := newWorld(t)
	winter := w.newFolder("Winter", "/")
	var all []string
	for i := range 60 {
		all = append(all, newAsset(i, fmt.Sprint("Snow ", i), winter, "snow"))
	}
	ids := w.add(all...)
	p := w.signIn(ann, "/assets")
	card := func(text string) string {
		return fmt.Sprintf(`//ul[@aria-label="Assets"]/li[.//p[.=%q]]`, text)
	}
	found := func(n int) string { return fmt.Sprintf(`//*[@role="status" and .="%d assets"]`, n) }
	remove := func(id string) {
		t.Helper()
		w.request(bob, "POST", library+"/assets", fmt.Sprintf(`{"remove":[%q]}`, id))
	}
	label := func(id, value string) {
		t.Helper()
		w.request(bob, "POST", library+"/attributes",
			fmt.Sprintf(`{"assets":[%q],"set":[{"key":"state","value":%q}]}`, id, value))
	}
	p.See(found(60))
	t.Run("added", func(t *testing.T) {
		w.add(newAsset(100, "Hail", "", "hail"), newAsset(101, "Sleet", winter, "hail"))
		p.See(`//p[contains(@class, "news") and contains(., "2 new")]`)
		p.See(found(62))
		p.See(`//aside//button[contains(@class, "facet") and contains(., "hail")]//span[.="2"]`)
		p.See(`//ul[@aria-label="Assets"]/li[1]//p[.="Snow 59"]`)
		p.Click(`//p[contains(@class, "news")]` + named("Show"))
		p.See(`//ul[@aria-label="Assets"]/li[1]//p[.="Sleet"]`)
		p.Until(`() => document.querySelector(".news").hidden`)
	})
	t.Run("changed", func(t *testing.T) {
		p.Click(card("Snow 50") + `//input`)
		label(ids[50], "draft")
		p.See(card("Snow 50") + `//span[.="state: draft"]`)
		p.See(`//aside//details[.//summary[contains(., "state")]]//button[contains(., "draft")]`)
		p.Until(`() => document.activeElement.closest("li")?.innerText.includes("Snow 50") && ` +
			`document.activeElement.checked`)
	})
	t.Run("removed, and selected", func(t *testing.T) {
		p.Click(card("Snow 49") + `//input`)
		p.See(`//*[@role="toolbar" and contains(., "2 selected")]`)
		remove(ids[49])
		p.See(`//*[contains(@class, "toast") and contains(., "No longer selected: 1 asset, removed by bob.")]`)
		p.See(`//*[@role="toolbar" and contains(., "1 selected")]`)
		p.See(card("Snow 49") + `//span[.="removed by bob"]`)
		p.See(found(61))
	})
	t.Run("many at once", func(t *testing.T) {
		cards := `(n, text) => [...document.querySelectorAll(".asset")].filter((x) => ` +
			`x.innerText.includes(text)).length === n`
		p.Run(new(any), `async () => scrollTo(0, 0)`)
		p.Click(folder("Winter"))
		p.See(found(60))
		p.Run(new(any), `async () => scrollTo(0, document.body.scrollHeight)`)
		p.Until(cards, 60, "")
		quoted, _ := json.Marshal(ids[:48])
		p.Run(new(any), `async () => performance.clearResourceTimings()`)
		w.request(bob, "POST", library+"/attributes",
			fmt.Sprintf(`{"assets":%s,"set":[{"key":"state","value":"many"}]}`, quoted))
		p.Until(cards, 48, "state: many")
		var requests []string
		p.Run(&requests,
			`async () => performance.getEntriesByType("resource").map((x) => x.name).filter((x) => `+
				`x.includes("/asset/") || x.includes("/assets?"))`)
		if len(requests) > 8 {
			t.Errorf("48 changes make %d requests: %q", len(requests), requests)
		}
		p.Click(card("Snow 10") + `//input`)
		quoted, _ = json.Marshal(ids[:40])
		w.request(bob, "POST", library+"/folder/"+w.newFolder("Away", "/")+"/assets",
			fmt.Sprintf(`{"assign":%s}`, quoted))
		p.Until(cards, 40, "Away")
		w.request(bob, "POST", library+"/folder/"+winter+"/assets", fmt.Sprintf(`{"remove":%s}`, quoted))
		p.See(toast("No longer selected: 1 asset, not found any more."))
		p.Until(cards, 40, "not found any more")
		p.Until(`() => document.querySelectorAll(".asset input:disabled").length === 40`)
		w.request(bob, "POST", library+"/folder/"+winter+"/assets", fmt.Sprintf(`{"assign":%s}`, quoted))
		p.Until(cards, 0, "not found any more")
		p.Run(new(any), `async () => scrollTo(0, 0)`)
		p.Click(folder("Winter"))
		p.See(found(61))
	})
	t.Run("the details of one that others change", func(t *testing.T) {
		p.Click(card("Snow 48") + `//button[contains(@class, "open")]`)
		label(ids[48], "final")
		p.See(`//dialog//dd[.="final"]`)
		p.See(`//dialog//*[@role="status" and contains(., "changed just now")]`)
		remove(ids[48])
		p.See(`//dialog//*[@role="status" and contains(., "bob has removed this asset")]`)
		p.Click(`//dialog` + named("Close"))
	})
	t.Run("folders", func(t *testing.T) {
		spring := w.newFolder("Spring", "/")
		p.Run(new(any), `async () => scrollTo(0, 0)`)
		p.Click(folder("Spring"))
		p.See(found(0))
		w.request(bob, "POST", library+"/folder/"+spring+"/assets", fmt.Sprintf(`{"assign":[%q]}`, ids[1]))
		p.Click(`//p[contains(@class, "news")]` + named("Show"))
		p.See(card("Snow 1"))
		w.request(bob, "POST", library+"/folders", fmt.Sprintf(`{"delete":[%q]}`, spring))
		p.See(`//*[@role="status" and contains(., "The folder Spring is not there any more.")]`)
		p.Click(named("Search in all folders"))
		p.See(found(60))
		p.Until(`() => !document.querySelector("aside").innerText.includes("Spring")`)
	})
	t.Run("a lost connection", func(t *testing.T) {
		p.Offline(true)
		w.add(newAsset(300, "Thaw", "", "thaw"))
		p.Offline(false)
		p.Click(`//p[contains(@class, "news")]` + named("Show"))
		p.See(card("Thaw"))
	})
	t.Run("two people at once", func(t *testing.T) {
		q := w.signIn(bob, "/assets/example.test/example.test/add")
		q.Type(field("Text"), "Fog")
		q.Click(named("Add this asset"))
		p.Click(`//p[contains(@class, "news")]` + named("Show"))
		p.Click(card("Fog") + `//input`)
		p.Click(`//*[@role="toolbar"]` + named("Remove"))
		q.Click(`//a[.="See it among the assets"]`)
		q.See(card("Fog"))
		p.Click(`//dialog` + named("Remove"))
		q.See(card("Fog") + `//span[.="removed by ann"]`)
	})
	t.Run("tabs share one stream", func(t *testing.T) {
		p.Run(new(any), `async () => {
			window.other = window.open(location.href);
			for (const end = Date.now() + 30000; ;) {
				const { held, pending } = await navigator.locks.query();
				const of = (list) =>
					list.filter((x) => x.name.startsWith("vitrine ") && x.name.includes("assetLibrary")).length;
				if (of(held) === 1 && of(pending) === 1 && other.document.querySelectorAll(".asset").length > 0) return;
				if (Date.now() > end) throw new Error(JSON.stringify({ held, pending }));
				await new Promise((r) => setTimeout(r, 20));
			}
		}`)
		w.add(newAsset(200, "Frost", "", "frost"))
		for _, tab := range []string{"window", "window.other"} {
			p.Until(`() => ` + tab + `.document.querySelector(".news").textContent.includes("1 new")`)
		}
		p.Run(new(any), `async () => void window.other.close()`)
	})
	t.Run("who may not follow sees the list", func(t *testing.T) {
		q := w.signIn(cleo, "/assets")
		q.Until(`() => [...document.querySelectorAll("main [role=status]")].some((x) => /^\d+ ` +
			`assets$/.test(x.textContent))`)
		q.Run(new(any), `async () => {
			const followed = performance.getEntriesByType("resource")
				.filter((x) => x.name.includes("assetLibrary") && x.name.includes("/changes"));
			if (followed.length > 0 || document.querySelector(".toast, .note.bad:not([hidden])"))
				throw new Error(document.body.innerText);
		}`)
	})
}
