package signin_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/signin"
)

const localBase = "http://localhost:8080"

// The first administrator comes by the command line, invites another person, gives her a group and takes it away.
func TestFromAnEmptyStoreToASecondPerson(t *testing.T) {
	w := newWorld(t, localBase)
	if got := w.browser().send("GET", "/x/signin", nil); got.text("people") != "false" ||
		got.text("origin") != localBase || got.value("session") != nil {
		t.Errorf("before anybody: %s", got.body)
	}
	ann := w.invited("Ann", signin.Rights{Admin: true})
	me := ann.want(200, "GET", "/x/me", nil)
	if !strings.HasPrefix(me.text("urn"), network+":user=") || me.text("moderates") != `["`+network+`"]` ||
		me.text("components") != "true" {
		t.Errorf("me: %s", me.body)
	}
	made := ann.want(201, "POST", "/x/people/", object{"name": "Bea", "email": "bea@example.test"})
	bea := "/x/people/" + made.text("id")
	link := ann.want(201, "POST", bea+"/invite", object{})
	if !strings.HasPrefix(link.text("link"), localBase+"/#invite=in_") {
		t.Fatalf("the link: %s", link.body)
	}
	b := w.browser()
	b.accept(link.text("link"))
	ann.want(200, "PATCH", bea, object{"moderates": []string{network + ":site=news"}})
	b.want(201, "POST", "/apps/", object{"title": "Hello", "groups": []string{network + ":site=news"}})
	names := ann.want(200, "GET", "/x/people/?urn="+made.text("urn"), nil)
	if names.text("people") != `[{"name":"Bea","urn":"`+made.text("urn")+`"}]` {
		t.Errorf("names: %s", names.body)
	}
	ann.want(200, "PATCH", bea, object{"moderates": []string{}})
	b.want(403, "POST", "/apps/", object{"title": "Hello", "groups": []string{network + ":site=news"}})
	ann.want(200, "PATCH", bea, object{"disabled": true})
	b.want(401, "GET", "/x/me", nil)
	if log := w.log.String(); !strings.Contains(log, "msg=access") || strings.Contains(log, "bea@") {
		t.Errorf("the log: %s", log)
	}
}

func TestSigningInAgainAndOut(t *testing.T) {
	w := newWorld(t, "https://apps.example.test/base")
	w.base = "https://apps.example.test"
	ann := w.invited("Ann", signin.Rights{Admin: true})
	first := ann.cookies["__Host-vitrine"]
	if len(first) != 43 {
		t.Fatalf("cookies: %v", ann.cookies)
	}
	ann.cookies = map[string]string{}
	got := ann.signIn()
	cookie, err := http.ParseSetCookie(got.header.Get("Set-Cookie"))
	if err != nil || !cookie.Secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode ||
		cookie.Path != "/" || cookie.Domain != "" || cookie.Value == first {
		t.Errorf("the cookie: %v, %v", cookie, err)
	}
	list := ann.want(200, "GET", "/x/signin/sessions/", nil)
	if strings.Count(list.text("sessions"), `"current"`) != 2 ||
		strings.Count(list.text("sessions"), `"current":true`) != 1 {
		t.Errorf("sessions: %s", list.body)
	}
	// A session that stays over a sign-in would be good for who has planted it.
	before := ann.cookies["__Host-vitrine"]
	ann.signIn()
	after := ann.cookies["__Host-vitrine"]
	ann.cookies["__Host-vitrine"] = before
	ann.want(401, "GET", "/x/me", nil)
	ann.cookies["__Host-vitrine"] = after
	ann.want(204, "DELETE", "/x/signin/sessions/"+ann.send("GET", "/x/signin", nil).text("session.id"), nil)
	if len(ann.cookies) != 0 {
		t.Errorf("after signing out: %v", ann.cookies)
	}
	ann.cookies["__Host-vitrine"] = after
	ann.want(401, "GET", "/x/me", nil)
	ann.cookies["__Host-vitrine"] = first
	ann.want(204, "DELETE", "/x/signin/sessions/", nil)
	ann.cookies["__Host-vitrine"] = first
	ann.want(401, "GET", "/x/me", nil)
}

