package signin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/signin"
)

// A moderator manages the people of a network, gives nothing that they lack, and leaves alone who has more.
func TestModeratorsOfANetwork(t *testing.T) {
	w := newWorld(t, localBase)
	admin := w.invited("Admin", signin.Rights{Admin: true, Moderates: []string{other}})
	mod := w.invited("Mod", signin.Rights{Moderates: []string{network}, Roles: []string{"editor"}})
	plain := w.invited("Plain", signin.Rights{})
	for name, c := range map[string]struct {
		body   object
		status int
	}{
		"plain":              {object{"name": "P"}, 201},
		"a site":             {object{"name": "P", "moderates": []string{network + ":site=news"}}, 201},
		"the network":        {object{"name": "P", "reads": []string{network}}, 201},
		"an own role":        {object{"name": "P", "roles": []string{"editor"}}, 201},
		"another role":       {object{"name": "P", "roles": []string{"boss"}}, 403},
		"another group":      {object{"name": "P", "groups": []string{network + ":site=x"}}, 403},
		"another network":    {object{"name": "P", "moderates": []string{other}}, 403},
		"in another network": {object{"name": "P", "network": other}, 403},
		"an administrator":   {object{"name": "P", "admin": true}, 403},
		"components":         {object{"name": "P", "components": true}, 403},
		"a URN":              {object{"name": "P", "urn": network + ":user=boss"}, 403},
		"no name":            {object{}, 400},
		"a malformed right":  {object{"name": "P", "moderates": []string{"urn"}}, 400},
		"twice":              {object{"name": "P", "roles": []string{"editor", "editor"}}, 400},
		"an unknown member":  {object{"name": "P", "owner": 1}, 400},
		"a bad address":      {object{"name": "P", "email": "x"}, 400},
		"a control":          {object{"name": "P\n"}, 400},
	} {
		if got := mod.send("POST", "/x/people/", c.body); got.status != c.status {
			t.Errorf("%s: %d %s, want %d", name, got.status, got.body, c.status)
		}
	}
	mod.want(403, "PATCH", "/x/people/"+admin.id(), object{"disabled": true})
	mod.want(403, "DELETE", "/x/people/"+admin.id(), nil)
	mod.want(403, "POST", "/x/people/"+admin.id()+"/invite", object{})
	mod.want(200, "PATCH", "/x/people/"+plain.id(), object{"reads": []string{network}})
	mod.want(403, "PATCH", "/x/people/"+plain.id(), object{"admin": true})
	mod.want(403, "PATCH", "/x/people/"+mod.id(), object{"components": true})
	mod.want(400, "PATCH", "/x/people/"+plain.id(), object{"urn": other + ":user=x"})

	foreign := admin.want(201, "POST", "/x/people/", object{"name": "Foreign", "network": other}).text("id")
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		hidden, absent := mod.want(404, method, "/x/people/"+foreign, object{}),
			mod.want(404, method, "/x/people/none", object{})
		if string(hidden.body) != string(absent.body) {
			t.Errorf("%s: %s and %s", method, hidden.body, absent.body)
		}
	}
	if list := mod.want(200, "GET", "/x/people/", nil); strings.Contains(string(list.body), "Foreign") ||
		!strings.Contains(string(list.body), "Plain") {
		t.Errorf("the list: %s", list.body)
	}
	if list := admin.want(200, "GET", "/x/people/?q=fore", nil); strings.Count(string(list.body), `"id"`) != 1 {
		t.Errorf("the list of all with a word: %s", list.body)
	}
	plain.want(403, "GET", "/x/people/", nil)
	plain.want(403, "POST", "/x/people/", object{"name": "P"})
	plain.want(200, "PATCH", "/x/people/"+plain.id(), object{"name": "Plainer"})
	plain.want(403, "PATCH", "/x/people/"+plain.id(), object{"roles": []string{"editor"}})
	plain.want(403, "PATCH", "/x/people/"+plain.id(), object{"disabled": true})
	plain.want(404, "GET", "/x/people/"+mod.id(), nil)
	if names := plain.want(200, "GET",
		"/x/people/?urn="+mod.send("GET", "/x/me", nil).text("urn")+"&urn="+other+":user=x",
		nil); strings.Count(string(names.body), "Mod") != 1 || strings.Contains(string(names.body), "email") {
		t.Errorf("names: %s", names.body)
	}
}

