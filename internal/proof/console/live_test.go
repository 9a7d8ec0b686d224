//go:build proof

package console

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// What others do appears without a reload.
func TestLive(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", `{"type":"object","properties":{"a":{"type":"string"}}}`)
	id := w.newApp("Winter", poll(`{"a":"1"}`))
	patch := func(version, operation string) {
		t.Helper()
		w.request(bob, "PATCH", "/apps/"+id,
			`[{"op":"test","path":"/apps/0/version","value":"`+version+`"},`+operation+`]`)
	}
	p := w.signIn(ann, "/apps")
	t.Run("the list of apps", func(t *testing.T) {
		p.See(`//table//a[.="Winter"]`)
		w.newApp("Spring")
		p.See(`//table//a[.="Spring"]`)
		patch("0", `{"op":"replace","path":"/apps/0/title","value":"Autumn"}`)
		p.See(`//table//tr[1]//a[.="Autumn"]`)
		w.request(bob, "PUT", "/apps/"+id+"/tags/production", `{"appVersion":"1"}`)
		p.See(`//table//tr[1]//span[.="production"]`)
		w.request(bob, "DELETE", "/apps/"+id+"/tags/production", "")
		p.Until(`() => !document.body.innerText.includes("production")`)
	})
	t.Run("an open designer", func(t *testing.T) {
		p.view("/apps/" + id)
		p.saved(1)
		patch("1", `{"op":"replace","path":"/apps/0/elements/0/config/a","value":"2"}`)
		p.See(`//*[contains(@class, "news") and contains(., "Version 2 by bob is shown now")]`)
		p.Until(`(path) => document.evaluate(path, document, null, 9, null).singleNodeValue.value === "2"`, field("a"))
		p.saved(2)
		p.Retype(field("a"), "3")
		w.stored(id, `{"a":"3"}`)
		p.saved(3)
		p.Until(`() => document.querySelector(".news").hidden`)
	})
	t.Run("history and deployments", func(t *testing.T) {
		p.view("/apps/" + id + "/history")
		p.See(`//div[contains(@class, "line") and contains(., "created the app")]`)
		patch("3", `{"op":"replace","path":"/apps/0/title","value":"Live"}`)
		p.See(`//div[contains(@class, "line")][./span[.="4"]]`)
		p.view("/apps/" + id + "/deployments")
		p.See(`//*[contains(., "No tags yet")]`)
		w.request(bob, "PUT", "/apps/"+id+"/tags/staging", `{"appVersion":"2"}`)
		p.See(`//article[@aria-label="staging"]//a[.="Version 2"]`)
	})
	t.Run("components", func(t *testing.T) {
		p.view("/components")
		p.See(`//a[.="poll"]`)
		w.component("map", "1.0.0", `{}`)
		p.Click(`//a[.="map"]`)
		p.view("/components/poll")
		p.See(`//h1[.="poll"]`)
		w.component("poll", "1.1.0", `{}`)
		p.See(`//button[.="1.1.0"]`)
	})
	t.Run("a component", func(t *testing.T) {
		w.component("poll", "2.0.0", `{"type":"object","properties":{"two":{}}}`)
		p.See(`//button[@aria-pressed="false" and .="2.0.0"]`)
		// A new version begins as the last one, not as the one that is shown.
		p.Click(named("New version"))
		p.holds(`//dialog`+field("Version"), "2.1.0")
		p.Click(`//dialog` + named("Close"))
		w.request(ann, "DELETE", "/components/poll", "")
		p.See(`//*[contains(@class, "empty") and contains(., "poll")]//a[.="All components"]`)
	})
	t.Run("tabs share one stream", func(t *testing.T) {
		p.Run(new(any), `async () => {
			const state = await navigator.locks.query();
			if (state.held.filter((x) => x.name.startsWith("vitrine ")).length !== 1)
				throw new Error(JSON.stringify(state));
		}`)
	})
}