func TestInvitationsAndCeremoniesAreGoodOnce(t *testing.T) {
	w := newWorld(t, localBase)
	link, err := w.people.Invite(t.Context(),
		signin.Invitation{Name: "Ann", Network: network, Rights: signin.Rights{Admin: true}})
	if err != nil {
		t.Fatal(err)
	}
	secret := link[strings.Index(link, "=")+1:]
	one, two := w.browser(), w.browser()
	look := one.want(200, "POST", "/x/signin/invitation", object{"invitation": secret})
	if look.text("name") != "Ann" {
		t.Errorf("the invitation: %s", look.body)
	}
	asked, late := one.want(200, "POST", "/x/signin/register/begin", object{"invitation": secret}),
		two.want(200, "POST", "/x/signin/register/begin", object{"invitation": secret})
	in := one.attest(asked)
	one.want(201, "POST", "/x/signin/register/finish", in)
	one.want(401, "POST", "/x/signin/register/finish", in)
	two.want(404, "POST", "/x/signin/register/finish", two.attest(late))
	two.want(404, "POST", "/x/signin/register/begin", object{"invitation": secret})
	two.want(404, "POST", "/x/signin/invitation", object{"invitation": secret})
	two.want(401, "GET", "/x/me", nil)

	w.now = 6 * time.Minute
	shown := one.assert(one.want(200, "POST", "/x/signin/begin", object{}))
	one.want(200, "POST", "/x/signin/finish", shown)
	replaying := w.browser()
	replaying.want(401, "POST", "/x/signin/finish", shown)
	begun := replaying.want(200, "POST", "/x/signin/begin", object{})
	shown["ceremony"] = begun.text("ceremony") // another question
	replaying.want(401, "POST", "/x/signin/finish", shown)
	slow := one.want(200, "POST", "/x/signin/begin", object{})
	w.now += 6 * time.Minute
	one.want(401, "POST", "/x/signin/finish", one.assert(slow))
	// A page of another origin cannot use the passkey.
	elsewhere := w.browser()
	elsewhere.auth, elsewhere.key = one.auth, one.key
	question := elsewhere.want(200, "POST", "/x/signin/begin", object{})
	elsewhere.origin = "http://evil.test:8080"
	stolen := elsewhere.assert(question)
	elsewhere.origin = localBase
	elsewhere.want(401, "POST", "/x/signin/finish", stolen)
}

