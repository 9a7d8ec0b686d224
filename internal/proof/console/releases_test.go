//go:build proof

package console

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// reads reads the answer of an address into v.
func (w *world) reads(path string, v any) {
	w.t.Helper()
	if err := json.Unmarshal(w.request(ann, "GET", path, ""), v); err != nil {
		w.t.Fatal(err)
	}
}

// release is the address of the release that a page shows.
func (p *person) release() (address string) {
	p.T.Helper()
	p.See(`//nav[@aria-label="Where you are"]/a[.="Releases"]`)
	p.See(`//*[contains(@class, "chip") and (.="open" or .="scheduled" or .="done")]`)
	p.Run(&address, `async () => location.hash.slice(1)`)
	return address
}

// One person makes a release of two apps, a second looks at what it changes and approves it, and a third has it run at a time, sees it done,
// and undoes it.
func TestAReleaseByThreePeople(t *testing.T) {
	w := newWorld(t, "-approve", "production=1")
	w.component("poll", "1.0.0", `{"type":"object","properties":{"question":{"type":"string"}}}`)
	moderator := func(name string) httpapi.Principal {
		return httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=" + name, Moderates: []string{network}}}
	}
	second, third := moderator("second"), moderator("third")
	var ids []string
	for _, title := range []string{"Winter", "Summer"} {
		id := w.newApp(title, poll(`{"question":"Tea?"}`))
		ids = append(ids, id)
		w.request(ann, "POST", "/x/releases", fmt.Sprintf(`{"name":"first of %s","moves":[{"app":%q,"tag":"production","to":"0"}]}`, title, id))
		var list struct{ Releases []struct{ ID string } }
		w.reads("/x/releases?state=open", &list)
		w.request(second, "POST", "/x/releases/"+list.Releases[0].ID+"/approve", `{"version":"0"}`)
		w.request(third, "POST", "/x/releases/"+list.Releases[0].ID+"/run", `{"version":"1"}`)
		w.request(ann, "PATCH", "/apps/"+id, `[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/elements/0/config/question","value":"Cocoa?"}]`)
	}
	points := func(want string) {
		t.Helper()
		for _, id := range ids {
			var tags struct{ Tags []struct{ AppVersion string } }
			if w.reads("/apps/"+id+"/tags/production", &tags); tags.Tags[0].AppVersion != want {
				t.Errorf("production of %s points to %s, want %s", id, tags.Tags[0].AppVersion, want)
			}
		}
	}
	p := w.signIn(ann, "/apps/"+ids[0])
	p.See(`//*[contains(@class, "publish") and contains(., "1 change is not live")]` + named("Propose"))
	p.view("/releases")
	p.Click(named("New release"))
	p.See(`//dialog//p[contains(., "2 apps with changes that are not live")]`)
	p.Click(`//dialog` + named("Choose apps"))
	p.Type(field("Name"), "Cocoa for all")
	p.Click(`//dialog` + named("Make the release"))
	p.See(`//h1[.="Cocoa for all"]`)
	p.See(`//*[contains(., "1 approval of somebody else is needed")]`)
	address := p.release()
	var approves bool
	if p.Run(&approves, `async () => [...document.querySelectorAll("main button")].some((x) => x.textContent === "Approve" || x.textContent === "Run now")`); approves {
		t.Error("who made the release is offered to approve it, or to run it")
	}

	q := w.signIn(second, address)
	q.Click(`//article[contains(@aria-label, "Winter")]//summary[.="What changes"]`)
	q.See(`//article[contains(@aria-label, "Winter")]//ins[.="Cocoa"]`)
	q.Click(`//article[contains(@aria-label, "Winter")]` + named("Show it as it will be"))
	q.See(`//dialog//section[@aria-label="Preview"]`)
	q.Click(`//dialog` + named("Close"))
	q.Click(named("Approve"))
	q.See(`//*[contains(., "Approved by")]`)
	points("0")

	p.See(named("Run now")) // live
	r := w.signIn(third, address)
	r.Click(named("Schedule"))
	r.See(`//dialog//input[@type="datetime-local"]`)
	r.Run(new(any), `async () => {
		const input = document.querySelector("dialog input");
		const at = new Date(Date.now() + 3000);
		input.step = "any";
		input.min = "";
		input.value = new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().slice(0, 23);
	}`)
	r.Click(`//dialog` + named("Schedule"))
	r.See(`//*[contains(@class, "chip") and .="scheduled"]`)
	r.See(`//*[contains(@class, "chip") and .="done"]`)
	points("1")
	p.See(`//*[contains(@class, "chip") and .="done"]`)
	r.Click(named("Undo"))
	r.Click(`//dialog` + named("Undo"))
	r.See(`//*[contains(@class, "chip") and .="undone"]`)
	points("0")
	r.view("/releases")
	r.See(`//tr[contains(., "Cocoa for all") and contains(., "undone")]`)
}

