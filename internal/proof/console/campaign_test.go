//go:build proof

package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof/postbox"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// pair is two processes that serve one store behind one address, as behind a load balancer: each request goes to the
// next of them, and to the other one if that is dead.
type pair struct {
	accounts
	args    []string
	mu      sync.Mutex
	servers [2]*program.Server
	next    int
}

func newPair(t *testing.T, args ...string) *pair {
	t.Helper()
	begin(t)
	p := &pair{}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: p.dial}
	quiet := log.New(io.Discard, "", 0) // of streams that end with their process
	front := httptest.NewServer(&httputil.ReverseProxy{Transport: transport, ErrorLog: quiet,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: "a.process"})
			r.Out.Host = r.In.Host
		}})
	t.Cleanup(front.CloseClientConnections)
	db := filepath.Join(t.TempDir(), "vitrine.db")
	p.accounts = accounts{&world{t, strings.Replace(front.URL, "127.0.0.1", "localhost", 1)}, db}
	p.args = append([]string{"serve", "-addr", "127.0.0.1:0", "-db", db, "-base-url", p.url}, args...)
	for i := range p.servers {
		p.start(i)
		t.Cleanup(func() { p.servers[i].Kill() })
	}
	return p
}

func (p *pair) dial(ctx context.Context, network, _ string) (conn net.Conn, err error) {
	p.mu.Lock()
	p.next++
	servers, first := p.servers, p.next
	p.mu.Unlock()
	for i := range servers {
		at := strings.TrimPrefix(servers[(first+i)%2].URL, "http://")
		var d net.Dialer
		var failed error
		if conn, failed = d.DialContext(ctx, network, at); failed == nil {
			return conn, nil
		}
		err = errors.Join(err, failed)
	}
	return nil, err
}

func (p *pair) start(i int) {
	p.t.Helper()
	binary, err := build()
	if err != nil {
		p.t.Fatal(err)
	}
	server, err := program.StartServer([]string{"VITRINE_KEY=" + signingKey}, binary, p.args...)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.servers[i] = server
}

