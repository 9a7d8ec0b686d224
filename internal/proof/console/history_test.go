//go:build proof

package console

import (
	"fmt"
	"strings"
	"testing"
)

// A person compares versions, brings one back, tags it for production, and rolls back.
func TestHistoryAndDeployments(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", `{"type":"object","properties":{"question":{"type":"string"},"n":{"type":"integer"}}}`)
	w.component("countdown", "1.0.0", `{}`)
	id := w.newApp("Winter", poll(`{"question":"Is the tea hot?","n":1}`), poll(`{"n":2}`))
	for i, change := range []string{
		`{"op":"replace","path":"/apps/0/elements/0/config/question","value":"Is the cocoa hot?"}`,
		`{"op":"move","from":"/apps/0/elements/1","path":"/apps/0/elements/0"}`,
		`{"op":"add","path":"/apps/0/elements/0","value":{"component":{"name":"countdown","version":"1.0.0"},` +
			`"config":{"n":3}}}`,
		`{"op":"remove","path":"/apps/0/elements/2"}`,
	} {
		w.request(ann, "PATCH", "/apps/"+id,
			fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},%s]`, i, change))
	}
	p := w.signIn(ann, "/apps/"+id+"/history")
	t.Run("saves of one person fold", func(t *testing.T) {
		p.See(`//button[@aria-expanded and contains(., "1–4")]`)
		p.Click(`//button[@aria-expanded and contains(., "1–4")]`)
		p.See(`//div[contains(@class, "line") and contains(., "changed question of poll 1")]`)
		p.See(`//div[contains(@class, "line") and contains(., "moved poll 1")]`)
		p.See(`//div[contains(@class, "line") and contains(., "added countdown")]`)
		p.See(`//div[contains(@class, "line") and contains(., "removed poll 2")]`)
		p.See(`//div[contains(@class, "line") and contains(., "created the app")]`)
	})
	t.Run("words that differ", func(t *testing.T) {
		p.Click(named("Changes of version 1"))
		p.See(`//section[contains(@class, "changed")]//del[.="tea"]`)
		p.See(`//section[contains(@class, "changed")]//ins[.="cocoa"]`)
	})
	t.Run("any two versions", func(t *testing.T) {
		p.Retype(`//label[.="to"]/following-sibling::input`, "4"+keyTab)
		p.See(`//section[contains(@class, "added")]//h3[contains(., "countdown")]`)
		p.See(`//section[contains(@class, "removed")]//h3[contains(., "poll 1")]`)
		var hash string
		p.Run(&hash, `async () => location.hash`)
		if hash != "#/apps/"+id+"/history?from=0&to=4" {
			t.Errorf("the address of the comparison is %s", hash)
		}
		p.Open(w.url + "/" + hash)
		p.See(`//section[contains(@class, "removed")]//h3[contains(., "poll 1")]`)
	})
	t.Run("restore", func(t *testing.T) {
		p.Click(named("Restore version 0"))
		p.See(`//dialog//section[contains(@class, "difference") or contains(@class, "part")]`)
		p.Click(`//dialog` + named("Restore"))
		p.See(`//div[contains(@class, "line") and contains(., "restored version 0")]`)
		w.stored(id, `{"question":"Is the tea hot?","n":1}`, `{"n":2}`)
	})
	tag := func(version string) {
		t.Helper()
		p.See(`//article[@aria-label="production"]//a[.="Version ` + version + `"]`)
	}
	t.Run("a new tag", func(t *testing.T) {
		p.Click(`//nav//a[.="Deployments"]`)
		p.See(`//*[contains(., "No tags yet")]`)
		p.Click(named("New tag"))
		p.Type(field("Name"), "production")
		p.Click(option("Version 4", "removed poll 2"))
		p.Click(`//dialog` + named("Create"))
		tag("4")
		p.See(`//article//span[.="1 version behind"]`)
	})
	t.Run("move", func(t *testing.T) {
		p.Click(named("Move to the latest"))
		p.See(`//dialog//section[contains(@class, "part")]`)
		p.Click(`//dialog` + named("Move to version 5"))
		tag("5")
		p.See(`//article//span[.="latest"]`)
	})
	t.Run("roll back", func(t *testing.T) {
		p.Click(named("Roll back"))
		p.Click(`//dialog` + named("Roll back to version 4"))
		tag("4")
		p.See(`//article[.//button[.="Roll back" and @disabled] and contains(., "Nothing to roll back to: it has ` +
			`not pointed to another version.")]`)
	})
	t.Run("nobody overwrites another's deployment", func(t *testing.T) {
		p.Click(named("Move"))
		p.See(`//dialog` + named("Cancel"))
		p.Click(option("Version 3", "added countdown"))
		w.request(bob, "PUT", "/apps/"+id+"/tags/production", `{"appVersion":"2"}`)
		p.Click(`//dialog` + named("Go on"))
		p.Click(`//dialog` + named("Move to version 3"))
		p.See(`//dialog//*[@role="alert" and contains(., "2")]`)
		p.Click(`//dialog` + named("Close"))
		tag("2")
	})
	t.Run("who moved it", func(t *testing.T) {
		p.Click(named("History"))
		p.See(`//dialog//tr[1][td[.="bob"] and td[.="version 4"] and td[.="version 2"]]`)
		p.See(`//dialog//tr[last()][td[.="ann"] and td[.="created"] and td[.="version 4"]]`)
		p.Click(`//dialog` + named("Close"))
	})
	t.Run("use it", func(t *testing.T) {
		p.Click(named("Use it"))
		p.See(`//dialog//pre[contains(., "/apps/` + id + `/tagged/production")]`)
		p.Click(`//dialog` + named("Close"))
	})
	t.Run("remove", func(t *testing.T) {
		p.Click(named("Remove the tag"))
		p.Click(`//dialog` + named("Remove"))
		p.See(`//*[contains(., "No tags yet")]`)
	})
}

