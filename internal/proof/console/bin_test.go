//go:build proof

package console

import (
	"testing"
)

// A person deletes an app, finds it in the bin with its days left, brings it back, deletes it again and erases it; and
// a version is restored with a note.
func TestTheBinAndNotes(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("Winter")
	w.newApp("Summer")
	w.request(ann, "PATCH", "/apps/"+id,
		`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"add","path":"/note","value":"for the sale"},`+
			`{"op":"replace","path":"/apps/0/title","value":"Winter sale"}]`)
	p := w.signIn(ann, "/apps/"+id+"/history")
	p.See(`//q[.="for the sale"]`)
	p.Click(named("Restore version 0"))
	p.Type(`//dialog//label[.="Note for the history"]/following-sibling::input`, "over")
	p.Click(`//dialog` + named("Restore"))
	p.See(`//q[.="over"]`)
	p.Open(w.url + "/#/apps")
	for range 2 {
		p.See(`//td[contains(@class, "tools")]`)
		p.Click(named("Delete Winter"))
		p.Click(`//dialog//button[.="Delete"]`)
		p.See(`//*[contains(., "is in the bin")]`)
		p.See(`//a[.="Summer"]`)
		p.Click(`//a[.="Bin"]`)
		p.See(`//h1[.="Deleted apps"]`)
		p.See(`//th[contains(., "Winter")]`)
		p.See(`//td[contains(., "30 days left")]`)
		p.Click(named("Bring back Winter"))
		p.See(`//p[.="No app was deleted."]`)
		p.Click(`//a[.="Back to the apps"]`)
		p.See(`//a[.="Winter"]`)
	}
	w.request(ann, "DELETE", "/apps/"+id, "")
	p.Open(w.url + "/#/apps?bin=1")
	p.Click(named("Erase Winter"))
	p.Click(`//dialog//button[.="Erase"]`)
	p.See(`//p[.="No app was deleted."]`)
}