func TestThePagesOfLists(t *testing.T) {
	w := newWorld(t, localBase)
	admin := w.invited("Admin", signin.Rights{Admin: true})
	mod := w.invited("Mod", signin.Rights{Moderates: []string{network, network + ":site=x", other}})
	for i := range 7 {
		admin.want(201, "POST", "/x/people/",
			object{"name": fmt.Sprint("person ", i), "network": []string{network, other}[i%2]})
		admin.want(201, "POST", "/x/keys/", object{"name": fmt.Sprint("key ", i), "kind": "secret"})
	}
	for _, b := range []*browser{admin, mod} {
		met := map[string]bool{}
		for after, pages := "", 0; pages == 0 || after != ""; pages++ {
			got := b.want(200, "GET", "/x/people/?limit=2&after="+after, nil)
			var page struct{ People []struct{ Name string } }
			_ = json.Unmarshal(got.body, &page)
			for _, p := range page.People {
				if met[p.Name] {
					t.Errorf("%s is there twice", p.Name)
				}
				met[p.Name] = true
			}
			_, after, _ = strings.Cut(got.header.Get("Link"), "after=")
			after, _, _ = strings.Cut(after, "&")
		}
		if len(met) != 9 {
			t.Errorf("the list has %v", met)
		}
	}
	first := admin.want(200, "GET", "/x/keys/?limit=5", nil)
	_, after, _ := strings.Cut(first.header.Get("Link"), "after=")
	after, _, _ = strings.Cut(after, "&")
	rest := admin.want(200, "GET", "/x/keys/?limit=5&after="+after, nil)
	if !strings.Contains(string(first.body), "key 6") ||
		strings.Count(string(first.body)+string(rest.body), `"id"`) != 7 || rest.header.Get("Link") != "" {
		t.Errorf("keys: %s %s", first.body, rest.body)
	}
	admin.want(400, "GET", "/x/people/?limit=0", nil)
	admin.want(400, "GET", "/x/keys/?limit=501", nil)
	admin.want(400, "GET", "/x/people/?colour=red", nil)
}

func TestTheLastAdministrator(t *testing.T) {
	w := newWorld(t, localBase)
	one := w.invited("One", signin.Rights{Admin: true})
	pending := one.want(201, "POST", "/x/people/", object{"name": "Two", "admin": true}).text("id")
	for _, body := range []object{{"disabled": true}, {"admin": false}} {
		if got := one.want(409, "PATCH", "/x/people/"+one.id(), body); got.text("code") != "wrong_state" {
			t.Errorf("%s", got.body)
		}
	}
	one.want(409, "DELETE", "/x/people/"+one.id(), nil)
	two := w.browser()
	two.accept(one.want(201, "POST", "/x/people/"+pending+"/invite", object{}).text("link"))
	one.want(200, "PATCH", "/x/people/"+one.id(), object{"admin": false})
	two.want(409, "DELETE", "/x/people/"+two.id(), nil)
}

// What clients send sets nothing of a record but what it may, and takes lists in the place of those that were there.
func TestWhatOfARecordCanBeSet(t *testing.T) {
	w := newWorld(t, localBase)
	admin := w.invited("Admin", signin.Rights{Admin: true})
	path := "/x/people/" + w.invited("Ann", signin.Rights{Moderates: []string{network}, Roles: []string{"x", "y"}}).id()
	for _, body := range []any{
		object{"id": "x"}, object{"createdAt": 1}, object{"givers": []string{}}, object{"passkeys": []string{}},
		object{"provider": object{}},
		object{"invitation": object{}}, object{"profile": object{}}, object{"Admin": true}, object{"moderates": nil},
		`{"name":"a","name":"b"}`,
	} {
		if got := admin.send("PATCH", path, body); got.status != 400 {
			t.Errorf("%v: %d %s", body, got.status, got.body)
		}
	}
	for _, member := range []string{"id", "hash", "person", "prefix", "public", "by", "createdAt", "chosen",
		"lastUsedAt"} {
		if got := admin.send("POST", "/x/keys/",
			object{"name": "k", "kind": "secret", member: "x"}); got.status != 400 {
			t.Errorf("%s: %d %s", member, got.status, got.body)
		}
	}
	got := admin.want(200, "PATCH", path, object{"roles": []string{"z"}})
	if got.text("roles") != `["z"]` || got.text("moderates") != `["`+network+`"]` ||
		strings.Contains(string(got.body), "givers") {
		t.Errorf("after a change: %s", got.body)
	}
	key := admin.want(201, "POST", "/x/keys/", object{"name": "k", "kind": "secret"})
	if strings.Contains(string(key.body), "admin") || strings.Contains(string(key.body), "hash") {
		t.Errorf("a key: %s", key.body)
	}
}

