//go:build proof

package console

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// offered returns the names of what can be pressed or filled in on a view, in the order of the page.
func (p *person) offered() (names []string) {
	p.T.Helper()
	p.Until(`async () => { // until nothing comes any more
		const text = () => document.querySelector("main").innerText;
		for (let i = 0, was = ""; i < 6; i++) {
			if (was !== (was = text())) i = 0;
			await new Promise((done) => setTimeout(done, 100));
		}
		return !document.querySelector("main [aria-busy]");
	}`)
	p.Run(&names, `async () => [...document.querySelectorAll("main :is(button, input, select, textarea)")]
		.filter((x) => x.checkVisibility() && !x.disabled && !x.readOnly && x.type !== "submit")
		.map((x) => x.ariaLabel || x.labels?.[0]?.textContent || x.textContent.trim() || x.type)`)
	return names
}

// Whoever may only read, and whoever may nothing, is offered what they may do, and no form that they may not send.
func TestWhatIsOfferedWithoutRights(t *testing.T) {
	w, id := filled(t)
	var release struct{ ID string }
	if err := json.Unmarshal(w.request(ann, "POST", "/x/releases", fmt.Sprintf(`{"name":"Spring","moves":[{"app":%q,`+
		`"tag":"next","to":"1"}]}`, id)), &release); err != nil {
		t.Fatal(err)
	}
	nobody := httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=nobody"}}
	changes := regexp.MustCompile(`^(New |Add|Create|Move|Remove|Delete( |$)|Roll back|Restore|Publish|Propose|` +
		`Change( |$)|Rename|Edit|Schedule|Run$|Approve|Erase|Import|Upload|Replace|Undo|Redo|Duplicate|Bring|` +
		`Use the default|Clear|Choose [^a]|Invite|Permissions)`)
	for _, who := range []struct {
		name string
		by   httpapi.Principal
	}{{"reads", cleo}, {"nothing", nobody}} {
		t.Run(who.name, func(t *testing.T) {
			p := &person{w.signIn(who.by, "").For(t), w}
			for _, view := range []string{"/apps", "/apps/" + id, "/apps/" + id + "/history",
				"/apps/" + id + "/deployments", "/releases", "/releases/" + release.ID, "/assets",
				"/assets/example.test/example.test/add", "/reviews", "/components", "/components/poll", "/inbox",
				"/people", "/keys"} {
				p.view("/none")
				p.view(view)
				p.See(`//main//h1 | //main//*[contains(@class, "empty")]`)
				offered := p.offered()
				t.Logf("%s: %q", view, offered)
				for _, name := range offered {
					if changes.MatchString(name) {
						t.Errorf("%s offers %q", view, name)
					}
				}
				p.picture("offered-" + who.name + strings.ReplaceAll(view, "/", "-"))
			}
		})
	}
}
