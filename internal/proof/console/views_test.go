//go:build proof

package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// filled is a world with something to see in every view.
func filled(t *testing.T) (w *world, id string) {
	w = newWorld(t)
	w.component("poll", "1.0.0", pollSchema)
	w.component("countdown", "2.1.0", `{"type":"object","properties":{"until":{"type":"string","format":"date-time"}}}`)
	id = w.newApp("Front page",
		poll(`{"question":"Tea or cocoa?","answers":[{"text":"Tea","weight":1.5},{"text":"Cocoa"}],`+
			`"style":{"type":"picture","src":"https://images.example.test/a.png"}}`),
		element("poll", `{"question":"How was it?","color":"#3b5bdb"}`))
	w.request(ann, "POST", "/x/reviews/import", reviewLine("Ym9vdHM=", "90"))
	folder := w.newFolder("Winter", "/")
	w.newFolder("December", "/"+folder)
	w.request(ann, "POST", library+"/folder/"+folder+"/permissions",
		`{"create":[{"operation":"edit","role":{"id":"editors"}},{"operation":"view","user":{"id":"rea"}},`+
			`{"operation":"manage","group":"urn:vitrine:example.test:site=blog"}]}`)
	w.request(ann, "POST", library+"/folders", `{"delete":["`+w.newFolder("November", "/")+`"]}`)
	ids := w.add(newAsset(1, "<p>Snow at the harbour</p>", folder, "snow"), newAsset(2, "Sun", "", "sun"))
	w.request(ann, "POST", library+"/attributes",
		fmt.Sprintf(`{"assets":[%q,%q],"add":[{"key":"season","value":"winter"},{"key":"state","value":"draft"}]}`,
			ids[0], ids[1]))
	w.request(ann, "PATCH", "/apps/"+id,
		`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace",`+
			`"path":"/apps/0/elements/0/config/question","value":"Cocoa or tea?"}]`)
	w.request(bob, "PATCH", "/apps/"+id,
		`[{"op":"test","path":"/apps/0/version","value":"1"},{"op":"replace","path":"/apps/0/title","value":"Front `+
			`page, winter"}]`)
	w.request(bob, "PUT", "/apps/"+id+"/tags/production", `{"appVersion":"1"}`)
	w.request(ann, "PUT", "/apps/"+id+"/tags/staging", `{"appVersion":"2"}`)
	return w, id
}

