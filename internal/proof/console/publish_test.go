//go:build proof

package console

import (
	"fmt"
	"testing"
)

// What is not live is told in the designer, and published with one button.
func TestPublish(t *testing.T) {
	w := newWorld(t)
	w.request(ann, "POST", "/components",
		`{"name":"text","version":"1.0.0","main":"https://cdn.example.test/text.js","configSchema":{}}`)
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
		w.request(ann, "PATCH", "/apps/"+id,
			fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace",`+
				`"path":"/apps/0/title","value":%q}]`, v, title))
	}
	p := w.signIn(ann, "/apps/"+id)
	p.See(`//*[contains(@class, "publish") and contains(., "1 change is not live")]`)
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
	p.See(`//*[contains(@class, "publish") and contains(., "1 change is not live")]`)
	p.Click(named("Publish"))
	p.Click(`//dialog` + named("Publish"))
	p.Click(`//*[contains(@class, "toast")]` + named("Undo"))
	p.See(`//*[contains(@class, "publish") and contains(., "1 change is not live")]`)
	w.points(id, "live", "0")
}

// points waits until a tag of an app points to a version.
func (w *world) points(id, tag, version string) {
	w.t.Helper()
	var tags struct{ Tags []struct{ AppVersion string } }
	if w.reads("/apps/"+id+"/tags/"+tag, &tags); tags.Tags[0].AppVersion != version {
		w.t.Errorf("%s points to version %s, want %s", tag, tags.Tags[0].AppVersion, version)
	}
}

// Where the rule of a tag asks for approvals, an app that has no tag yet is proposed and not published.
func TestAFirstPublicationIsProposed(t *testing.T) {
	w := newWorld(t, "-approve", "production=1")
	w.component("poll", "1.0.0", questionSchema)
	p := w.signIn(ann, "/apps/"+w.newApp("New", poll(`{"question":"Tea?"}`)))
	p.See(`//*[contains(@class, "publish") and contains(., "It is not live yet")]` + named("Propose"))
	p.Click(named("Propose"))
	p.See(`//dialog//h2[.="New release"]`)
	p.See(`//dialog//label[contains(., "production") and contains(., "no version → version 0")]/input`)
	p.Click(`//dialog` + named("Make the release"))
	p.See(`//h1[.="New"]`)
	p.See(`//*[contains(@class, "note") and contains(., "1 approval of somebody else is needed")]`)
}

// An app that has other tags than production is published to these.
func TestPublishToOtherTags(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("Winter")
	for _, tag := range []string{"kiosk", "lobby"} {
		w.request(ann, "PUT", "/apps/"+id+"/tags/"+tag, `{"appVersion":"0"}`)
	}
	w.request(ann, "PATCH", "/apps/"+id,
		`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/title","value":"Spring"}]`)
	p := w.signIn(ann, "/apps/"+id)
	p.See(`//*[contains(@class, "publish") and contains(., "1 change is not live")]`)
	p.Click(named("Publish"))
	p.See(`//dialog//label[contains(., "kiosk")]`)
	p.Click(`(//dialog//summary[.="What changes"])[2]`)
	p.See(`//dialog//ins[.="Spring"]`)
	p.Click(`//dialog//label[contains(., "kiosk")]`)
	p.Click(`//dialog` + named("Publish"))
	p.Until(`() => !document.querySelector("dialog")`)
	w.points(id, "kiosk", "0")
	w.points(id, "lobby", "1")
	p.Click(named("Publish")) // which is left to do for the other one
	p.See(`//dialog//p[contains(., "Those who see kiosk will see this")]`)
	p.Click(`//dialog` + named("Publish"))
	p.Until(`() => !document.querySelector(".publish").checkVisibility()`)
	w.points(id, "kiosk", "1")
}

