package signin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/appsvc"
)

// Who gave somebody rights stays known when the person is disabled or deleted, and nothing else of the person does.
func TestWhoGaveRightsOutlivesThePerson(t *testing.T) {
	w := newWorld(t, localBase)
	root := w.invited("Root", signin.Rights{Admin: true, Moderates: []string{network}})
	urn := root.send("GET", "/x/me", nil).text("urn")
	made := root.want(201, "POST", "/x/people/", object{"name": "Made", "email": "made@example.test"})
	path := "/x/people/" + made.text("id")
	for _, step := range []struct {
		method string
		body   any
		status int
		want   error
	}{
		{"PATCH", object{"name": "Made"}, 200, nil},
		{"PATCH", object{"disabled": true}, 200, vitrine.ErrForbidden},
		{"DELETE", nil, 204, vitrine.ErrForbidden},
	} {
		root.want(step.status, step.method, path, step.body)
		by, givers, err := w.people.Rights(t.Context(), made.text("urn"))
		if !errors.Is(err, step.want) || !slices.Equal(givers, []string{urn}) {
			t.Errorf("after %s: given by %q, %v", step.method, givers, err)
		}
		if err != nil && by.URN != "" {
			t.Errorf("after %s: still has the rights %+v", step.method, by)
		}
	}
	for key, value := range everything(t, w.db) {
		if strings.Contains(value, "made@example.test") || strings.Contains(value, `"Made"`) {
			t.Errorf("%s still has the person: %s", key, value)
		}
	}
	for fault, err := range signin.Maintenance(true).Audit(t.Context(), w.db) {
		t.Error(fault, err)
	}
}