// Who gives somebody rights, or lets them in again, is remembered, also if that is an administrator, who could have
// taken them.
func TestWhoGaveRightsIsRemembered(t *testing.T) {
	w := newWorld(t, localBase)
	one, two := w.invited("One", signin.Rights{Admin: true}), w.invited("Two", signin.Rights{Admin: true})
	urn := one.send("GET", "/x/me", nil).text("urn")
	for _, c := range []struct {
		body  object
		gives bool
	}{
		{object{"name": "Second"}, false}, {object{"roles": []string{}}, false},
		{object{"moderates": []string{other}}, true},
		{object{"disabled": true}, false}, {object{"disabled": false}, true},
	} {
		who := w.invited("Other", signin.Rights{Admin: true, Moderates: []string{network}}).id()
		if c.body["disabled"] == false {
			two.want(200, "PATCH", "/x/people/"+who, object{"disabled": true})
		}
		person := one.want(200, "PATCH", "/x/people/"+who, c.body)
		_, givers, _ := w.people.Rights(t.Context(), person.text("urn"))
		if slices.Contains(givers, urn) != c.gives {
			t.Errorf("%v: given by %v", c.body, givers)
		}
	}
}

// The URN of a person who is gone is given to nobody.
func TestURNsAreNeverUsedAgain(t *testing.T) {
	w := newWorld(t, localBase)
	admin := w.invited("Admin", signin.Rights{Admin: true})
	made := admin.want(201, "POST", "/x/people/", object{"name": "P", "urn": network + ":user=legacy"})
	admin.want(409, "POST", "/x/people/", object{"name": "Q", "urn": network + ":user=legacy"})
	admin.want(204, "DELETE", "/x/people/"+made.text("id"), nil)
	admin.want(409, "POST", "/x/people/", object{"name": "Q", "urn": network + ":user=legacy"})
	if _, _, err := w.people.Rights(t.Context(), network+":user=legacy"); err == nil {
		t.Error("a person who was deleted has rights")
	}
}

// Whatever people of two networks do with people and keys, nobody gets a right that nobody who could give it had.
func TestRandomStepsGiveNoRightsThatNobodyHad(t *testing.T) {
	allowed := 0
	for seed := range uint64(20) {
		allowed += randomSteps(t, seed)
	}
	if allowed < 150 {
		t.Errorf("only %d steps were allowed", allowed)
	}
}