// What went wrong is told in words, and with what to do.
func TestAReleaseThatCouldNotRun(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("Winter")
	w.request(ann, "PATCH", "/apps/"+id, `[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/title","value":"Spring"}]`)
	w.request(ann, "PUT", "/apps/"+id+"/tags/live", `{"appVersion":"0"}`)
	p := w.signIn(ann, "/apps/"+id+"/deployments")
	p.Click(named("Into a release"))
	p.Type(field("Name"), "Spring")
	p.Click(`//dialog` + named("Make the release"))
	p.See(`//h1[.="Spring"]`)
	p.release()
	w.request(bob, "PUT", "/apps/"+id+"/tags/live", `{"appVersion":"1"}`)
	p.Click(named("Run now"))
	p.Click(`//dialog` + named("Run now"))
	p.See(`//*[@role="alert"]//li[contains(., "Spring, live: the tag points to version 1 now")]`)
	p.See(`//*[contains(@class, "chip") and .="could not run"]`)
	p.Click(named("Edit"))
	p.Click(`//dialog//label[contains(., "from where the tags point now")]`)
	p.Click(`//dialog` + named("Save"))
	p.See(`//*[contains(@class, "chip") and .="open"]`)
	p.Click(named("Cancel the release"))
	p.Click(`//dialog` + named("Cancel the release"))
	p.See(`//*[contains(@class, "chip") and .="cancelled"]`)
}

// A new version of a component comes to all apps that use it, and then into a release.
func TestUpgradeOfApps(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", `{"type":"object"}`)
	w.component("poll", "2.0.0", `{"type":"object","required":["size"]}`)
	id := w.newApp("Winter", poll(`{"n":1}`))
	w.request(ann, "PUT", "/apps/"+id+"/tags/live", `{"appVersion":"0"}`)
	p := w.signIn(ann, "/components/poll")
	p.Click(named("Bring all apps to this version"))
	p.See(`//dialog//details[contains(., "Winter") and contains(., "does not fit")]`)
	p.Click(`//dialog//summary[.="Change the configs too"]`)
	p.Type(`//dialog//textarea`, `[{"op":"add","path":"/size","value":3}]`)
	p.Click(`//dialog` + named("Show what changes"))
	p.See(`//dialog//p[contains(., "1 app would get version 2.0.0")]`)
	p.Click(`//dialog//summary[contains(., "Winter")]`)
	p.See(`//dialog//li[contains(., "config › size: 3")]`)
	p.Click(`//dialog` + named("Change these apps"))
	p.See(`//dialog//p[contains(., "1 app has version 2.0.0")]`)
	if app := string(w.request(ann, "GET", "/apps/"+id, "")); !strings.Contains(app, `"size":3`) {
		t.Errorf("the app is %s", app)
	}
	p.Click(named("Release them"))
	p.Click(`//dialog` + named("Make the release"))
	p.See(`//h1[.="poll 2.0.0"]`)
	p.Click(named("Run now"))
	p.Click(`//dialog` + named("Run now"))
	p.See(`//*[contains(@class, "chip") and .="done"]`)
}

// What is not live is told in the designer, and published with one button.
func TestPublish(t *testing.T) {
	w := newWorld(t)
	w.request(ann, "POST", "/components", `{"name":"text","version":"1.0.0","main":"https://cdn.example.test/text.js","configSchema":{}}`)
	fresh := w.newApp("New", element("text", `{}`))
	first := w.signIn(ann, "/apps/"+fresh)
	first.See(`//*[contains(@class, "publish") and contains(., "It is not live yet")]`)
	first.Click(named("Publish"))
	first.Click(`//dialog` + named("Publish"))
	first.Until(`() => !document.querySelector(".publish").checkVisibility()`)
	first.view("/apps/" + fresh + "/deployments")
	first.Click(`//article[@aria-label="production"]` + named("Use it"))
	first.See(`//dialog//pre[contains(., 'key="MAKE_A_KEY_FIRST" live></vitrine-app>')]`)
	first.Run(new(any), `() => history.back()`)
	first.Until(`() => document.querySelector(".publish") && !document.querySelector("dialog")`)
	id := w.newApp("Winter")
	w.request(ann, "PUT", "/apps/"+id+"/tags/live", `{"appVersion":"0"}`)
	for v, title := range []string{"Spring", "Summer"} {
		w.request(ann, "PATCH", "/apps/"+id, fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace","path":"/apps/0/title","value":%q}]`, v, title))
	}
	p := w.signIn(ann, "/apps/"+id)
	p.See(`//*[contains(@class, "publish") and contains(., "2 changes are not live")]`)
	p.Click(named("Publish"))
	p.See(`//dialog//ins[.="Summer"]`)
	p.Type(`//dialog//label[.="Note for the history"]/following-sibling::input`, "for June")
	p.Click(`//dialog` + named("Publish"))
	p.Until(`() => !document.querySelector(".publish").checkVisibility()`)
	p.view("/apps/" + id + "/deployments")
	p.Click(`//article[@aria-label="live"]` + named("History"))
	p.See(`//dialog//td[starts-with(., "version 2")]/q[.="for June"]`)
	p.Run(new(any), `() => history.back()`)
	p.Until(`() => document.querySelector(".publish") && !document.querySelector("dialog")`)
	w.request(ann, "PUT", "/apps/"+id+"/tags/live", `{"rollback":true,"from":"2"}`)
	p.See(`//*[contains(@class, "publish") and contains(., "2 changes are not live")]`)
}
