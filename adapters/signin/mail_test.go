package signin_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// post is a server whose people work on apps, and what it mails.
type post struct {
	*world
	apps *appsvc.Service

	mu    sync.Mutex
	err   error // of the next mails
	tried int
	mails []signin.Mail
	slow  atomic.Int64 // nanoseconds that a mail takes
	ahead atomic.Int64 // nanoseconds
}

const secretText = "what the comment says"

// posting calls test with a server in a bubble of time, in which mails are sent.
func posting(t *testing.T, test func(t *testing.T, p *post)) {
	synctest.Test(t, func(t *testing.T) {
		p := &post{}
		p.world = newWorld(t, "https://host.example", func(o *signin.Options) { o.Mail, o.Now = p.send, p.clock })
		p.apps = appsvc.New(p.db, &appsvc.Options{Rights: p.people.Rights, People: p.people.Namesakes})
		ctx, stop := context.WithCancel(t.Context())
		var ended sync.WaitGroup
		ended.Go(func() { p.people.SendMails(ctx, p.apps) })
		synctest.Wait()
		test(t, p)
		stop()
		ended.Wait()
		for fault, err := range signin.Maintenance(true).Audit(t.Context(), p.db) {
			t.Error(fault, err)
		}
		for _, secret := range []string{"@", "#invite", secretText} {
			if strings.Contains(p.log.String(), secret) {
				t.Errorf("the log has %q: %s", secret, p.log)
			}
		}
		_ = p.db.Close()
		synctest.Wait()
	})
}

func (p *post) clock() time.Time { return time.Now().Add(time.Duration(p.ahead.Load())) }

// send is the mail server.
func (p *post) send(ctx context.Context, m signin.Mail) error {
	time.Sleep(time.Duration(p.slow.Load()))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tried++; p.err != nil {
		return p.err
	}
	p.mails = append(p.mails, m)
	return ctx.Err()
}

// fails sets what becomes of the next mails.
func (p *post) fails(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
}

// after returns the mails that are sent within a time.
func (p *post) after(d time.Duration) []signin.Mail {
	time.Sleep(d)
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	mails := p.mails
	p.mails = nil
	return mails
}

// person makes a person with an address, and returns a session of theirs in Go.
func (p *post) person(name string, rights signin.Rights) *appsvc.Session {
	p.t.Helper()
	urn := network + ":user=" + name
	_, err := p.people.Invite(p.t.Context(), signin.Invitation{URN: urn, Name: strings.ToUpper(name[:1]) + name[1:],
		Email: name + "@host.example", Rights: rights})
	if err != nil {
		p.t.Fatal(err)
	}
	by, _, err := p.people.Rights(p.t.Context(), urn)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.apps.As(by)
}

func (p *post) app(s *appsvc.Session, title string, groups ...string) string {
	p.t.Helper()
	app, err := s.CreateApp(p.t.Context(), appsvc.CreateAppRequest{Title: title, Groups: groups})
	if err != nil {
		p.t.Fatal(err)
	}
	return app.ID
}