// What others save appears above what is loaded of a history. The pages that were loaded stay, and so do the place of
// the scroll, the focus and the lines that are unfolded.
func TestLiveHistory(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", `{}`)
	id := w.newApp("Winter", poll(`{"n":0}`))
	version := 0
	save := func(by httpapi.Principal) {
		t.Helper()
		w.request(by, "PATCH", "/apps/"+id,
			fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace",`+
				`"path":"/apps/0/elements/0/config/n","value":%d}]`, version, version+1))
		version++
	}
	// Two saves of each fold into one line.
	for i := range 130 {
		save([]httpapi.Principal{ann, bob}[i/2%2])
	}
	p := w.signIn(cleo, "/apps/"+id+"/history")
	p.See(`//*[@role="status" and .="50 loaded versions"]`)
	p.Click(named("Show more"))
	p.See(`//*[@role="status" and .="100 loaded versions"]`)
	const folded = `//div[contains(@class, "fold")][.//button[@aria-expanded and contains(., "61–62")]]`
	p.Click(folded + `//button[@aria-expanded]`)
	p.See(folded + `//div[./span[.="62"]]`)
	var top float64
	const place = `async () => document.activeElement.getBoundingClientRect().top`
	p.Run(&top, `async () => {
		const button = [...document.querySelectorAll(".tools button")]
			.find((x) => x.ariaLabel === "Changes of version 62");
		button.focus();
		button.scrollIntoView({ block: "center" });
		return button.getBoundingClientRect().top;
	}`)
	save(bob)
	w.request(bob, "PUT", "/apps/"+id+"/tags/production", `{"appVersion":"131"}`)
	w.request(bob, "PUT", "/apps/"+id+"/tags/staging", `{"appVersion":"90"}`)
	for range 60 { // more than a page
		save(ann)
	}
	p.See(`//*[@role="status" and .="161 loaded versions"]`)
	p.See(`//div[contains(@class, "line") and ./span[.="131"]]//span[contains(@class, "tag") and .="production"]`)
	p.See(`//div[contains(@class, "line") and ./span[.="90"]]//span[contains(@class, "tag") and .="staging"]`)
	p.See(folded + `//button[@aria-expanded="true"]`)
	var after float64
	p.Run(&after, place)
	if math.Abs(after-top) >= 1 {
		t.Errorf("the button with the focus is at %v, and was at %v", after, top)
	}
	p.Run(new(any),
		`async () => { if (document.activeElement.ariaLabel !== "Changes of version 62") throw new `+
			`Error(document.activeElement.outerHTML); }`)
}

// The answers to an older refresh of a history may come after those to a newer one. Tags stay where the newer one found
// them.
func TestRefreshesThatOverlap(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", `{}`)
	id := w.newApp("Winter", poll(`{"n":0}`))
	w.request(bob, "PATCH", "/apps/"+id,
		`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/elements/0/config/n",`+
			`"value":1}]`)
	p := w.signIn(cleo, "/apps/"+id+"/history")
	p.See(`//div[contains(@class, "line")]/span[.="1"]`)
	p.Run(new(any), `async () => {
		const real = fetch;
		window.histories = 0;
		// The tag is never shown at version 0, since the answer that has it there is held back until it is out of date.
		const old = () => [...document.querySelectorAll(".line")]
			.find((x) => x.querySelector(".number").textContent === "0");
		new MutationObserver(() => { window.wrong ||= old()?.textContent.includes("production"); })
			.observe(document.body, { childList: true, subtree: true });
		window.fetch = async (...request) => {
			const answer = await real(...request);
			const path = new URL(request[0].url ?? request[0], location).pathname;
			if (path.endsWith("/tags") && !window.release)
				await new Promise((resolve) => { window.release = resolve; });
			if (path.endsWith("/history")) window.histories++;
			return answer;
		};
	}`)
	const tagAt = `//div[contains(@class, "line") and ./span[.="%d"]]//span[contains(@class, "tag") and .="production"]`
	w.request(bob, "PUT", "/apps/"+id+"/tags/production", `{"appVersion":"0"}`)
	const until = `async () => { while (!(%s)) await new Promise((resolve) => setTimeout(resolve, 10)); }`
	p.Run(new(any), fmt.Sprintf(until, "window.release"))
	w.request(bob, "PUT", "/apps/"+id+"/tags/production", `{"appVersion":"1"}`)
	p.See(fmt.Sprintf(tagAt, 1))
	p.Run(new(any), `async () => window.release()`)
	p.Run(new(any), fmt.Sprintf(until, "window.histories === 2"))
	w.request(bob, "PUT", "/apps/"+id+"/tags/staging", `{"appVersion":"0"}`)
	p.See(`//span[contains(@class, "tag") and .="staging"]`) // by now the older answer would have been shown
	p.Run(new(any), `async () => { if (window.wrong) throw new Error("the tag was shown where it was before"); }`)
}

// A connection that is lost comes back, and what happened meanwhile is shown, also if the server has another store
// then.
func TestLostConnection(t *testing.T) {
	s := newServed(t)
	s.component("poll", "1.0.0", `{}`)
	id := s.newApp("Winter", poll(`{"n":0}`))
	p := s.signIn(bob, "/apps")
	for i := range 3 {
		s.CloseClientConnections()
		title := fmt.Sprint("Winter ", i)
		patch := fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace",`+
			`"path":"/apps/0/title","value":%q}]`, i, title)
		if _, err := s.apps.As(caller).Patch(context.Background(), id, strings.NewReader(patch)); err != nil {
			t.Fatal(err)
		}
		p.See(`//table//a[.="` + title + `"]`)
	}
	// The server gets another store, from which the cursors of the one before are refused.
	s.open()
	s.newApp("Summer")
	p.See(`//table//a[.="Summer"]`)
	p.Until(`() => !document.body.innerText.includes("Winter")`)
	s.newApp("Autumn")
	p.See(`//table//a[.="Autumn"]`)
}
