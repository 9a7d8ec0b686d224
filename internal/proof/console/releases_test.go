//go:build proof

package console

import (
	"encoding/json"
	"fmt"
	"path/filepath"
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

// One person makes a release of two apps, a second looks at what it changes and approves it, and a third has it run at
// a time, sees it done, and undoes it.
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
		w.request(ann, "POST", "/x/releases",
			fmt.Sprintf(`{"name":"first of %s","moves":[{"app":%q,"tag":"production","to":"0"}]}`, title, id))
		var list struct{ Releases []struct{ ID string } }
		w.reads("/x/releases?state=open", &list)
		w.request(second, "POST", "/x/releases/"+list.Releases[0].ID+"/approve", `{"version":"0"}`)
		w.request(third, "POST", "/x/releases/"+list.Releases[0].ID+"/run", `{"version":"1"}`)
		w.request(ann, "PATCH", "/apps/"+id,
			`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace",`+
				`"path":"/apps/0/elements/0/config/question","value":"Cocoa?"}]`)
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
	w.newApp("Never live")
	p.view("/releases")
	p.Click(named("New release"))
	p.See(`//dialog//p[contains(., "2 apps with changes that are not live by this tag, and 1 that does not have it ` +
		`yet.")]`)
	p.Click(`//dialog` + named("Choose apps"))
	p.Click(`//dialog//summary[.="Apps that do not have the tag yet"]`) // "All of these" is without them
	p.See(`//dialog//details//label[contains(., "Never live") and contains(., "no version → version 0")]`)
	p.Type(field("Name"), "Cocoa for all")
	p.Click(`//dialog` + named("Make the release"))
	p.See(`//dialog//*[@role="alert" and contains(., "0 are chosen")]`) // nobody releases what they did not choose
	p.Click(`//dialog//label[contains(., "All of these")]`)
	p.Click(`//dialog` + named("Make the release"))
	p.See(`//h1[.="Cocoa for all"]`)
	p.See(`//*[contains(@class, "note") and contains(., "1 approval of somebody else is needed") and contains(., ` +
		`"who moderates") and contains(., "blog") and contains(., "You have made it")]`)
	address := p.release()
	var approves bool
	if p.Run(&approves,
		`async () => [...document.querySelectorAll("main button")].some((x) => x.textContent === "Approve" || `+
			`x.textContent === "Run now")`); approves {
		t.Error("who made the release is offered to approve it, or to run it")
	}

	reader := w.signIn(cleo, address)
	reader.See(`//p[contains(., "Those who may change all of its apps can schedule, edit and run it")]`)
	reader.Until(`() => ![...document.querySelectorAll("main button")].some((x) => ` +
		`/Approve|Run|Schedule|Edit|Cancel/.test(x.textContent))`)

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

// setTime fills in a control for a time of a dialog: so many seconds from now.
func (p *person) setTime(label string, seconds int) {
	p.T.Helper()
	p.Run(new(any), fmt.Sprintf(`async () => {
		const label = [...document.querySelectorAll("dialog label")].find((x) => x.textContent === %q);
		const input = document.getElementById(label.htmlFor);
		const at = new Date(Date.now() + %d * 1000);
		input.step = "any";
		input.min = "";
		input.value = new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().slice(0, 23);
		input.dispatchEvent(new Event("change"));
	}`, label, seconds))
}

// A plan with an end: any version, or none, for each move, and what begins by then is filled in from what is scheduled
// before. It goes live and ends by itself, and the end of another one is called off.
func TestAPlanWithAnEnd(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", questionSchema)
	id := w.newApp("Winter", poll(`{"question":"Tea?"}`))
	for v := range 3 {
		w.request(ann, "PATCH", "/apps/"+id, fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":`+
			`"replace","path":"/apps/0/title","value":"Winter %d"}]`, v, v+1))
	}
	w.request(ann, "PUT", "/apps/"+id+"/tags/live", `{"appVersion":"0"}`)
	p := w.signIn(ann, "/apps/"+id+"/deployments")
	propose := func(name string, at, until int) {
		t.Helper()
		p.view("/apps/" + id + "/deployments")
		p.Click(`//article[@aria-label="live"]` + named("Into a release"))
		p.Type(field("Name"), name)
		p.Click(`//dialog//summary[.="At a time"]`)
		p.setTime("Runs at", at)
		p.setTime("Ends at", until)
	}
	propose("Campaign", 25, 60) // long enough for a busy machine
	p.Click(`//dialog//button[@aria-label="Another version of Winter 3 for live"]`)
	p.Click(`//dialog//label[contains(., "Version 1")]`)
	p.Click(`//dialog` + named("Go on"))
	p.See(`//dialog//label[contains(., "version 0 → version 1")]`)
	p.Click(`//dialog` + named("Make the release"))
	p.See(`//h1[.="Campaign"]`)
	p.See(`//p[contains(., "It ends, and its moves are undone, at")]`)
	campaign := p.release()

	// Another one begins while the first one is live.
	propose("Within", 40, 100)
	p.See(`//dialog//p[contains(., "By then it points to 1, by the release “Campaign”")]`)
	p.See(`//dialog//label[contains(., "version 1 → version 3")]`)
	p.Click(`//dialog` + named("Another version of Winter 3 for live"))
	p.Click(`//dialog//label[contains(., "Take the tag away")]`)
	p.Click(`//dialog` + named("Go on"))
	p.See(`//dialog//label[contains(., "version 1 → taken away")]`)
	p.Run(new(any), `() => document.querySelector("dialog").close()`)

	p.view(campaign)
	p.See(`//*[contains(@class, "chip") and .="done"]`)
	w.points(id, "live", "1")
	p.See(named("Call the end off"))
	p.See(`//*[contains(@class, "chip") and .="ended"]`)
	w.points(id, "live", "0")
	p.See(`//p[contains(., "It has ended at")]`)

	propose("Stays", 10, 600)
	p.Click(`//dialog` + named("Make the release"))
	p.See(`//h1[.="Stays"]`)
	p.See(`//*[contains(@class, "chip") and .="done"]`)
	p.Click(named("Call the end off"))
	p.Until(`() => ![...document.querySelectorAll("main button")].some((x) => x.textContent === "Call the end off")`)
	w.points(id, "live", "3")

	// An end in conflict says so.
	w.request(ann, "PUT", "/apps/"+id+"/tags/live", `{"appVersion":"0"}`)
	propose("Clash", 10, 30)
	p.Click(`//dialog` + named("Make the release"))
	p.See(`//h1[.="Clash"]`)
	p.See(`//*[contains(@class, "chip") and .="done"]`)
	w.request(ann, "PUT", "/apps/"+id+"/tags/live", `{"appVersion":"2"}`)
	p.See(`//*[contains(@class, "chip") and .="could not end"]`)
	p.See(`//*[@role="alert"]//li[contains(., "the tag points to version 2 now")]`)
}

