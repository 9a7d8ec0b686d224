//go:build proof

package console

import (
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// A librarian finds assets by their authors, hosts and tags, and those that are in no folder. Somebody who may see a
// folder and not the one above it comes to it in the tree.
func TestMoreFiltersAndHiddenFolders(t *testing.T) {
	w := newWorld(t)
	top := w.newFolder("Top", "/")
	inner := w.newFolder("Inner", "/"+top)
	grant := func(folder, user string) {
		w.request(ann, "POST", library+"/folder/"+folder+"/permissions",
			`{"create":[{"operation":"view","user":{"id":"`+user+`","name":""}}]}`)
	}
	grant(top, "somebody")
	grant(inner, "dora")
	w.request(ann, "POST", library+"/assets", `{"add":[`+newAsset(1, "Snow", inner, "Snow")+","+
		newAsset(2, "Sun", "", "snow")+","+newAsset(3, "Ice", "", "ice")+`]}`)
	p := w.signIn(ann, "/assets")
	found := func(n string) { t.Helper(); p.See(`//*[@role="status" and .="` + n + `"]`) }
	found("3 assets")
	p.See(`//aside//button[contains(@class, "facet") and contains(., "now")]//span[.="2"]`) // one for both spellings
	p.Click(`//summary[.="Order and more filters"]`)
	p.Type(`//label[.="Author"]/following-sibling::input`, "AUTHOR 2"+keyTab)
	found("1 asset")
	p.Click(named("author: AUTHOR 2"))
	p.Type(`//label[.="None of these tags"]/following-sibling::input`, "SNOW"+keyTab)
	found("1 asset")
	p.Click(named("none of the tags: SNOW"))
	p.Run(new(any), `async () => {
		const select = [...document.querySelectorAll(".more-filters select")][1];
		select.value = "none";
		select.dispatchEvent(new Event("change"));
	}`)
	found("2 assets")
	p.Click(named("in no folder"))
	found("3 assets")

	dora := httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:example.test:user=dora"}}
	q := w.signIn(dora, "/assets")
	q.Click(folder("a folder that you may not see"))
	q.Click(folder("Inner"))
	q.See(`//*[@role="status" and .="1 asset"]`)
}