// TestViews looks at every view with axe-core, in light and dark and at two widths. It writes a picture of each
// into the folder that it logs: VITRINE_PICTURES, or one that is removed when the test ends.
func TestViews(t *testing.T) {
	w, id := filled(t)
	axe, err := os.ReadFile(filepath.Join(tools(t), "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	pictures := os.Getenv("VITRINE_PICTURES")
	if pictures == "" {
		pictures = t.TempDir()
	}
	t.Logf("pictures of all views are in %s", pictures)
	shop := w.newApp("Shop")
	newsdesk := httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=newsdesk", Moderates: []string{network}}}
	for i, title := range []string{"Shop, winter", "Shop, spring"} {
		w.request(newsdesk, "PATCH", "/apps/"+shop,
			fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace",`+
				`"path":"/apps/0/title","value":%q}]`, i, title))
	}
	w.request(ann, "PUT", "/apps/"+shop+"/tags/live", `{"appVersion":"0"}`)
	var release struct{ ID string }
	text := w.request(ann, "POST", "/x/releases",
		fmt.Sprintf(`{"name":"Spring for all","note":"Before the first of March.","moves":[{"app":%q,"tag":"live",`+
			`"from":"1","to":"2"},{"app":%q,"tag":"next","to":"1"}]}`, shop, id))
	if err := json.Unmarshal(text, &release); err != nil {
		t.Fatal(err)
	}
	w.ask(ann, "POST", "/x/releases/"+release.ID+"/run", `{"version":"0"}`) // which cannot run
	p := w.signIn(ann, "")
	for _, v := range []struct{ name, address, shows string }{
		{"apps", "/apps", `//table//span[contains(@class, "tag")]`},
		{"designer", "/apps/" + id, field("Question")},
		{"json", "/apps/" + id + "?tab=json", `//textarea[contains(@class, "whole")]`},
		{"history", "/apps/" + id + "/history?from=0&to=2", `//div[contains(@class, "difference")]//ins`},
		{"folded", "/apps/" + shop + "/history", `//*[contains(@class, "line") and contains(., "1–2")]`},
		{"deployments", "/apps/" + id + "/deployments", named("Use it")},
		{"releases", "/releases", `//a[.="Spring for all"]`},
		{"inbox", "/inbox", `//h1[.="What waits for you"]`},
		{"release", "/releases/" + release.ID, `//*[@role="alert"]//li`},
		{"assets", "/assets", `//ul[@aria-label="Assets"]/li[2]`},
		{"assetadd", "/assets/example.test/example.test/add?folder=" + w.newFolder("Spring", "/"),
			`//h1[.="Add assets"]/..//span[contains(., "Spring")]`},
		{"assetjson", "/assets/example.test/example.test/add?by=json", `//textarea[contains(@class, "whole")]`},
		{"assetfile", "/assets/example.test/example.test/add?by=file", named("Choose a file")},
		{"reviews", "/reviews", `//article//*[@role="img"]`},
		{"components", "/components", `//a[.="poll"]`},
		{"component", "/components/poll", `//ul[contains(@class, "tree")]`},
		{"absent", "/components/absent", `//summary[.="Details"]`},
		{"norelease", "/releases/absent", `//main//a[.="All releases"]`},
		{"nothing", "/none", `//*[contains(., "There is no such page")]`},
	} {
		for _, width := range []int{360, 1280} {
			for _, scheme := range []string{"light", "dark"} {
				name := fmt.Sprintf("%s-%d-%s", v.name, width, scheme)
				t.Run(name, func(t *testing.T) {
					q := &person{p.For(t), w}
					q.Resize(width, 900)
					q.Scheme(scheme)
					q.view("/none")
					q.view(v.address)
					q.See(v.shows)
					q.look(string(axe))
					if err := os.WriteFile(filepath.Join(pictures, name+".png"), q.Picture(), 0o600); err != nil {
						t.Fatal(err)
					}
				})
			}
		}
	}
	t.Run("dialogs", func(t *testing.T) {
		last := `(//dialog)[last()]`
		for _, d := range []struct {
			name, address string
			clicks        []string
			shows         string
		}{
			{"new", "/apps", []string{named("New app")}, `//dialog//h2`},
			{"add", "/apps/" + id, []string{named("Add an element")}, `//dialog//*[@role="option"][2]`},
			{"release", "/releases", []string{named("New release"), `//dialog` + named("Choose apps")},
				`//dialog//fieldset//label`},
			{"edit", "/releases/" + release.ID, []string{named("Edit")}, `//dialog//fieldset//label`},
			{"schedule", "/releases/" + release.ID, []string{named("Schedule")}, `//dialog//input`},
			{"point", "/apps/" + id + "/deployments", []string{named("Move")}, `//dialog//label[3]/input`},
			{"use", "/apps/" + id + "/deployments", []string{named("Use it")}, `//dialog//pre`},
			{"upgrade", "/components/poll",
				[]string{named("Bring all apps to this version"), `//dialog//summary[.="Change the configs too"]`},
				`//dialog//*[contains(@class, "upgrade")]/p`},
			{"who", "/apps", []string{`//button[contains(@class, "who")]`}, `//dialog//h2`},
			{"folder", "/assets", []string{named("Change the folder Winter")}, `//dialog//button[.="Permissions"]`},
			{"permissions", "/assets",
				[]string{named("Change the folder Winter"), `//dialog` + named("Permissions"),
					named("Give a permission"), named("Remove role editors")}, `//table[contains(@class, "grants")]`},
			{"why", "/assets",
				[]string{named("Change the folder Winter"), `//dialog` + named("Why?"), last + `//button[.="Explain"]`},
				last + `//li[contains(., "roles")]`},
			{"move", "/assets", []string{named("Change the folder Winter"), `//dialog` + named("Move")},
				`//dialog//*[@role="tree"]//li`},
			{"deleted", "/assets", []string{named("Deleted folders")}, named("Bring November back")},
			{"selected", "/assets", []string{`//ul[@aria-label="Assets"]/li[1]//input`, named("Attributes")},
				`//dialog//select`},
		} {
			for _, width := range []int{360, 1280} {
				p.Resize(width, 900)
				p.view("/none")
				p.view(d.address)
				if d.address == "/assets" && width == 360 {
					p.Click(named("Folders and filters"))
				}
				for _, c := range d.clicks {
					p.Click(c)
				}
				p.See(d.shows)
				for _, scheme := range []string{"light", "dark"} {
					name := fmt.Sprintf("%s-%d-%s", d.name, width, scheme)
					t.Run(name, func(t *testing.T) {
						q := &person{p.For(t), w}
						q.Scheme(scheme)
						q.look(string(axe))
						if err := os.WriteFile(filepath.Join(pictures, "dialog-"+name+".png"), q.Picture(),
							0o600); err != nil {
							t.Fatal(err)
						}
					})
				}
				p.Run(new(any), `async () => { for (const d of document.querySelectorAll("dialog")) d.close(); }`)
			}
		}
	})
}

// look fails where axe-core finds something, the page is wider than the window, a short word is broken between two
// lines, a box to tick does not stand beside its label, something that nobody has touched has a red frame, a heading
// has nothing below it, or a dialog with something to type in has not its focus there.
func (p *person) look(axe string) {
	p.T.Helper()
	var found []struct {
		ID, Help string
		Nodes    []struct{ HTML, FailureSummary string }
	}
	// The driver's scripts are not bound by the page's policy, so axe-core need not be served by the page.
	p.Run(&found, `async (axe) => {
		if (!window.axe) (0, eval)(axe);
		await Promise.all(document.getAnimations()
			.map((a) => (a.effect.getTiming().iterations === Infinity ? undefined : a.finished)));
		const { violations } = await window.axe.run(document);
		return violations.map((v) => ({ id: v.id, help: v.help,
			nodes: v.nodes.map((n) => ({ html: n.html, failureSummary: n.failureSummary })) }));
	}`, axe)
	for _, f := range found {
		for _, n := range f.Nodes {
			p.T.Errorf("%s: %s\n%s\n%s", f.ID, f.Help, n.HTML, n.FailureSummary)
		}
	}
	var apart, red []string
	p.Run(&apart,
		`async () => [...document.querySelectorAll("label :is([type=checkbox], [type=radio])")].filter((input) => {
		const text = document.createRange();
		text.setStartAfter(input);
		text.setEndAfter(input.closest("label").lastChild);
		const [a, b] = [input.getBoundingClientRect(), text.getClientRects()[0]];
		return a.width > 0 && b && (b.left < a.right || b.left - a.right > 16 ||
			b.top >= a.bottom || b.bottom <= a.top);
	}).map((input) => input.closest("label").textContent)`)
	p.Run(&red, `async () => {
		const bad = document.createElement("i");
		bad.style.color = "var(--bad)";
		document.body.append(bad);
		const { color } = getComputedStyle(bad);
		bad.remove();
		return [...document.querySelectorAll(
			"input, select, textarea, fieldset, form, .card, .field, .group, .group > *")]
			.filter((x) => x.checkVisibility() && ["Top", "Left"].some((side) => {
				const style = getComputedStyle(x);
				return style["border" + side + "Style"] !== "none" && style["border" + side + "Color"] === color;
			})).map((x) => x.outerHTML.slice(0, 200));
	}`)
	if len(apart)+len(red) > 0 {
		p.T.Errorf("boxes that do not stand beside their labels: %q, red frames: %q", apart, red)
	}
	var broken []string
	p.Run(&broken, `async () => {
		const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		const word = document.createRange();
		const found = [];
		while (texts.nextNode()) {
			const { currentNode: node } = texts;
			if (!node.parentElement.checkVisibility()) continue;
			for (const { index, 0: text } of node.data.matchAll(/(?<!\S)\p{L}{2,14}(?!\S)/gu)) {
				word.setStart(node, index);
				word.setEnd(node, index + text.length);
				if (new Set([...word.getClientRects()].map((part) => part.top)).size > 1) found.push(text);
			}
		}
		return found;
	}`)
	if len(broken) > 0 {
		p.T.Errorf("words that are broken between two lines: %q", broken)
	}
	var empty []string
	p.Run(&empty, `async () => [...document.querySelectorAll("main h2")].filter((x) => x.checkVisibility() &&
		x.nextElementSibling?.offsetHeight === 0).map((x) => x.textContent)`)
	if len(empty) > 0 {
		p.T.Errorf("headings with nothing below them: %q", empty)
	}
	var focus string
	p.Run(&focus, `async () => {
		const last = [...document.querySelectorAll("dialog")].at(-1);
		return last?.querySelector("input:not([type=checkbox], [type=radio], [type=file], [readonly]), textarea")
			?.checkVisibility() ? document.activeElement.ariaLabel ?? "" : "";
	}`)
	if focus == "Close" {
		p.T.Error("the focus of a dialog is on its button to close it")
	}
	var wide int
	p.Run(&wide, `async () => Math.max(...[document.documentElement, ...document.querySelectorAll("dialog")]
		.map((x) => x.scrollWidth - x.clientWidth))`)
	if wide > 0 {
		p.T.Errorf("the page, or a dialog, is %d pixels wider than it shows", wide)
	}
}

// A token comes in a link, is taken out of the address at once, and replaces another person's only when asked.
func TestSigningIn(t *testing.T) {
	w := newWorld(t)
	b := &person{newBrowser(t), w}
	b.Resize(1280, 900)
	b.Open(w.url + "/")
	b.See(`//dialog[.//h2[.="Sign in"]]`)
	b.Click(`//dialog//summary[.="Use a token"]`)
	b.Type(`//dialog//textarea`, "nonsense"+keyTab)
	b.Click(`//dialog` + named("Sign in"))
	b.tells("You are not signed in, or your token has expired or was not copied whole.")
	b.Retype(`//dialog//textarea`,
		w.token(httpapi.Principal{Caller: vitrine.Caller{URN: bob.URN, Reads: []string{network}, TagsOnly: true,
			Tags: []string{"production"}}}))
	b.Click(`//dialog` + named("Sign in"))
	b.tells("This token is for a page that shows an app.")
	b.Retype(`//dialog//textarea`, "Bearer "+w.token(ann))
	b.Click(`//dialog` + named("Sign in"))
	b.See(`//button[contains(@class, "who") and contains(., "ann")]`)
	b.Open(w.url + "/#token=" + w.token(bob))
	b.See(`//dialog[contains(., "You are ann") and contains(., "of bob") and .//*[@title="` + bob.URN + `"]]`)
	b.Click(`//dialog` + named("Close"))
	b.See(`//button[contains(@class, "who") and contains(., "ann")]`)
	b.Open(w.url + "/#token=" + w.token(bob))
	b.Click(`//dialog` + named("Continue as bob"))
	b.See(`//button[contains(@class, "who") and contains(., "bob")]`)
	var address string
	b.Run(&address, `async () => location.href + " " + document.referrer + " " + JSON.stringify(localStorage)`)
	if strings.Contains(address, "token=") || strings.Contains(address, "eyJ") {
		t.Errorf("the token is left in %s", address)
	}
	b.Click(`//button[contains(@class, "who")]`)
	b.See(`//dialog[contains(., "You moderate") and contains(., "` + network + `")]`)
	b.Click(`//dialog` + named("Sign out"))
	b.See(`//dialog[.//h2[.="Sign in"]]`)
	t.Run("a link without a token", func(t *testing.T) {
		for _, link := range []string{"%", "%E2%82%AC", "%0A"} {
			b.Open("about:blank")
			b.Open(w.url + "/#token=" + link)
			b.See(`//dialog[.//h2[.="Sign in"]]`)
			b.See(`//dialog//*[@role="alert" or contains(@class, "toast")]`)
			b.Run(new(any), `async () => sessionStorage.clear()`)
		}
		b.Open(w.url + "/")
		b.Click(`//dialog//summary[.="Use a token"]`)
		b.Type(`//dialog//textarea`, "€")
		b.Click(`//dialog` + named("Sign in"))
		b.See(`//dialog//*[@role="alert" and contains(., "This is no token.")]`)
		b.Retype(`//dialog//textarea`, "")
	})
	t.Run("a token that has run out says so", func(t *testing.T) {
		b.Type(`//dialog//textarea`, w.tokenUntil(ann, time.Now().Add(-time.Minute)))
		b.Click(`//dialog` + named("Sign in"))
		b.See(`//dialog//*[@role="alert" and contains(., "expired")]`)
	})
}

// Where a cookie says who somebody is, the token of a link is taken only when they say so.
func TestSigningInWithACookie(t *testing.T) {
	s := newServed(t)
	api := *s.handler.Load()
	var handler http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/in" {
			http.SetCookie(w, &http.Cookie{Name: "session", Value: s.token(ann), HttpOnly: true})
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		if cookie, err := r.Cookie("session"); err == nil && r.Header.Get("Authorization") == "" {
			r.Header.Set("Authorization", "Bearer "+cookie.Value)
		}
		api.ServeHTTP(w, r)
	})
	s.handler.Store(&handler)
	p := &person{newBrowser(t), s.world}
	p.Resize(1280, 900)
	p.Open(s.world.url + "/in")
	who := func(name string) {
		t.Helper()
		p.See(`//button[contains(@class, "who") and contains(., "` + name + `")]`)
	}
	who("ann")
	link := s.world.url + "/#token="
	p.Open(link + s.token(bob))
	p.See(`//dialog[contains(., "You are ann") and contains(., "of bob")]`)
	p.Click(`//dialog` + named("Cancel"))
	who("ann")
	p.Open(link + "nonsense")
	p.See(`//*[contains(@class, "toast") and contains(., "no token that you can sign in with")]`)
	who("ann")
	p.Run(new(any), `async (hash) => { location.hash = hash; }`, "#token="+s.token(bob)) // while the page is open
	p.Click(`//dialog` + named("Continue as bob"))
	who("bob")
}