// Approve is offered to who can, and the others are told why they cannot: Ada makes Bea, and each of them makes a
// release. Where the rule is independent, Ada does not approve that of Bea either.
func TestApproveIsOfferedToWhoCan(t *testing.T) {
	for _, test := range []struct {
		rule string
		may  bool // whether Ada may approve what Bea makes
	}{{"production=1", true}, {"production=1:independent", false}} {
		t.Run(test.rule, func(t *testing.T) {
			db := filepath.Join(t.TempDir(), "vitrine.db")
			w := accounts{newWorld(t, "-db", db, "-approve", test.rule), db}
			w.component("poll", "1.0.0", questionSchema)
			w.newApp("Winter", poll(`{"question":"Tea?"}`))
			ada, _ := w.newcomer()
			ada.accept(w.invite("-name", "Ada Berg", "-moderates", network, "-admin"), "Ada Berg")
			bea, _ := w.newcomer()
			bea.accept(ada.invites("Bea Lund"), "Bea Lund")
			for _, one := range []struct {
				author, other *person
				name          string
				may           bool
			}{{ada, bea, "By Ada", false}, {bea, ada, "By Bea", test.may}} {
				one.author.view("/apps")
				one.author.Click(`//table//a[.="Winter"]`)
				one.author.Click(named("Propose"))
				one.author.Retype(field("Name"), one.name)
				one.author.Click(`//dialog` + named("Make the release"))
				one.author.See(`//h1[.="` + one.name + `"]`)
				one.other.view(one.author.release())
				one.other.See(`//h1[.="` + one.name + `"]`)
				if one.may {
					one.other.Click(named("Approve"))
					one.other.See(`//*[contains(., "Approved by")]`)
					one.other.Until(`() => ![...document.querySelectorAll("main button")].some((x) => x.textContent ` +
						`=== "Approve")`)
					continue
				}
				one.other.See(`//*[contains(@class, "note") and contains(., "You cannot give it")]`)
				one.other.Until(`() => ![...document.querySelectorAll("main button")].some((x) => x.textContent === ` +
					`"Approve")`)
			}
		})
	}
}