// Ada plans a campaign for two apps from Friday to Monday and asks Bo by name. He is told by mail and by the bell,
// looks at the page as it will be, and comments at a field. She answers and mends, somebody without an account sees the
// draft until she revokes the link, and Bo approves. Brought forward, the campaign goes live and ends by itself, once,
// while the two processes of the store are killed in turn.
func TestACampaignByThreePeople(t *testing.T) {
	box := postbox.New(t, "", postbox.Options{})
	w := newPair(t, "-smtp", "smtp://"+box.Addr, "-approve", "production=1:independent")
	at := scripts(t, map[string]string{"/text.js": script})
	w.request(ann, "POST", "/components",
		fmt.Sprintf(`{"name":"text","version":"1.0.0","main":"%s/text.js","configSchema":%s}`, at, textSchema))
	titles := []string{"Shop", "Blog"}
	var ids, moves []string
	for _, title := range titles {
		ids = append(ids, w.newApp(title, element("text", `{"text":"Autumn"}`)))
		moves = append(moves, fmt.Sprintf(`{"app":%q,"tag":"production","to":"0"}`, ids[len(ids)-1]))
	}
	var first struct{ ID string }
	made := w.request(ann, "POST", "/x/releases", `{"name":"Autumn","moves":[`+strings.Join(moves, ",")+`]}`)
	if err := json.Unmarshal(made, &first); err != nil {
		t.Fatal(err)
	}
	w.request(bob, "POST", "/x/releases/"+first.ID+"/approve", `{"version":"0"}`)
	w.request(ann, "POST", "/x/releases/"+first.ID+"/run", `{"version":"1"}`)
	come := func(name string) *person {
		t.Helper()
		p, _ := w.newcomer()
		mail := strings.ToLower(strings.Fields(name)[0]) + "@host.example"
		p.accept(w.invite("-name", name, "-moderates", network, "-email", mail, "-base-url", w.url), name)
		return p
	}
	ada, bo := come("Ada Berg"), come("Bo Lund")

	// She prepares both apps, and plans from Friday to Monday.
	for i, text := range []string{"Wintr sale", "Winter is here"} {
		ada.view("/apps/" + ids[i])
		ada.holds(`//textarea[@aria-label="Title"]`, titles[i])
		ada.Retype(field("Text"), text)
		ada.saved(1)
	}
	ada.view("/releases")
	ada.Click(named("New release"))
	ada.See(`//dialog//p[contains(., "2 apps with changes that are not live")]`)
	ada.Click(`//dialog` + named("Choose apps"))
	ada.Type(field("Name"), "Winter campaign")
	ada.Click(`//dialog//label[contains(., "All of these")]`)
	ada.Click(`//dialog//summary[.="At a time"]`)
	const day = 24 * 60 * 60
	friday := (int(time.Friday-time.Now().Weekday())+6)%7 + 1
	ada.setTime("Runs at", friday*day)
	ada.setTime("Ends at", (friday+3)*day)
	ada.picture("campaign-1-plan")
	ada.Click(`//dialog` + named("Make the release"))
	ada.See(`//h1[.="Winter campaign"]`)
	ada.See(`//p[contains(., "It ends, and its moves are undone, at")]`)
	release := ada.release()

	// She asks him by name. His bell tells it at once, and a mail leads to the release.
	ada.Click(named("Ask somebody"))
	ada.Click(`//dialog//*[contains(text(), "Bo Lund")]`)
	ada.See(`//p[contains(., "Asked:") and contains(., "Bo Lund")]`)
	ada.picture("campaign-2-asked")
	bell := `//a[contains(@class, "bell")]`
	bo.See(bell + `[contains(., "1")]`)
	mail := box.Wait(t, 1)[0]
	if mail.To != "bo@host.example" || !strings.Contains(mail.Text, "Ada Berg") ||
		!strings.Contains(mail.Text, "Winter campaign") || strings.Contains(mail.Text, "Wintr") {
		t.Errorf("the mail to %s: %s", mail.To, mail.Text)
	}
	bo.Click(bell)
	bo.See(`//li[contains(., "Winter campaign") and contains(., "Ada Berg")]`)
	bo.Open(link(t, mail, "#"+release))

	// He looks at the page as it will be, and comments at the field.
	shop := `//article[contains(@aria-label, "Shop")]`
	bo.See(`//h1[.="Winter campaign"]`)
	bo.Click(shop + named("Show it as it will be"))
	bo.Click(`//dialog` + named("Show the preview"))
	bo.seesInFrame("Wintr sale 3")
	bo.picture("campaign-3-as-it-will-be")
	bo.Click(`//dialog` + named("Close"))
	bo.Click(shop + `//a[.="Shop"]`)
	bo.Click(field("Text"))
	bo.Click(`//button[.="Comments"]`)
	bo.See(`//aside[@aria-label="Comments"]//option[contains(., "Element 1") and contains(., "› Text")]`)
	bo.Type(`//aside[@aria-label="Comments"]/form//textarea`, "An e is missing.")
	bo.Click(named("Mention somebody"))
	bo.Click(`//dialog//*[contains(text(), "Ada Berg")]`)
	bo.Click(`//aside[@aria-label="Comments"]/form//button[.="Comment"]`)
	bo.See(`//aside//article[contains(., "An e is missing.")]`)
	bo.See(`//ol[@aria-label="Elements"]//button[@aria-label="Show 1 comment"]`)
	bo.picture("campaign-4-comment")

	// Somebody without an account sees the draft.
	ada.Click(shop + named("Link to show"))
	ada.Click(`//dialog` + named("Make the link"))
	ada.See(`//dialog//li[contains(., "The version of a release")]`)
	var shown string
	ada.Run(&shown, `() => document.querySelector("dialog pre").textContent`)
	ada.Click(`//dialog` + named("Close"))
	visitor := &person{newBrowser(t), w.world}
	visitor.Prelude(`const later = window.setTimeout; ` +
		`window.setTimeout = (f, ms, ...args) => later(f, ms === 60_000 ? ` +
		`500 : ms, ...args)`)
	visitor.Resize(1280, 900)
	visitor.Open(shown)
	visitor.seesInFrame("Wintr sale 3")
	visitor.picture("campaign-5-link")

	// She is told, answers, mends the text, and has the release move to it.
	mention := box.Wait(t, 2)[1]
	if mention.To != "ada@host.example" || strings.Contains(mention.Text, "missing") {
		t.Errorf("the mail to %s: %s", mention.To, mention.Text)
	}
	ada.See(bell + `[contains(., "1")]`)
	ada.Click(bell)
	ada.See(`//ul[@class="inbox"]//li[contains(., "A comment mentions you") and contains(., "Bo Lund")]`)
	ada.picture("campaign-6-bell")
	ada.Click(`//ul[@class="inbox"]//a`)
	ada.Type(`//aside//article//textarea[@aria-label="Reply"]`, "It is there now.")
	ada.Click(`//aside//article//button[.="Reply"]`)
	bo.See(`//aside//article//*[@class="reply"]//p[.="It is there now."]`)
	ada.Retype(field("Text"), "Winter sale")
	ada.saved(2)
	ada.Click(`//aside//article//button[.="Resolve"]`)
	bo.See(`//aside//*[contains(., "There are no open comments")]`)
	ada.See(bell + `[@aria-label="Nothing waits for you"]`)
	ada.view(release)
	ada.Click(named("Edit"))
	ada.Click(`//dialog` + named("Another version of Shop for production"))
	ada.Click(`//dialog//label[contains(., "Version 2")]`)
	ada.Click(`//dialog` + named("Go on"))
	ada.See(`//dialog//label[contains(., "Shop") and contains(., "version 0 → version 2")]`)
	ada.picture("campaign-7-edit")
	ada.Click(`//dialog` + named("Save"))
	ada.See(shop + `//p[contains(., "version 0 → version 2")]`)
	visitor.seesInFrame("Winter sale 3")
	ada.Click(shop + named("Link to show"))
	ada.Click(`//dialog//button[starts-with(@aria-label, "Revoke the link")]`)
	visitor.See(`//h1[.="This link shows nothing"]`)
	visitor.Until(`() => !document.querySelector("iframe")`)
	visitor.picture("campaign-8-revoked")
	ada.Click(`//dialog` + named("Close"))

	// He approves, and she brings it forward.
	bo.view(release)
	bo.See(shop + `//p[contains(., "version 0 → version 2")]`)
	bo.Click(named("Approve"))
	ada.See(`//p[contains(., "Approved by") and contains(., "Bo Lund")]`)
	ada.See(bell + `[contains(., "1")]`)
	bo.See(bell + `[@aria-label="Nothing waits for you"]`)
	w.campaign(ids, "0", "0")
	ada.Click(named("Change the time"))
	ada.setTime("Runs at", 15)
	ada.setTime("Ends at", 60)
	ada.Click(`//dialog` + named("Schedule"))
	ada.See(`//p[starts-with(., "It runs at") and contains(., "just now")]`)
	ada.See(`//p[contains(., "Approved by") and contains(., "Bo Lund")]`)

	// It goes live and ends by itself. Of the two processes one is dead each time, so each has to do one of them.
	w.servers[0].Kill()
	for _, p := range []*person{ada, bo} {
		p.See(`//*[contains(@class, "chip") and .="done"]`)
	}
	ada.picture("campaign-9-live")
	w.campaign(ids, "2", "1")
	if app := string(w.request(cleo, "GET", "/apps/"+ids[0]+"/tagged/production", "")); !strings.Contains(app,
		"Winter sale") {
		t.Errorf("live is %s", app)
	}
	w.start(0)
	w.servers[1].Kill()
	for _, p := range []*person{ada, bo} {
		p.See(`//*[contains(@class, "chip") and .="ended"]`)
	}
	ada.picture("campaign-10-ended")
	w.start(1)
	w.campaign(ids, "0", "0")
	for _, id := range ids {
		var history struct{ Moves []struct{ To string } }
		if w.reads("/apps/"+id+"/tags/production/history", &history); len(history.Moves) != 3 {
			t.Errorf("the tag has moved thus: %+v; want once at first, once to live and once back", history.Moves)
		}
	}
}

// campaign fails unless production of each app points to its version.
func (w *world) campaign(ids []string, versions ...string) {
	w.t.Helper()
	for i, id := range ids {
		w.points(id, "production", versions[i])
	}
}
