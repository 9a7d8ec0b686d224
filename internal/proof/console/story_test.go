package console

import "testing"

// A person who never saw the page makes a component and an app, edits it, breaks it, compares, restores, tags it for
// production and rolls back. Nothing of it is done for them.
func TestFromNothingToARollback(t *testing.T) {
	w := newWorld(t)
	p := w.signIn(ann, "")
	p.Click(`//nav[@aria-label="Main"]//a[contains(., "Components")]`)
	p.Click(named("New component"))
	p.Type(field("Name"), "poll")
	p.Type(field("Script"), "cdn.example.test/poll.js")
	p.Run(new(any), `async () => {
		const area = document.querySelector("dialog textarea");
		area.value = '{"type": "object", "required": ["question"], "properties": {"question": {"type": "string", "maxLength": 20}}}';
		area.dispatchEvent(new Event("input"));
	}`)
	p.Click(`//dialog` + named("Create"))
	p.See(`//code[.="https://cdn.example.test/poll.js"]`)

	p.Click(`//nav[@aria-label="Main"]//a[contains(., "Apps")]`)
	p.Click(named("New app"))
	p.Type(field("Title"), "Winter")
	p.Click(`//dialog` + named("Create"))
	p.saved(0)
	p.Click(named("Add an element"))
	p.Click(`//dialog//li[contains(., "poll")]`)
	p.Type(field("question"), "Tea?")
	p.saved(1)
	id := idOf(p)

	p.Click(`//nav//a[.="Deployments"]`)
	p.Click(named("New tag"))
	p.Type(field("Name"), "production")
	p.Click(`//dialog` + named("Create"))
	p.See(`//article[@aria-label="production"]//a[.="Version 1"]`)

	// It is broken twice: by a value that the service refuses, and by one that it takes.
	p.Click(`//nav//a[.="Designer"]`)
	p.saved(1)
	p.Type(field("question"), " And who takes cocoa instead?")
	p.See(`//*[contains(@class, "saving") and contains(., "Not saved")]`)
	p.See(`//*[contains(@class, "field") and contains(@class, "bad")]//*[contains(@class, "wrong")]`)
	p.Retype(field("question"), "Te?")
	p.saved(2)
	p.Click(`//nav//a[.="Deployments"]`)
	p.Click(named("Deploy the latest"))
	p.Click(`//dialog` + named("Move to version 2"))
	p.See(`//article[@aria-label="production"]//a[.="Version 2"]`)

	p.Click(`//nav//a[.="History"]`)
	p.Click(named("Changes of version 2"))
	p.See(`//del[.="Tea"]`)
	p.See(`//ins[.="Te"]`)
	p.Click(named("Restore version 1"))
	p.Click(`//dialog` + named("Restore"))
	p.See(`//div[contains(@class, "line") and contains(., "restored version 1")]`)
	w.stored(id, `{"question":"Tea?"}`)

	p.Click(`//nav//a[.="Deployments"]`)
	p.Click(named("Roll back"))
	p.Click(`//dialog` + named("Roll back to version 1"))
	p.See(`//article[@aria-label="production"]//a[.="Version 1"]`)
}