// invites makes a person who moderates the network, and returns the link of the invitation.
func (p *person) invites(name string) (link string) {
	p.T.Helper()
	p.view("/people")
	p.Click(named("Invite somebody"))
	p.Type(field("Name"), name)
	p.Type(`//fieldset[legend="Moderates"]//input[@aria-label="Another of Moderates"]`, network)
	p.Click(`//fieldset[legend="Moderates"]` + named("Add"))
	p.Click(`//dialog` + named("Invite"))
	p.See(`//dialog//h2[.="The invitation of ` + name + `"]`)
	p.Run(&link, `async () => document.querySelector("dialog pre").textContent`)
	p.Click(`//dialog` + named("Done"))
	return link
}

// What went wrong is told in words, and with what to do.
func TestAReleaseThatCouldNotRun(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("Winter")
	for v, title := range []string{"Thaw", "Spring"} {
		w.request(ann, "PATCH", "/apps/"+id, fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},`+
			`{"op":"replace","path":"/apps/0/title","value":%q}]`, v, title))
	}
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

// A word is found in the texts of apps, a click leads to its field, and it is replaced in all apps after a look.
func TestSearchAndReplaceInContents(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0",
		`{"type":"object","properties":{"question":{"type":"string"},"answers":{"type":"array",`+
			`"items":{"type":"object","properties":{"text":{"type":"string"}}}}}}`)
	id := w.newApp("Winter", poll(`{"question":"Tea?","answers":[{"text":"Yes"},{"text":"Cocoa, please"}]}`))
	w.newApp("Summer", poll(`{"question":"Ice?"}`))
	w.component("map", "1.0.0", `{}`)
	p := w.signIn(ann, "/apps")
	p.See(`//table//a[.="Summer"]`)
	p.Run(new(any), `() => {
		const where = document.querySelector("select[aria-label=Where]");
		where.value = "title,content";
		where.dispatchEvent(new Event("change"));
	}`)
	p.Type(`//input[@aria-label="Find"]`, "coc ple")
	p.See(`//table//tr[contains(., "Winter")]//a[.="Cocoa, please"]`)
	p.Until(`() => document.querySelectorAll("tbody tr").length === 1`)
	p.Click(named("Replace a text"))
	p.Retype(`//dialog`+`//label[.="Find"]/following-sibling::input`, "Cocoa")
	p.Type(`//dialog`+`//label[.="Replace by"]/following-sibling::input`, "Hot Cocoa")
	p.See(`//dialog//p[contains(., "doing it twice replaces it twice")]`)
	p.Click(field("Only in elements of") + `/option[.="map"]`)
	p.Click(`//dialog` + named("Show what changes"))
	p.See(`//dialog//*[contains(., "Nothing is found in the apps that you may change.")]`)
	p.Click(field("Only in elements of") + `/option[.="poll"]`)
	p.Click(field("Only in apps of") + `/option[@value="` + network + `"]`)
	p.Click(`//dialog` + named("Show what changes"))
	p.See(`//dialog//p[contains(., "1 app would be changed")]`)
	p.Click(`//dialog//summary[contains(., "Winter")]`)
	p.See(`//dialog//li[contains(., "Hot Cocoa, please")]`)
	if app := string(w.request(ann, "GET", "/apps/"+id, "")); strings.Contains(app, "Hot") {
		t.Errorf("the dry run has changed %s", app)
	}
	p.Click(`//dialog` + named("Change these apps"))
	p.See(`//dialog//p[contains(., "1 app is changed")]`)
	if app := string(w.request(ann, "GET", "/apps/"+id, "")); !strings.Contains(app, "Hot Cocoa, please") {
		t.Errorf("the app is %s", app)
	}
	p.Run(new(any), `() => document.querySelector("dialog").close()`)
	p.Click(`//table//tr[contains(., "Winter")]//a[contains(@class, "found")]`)
	p.Until(`() => document.activeElement.value === "Hot Cocoa, please"`)
}
