//go:build proof

package console

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// Cleo, who may only read an app, comments at a field of it. Ann sees the mark at the field without loading anything
// anew, replies, and resolves the comment. Nothing of a text becomes markup.
func TestCommentsAtAField(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", questionSchema)
	id := w.newApp("Winter", poll(`{"question":"Tea?"}`), poll(`{"question":"Cocoa?"}`))
	a := w.signIn(ann, "/apps/"+id)
	a.See(`//ol[@aria-label="Elements"]/li[2]//textarea | //ol[@aria-label="Elements"]/li[2]//input`)
	reads := httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=reader", Reads: []string{network}}}
	c := w.signIn(reads, "/apps/"+id)
	c.Click(`//ol[@aria-label="Elements"]/li[2]//*[self::input or self::textarea][not(@type="search")]`)
	c.Click(`//button[.="Comments"]`)
	c.See(`//aside[@aria-label="Comments"]//option[contains(., "Element 2") and contains(., "›")]`)
	const hostile = `<img src=x onerror=alert(1)> is this right?`
	c.Type(`//aside[@aria-label="Comments"]/form//textarea`, hostile)
	c.Press(keyControl + keyEnter)
	c.See(`//aside//article//p[@class="text" and .="` + hostile + `"]`)
	var stored struct {
		Comments []struct{ Element, Pointer, Text string }
	}
	w.reads("/apps/"+id+"/comments", &stored)
	if s := stored.Comments; len(s) != 1 || s[0].Element != "0.1" || s[0].Pointer != "/question" ||
		s[0].Text != hostile {
		t.Fatalf("%+v", s)
	}
	mark := `//ol[@aria-label="Elements"]/li[2]//button[@aria-label="Show 1 comment"]`
	a.Click(mark) // live
	a.See(`//aside//article[contains(., "reader") and contains(., "Element 2")]`)
	a.picture("comments-1280-light")
	for _, look := range []struct {
		width  int
		scheme string
	}{{1280, "dark"}, {360, "light"}, {360, "dark"}} {
		a.Resize(look.width, 900)
		a.Scheme(look.scheme)
		a.fits()
		a.picture(fmt.Sprintf("comments-%d-%s", look.width, look.scheme))
	}
	a.Resize(1280, 900)
	a.Scheme("light")
	a.Type(`//aside//article//textarea[@aria-label="Reply"]`, "It is.")
	a.Click(`//aside//article//button[.="Reply"]`)
	a.See(`//aside//article//*[@class="reply"]//p[.="It is."]`)
	c.See(`//aside//article//*[@class="reply"]//p[.="It is."]`)
	a.view("/apps")
	a.See(`//tr[contains(., "Winter") and contains(., "1 open comment")]`)
	a.view("/apps/" + id + "?comments=1")
	a.Click(`//aside//article//button[.="Resolve"]`)
	a.See(`//aside//*[contains(., "There are no open comments")]`)
	c.See(`//button[.="Comments"]`)
	c.Until(`() => !document.querySelector(".commented")`)
}

// Ada asks Bea by name to approve a release. The bell of Bea tells of it without loading anything anew, and of nothing
// once she has approved it.
func TestTheBellTellsWhoIsAsked(t *testing.T) {
	db := filepath.Join(t.TempDir(), "vitrine.db")
	w := accounts{newWorld(t, "-db", db, "-approve", "production=1"), db}
	w.component("poll", "1.0.0", questionSchema)
	w.newApp("Winter", poll(`{"question":"Tea?"}`))
	ada, _ := w.newcomer()
	ada.accept(w.invite("-name", "Ada Berg", "-moderates", network, "-admin"), "Ada Berg")
	ada.view("/apps")
	ada.Click(`//table//a[.="Winter"]`)
	ada.Click(named("Propose"))
	ada.Click(`//dialog` + named("Make the release"))
	address := ada.release()
	ada.See(`//p[contains(., "Nobody of your network can approve it now")]`)
	bea, _ := w.newcomer()
	bea.accept(w.invite("-name", "Bea Lund", "-moderates", network), "Bea Lund")
	bell := `//a[contains(@class, "bell")]`
	bea.See(bell + `[contains(., "1")]`)
	ada.view("/apps")
	ada.view(address)
	ada.Click(named("Ask somebody"))
	ada.Click(`//dialog//*[contains(text(), "Bea Lund")]`)
	ada.See(`//p[contains(., "Asked:") and contains(., "Bea Lund")]`)
	bea.Click(bell)
	bea.See(`//li[contains(., "You can approve this release of") and contains(., "Ada Berg")]`)
	bea.picture("inbox-1280")
	bea.Resize(360, 700)
	bea.fits()
	bea.picture("inbox-360")
	bea.Resize(1280, 900)
	bea.Click(`//ul[@class="inbox"]//a`)
	bea.Click(named("Approve"))
	bea.See(bell + `[@aria-label="Nothing waits for you"]`)
	ada.See(bell + `[contains(., "1")]`)
	if !strings.HasPrefix(address, "/releases/") {
		t.Error(address)
	}
}
