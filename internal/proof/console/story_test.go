package console

import (
	"strings"
	"testing"
)

// A person who never saw the page signs in, makes an app, adds an element, has it saved and deploys it, and what was
// deployed is what the service answers for the tag. Nothing of it is done for them but the component.
func TestFromNothingToADeployment(t *testing.T) {
	s := newServed(t)
	s.component("poll", "1.0.0",
		`{"type":"object","required":["question"],"properties":{"question":{"type":"string"}}}`)
	p := s.visitor(1280, "light")
	p.Type(`//dialog//textarea`, s.token(ann))
	p.Click(`//dialog` + named("Sign in"))
	p.See(`//*[contains(., "There are no apps yet")]`)
	p.Click(named("New app"))
	p.Type(field("Title"), "Winter")
	p.Click(`//dialog` + named("Create"))
	p.saved(0)
	p.Click(named("Add an element"))
	p.Click(`//dialog//li[contains(., "poll")]`)
	p.Type(field("question"), "Tea?")
	p.saved(1)
	p.Click(`//nav//a[.="Deployments"]`)
	p.Click(named("New tag"))
	p.Type(field("Name"), "production")
	p.Click(`//dialog` + named("Create"))
	p.See(`//article[@aria-label="production"]//a[.="Version 1"]`)
	var id string
	p.Run(&id, `async () => location.hash.split("/")[2]`)
	if app := string(s.request(ann, "GET", "/apps/"+id+"/tagged/production", "")); !strings.Contains(app,
		`"question":"Tea?"`) {
		t.Errorf("what is deployed is %s", app)
	}
}