// A link to an account that has a passkey is an administrator's to make, whatever else the asker may do with the
// person.
func TestOnlyAdministratorsInviteAnew(t *testing.T) {
	w := newWorld(t, localBase)
	admin := w.invited("Admin", signin.Rights{Admin: true, Moderates: []string{network}})
	mod := w.invited("Mod", signin.Rights{Moderates: []string{network}})
	program := vitrine.Caller{URN: network + ":user=token", Moderates: []string{network}}
	token, err := w.tokens.Sign(httpapi.Principal{Caller: program}, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	made := mod.want(201, "POST", "/x/people/", object{"name": "Ann", "moderates": []string{network + ":site=1"}})
	path := "/x/people/" + made.text("id")
	ann := w.browser()
	mod.want(201, "POST", path+"/invite", object{})
	ann.accept(mod.want(201, "POST", path+"/invite", object{}).text("link")) // anew, but nobody has used the first one
	w.now += time.Second
	for name, by := range map[string]*browser{"a moderator": mod, "a token": w.withToken(token)} {
		got := by.send("POST", path+"/invite", object{})
		if got.status != 403 || strings.Contains(string(got.body), "#invite=") {
			t.Errorf("%s invites anew: %d %s", name, got.status, got.body)
		}
	}
	if got := ann.want(200, "GET", "/x/signin", nil); got.value("session.invitedAnew") != nil {
		t.Errorf("who was not invited anew is told %s", got.body)
	}
	link := admin.want(201, "POST", path+"/invite", object{}).text("link")
	told := func(b *browser, want bool) {
		t.Helper()
		got := b.want(200, "GET", "/x/signin", nil)
		by, at := got.text("session.invitedAnew.by.name"), got.value("session.invitedAnew.at")
		if (by == "Admin") != want || (at != nil) != want {
			t.Errorf("told: %s, want %v", got.body, want)
		}
	}
	told(ann, true) // before it is used
	w.now += time.Second
	taker := w.browser()
	taker.accept(link)
	told(taker, false)
	told(ann, true)
	w.now += time.Second
	taker.signIn()
	told(taker, false)
	for _, b := range []*browser{ann, w.withKeyOf(ann)} { // also at the next sign-in, and the one after it
		b.signIn()
		told(b, true)
	}
	second := w.browser()
	admin.confirm()
	second.accept(admin.want(201, "POST", path+"/invite", object{}).text("link"))
	taker.signIn()
	told(taker, true) // of the second one
	told(ann, true)
}

// withKeyOf returns another browser with the same passkey.
func (w *world) withKeyOf(of *browser) *browser {
	b := w.browser()
	b.auth, b.key = of.auth, of.key
	return b
}

// An account that somebody may have used already is an administrator's to invite to, with or without a passkey.
func TestOnlyAdministratorsInviteWhoMayOwnSomething(t *testing.T) {
	w := newWorld(t, localBase)
	admin := w.invited("Admin", signin.Rights{Admin: true, Moderates: []string{network}})
	mod := w.invited("Mod", signin.Rights{Moderates: []string{network}})
	named := func(urn string) string {
		return admin.want(201, "POST", "/x/people/", object{"name": "Token", "urn": urn}).text("id")
	}
	byProgram := func(urn string) {
		if _, err := w.people.Invite(t.Context(), signin.Invitation{URN: urn, Name: "Program"}); err != nil {
			t.Fatal(err)
		}
	}
	ann := w.invited("Ann", signin.Rights{})
	annID := ann.id()
	passkey := ann.want(200, "GET", "/x/signin/passkeys/", nil).value("passkeys").([]any)[0].(object)["id"].(string)
	ann.want(204, "DELETE", "/x/signin/passkeys/"+passkey, nil)
	byProgram(network + ":user=program")
	var program struct{ People []struct{ ID string } }
	list := admin.want(200, "GET", "/x/people/?q=Program", nil)
	if err := json.Unmarshal(list.body, &program); err != nil || len(program.People) != 1 {
		t.Fatalf("%s, %v", list.body, err)
	}
	for what, id := range map[string]string{
		"who had a passkey":                 annID,
		"with the URN of a token":           named(network + ":user=token"),
		"with a URN that the program chose": program.People[0].ID,
	} {
		if got := mod.send("POST", "/x/people/"+id+"/invite", object{}); got.status != 403 {
			t.Errorf("a moderator invites a person %s: %d %s", what, got.status, got.body)
		}
		admin.want(201, "POST", "/x/people/"+id+"/invite", object{})
	}
	made := mod.want(201, "POST", "/x/people/", object{"name": "New"}).text("id")
	mod.want(201, "POST", "/x/people/"+made+"/invite", object{})
}

// An invitation from before the first passkey is not good after it, however that passkey was made.
func TestAFirstPasskeyEndsTheInvitation(t *testing.T) {
	w := newWorld(t, localBase)
	admin := w.invited("Admin", signin.Rights{Admin: true, Moderates: []string{network}})
	user := network + ":user=ann"
	link, err := w.people.Link(t.Context(), user, "Ann", signin.Rights{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	ann := w.browser()
	_, secret, _ := strings.Cut(link, "#signin=")
	ann.want(200, "POST", "/x/signin/link", object{"link": secret})
	invitation := admin.want(201, "POST", "/x/people/"+ann.id()+"/invite", object{}).text("link")
	asked := ann.want(200, "POST", "/x/signin/register/begin", object{})
	ann.want(201, "POST", "/x/signin/register/finish", ann.attest(asked))
	_, secret, _ = strings.Cut(invitation, "#invite=")
	admin.want(404, "POST", "/x/signin/register/begin", object{"invitation": secret})
}

// society is people who make people, and releases of an app whose tag production needs an approval.
type society struct {
	*world
	random   *rand.Rand
	apps     *appsvc.Service
	app      string
	people   []*browser
	urns     []string // of people
	ids      []string // of people
	gave     map[string]map[string]bool
	releases []string
	authors  map[string]map[string]bool
	approved map[string]map[string]bool // by release, since its moves were changed last
}

func newSociety(t *testing.T, seed uint64, independent bool) *society {
	s := &society{
		random:   rand.New(rand.NewPCG(seed, 4)),
		gave:     map[string]map[string]bool{},
		authors:  map[string]map[string]bool{},
		approved: map[string]map[string]bool{},
	}
	s.world = newWorld(t, localBase)
	s.apps = appsvc.New(s.db, &appsvc.Options{Rights: s.world.people.Rights})
	var err error
	s.handler, err = httpapi.New(httpapi.Config{Apps: s.apps, Authenticate: s.world.people.Authenticate,
		Extras: s.world.people.Endpoints(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	rule := appsvc.TagRule{Name: "production", Approvals: 1, Independent: independent}
	if err := s.apps.SetTagRules(t.Context(), []appsvc.TagRule{rule}); err != nil {
		t.Fatal(err)
	}
	for i := range 4 { // one administrator, and three moderators of the network
		s.joins(s.invited(fmt.Sprint("root ", i), signin.Rights{Admin: i == 0, Moderates: []string{network}}))
	}
	app := s.people[0].want(201, "POST", "/apps/", object{"title": "0", "groups": []string{network}})
	s.app = app.text("id")
	return s
}

func (s *society) joins(b *browser) {
	me := b.want(200, "GET", "/x/signin", nil)
	s.people = append(s.people, b)
	s.urns = append(s.urns, me.text("session.person.urn"))
	s.ids = append(s.ids, me.text("session.person.id"))
}

// gives notes that somebody gave somebody rights.
func (s *society) gives(from, to string) {
	if s.gave[to] == nil {
		s.gave[to] = map[string]bool{}
	}
	s.gave[to][from] = true
}

// descends reports whether somebody was given rights by another one, through any number of people.
func (s *society) descends(who, from string) bool {
	met, next := map[string]bool{}, []string{who}
	for len(next) > 0 {
		one := next[0]
		next = next[1:]
		for giver := range s.gave[one] {
			if giver == from {
				return true
			}
			if !met[giver] {
				met[giver], next = true, append(next, giver)
			}
		}
	}
	return false
}

// counts reports whether the approval of somebody counts for the authors of a release.
func (s *society) counts(who string, authors map[string]bool, independent bool) bool {
	for author := range authors {
		if who == author || s.descends(who, author) || independent && s.descends(author, who) {
			return false
		}
	}
	return true
}

// step does one thing, which may be refused, and returns an error if the service let happen what it should not.
func (s *society) step(independent bool) (ran bool, err error) {
	i, k := s.random.IntN(len(s.people)), s.random.IntN(len(s.people))
	by, urn := s.people[i], s.urns[i]
	switch s.random.IntN(10) {
	case 0: // makes somebody
		if len(s.people) > 14 {
			return false, nil
		}
		made := by.send("POST", "/x/people/", object{"name": "made", "moderates": []string{network}})
		if made.status != 201 {
			return false, nil
		}
		invited := by.send("POST", "/x/people/"+made.text("id")+"/invite", object{})
		if invited.status != 201 {
			return false, fmt.Errorf("invite: %d %s", invited.status, invited.body)
		}
		s.gives(urn, made.text("urn"))
		b := s.browser()
		b.accept(invited.text("link"))
		s.joins(b)
	case 1: // takes rights, and gives them
		path := "/x/people/" + s.ids[k]
		taken := by.send("PATCH", path, object{"moderates": []string{}})
		if taken.status == 200 && by.send("PATCH", path, object{"moderates": []string{network}}).status == 200 {
			s.gives(urn, s.urns[k])
		}
	case 2: // disables and enables, or deletes
		switch path := "/x/people/" + s.ids[k]; {
		case k < 4:
		case s.random.IntN(2) == 0:
			by.send("DELETE", path, nil)
		case by.send("PATCH", path, object{"disabled": true}).status == 200:
			if by.send("PATCH", path, object{"disabled": false}).status == 200 {
				s.gives(urn, s.urns[k])
				s.people[k].signIn()
			}
		}
	case 3: // invites anew
		if got := by.send("POST", "/x/people/"+s.ids[k]+"/invite", object{}); got.status == 201 {
			s.gives(urn, s.urns[k])
			if i != 0 {
				return false, fmt.Errorf("who is no administrator has a link to another account: %s", got.body)
			}
		}
	case 4, 5: // makes a release
		moves := []object{{"app": s.app, "tag": "production", "to": "0"}}
		got := by.send("POST", "/x/releases/", object{"moves": moves})
		if got.status == 201 {
			s.releases = append(s.releases, got.text("id"))
			s.authors[got.text("id")], s.approved[got.text("id")] = map[string]bool{urn: true}, map[string]bool{}
		}
	}
	if len(s.releases) == 0 {
		return false, nil
	}
	id := s.releases[len(s.releases)-1-s.random.IntN(min(len(s.releases), 3))]
	path := "/x/releases/" + id
	now := by.send("GET", path, nil)
	version := object{"version": now.text("version")}
	if now.status != 200 || now.text("state") != "open" {
		return false, nil
	}
	switch s.random.IntN(4) {
	case 0, 1:
		got := by.send("POST", path+"/approve", version)
		if may := now.text("mayApprove") == "true"; may != (got.status == 200 && !s.approved[id][urn]) {
			return false, fmt.Errorf("mayApprove is %v, and approving is %d %s", may, got.status, got.body)
		}
		if want := s.counts(urn, s.authors[id], independent); want != (got.status == 200) {
			return false, fmt.Errorf("%s approves a release of %v: %d %s, want it to count: %v",
				urn, slices.Collect(maps.Keys(s.authors[id])), got.status, got.body, want)
		}
		if got.status == 200 {
			s.approved[id][urn] = true
		}
	case 2:
		if s.random.IntN(3) > 0 {
			return false, nil
		}
		version["name"], version["note"], version["moves"] = now.text("name")+"x", "", now.value("moves")
		got := by.send("PUT", path, version)
		if got.status == 200 {
			s.authors[id][urn] = true
			delete(s.approved[id], urn)
		}
	case 3:
		got := by.send("POST", path+"/run", version)
		if got.status != 200 {
			return false, nil
		}
		for who := range s.approved[id] {
			if s.counts(who, s.authors[id], independent) {
				return true, nil
			}
		}
		return true, fmt.Errorf("a release of %v ran with the approvals of %v, none of which counts",
			slices.Collect(maps.Keys(s.authors[id])), slices.Collect(maps.Keys(s.approved[id])))
	}
	return false, nil
}

// Whatever four people do, and those whom they make, and those whom these make: no release runs that was approved by
// its authors and by people to whom they gave rights alone. With an independent rule, no approval of somebody who gave
// an author rights counts either.
func TestNobodyIsTwoPeople(t *testing.T) {
	for _, independent := range []bool{false, true} {
		ran := 0
		for seed := range uint64(12) {
			s := newSociety(t, seed, independent)
			for n := range 150 {
				done, err := s.step(independent)
				if err != nil {
					t.Fatalf("independent %v, seed %d, step %d: %v", independent, seed, n, err)
				}
				if done {
					ran++
				}
			}
			for fault, err := range signin.Maintenance(true).Audit(t.Context(), s.db) {
				t.Error(fault, err)
			}
		}
		if ran < 5 {
			t.Errorf("independent %v: only %d releases ran", independent, ran)
		}
		t.Logf("independent %v: %d releases ran", independent, ran)
	}
}
