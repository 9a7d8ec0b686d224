//go:build proof

package console

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof/postbox"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// Ada invites Bea, who gets a mail and comes in by its link. Ada mentions her, and the link of the next mail leads to
// the comment. Then Bea switches mails off.
func TestMails(t *testing.T) {
	port, err := program.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	box := postbox.New(t, "", postbox.Options{})
	db := filepath.Join(t.TempDir(), "vitrine.db")
	w := accounts{newWorld(t, "-db", db, "-addr", "127.0.0.1:"+port, "-base-url", "http://localhost:"+port, "-smtp",
		"smtp://"+box.Addr), db}
	w.component("poll", "1.0.0", questionSchema)
	app := w.newApp("Winter", poll(`{"question":"Tea?"}`))
	ada, _ := w.newcomer()
	ada.accept(w.invite("-name", "Ada Berg", "-moderates", network, "-admin"), "Ada Berg")
	ada.view("/people")
	ada.Click(named("Invite somebody"))
	ada.Type(field("Name"), "Bea Lund")
	ada.Type(field("Mail address"), "bea@host.example")
	ada.See(`//dialog//*[contains(., "Mails go to it")]`)
	ada.Type(`//fieldset[legend="Moderates"]//input[@aria-label="Another of Moderates"]`, "example.test")
	ada.Click(`//fieldset[legend="Moderates"]` + named("Add"))
	ada.Click(`//dialog` + named("Invite"))
	ada.See(`//dialog//p[contains(., "A mail with another link goes to bea@host.example.")]`)
	ada.Click(`//dialog` + named("Done"))

	invitation := box.Wait(t, 1)[0]
	bea, _ := w.newcomer()
	bea.accept(link(t, invitation, "#invite="), "Bea Lund")
	w.request(ann, "POST", "/apps/"+app+"/comments",
		`{"text":"Is this right?","mentions":["`+urnOf(bea)+`"]}`)
	mention := box.Wait(t, 2)[1] // a minute after the other one
	bea.Open(link(t, mention, "#/apps/"))
	bea.See(`//aside//article//p[@class="text" and .="Is this right?"]`)

	bea.Open(link(t, mention, "#/account"))
	const wanted = `//main//label[contains(., "Mail me")]/input`
	bea.See(`//main//*[contains(., "Mails go to bea@host.example")]`)
	bea.Until(`() => document.querySelector("main input[type=checkbox]").checked`)
	bea.picture("mails-1280")
	bea.Click(wanted)
	bea.See(toast("You get no mails."))
	bea.Resize(360, 800)
	bea.fits()
	bea.picture("mails-360")
	bea.Run(new(any), `async () => void location.reload()`)
	bea.See(wanted)
	bea.Until(`() => document.querySelector("main input[type=checkbox]")?.checked === false`)
	bea.Click(wanted)
	bea.See(toast("You get mails."))
}

// link returns the line of a mail that has a text.
func link(t *testing.T, m postbox.Mail, has string) string {
	t.Helper()
	for line := range strings.Lines(m.Text) {
		if strings.HasPrefix(line, "http://localhost:") && strings.Contains(line, has) {
			return strings.TrimSpace(line)
		}
	}
	t.Fatalf("the mail has no link with %q: %s", has, m.Text)
	return ""
}

// urnOf returns who is signed in.
func urnOf(p *person) (urn string) {
	p.T.Helper()
	p.Run(&urn, `async () => (await (await fetch("x/me")).json()).urn`)
	return urn
}

// Where no mails are sent, nothing speaks of them.
func TestNoMails(t *testing.T) {
	w := newAccounts(t)
	ada, _ := w.newcomer()
	ada.accept(w.invite("-name", "Ada Berg", "-moderates", network, "-admin"), "Ada Berg")
	ada.view("/account")
	ada.See(`//main//h2[.="Passkeys"]`)
	ada.Until(`() => !/mail/i.test(document.querySelector("main").textContent)`)
	ada.view("/people")
	ada.Click(named("Invite somebody"))
	ada.See(`//dialog//*[contains(., "nothing is sent to it")]`)
}