// option is the XPath of an option of a dialog with these texts.
func option(texts ...string) string {
	path := `//dialog//label[.//input[@type="radio"]]`
	for _, text := range texts {
		path += fmt.Sprintf(`[contains(., %q)]`, text)
	}
	return path
}

// A board of many tags asks who moved those that are in view, and keeps its focus when somebody else saves.
func TestManyTags(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("Winter")
	for i := range 120 {
		w.request(ann, "PUT", fmt.Sprintf("/apps/%s/tags/tag%03d", id, i), `{"appVersion":"0"}`)
	}
	p := w.signIn(ann, "/apps/"+id+"/deployments")
	p.See(`//article[@aria-label="tag119"]`)
	p.See(`//article[@aria-label="tag000"]//p[contains(., "by ann")]`)
	const asked = `async () => performance.getEntriesByType("resource").filter((x) => new ` +
		`URL(x.name).pathname.endsWith("/history")).length`
	var n int
	p.Run(&n, asked)
	if n > 60 {
		t.Errorf("the moves of %d tags are asked for while few are in view", n)
	}
	p.Run(new(any), `async () => document.querySelector('article[aria-label="tag119"]').scrollIntoView()`)
	p.See(`//article[@aria-label="tag119"]//p[contains(., "by ann")]`)
	p.Run(new(any),
		`async () => [...document.querySelectorAll('article[aria-label="tag119"] button')].find((x) => `+
			`x.textContent === "Move").focus()`)
	w.request(bob, "PATCH", "/apps/"+id,
		`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/title","value":"Spring"}]`)
	p.See(`//article[@aria-label="tag119"]//span[.="1 version behind"]`)
	w.request(bob, "PUT", "/apps/"+id+"/tags/tag118", `{"appVersion":"1"}`)
	p.See(`//article[@aria-label="tag118"]//p[contains(., "by bob")]`)
	p.Until(`() => document.activeElement.closest('article[aria-label="tag119"]') !== null`)
}