// randomSteps takes steps in a new world, and returns how many were allowed.
func randomSteps(t *testing.T, seed uint64) (allowed int) {
	w := newWorld(t, localBase)
	type actor struct {
		*browser
		network string
	}
	// What a network's people may have at all: its own moderator's rights. Nobody at the start has components, admin or
	// the role boss.
	actors := []actor{}
	for _, n := range []string{network, other} {
		for i, rights := range []signin.Rights{{Moderates: []string{n}, Roles: []string{"role of " + n}},
			{Moderates: []string{n + ":site=a"}}, {Reads: []string{n}}} {
			link, err := w.people.Invite(t.Context(),
				signin.Invitation{Name: fmt.Sprint(n, i), Network: n, Rights: rights})
			if err != nil {
				t.Fatal(err)
			}
			b := w.browser()
			b.accept(link)
			actors = append(actors, actor{b, n})
		}
	}
	rng := rand.New(rand.NewPCG(seed, 2))
	var people []string
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	some := func(list ...string) []string {
		out := []string{}
		for _, s := range list {
			if rng.IntN(6) == 0 {
				out = append(out, s)
			}
		}
		return out
	}
	rights := func() object {
		all := []string{network, other, network + ":site=a", other + ":site=b"}
		body := object{"moderates": some(all...), "reads": some(all...),
			"roles": some("role of "+network, "role of "+other, "boss"), "components": rng.IntN(20) == 0}
		if rng.IntN(20) == 0 {
			body["admin"] = true
		}
		return body
	}
	for range 200 {
		a := actors[rng.IntN(len(actors))]
		var got answer
		switch rng.IntN(6) {
		case 0:
			body := rights()
			body["name"] = "new"
			if rng.IntN(2) == 0 {
				body["network"] = pick(network, other)
			}
			if got = a.send("POST", "/x/people/", body); got.status == 201 {
				people = append(people, got.text("id"))
			}
		case 1:
			if len(people) > 0 {
				got = a.send("PATCH", "/x/people/"+pick(people...), rights())
			}
		case 2:
			if len(people) > 0 && len(actors) < 30 {
				i := rng.IntN(len(people))
				if got = a.send("POST", "/x/people/"+people[i]+"/invite", object{}); got.status == 201 {
					people = slices.Delete(people, i, i+1)
					b := w.browser()
					b.accept(got.text("link"))
					urn := b.send("GET", "/x/me", nil).text("urn")
					actors = append(actors, actor{b, urn[:strings.LastIndex(urn, ":")]})
				}
			}
		case 3:
			body := rights()
			delete(body, "admin")
			body["name"], body["kind"] = "key", "secret"
			if got = a.send("POST", "/x/keys/", body); got.status == 201 {
				actors = append(actors, actor{w.withToken(got.text("key")), a.network})
			}
			actors = actors[:min(len(actors), 40)]
		case 4:
			body := rights()
			got = a.send("POST", "/x/keys/",
				object{"name": "page", "kind": "public", "reads": body["reads"], "tags": []string{"live"}})
		case 5:
			got = a.send("PATCH", "/x/people/"+actors[rng.IntN(len(actors))].id(), rights())
		}
		if got.status >= 200 && got.status < 300 {
			allowed++
		}
		if got.status >= 500 {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	for _, a := range actors {
		me := a.send("GET", "/x/me", nil)
		if me.status != 200 {
			continue
		}
		foreign := other
		if a.network == other {
			foreign = network
		}
		var rights struct{ Moderates, Reads, Roles []string }
		_ = json.Unmarshal(me.body, &rights)
		if me.text("components") != "false" || slices.Contains(rights.Roles, "boss") ||
			slices.Contains(rights.Roles, "role of "+foreign) ||
			slices.ContainsFunc(slices.Concat(rights.Moderates, rights.Reads), func(u string) bool {
				return strings.HasPrefix(u, foreign)
			}) {
			t.Errorf("a person of %s has %s", a.network, me.body)
		}
	}
	for fault, err := range signin.Maintenance(true).Audit(t.Context(), w.db) {
		t.Errorf("%v %v", fault, err)
	}
	return allowed
}

// What a person has written is erased before and after the person is deleted, and only for who may delete them.
func TestAPersonIsDeletedWithComments(t *testing.T) {
	var erased []string
	var failed error
	w := newWorld(t, "https://host.example", func(o *signin.Options) {
		o.Erase = func(_ context.Context, user string) error {
			erased = append(erased, user)
			return failed
		}
	})
	admin := w.invited("Ann", signin.Rights{Admin: true})
	ben := w.invited("Ben", signin.Rights{Moderates: []string{network + ":site=1"}})
	cat := w.invited("Cat", signin.Rights{})
	one := "/x/people/" + cat.id()
	user, path := admin.want(200, "GET", one, nil).text("urn"), one+"?comments="
	ben.want(404, "DELETE", path+"true", nil)
	cat.want(403, "DELETE", path+"true", nil)
	admin.want(409, "DELETE", "/x/people/"+admin.id()+"?comments=true", nil)
	admin.want(400, "DELETE", path+"yes", nil)
	if erased != nil {
		t.Errorf("erased for who may not: %q", erased)
	}
	failed = vitrine.ErrBusy
	admin.want(503, "DELETE", path+"true", nil)
	admin.want(200, "GET", one, nil)
	failed = nil
	admin.want(204, "DELETE", path+"true", nil)
	admin.want(404, "GET", one, nil)
	if !slices.Equal(erased, []string{user, user, user}) {
		t.Errorf("erased %q, want three times %s", erased, user)
	}
	admin.want(204, "DELETE", "/x/people/"+ben.id()+"?comments=false", nil)
	if len(erased) != 3 {
		t.Errorf("erased %q", erased)
	}
	none := newWorld(t, "https://host.example")
	admin = none.invited("Ann", signin.Rights{Admin: true})
	admin.want(400, "DELETE", "/x/people/"+admin.id()+"?comments=true", nil)
}

// Names are found by names alone, of people of one network who are not disabled.
func TestNamesakes(t *testing.T) {
	w := newWorld(t, "https://host.example")
	admin := w.invited("Ann Lee", signin.Rights{Admin: true})
	for _, name := range []string{"Ben Lee", "Cat", "Leo Ann"} {
		admin.want(201, "POST", "/x/people/", object{"name": name, "email": "zoe@example.test"})
	}
	gone := w.invited("Lee Gone", signin.Rights{})
	admin.want(200, "PATCH", "/x/people/"+gone.id(), object{"disabled": true})
	admin.want(201, "POST", "/x/people/", object{"name": "Far Lee", "network": other})
	for query, want := range map[string]string{"": "Ann Lee, Ben Lee, Cat, Leo Ann", "lee": "Ann Lee, Ben Lee",
		" ANN  le ": "Ann Lee, Leo Ann", "zoe": "", "example": "", "x": ""} {
		found, err := w.people.Namesakes(t.Context(), network, query)
		var names []string
		for _, p := range found {
			names = append(names, p.Name)
		}
		slices.Sort(names)
		if have := strings.Join(names, ", "); err != nil || have != want {
			t.Errorf("%q finds %s, %v, want %s", query, have, err, want)
		}
	}
}