func (p *post) mention(s *appsvc.Session, app string, names ...string) appsvc.Comment {
	p.t.Helper()
	in := appsvc.CreateCommentRequest{AppID: app, Text: secretText}
	for _, name := range names {
		in.Mentions = append(in.Mentions, network+":user="+name)
	}
	c, err := s.CreateComment(p.t.Context(), in)
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

func (p *post) ask(s *appsvc.Session, app, name string, asked ...string) appsvc.Release {
	p.t.Helper()
	in := appsvc.CreateReleaseRequest{Name: name, Note: secretText,
		Moves: []appsvc.ReleaseMove{{AppID: app, Tag: "live", To: appsvc.PointsTo(vitrine.NewVersion(0))}}}
	for _, a := range asked {
		in.Ask = append(in.Ask, network+":user="+a)
	}
	rel, err := s.CreateRelease(p.t.Context(), in)
	if err != nil {
		p.t.Fatal(err)
	}
	return rel
}

var everywhere = signin.Rights{Moderates: []string{network}}

// A mail says who asks and who mentions, in what, and leads there. What comes within a minute comes in one mail.
func TestMailsTellWhatWaits(t *testing.T) {
	posting(t, func(t *testing.T, p *post) {
		ann := p.person("ann", everywhere)
		p.person("lea", everywhere)
		app := p.app(ann, "Mr. X. Start \u202epage\r\nBcc: x", network)
		c := p.mention(ann, app, "lea", "ann")
		mails := p.after(time.Second)
		want := "Hello Lea,\n\nAnn mentions you in a comment on the app “Mr. X. Start page Bcc: x”.\n" +
			"https://host.example/#/apps/" + app + "?comments=1\n\n" +
			"Mails can be switched off in your account:\nhttps://host.example/#/account\n"
		if len(mails) != 1 || mails[0].Text != want || mails[0].Address != "lea@host.example" ||
			mails[0].Subject != "Ann mentions you in a comment on the app “Mr. X. Start page Bcc: x”" ||
			mails[0].Name != "Lea" {
			t.Fatalf("%+v, want %q", mails, want)
		}
		rel := p.ask(ann, app, "Summer", "lea")
		p.ask(ann, app, "", "lea")
		if _, err := ann.ReplyToComment(t.Context(), appsvc.ReplyRequest{AppID: app, Comment: c.ID, Text: secretText,
			Mentions: []string{network + ":user=lea"}}); err != nil { // for the second time: it tells nothing
			t.Fatal(err)
		}
		if mails := p.after(50 * time.Second); len(mails) > 0 {
			t.Errorf("within a minute: %+v", mails)
		}
		mails = p.after(10 * time.Second)
		if len(mails) != 1 || mails[0].Subject != "2 things wait for you at host.example" ||
			!strings.Contains(mails[0].Text, "Ann asks you to approve the release “Summer”.\n"+
				"https://host.example/#/releases/"+rel.ID+
				"\n\nAnn asks you to approve the release without a name.\n") ||
			strings.Contains(mails[0].Text, "comment") {
			t.Errorf("%+v", mails)
		}
		// A change that asks nobody anew mails nobody.
		in := appsvc.UpdateReleaseRequest{ID: rel.ID, Version: rel.Version, Name: "Autumn", Moves: rel.Moves,
			Ask: rel.Ask}
		if _, err := ann.UpdateRelease(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if mails := p.after(time.Hour); len(mails) > 0 {
			t.Errorf("%+v", mails)
		}
		for key := range everything(t, p.db) {
			if strings.Contains(key, "mailbox/") || strings.Contains(key, "maildue/") {
				t.Errorf("%q is left", key)
			}
		}
	})
}

// Whatever a person may not know any more when a mail is sent is not in it, though it was when it was caused.
func TestRightsAreJudgedWhenAMailIsSent(t *testing.T) {
	for name, change := range map[string]func(p *post, ann *appsvc.Session, app string, c appsvc.Comment,
		r appsvc.Release) error{
		"nothing": nil,
		"may not read": func(p *post, _ *appsvc.Session, _ string, _ appsvc.Comment, _ appsvc.Release) error {
			p.person("lea", signin.Rights{Moderates: []string{other}})
			return nil
		},
		"may only read": func(p *post, _ *appsvc.Session, _ string, _ appsvc.Comment, _ appsvc.Release) error {
			p.person("lea", signin.Rights{Reads: []string{network}})
			return nil
		},
		"disabled":     patched(`{"disabled":true}`),
		"no address":   patched(`{"email":""}`),
		"another name": patched(`{"name":"Leah"}`),
		"switched off": func(p *post, _ *appsvc.Session, _ string, _ appsvc.Comment, _ appsvc.Release) error {
			p.tokenOf("lea").want(200, "PUT", "/x/me/mail", `{"off":true}`)
			return nil
		},
		"deleted person": func(p *post, _ *appsvc.Session, _ string, _ appsvc.Comment, _ appsvc.Release) error {
			b := p.invited("Admin", signin.Rights{Admin: true})
			b.want(204, "DELETE", "/x/people/"+idOf(b, "Lea"), nil)
			return nil
		},
		"resolved": func(p *post, ann *appsvc.Session, app string, c appsvc.Comment, _ appsvc.Release) error {
			resolved := true
			_, err := ann.UpdateComment(p.t.Context(),
				appsvc.UpdateCommentRequest{AppID: app, ID: c.ID, Resolved: &resolved})
			return err
		},
		"cancelled": func(p *post, ann *appsvc.Session, _ string, _ appsvc.Comment, r appsvc.Release) error {
			_, err := ann.CancelRelease(p.t.Context(), r.ID, r.Version)
			return err
		},
		"not asked any more": func(p *post, ann *appsvc.Session, _ string, _ appsvc.Comment, r appsvc.Release) error {
			_, err := ann.UpdateRelease(p.t.Context(), appsvc.UpdateReleaseRequest{ID: r.ID, Version: r.Version,
				Name: r.Name, Moves: r.Moves})
			return err
		},
		"erased app": func(p *post, ann *appsvc.Session, app string, _ appsvc.Comment, r appsvc.Release) error {
			_, err := ann.CancelRelease(p.t.Context(), r.ID, r.Version)
			if err == nil {
				err = ann.DeleteApp(p.t.Context(), app)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			posting(t, func(t *testing.T, p *post) {
				rules := []appsvc.TagRule{{Name: "live", Approvals: 1}}
				if err := p.apps.SetTagRules(t.Context(), rules); err != nil {
					t.Fatal(err)
				}
				ann := p.person("ann", everywhere)
				p.person("lea", everywhere)
				app := p.app(ann, "Start", network)
				p.fails(errors.New("the server is down"))
				c, rel := p.mention(ann, app, "lea"), p.ask(ann, app, "Summer", "lea")
				p.after(time.Second)
				if change != nil {
					if err := change(p, ann, app, c, rel); err != nil {
						t.Fatal(err)
					}
				}
				p.fails(nil)
				text := ""
				for _, m := range p.after(time.Minute) {
					text += m.Text
				}
				asked, mentioned := strings.Contains(text, "Summer"), strings.Contains(text, "Start")
				wantAsked := slices.Contains([]string{"nothing", "another name", "resolved"}, name)
				wantMentioned := slices.Contains([]string{"nothing", "another name", "cancelled", "not asked any more",
					"may only read"}, name)
				if asked != wantAsked || mentioned != wantMentioned || p.tried == 0 {
					t.Errorf("asked %v, mentioned %v after %d attempts: %s", asked, mentioned, p.tried, text)
				}
			})
		})
	}
}

// patched changes Lea as an administrator does.
func patched(body string) func(*post, *appsvc.Session, string, appsvc.Comment, appsvc.Release) error {
	return func(p *post, _ *appsvc.Session, _ string, _ appsvc.Comment, _ appsvc.Release) error {
		b := p.invited("Admin", signin.Rights{Admin: true})
		b.want(200, "PATCH", "/x/people/"+idOf(b, "Lea"), body)
		return nil
	}
}

// idOf returns the id of the person with a name.
func idOf(b *browser, name string) string {
	b.t.Helper()
	list, _ := b.want(200, "GET", "/x/people/?q="+name, nil).value("people").([]any)
	if len(list) != 1 {
		b.t.Fatalf("there are %d people called %s", len(list), name)
	}
	id, _ := list[0].(object)["id"].(string)
	return id
}

// A mail that cannot be sent is tried for a day, ever more rarely, and one that is not accepted once.
func TestFailuresAreRetriedForADay(t *testing.T) {
	posting(t, func(t *testing.T, p *post) {
		ann := p.person("ann", everywhere)
		p.person("lea", everywhere)
		p.person("tom", everywhere)
		app := p.app(ann, "Start", network)
		p.fails(errors.New("the server is down"))
		p.mention(ann, app, "lea")
		p.after(25 * time.Hour)
		if p.tried < 90 || p.tried > 120 {
			t.Errorf("%d attempts", p.tried)
		}
		p.fails(nil)
		p.mention(ann, app, "tom")
		if mails := p.after(time.Hour); len(mails) != 1 || mails[0].Name != "Tom" {
			t.Errorf("after a day: %+v", mails)
		}
		before := p.tried
		p.fails(fmt.Errorf("%w: 550", signin.ErrRejected))
		p.mention(ann, app, "lea")
		p.after(time.Hour)
		p.fails(nil)
		if mails := p.after(25 * time.Hour); p.tried != before+1 || len(mails) > 0 {
			t.Errorf("%d attempts at a mail that was not accepted, and %+v", p.tried-before, mails)
		}
		p.mention(ann, app, "lea")
		if mails := p.after(time.Minute); len(mails) != 1 {
			t.Errorf("the next one: %+v", mails)
		}
	})
}

// A record that cannot be read keeps the mails from those alone whom it is about.
func TestADamagedRecordStopsNoMailsOfOthers(t *testing.T) {
	posting(t, func(t *testing.T, p *post) {
		ann := p.person("ann", everywhere)
		p.person("lea", everywhere)
		p.person("tom", everywhere)
		app := p.app(ann, "Start", network)
		c := p.mention(ann, app, "lea")
		p.after(time.Second)
		key := "apps comment/" + app + " " + keyval.Number(1)
		put := func(value string) {
			err := p.db.Update(t.Context(), "apps", storage.UpdateOptions{}, func(tx storage.Tx) error {
				return tx.Put(t.Context(), storage.Entry{Key: key, Value: []byte(value)})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		whole := everything(t, p.db)[key]
		if c.ID != "1" || whole == "" {
			t.Fatalf("comment %q has no record %q", c.ID, key)
		}
		put("{")
		other := p.app(ann, "Other", network)
		p.mention(ann, other, "lea")
		p.after(2 * time.Minute) // Lea's mail is due
		p.mention(ann, other, "tom")
		if mails := p.after(2 * time.Minute); len(mails) != 1 || mails[0].Name != "Tom" {
			t.Errorf("while a record is damaged: %+v", mails)
		}
		put(whole)
		if mails := p.after(2 * time.Minute); len(mails) != 1 || mails[0].Name != "Lea" {
			t.Errorf("when it is whole again: %+v", mails)
		}
	})
}

// A clock that was ahead once holds up neither mails nor invitations.
func TestAClockThatWasAhead(t *testing.T) {
	posting(t, func(t *testing.T, p *post) {
		p.ahead.Store(int64(365 * 24 * time.Hour))
		b := p.invited("Ann", everywhere)
		ann := p.person("bob", everywhere)
		app := p.app(ann, "Start", network)
		made := b.want(201, "POST", "/x/people/", object{"name": "Lea", "email": "lea@host.example"})
		path := "/x/people/" + made.text("id") + "/invite"
		for range 20 {
			b.want(201, "POST", path, object{})
		}
		if mails := p.after(time.Second); len(mails) == 0 {
			t.Fatal("no invitation is mailed")
		}
		b.want(200, "PATCH", "/x/people/"+made.text("id"), object{"moderates": []string{network}})
		p.ahead.Store(0)
		b.want(201, "POST", path, object{})
		_, err := ann.CreateComment(t.Context(), appsvc.CreateCommentRequest{AppID: app, Text: secretText,
			Mentions: []string{made.text("urn")}})
		if err != nil {
			t.Fatal(err)
		}
		if mails := p.after(15 * time.Minute); len(mails) == 0 {
			t.Error("nothing is mailed when the clock is right again")
		}
	})
}

// A mail server that takes its time holds up no request, and the next mails wait.
func TestASlowServer(t *testing.T) {
	posting(t, func(t *testing.T, p *post) {
		p.slow.Store(int64(time.Hour)) // longer than it may take: the fake does not look at its context
		ann := p.person("ann", everywhere)
		p.person("lea", everywhere)
		begun := time.Now()
		p.mention(ann, p.app(ann, "Start", network), "lea")
		if d := time.Since(begun); d > 0 {
			t.Errorf("the request took %v", d)
		}
		p.after(time.Hour)
		p.slow.Store(0)
		if mails := p.after(2 * time.Hour); len(mails) == 0 {
			t.Error("nothing was sent")
		}
	})
}

// Of two processes one sends, and when it ends, the other one goes on.
func TestTwoProcessesSend(t *testing.T) {
	posting(t, func(t *testing.T, p *post) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var ended sync.WaitGroup
		ended.Go(func() { p.people.SendMails(ctx, p.apps) })
		ann := p.person("ann", everywhere)
		app := p.app(ann, "Start", network)
		total := 0
		for i := range 10 {
			name := "p" + strconv.Itoa(i)
			p.person(name, everywhere)
			p.mention(ann, app, name)
			if total += len(p.after(time.Second)); i == 5 {
				stop()
				ended.Wait()
			}
		}
		if total += len(p.after(time.Minute)); total != 10 {
			t.Errorf("%d mails, want 10", total)
		}
	})
}

// An invitation is mailed with a link of its own, which is as good as the one that the inviter has.
func TestInvitationsAreMailed(t *testing.T) {
	posting(t, func(t *testing.T, p *post) {
		b := p.invited("Ann", signin.Rights{Admin: true})
		made := b.want(201, "POST", "/x/people/", object{"name": "Lea", "email": "lea@host.example"})
		path := "/x/people/" + made.text("id") + "/invite"
		p.fails(errors.New("the connection broke"))
		told := b.want(201, "POST", path, object{})
		p.after(time.Second)
		p.fails(nil)
		mails := p.after(time.Minute)
		if len(mails) != 1 || mails[0].Subject != "Ann invites you to host.example" || told.text("mailed") != "true" ||
			strings.Contains(mails[0].Text, "account") {
			t.Fatalf("%+v after %s", mails, told.body)
		}
		link := linkIn(mails[0])
		if link == told.text("link") || strings.Contains(fmt.Sprint(everything(t, p.db)), link[len(link)-40:]) {
			t.Error("the store has the secret of the link")
		}
		secret := func(link string) object { return object{"invitation": link[strings.Index(link, "=")+1:]} }
		b.want(200, "POST", "/x/signin/invitation", secret(told.text("link")))
		lea := p.browser()
		lea.accept(link)
		for _, link := range []string{link, told.text("link")} {
			b.want(404, "POST", "/x/signin/invitation", secret(link))
		}
		if n := strings.Count(fmt.Sprint(everything(t, p.db)), "people invitation/"); n > 0 {
			t.Errorf("%d links are left", n)
		}

		// Who was invited anew before the mail is sent gets the new invitation alone, and who needs none gets none.
		b.confirm()
		p.fails(errors.New("the connection broke"))
		b.want(201, "POST", path, object{})
		p.after(time.Second)
		latest := b.want(201, "POST", path, object{})
		p.fails(nil)
		mails = p.after(time.Minute)
		if len(mails) != 1 || strings.Count(mails[0].Text, "#invite=") != 1 {
			t.Errorf("%+v", mails)
		}
		p.fails(errors.New("the connection broke"))
		again := b.want(201, "POST", path, object{}).text("link")
		b.want(404, "POST", "/x/signin/invitation", secret(latest.text("link")))
		b.want(404, "POST", "/x/signin/invitation", secret(linkIn(mails[0])))
		p.browser().accept(again)
		p.fails(nil)
		if mails := p.after(time.Hour); len(mails) > 0 {
			t.Errorf("after the invitation was used: %+v", mails)
		}
	})
}

// linkIn returns the link of an invitation in a mail.
func linkIn(m signin.Mail) string {
	_, rest, _ := strings.Cut(m.Text, "\nhttps://")
	line, _, _ := strings.Cut(rest, "\n")
	return "https://" + line
}

// A person mails 20 invitations an hour. Those without an address, or who want no mails, get none, and do not count.
func TestInvitationsAreLimited(t *testing.T) {
	posting(t, func(t *testing.T, p *post) {
		ann := p.invited("Ann", signin.Rights{Admin: true})
		tom := p.invited("Tom", signin.Rights{Admin: true})
		id := func(name, email string) string {
			return "/x/people/" + ann.want(201, "POST", "/x/people/", object{"name": name, "email": email}).text("id")
		}
		without := id("Without", "")
		paths := []string{}
		for i := range 21 {
			paths = append(paths, id(fmt.Sprint("P", i), fmt.Sprint("p", i, "@host.example")))
		}
		for i, path := range paths[:20] {
			ann.confirm()
			a := ann.want(201, "POST", path+"/invite", object{})
			b := ann.want(201, "POST", without+"/invite", object{})
			if a.text("mailed") != "true" || b.text("mailed") != "false" {
				t.Fatalf("%d: %s and %s", i, a.body, b.body)
			}
			time.Sleep(time.Minute)
		}
		ann.confirm()
		refused := ann.want(429, "POST", paths[20]+"/invite", object{})
		if wait, _ := strconv.Atoi(refused.header.Get("Retry-After")); refused.text("code") != "too_many" ||
			wait < 2300 || wait > 2401 || !strings.Contains(refused.text("error"), "20 invitations") {
			t.Errorf("%s, again in %d s", refused.body, wait)
		}
		if inv := ann.want(200, "GET", paths[20], nil).value("invitation"); inv != nil {
			t.Errorf("the refused invitation is there: %v", inv)
		}
		ann.want(201, "POST", without+"/invite", object{})
		tom.confirm()
		tom.want(201, "POST", paths[20]+"/invite", object{})
		time.Sleep(41 * time.Minute)
		ann.confirm()
		ann.want(201, "POST", paths[20]+"/invite", object{})
		if mails := p.after(time.Minute); len(mails) != 22 {
			t.Errorf("%d mails, want 22", len(mails))
		}
	})
}

// Whoever chooses the address of a person gets their mails and the link of their next invitation.
func TestAddressesOfOwnersStay(t *testing.T) {
	posting(t, func(t *testing.T, p *post) {
		admin := p.invited("Admin", signin.Rights{Admin: true})
		mod := p.invited("Mod", everywhere)
		lea := p.invited("Lea", signin.Rights{})
		path := "/x/people/" + lea.id()
		mod.want(403, "PATCH", path, `{"email":"mod@host.example"}`)
		mod.want(200, "PATCH", path, `{"name":"Leah"}`)
		lea.want(200, "PATCH", path, `{"email":"lea@host.example"}`)
		admin.want(200, "PATCH", path, `{"email":"leah@host.example"}`)
		mod.want(200, "PATCH", path, `{"email":"leah@host.example","name":"Lea"}`)
		fresh := mod.want(201, "POST", "/x/people/", object{"name": "New"}).text("id")
		mod.want(200, "PATCH", "/x/people/"+fresh, `{"email":"new@host.example"}`)
	})
}

// tokenOf returns a program with a token of a person.
func (p *post) tokenOf(name string) *browser {
	return p.as(vitrine.Caller{URN: network + ":user=" + name})
}

// A person switches mails off, with a session or a token; a key does not. Without mails there is no such path.
func TestTheSwitch(t *testing.T) {
	posting(t, func(t *testing.T, p *post) {
		b := p.invited("Lea", everywhere)
		if off := b.want(200, "GET", "/x/signin", nil).text("session.mail.off"); off != "false" {
			t.Errorf("session.mail.off is %q", off)
		}
		if a := b.want(200, "GET", "/x/me/mail", nil); string(a.body) != `{"off":false}` {
			t.Errorf("%s", a.body)
		}
		if a := b.want(200, "PUT", "/x/me/mail", `{"off":true}`); string(a.body) != `{"off":true}` {
			t.Errorf("%s", a.body)
		}
		if off := b.want(200, "GET", "/x/signin", nil).text("session.mail.off"); off != "true" {
			t.Errorf("session.mail.off is %q", off)
		}
		for _, body := range []string{`{}`, `{"off":null}`, `{"off":1}`, `{"off":true,"on":false}`, `[]`} {
			b.want(400, "PUT", "/x/me/mail", body)
		}
		key := b.want(201, "POST", "/x/keys/",
			object{"name": "k", "kind": "secret", "owner": true, "moderates": []string{network}})
		for _, method := range []string{"GET", "PUT"} {
			p.withToken(key.text("key")).want(403, method, "/x/me/mail", body(method))
			p.tokenOf("nobody").want(403, method, "/x/me/mail", body(method))
			p.browser().want(401, method, "/x/me/mail", body(method))
		}
		p.person("tom", everywhere)
		p.tokenOf("tom").want(200, "PUT", "/x/me/mail", `{"off":true}`)
		if a := p.tokenOf("tom").want(200, "GET", "/x/me/mail", nil); a.text("off") != "true" {
			t.Errorf("%s", a.body)
		}
	})
	w := newWorld(t, "https://host.example")
	b := w.invited("Lea", everywhere)
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		b.want(404, method, "/x/me/mail", body(method))
	}
	if s := string(b.want(200, "GET", "/x/signin", nil).body); strings.Contains(s, "mail\":{") {
		t.Errorf("%s", s)
	}
	made := b.want(201, "POST", "/x/people/", object{"name": "New", "email": "new@host.example"})
	invited := b.want(201, "POST", "/x/people/"+made.text("id")+"/invite", object{})
	if strings.Contains(string(invited.body), "mailed") {
		t.Errorf("%s", invited.body)
	}
}

func body(method string) any {
	if method == "PUT" {
		return `{"off":true}`
	}
	return nil
}

// A copy of a store through an archive sends nothing again.
func TestMailboxesAreNotArchived(t *testing.T) {
	posting(t, func(t *testing.T, p *post) {
		p.fails(errors.New("the server is down"))
		ann := p.person("ann", everywhere)
		p.person("lea", everywhere)
		p.mention(ann, p.app(ann, "Start", network), "lea")
		p.after(time.Second)
		found := 0
		for key := range everything(t, p.db) {
			if !strings.Contains(key, "mail") {
				continue
			}
			if found++; !slices.ContainsFunc(signin.Maintenance(true).NotArchived, func(prefix string) bool {
				return strings.HasPrefix(key, prefix)
			}) && key != "follow position/mail" && key != "follow lease/mail" {
				t.Errorf("archives have %q", key)
			}
		}
		if found < 4 {
			t.Errorf("%d records are about mails", found)
		}
	})
}