// What needs a passkey that was shown just now says so, and works once it was shown again.
func TestConfirming(t *testing.T) {
	w := newWorld(t, localBase)
	ann := w.invited("Ann", signin.Rights{Admin: true})
	made := ann.want(201, "POST", "/x/people/", object{"name": "Bea"})
	w.now = 6 * time.Minute
	for path, body := range map[string]any{
		"/x/people/" + made.text("id") + "/invite": object{},
		"/x/keys/":                 object{"name": "program", "kind": "secret"},
		"/x/signin/register/begin": object{},
	} {
		if got := ann.want(403, "POST", path, body); got.text("code") != "needs_confirmation" {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	id := ann.send("GET", "/x/signin", nil).text("session.id")
	ann.confirm()
	if now := ann.send("GET", "/x/signin", nil).text("session.id"); now != id {
		t.Errorf("the session is %s, was %s", now, id)
	}
	ann.want(201, "POST", "/x/people/"+made.text("id")+"/invite", object{})
	// Another person's passkey confirms nothing.
	bob := w.invited("Bob", signin.Rights{})
	asked := ann.want(200, "POST", "/x/signin/begin", object{"confirm": true})
	ann.want(401, "POST", "/x/signin/finish", bob.assert(asked))

	second := w.browser()
	second.cookies = ann.cookies
	got := second.want(201, "POST", "/x/signin/register/finish",
		second.attest(second.want(200, "POST", "/x/signin/register/begin", object{})))
	if list := second.want(200, "GET", "/x/signin/passkeys/", nil); strings.Count(string(list.body), `"id"`) != 2 {
		t.Errorf("passkeys: %s", list.body)
	}
	path := "/x/signin/passkeys/" + got.text("passkey.id")
	if renamed := second.want(200, "PATCH", path, object{"name": "key ring"}); renamed.text("name") != "key ring" {
		t.Errorf("renamed: %s", renamed.body)
	}
	bob.want(404, "DELETE", path, nil)
	second.want(204, "DELETE", path, nil)
	second.want(401, "GET", "/x/me", nil)
}

// Sessions end after 30 days, or a week without use.
func TestSessionsEnd(t *testing.T) {
	w := newWorld(t, localBase)
	ann := w.invited("Ann", signin.Rights{})
	for range 29 {
		w.now += 24 * time.Hour
		ann.want(200, "GET", "/x/me", nil)
	}
	w.now += 25 * time.Hour
	ann.want(401, "GET", "/x/me", nil)
	ann.cookies = map[string]string{}
	ann.signIn()
	w.now += 6 * 24 * time.Hour
	ann.want(200, "GET", "/x/me", nil)
	w.now += 7*24*time.Hour + time.Hour
	ann.want(401, "GET", "/x/me", nil)
}

// Who is let in again has neither the sessions nor the invitation of before.
func TestWhatDisablingEnds(t *testing.T) {
	w := newWorld(t, localBase)
	admin, ann := w.invited("Admin", signin.Rights{Admin: true}), w.invited("Ann", signin.Rights{})
	path := "/x/people/" + ann.id()
	invited := func() string {
		link := admin.want(201, "POST", path+"/invite", object{}).text("link")
		return link[strings.Index(link, "=")+1:]
	}
	secret := invited()
	admin.want(200, "PATCH", path, object{"disabled": true})
	admin.want(409, "POST", path+"/invite", object{})
	ann.want(401, "POST", "/x/signin/finish", ann.assert(ann.want(200, "POST", "/x/signin/begin", object{})))
	admin.want(200, "PATCH", path, object{"disabled": false})
	ann.want(401, "GET", "/x/me", nil)
	ann.want(404, "POST", "/x/signin/invitation", object{"invitation": secret})
	secret = invited()
	w.now = 7*24*time.Hour + time.Minute
	ann.want(404, "POST", "/x/signin/invitation", object{"invitation": secret})
	ann.want(404, "POST", "/x/signin/register/begin", object{"invitation": secret})
}

// Times of last use go with what was used.
func TestTimesOfLastUseGo(t *testing.T) {
	w := newWorld(t, localBase)
	admin := w.invited("Admin", signin.Rights{Admin: true})
	seen := func(kind string) (n int) {
		for key := range everything(t, w.db) {
			if strings.HasPrefix(key, "signin seen/"+kind+" ") {
				n++
			}
		}
		return n
	}
	ann := w.invited("Ann", signin.Rights{})
	use := func() {
		ann.signIn()
		ann.want(200, "GET", "/x/me", nil)
	}
	use()
	use() // in place of the session before
	key := ann.want(201, "POST", "/x/keys/", object{"name": "k", "kind": "secret"})
	w.withToken(key.text("key")).want(200, "GET", "/x/me", nil)
	id := ann.id()
	if seen("session") != 1 || seen("key") != 1 || seen("passkey") != 1 || seen("person") != 1 {
		t.Errorf("before: %v", everything(t, w.db))
	}
	ann.confirm() // keeps the id of the session
	if seen("session") != 1 {
		t.Errorf("after confirming: %d", seen("session"))
	}
	ann.want(204, "DELETE", "/x/keys/"+key.text("id"), nil)
	ann.want(204, "DELETE", "/x/signin/sessions/", nil)
	if seen("session") != 0 || seen("key") != 0 {
		t.Errorf("after signing out: %d sessions, %d keys", seen("session"), seen("key"))
	}
	use()
	w.now += 31 * 24 * time.Hour
	use() // which forgets the one that has ended
	if n := seen("session"); n != 1 {
		t.Errorf("after a month: %d sessions", n)
	}
	admin.signIn()
	admin.want(204, "DELETE", "/x/people/"+id, nil)
	if seen("session") != 1 || seen("passkey") != 1 || seen("person") != 1 { // those of the administrator
		t.Errorf("after a person was deleted: %v", everything(t, w.db))
	}
}

func TestWhatOtherSitesSend(t *testing.T) {
	w := newWorld(t, localBase)
	ann := w.invited("Ann", signin.Rights{Admin: true})
	link, err := w.people.Invite(t.Context(), signin.Invitation{Name: "Mallory", Network: network})
	if err != nil {
		t.Fatal(err)
	}
	ann.headers = map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.test"}
	for _, path := range []string{"/x/people/", "/x/keys/", "/x/signin/begin", "/x/signin/finish",
		"/x/signin/register/begin", "/x/signin/link"} {
		ann.want(403, "POST", path, object{"invitation": link[strings.Index(link, "=")+1:]})
	}
	ann.want(403, "DELETE", "/x/signin/sessions/", nil)
	// A token of another person beside a cookie: the cookie does not count.
	ann.headers = map[string]string{"Authorization": "Bearer x"}
	ann.want(401, "GET", "/x/me", nil)
	ann.headers = nil
	ann.want(401, "GET", "/x/me?svctoken=x", nil)
	ann.want(200, "GET", "/x/me", nil)
}

func TestAttemptsAreLimitedByAddress(t *testing.T) {
	w := newWorld(t, localBase)
	attempts := func(address string) (n int) {
		b := w.browser()
		b.address = address
		for ; n < 100; n++ {
			if got := b.send("POST", "/x/signin/invitation", object{"invitation": "in_x"}); got.status == 429 {
				if got.text("code") != "too_many" || got.header.Get("Retry-After") == "" {
					t.Errorf("%v %s", got.header, got.body)
				}
				return n
			}
		}
		return n
	}
	if n := attempts("192.0.2.7"); n < 5 || n > 20 {
		t.Errorf("%d attempts", n)
	}
	if n := attempts("192.0.2.8"); n < 5 {
		t.Errorf("another address: %d attempts", n)
	}
	if n := attempts("[2001:db8::1]"); n < 5 {
		t.Errorf("an address of IPv6: %d attempts", n)
	}
	if n := attempts("[2001:db8::2]"); n > 2 {
		t.Errorf("another one in the same network of 64 bits: %d attempts", n)
	}
}

// Where there is neither TLS nor localhost, nobody signs in, and hosts of requests change nothing.
func TestWhereNobodyCanSignIn(t *testing.T) {
	for _, base := range []string{"", "http://apps.example.test", "https://192.0.2.1"} {
		w := newWorld(t, base)
		w.base = "http://localhost:8080"
		b := w.browser()
		if got := b.want(200, "GET", "/x/signin", nil); got.value("origin") != nil {
			t.Errorf("%q: %s", base, got.body)
		}
		b.want(403, "POST", "/x/signin/begin", object{})
	}
	w := newWorld(t, localBase)
	ann := w.invited("Ann", signin.Rights{Admin: true})
	id := ann.want(201, "POST", "/x/people/", object{"name": "Bea"}).text("id")
	ann.origin = "http://evil.test"
	if got := ann.want(201, "POST", "/x/people/"+id+"/invite", object{}); !strings.HasPrefix(got.text("link"),
		localBase+"/#") {
		t.Errorf("the link: %s", got.body)
	}
}