// Publishing names what is in no version, and why, and goes on without it only if the person says so.
func TestPublishingNamesWhatIsNotSaved(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", questionSchema)
	id := w.newApp("Winter", poll(`{"question":"Tea?"}`))
	w.request(ann, "PUT", "/apps/"+id+"/tags/live", `{"appVersion":"0"}`)
	p := w.signIn(ann, "/apps/"+id)
	p.saved(0)
	p.Retype(field("question"), "Cocoa?")
	p.saved(1)
	p.Click(named("Add an element"))
	p.Type(`//dialog//input[@type="search"]`, "poll"+keyEnter)
	p.kept(1)
	const left = `//dialog[.//h2[.="Not everything is saved"]]//li`
	p.Click(named("Publish"))
	p.See(left + `[contains(., "Element 2, poll 2: something in it is missing or not accepted yet")]`)
	p.Click(`//dialog` + named("Cancel"))
	p.Until(`() => !document.querySelector("dialog")`)
	w.points(id, "live", "0")
	p.Run(new(any), `() => void (window.fetch = () => Promise.reject(new TypeError("offline")))`)
	p.Retype(`(`+field("question")+`)[1]`, "Milk?")
	p.Click(named("Publish"))
	p.See(left + `[.="Element 1, poll 1"]`)
	p.See(left + `[contains(., "Element 2, poll 2: something in it is missing or not accepted yet")]`)
	p.again("/apps/" + id)
	p.Click(named("Publish"))
	p.See(left + `[contains(., "Element 2")]`)
	p.Click(`//dialog//button[starts-with(normalize-space(), "Go on with version")]`)
	p.See(`//dialog//ins[.="Milk" or .="Cocoa" or .="Milk?" or .="Cocoa?"]`)
	p.Click(`//dialog` + named("Publish"))
	p.Until(`() => !document.querySelector(".publish").checkVisibility()`)
}

// The designer counts the changes that its dialog lists, however many versions they took. There is nothing to publish
// where versions differ in nothing.
func TestChangesAreCounted(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", pollSchema)
	id := w.newApp("Winter", poll(`{"question":"Tea?","limit":3}`), poll(`{"question":"Milk?"}`),
		poll(`{"question":"Jam?"}`))
	w.request(ann, "PUT", "/apps/"+id+"/tags/live", `{"appVersion":"0"}`)
	const config = "/apps/0/elements/%d/config"
	for v, patch := range []string{
		`{"op":"replace","path":"/apps/0/title","value":"Spring"}`,
		`{"op":"replace","path":"/apps/0/title","value":"Summer"}`,
		`{"op":"replace","path":"` + fmt.Sprintf(config, 0) + `/question","value":"Cocoa?"},{"op":"remove","path":"` +
			fmt.Sprintf(config, 0) + `/limit"}`,
		`{"op":"move","from":"/apps/0/elements/0","path":"/apps/0/elements/2"}`,
		`{"op":"remove","path":"/apps/0/elements/0"}`,
	} {
		w.request(ann, "PATCH", "/apps/"+id,
			fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},%s]`, v, patch))
	}
	p := w.signIn(ann, "/apps/"+id)
	p.See(`//*[contains(@class, "publish") and contains(., "5 changes are not live")]`)
	p.Click(named("Publish"))
	p.See(`//dialog//summary[.="5 changes"]`)
	p.Until(`() => document.querySelectorAll("dialog .difference .change").length === 5`)
	axe := axeCore(t)
	p.looked("publish", axe)
	p.Run(new(any), `() => document.querySelector("dialog").close()`)
	p.Retype(`(`+field("Question")+`)[1]`, "Jam!")
	p.saved(6)
	p.See(`//*[contains(@class, "publish") and contains(., "6 changes are not live")]`)
	w.request(ann, "POST", "/apps/versions/restore", fmt.Sprintf(`{"appId":%q,"appVersion":"0"}`, id))
	p.Click(named("Show it here"))
	p.saved(7)
	p.Until(`() => !document.querySelector(".publish").checkVisibility()`)
	w.request(ann, "PUT", "/apps/"+id+"/tags/kiosk", `{"appVersion":"3"}`)
	w.request(ann, "DELETE", "/apps/"+id+"/tags/live", "")
	p.See(`//*[contains(@class, "publish") and contains(., "3 changes are not live")]`)
	w.request(ann, "PUT", "/apps/"+id+"/tags/lobby", `{"appVersion":"1"}`)
	p.See(`//*[contains(@class, "publish") and contains(., "1 to 3 changes are not live")]`)
}

// looked looks at what is shown with axe-core, in light and dark and at two widths, and makes pictures of it.
func (p *person) looked(name, axe string) {
	p.T.Helper()
	for _, width := range []int{360, 1280} {
		for _, scheme := range []string{"dark", "light"} {
			p.Resize(width, 900)
			p.Scheme(scheme)
			p.look(axe)
			p.picture(fmt.Sprintf("%s-%d-%s", name, width, scheme))
		}
	}
}