// Protected tags are marked. Only those who moderate every group of the app are offered to move them.
func TestProtectedTags(t *testing.T) {
	const blog, shop = network + ":site=blog", network + ":site=shop"
	w := newWorld(t, "-protect-tags", "production,live")
	id := w.newApp("Winter")
	w.request(ann, "PATCH", "/apps/"+id,
		fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/groups",`+
			`"value":[%q,%q]}]`, blog, shop))
	w.request(ann, "PUT", "/apps/"+id+"/tags/production", `{"appVersion":"0"}`)
	w.request(ann, "PUT", "/apps/"+id+"/tags/staging", `{"appVersion":"0"}`)
	marked := func(p *person) {
		p.See(`//article[@aria-label="production"]//h2[contains(., "protected")]`)
		p.See(`//article[@aria-label="staging"]//h2[not(contains(., "protected"))]`)
	}
	t.Run("a moderator of every group", func(t *testing.T) {
		p := w.signIn(ann, "/apps/"+id+"/deployments")
		marked(p)
		p.Click(`//article[@aria-label="production"]` + named("Move to the latest"))
		p.See(`//dialog[contains(., "only a moderator of every group of the app may")]`)
		p.Click(`//dialog` + named("Move to version 1"))
		p.See(`//article[@aria-label="production"]//a[.="Version 1"]`)
	})
	t.Run("a moderator of one", func(t *testing.T) {
		by := bob
		by.Moderates = []string{blog}
		p := w.signIn(by, "/apps/"+id+"/deployments")
		marked(p)
		p.See(`//article[@aria-label="production"]//p[contains(., "only a moderator of every group of the app may")]`)
		var offered string
		p.Run(&offered,
			`async () => [...document.querySelectorAll('article[aria-label="production"] button')].filter((x) => `+
				`x.checkVisibility()).map((x) => x.textContent || x.ariaLabel).join(", ")`)
		if offered != "Show, History, Use it" {
			t.Errorf("what is offered is %s", offered)
		}
		p.Click(`//article[@aria-label="staging"]` + named("Move to the latest"))
		p.Click(`//dialog` + named("Move to version 1"))
		p.See(`//article[@aria-label="staging"]//a[.="Version 1"]`)
		// A name that is protected before there is such a tag.
		p.Click(named("New tag"))
		p.Type(field("Name"), "live")
		p.Click(`//dialog` + named("Create"))
		p.See(`//dialog//*[@role="alert" and contains(., "protected")]`)
		p.Click(`//dialog` + named("Close"))
	})
}

// A person makes a component, a version of it, and deletes it.
func TestComponents(t *testing.T) {
	w := newWorld(t)
	p := w.signIn(ann, "/components")
	p.Click(named("New component"))
	p.Type(field("Name"), "@example/poll")
	p.Type(field("Script"), "cdn.example.test/poll.js")
	p.Run(new(any), `async (schema) => {
		const area = document.querySelector("dialog textarea");
		area.value = schema;
		area.dispatchEvent(new Event("input"));
	}`, strings.Replace(pollSchema, `"format":"color"`, `"format":"colour"`, 1))
	p.See(`//dialog//section[@aria-label="Preview"]` + field("Question"))
	p.Click(`//dialog` + named("Create"))
	// of a format that nobody knows
	p.See(`//dialog//*[contains(@class, "trouble") and contains(., "/properties/color/format")]`)
	p.Click(`//dialog` + named("Create all the same"))
	p.See(`//code[.="https://cdn.example.test/poll.js"]`)
	p.See(`//li[.//code[.="question"] and contains(., "required")]`)
	p.Click(named("New version"))
	p.See(`//dialog//p[contains(., "Version 1.0.0 has the same script.")]`)
	p.Retype(field("Script"), "https://cdn.example.test/poll-1.1.0.js")
	p.See(`//dialog[not(contains(., "has the same script"))]`)
	p.Click(`//dialog` + named("Create"))
	p.See(`//dialog//*[contains(@class, "trouble") and contains(., "/properties/color/format")]`)
	var seen bool
	p.Run(&seen, `async () => {
		const found = document.querySelector("dialog .trouble"), { top, bottom } = found.getBoundingClientRect();
		return document.activeElement === found && top >= 0 && bottom <= innerHeight;
	}`)
	if !seen {
		t.Error("the warnings are out of sight")
	}
	p.Click(`//dialog` + named("Create all the same"))
	p.See(`//button[@aria-pressed="true" and .="1.1.0"]`)
	t.Run("what the service refuses is shown", func(t *testing.T) {
		p.Click(named("New version"))
		p.Retype(field("Version"), "1.0.0")
		p.Click(`//dialog` + named("Create"))
		p.See(`//dialog//*[@role="alert" and contains(., 'version "1.0.0" of "@example/poll" exists already')]`)
		p.Click(`//dialog` + named("Close"))
	})
	p.Click(named("Delete"))
	p.See(`//dialog[contains(., "All 2 versions")]`)
	p.Click(`//dialog` + named("Delete"))
	p.See(`//*[contains(@class, "empty") and contains(., "There are no components yet")]`)
	t.Run("without the right", func(t *testing.T) {
		q := w.signIn(bob, "/components")
		q.See(`//*[contains(., "You have no right to create components")]`)
	})
}
