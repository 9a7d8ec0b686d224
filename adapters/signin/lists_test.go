package signin_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/storage"
)

// as returns a program with a token.
func (w *world) as(by vitrine.Caller) *browser {
	w.t.Helper()
	token, err := w.tokens.Sign(httpapi.Principal{Caller: by}, w.clock().AddDate(0, 0, 1))
	if err != nil {
		w.t.Fatal(err)
	}
	return w.withToken(token)
}

func (w *world) put(entries ...storage.Entry) {
	w.t.Helper()
	err := w.db.Update(w.t.Context(), "people", storage.UpdateOptions{Large: true}, func(t storage.Tx) error {
		return t.Put(w.t.Context(), entries...)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// remove removes records of some kinds.
func (w *world) remove(kinds ...string) {
	w.t.Helper()
	err := w.db.Update(w.t.Context(), "people", storage.UpdateOptions{}, func(t storage.Tx) error {
		for _, kind := range kinds {
			if err := t.DeleteRange(w.t.Context(), storage.Prefix("people "+kind)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// listed returns the names in a list of all pages, and how many pages that are.
func (b *browser) listed(path, name string) (names []string, pages int) {
	b.t.Helper()
	for path != "" {
		a := b.want(200, "GET", path, nil)
		var body map[string][]struct{ Name string }
		if err := json.Unmarshal(a.body, &body); err != nil || body[name] == nil {
			b.t.Fatalf("%s: %s %v", path, a.body, err)
		}
		for _, one := range body[name] {
			names = append(names, one.Name)
		}
		path, _, _ = strings.Cut(strings.TrimPrefix(a.header.Get("Link"), "<"+b.base), ">")
		pages++
	}
	return names, pages
}

// oldKey is the record of a public key as v0.2.0 has written it, with as little as it needs.
func oldKey(i int, name string, reads ...string) storage.Entry {
	id := fmt.Sprintf("%08d", i)
	text, _ := json.Marshal(object{"id": id, "prefix": "pk_" + id, "name": name, "kind": "public", "reads": reads,
		"tags": []string{"live"},
		"by":   networkOf(reads[0]) + ":user=x", "hash": "hash" + id})
	return storage.Entry{Key: "people key/" + id, Value: text}
}

func networkOf(u string) string { return strings.Join(strings.Split(u, ":")[:3], ":") }

func user(network string, moderates ...string) vitrine.Caller {
	return vitrine.Caller{URN: network + ":user=token", Moderates: moderates}
}

// Lists of keys are those that one may read one by one, on a store of v0.2.0 too, whose public keys no index has.
func TestWhoSeesWhichKeys(t *testing.T) {
	w := newWorld(t, localBase)
	site1, site2, far := network+":site=1", network+":site=2", other+":site=1"
	keys := map[string][]string{"one": {site1}, "two": {site2}, "both": {site1, site2}, "net": {network}, "far": {far}}
	ids := map[string]string{}
	for i, name := range []string{"one", "two", "both", "net", "far"} {
		e := oldKey(i, name, keys[name]...)
		ids[name] = strings.TrimPrefix(e.Key, "people key/")
		w.put(e)
	}
	ann, admin := w.invited("Ann", signin.Rights{Moderates: []string{network}}),
		w.invited("Admin", signin.Rights{Admin: true})
	ann.want(201, "POST", "/x/keys/", object{"name": "Ann's", "kind": "secret"})
	for _, c := range []struct {
		who  string
		by   *browser
		want string
	}{
		{"nobody", w.as(user(network)), ""},
		{"site 1", w.as(user(network, site1)), "one"},
		{"both sites", w.as(user(network, site2, site1)), "both two one"},
		{"another site", w.as(user(network, network+":site=3")), ""},
		{"the network", w.as(user(network, network, site1)), "net both two one"},
		{"two networks", w.as(user(other, other, network)), "far net both two one"},
		{"a site and a network", w.as(user(other, far, network)), "far net both two one"},
		{"who reads", w.as(vitrine.Caller{URN: network + ":user=r", Reads: []string{network}}), ""},
		{"Ann", ann, "Ann's net both two one"},
		{"an administrator", admin, "Ann's far net both two one"},
	} {
		for _, limit := range []string{"?limit=1", ""} {
			names, _ := c.by.listed("/x/keys/"+limit, "keys")
			slices.Sort(names)
			want := strings.Fields(c.want)
			slices.Sort(want)
			if !slices.Equal(names, want) {
				t.Errorf("%s lists %q, want %q", c.who, names, want)
			}
		}
		for name, id := range ids {
			seen := slices.Contains(strings.Fields(c.want), name)
			if got := c.by.send("GET", "/x/keys/"+id, nil); (got.status == 200) != seen {
				t.Errorf("%s reads %s: %d", c.who, name, got.status)
			}
		}
	}
	if names, _ := admin.listed("/x/keys/?limit=2", "keys"); fmt.Sprint(names) != "[Ann's far net both two one]" {
		t.Errorf("the newest first: %q", names)
	}
	// A moderator of one site does not revoke what another site needs; who moderates all of it does.
	w.as(user(network, site1)).want(404, "DELETE", "/x/keys/"+ids["both"], nil)
	w.as(user(network, site1, site2)).want(204, "DELETE", "/x/keys/"+ids["both"], nil)
	if names, _ := w.as(user(network, network)).listed("/x/keys/", "keys"); slices.Contains(names, "both") {
		t.Error("a revoked key is listed")
	}
	for key := range everything(t, w.db) {
		if strings.Contains(key, ids["both"]) {
			t.Errorf("of a revoked key there is %s", key)
		}
	}
}

// Every list of Endpoints has the bounds of the handler: a page that shows nothing of thousands says that there is
// more.
func TestPagesThatShowNothing(t *testing.T) {
	w := newWorld(t, localBase)
	admin := w.invited("Admin", signin.Rights{Admin: true})
	var all []storage.Entry
	for i := range 2500 {
		all = append(all, oldKey(i, "k", network+":site=2"))
		id := fmt.Sprintf("%08d", i)
		text, _ := json.Marshal(object{"id": id, "urn": network + ":user=" + id, "name": "Somebody"})
		all = append(all, storage.Entry{Key: "people person/" + id, Value: text},
			storage.Entry{Key: "people network/" + network + " " + id})
	}
	w.put(all...)
	for what, c := range map[string]struct {
		by         *browser
		path, name string
		pages      int
	}{
		"keys of another site":   {w.as(user(network, network+":site=1")), "/x/keys/?limit=500", "keys", 3},
		"people of another name": {admin, "/x/people/?q=nobody", "people", 3},
		"and for a moderator":    {w.as(user(network, network)), "/x/people/?q=nobody", "people", 3},
		"keys of nobody's":       {w.as(user(other)), "/x/keys/", "keys", 1},
	} {
		if names, pages := c.by.listed(c.path, c.name); len(names) != 0 || pages != c.pages {
			t.Errorf("%s: %q on %d pages, want none on %d", what, names, pages, c.pages)
		}
	}
	lists := 0
	for _, e := range w.people.Endpoints() {
		if e.List != nil {
			lists++
		}
	}
	if lists != 4 {
		t.Errorf("there are %d lists, and this test knows of 4: people, keys, sessions, passkeys", lists)
	}
}

// A person, a key and a network have so much and no more, and what is there already stays.
func TestLimitsOfPeopleAndKeys(t *testing.T) {
	w := newWorld(t, localBase)
	admin := w.invited("Admin", signin.Rights{Admin: true})
	ann := w.invited("Ann", signin.Rights{Moderates: []string{network}})
	many := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprint(network, ":site=", i))
		}
		return list
	}
	tags := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprint("t", i))
		}
		return list
	}
	limit := func(what string, a answer) {
		t.Helper()
		if a.status != 422 || a.text("code") != "limit" {
			t.Errorf("%s: %d %s, want 422 limit", what, a.status, a.body)
		}
	}
	ann.want(201, "POST", "/x/keys/", object{"name": "k", "kind": "public", "reads": many(100), "tags": tags(100)})
	limit("101 networks and sites",
		ann.send("POST", "/x/keys/", object{"name": "k", "kind": "public", "reads": many(101), "tags": tags(1)}))
	limit("101 tags",
		ann.send("POST", "/x/keys/", object{"name": "k", "kind": "public", "reads": many(1), "tags": tags(101)}))
	limit("101 of a secret key",
		ann.send("POST", "/x/keys/", object{"name": "k", "kind": "secret", "reads": many(60), "moderates": many(41)}))
	limit("101 of a person", ann.send("POST", "/x/people/", object{"name": "Bea", "reads": many(101)}))
	bea := "/x/people/" + ann.want(201, "POST", "/x/people/", object{"name": "Bea", "reads": many(100)}).text("id")
	limit("one more", ann.send("PATCH", bea, object{"moderates": many(1)}))
	_, id, _ := strings.Cut(bea, "/people/")
	before := everything(t, w.db)["people person/"+id]
	stored := strings.Replace(before, `"reads":[`, `"reads":["`+network+`:site=more",`, 1)
	w.put(storage.Entry{Key: "people person/" + id, Value: []byte(stored)})
	ann.want(200, "PATCH", bea, object{"name": "Bea B."})
	ann.want(200, "PATCH", bea, object{"reads": append(many(100), network+":site=other")}) // as many as there were
	ann.want(200, "PATCH", bea, object{"reads": many(100)})
	limit("again", ann.send("PATCH", bea, object{"reads": many(101)}))

	for range 100 {
		ann.want(201, "POST", "/x/keys/", object{"name": "k", "kind": "secret"})
	}
	limit("101 secret keys", ann.send("POST", "/x/keys/", object{"name": "k", "kind": "secret"}))
	admin.want(201, "POST", "/x/keys/", object{"name": "k", "kind": "secret"})

	public := func(by *browser, network string) answer {
		return by.send("POST", "/x/keys/",
			object{"name": "k", "kind": "public", "reads": []string{network}, "tags": []string{"live"}})
	}
	w.remove("reading/", "made/", "indexed/")
	w = newWorldOver(t, w.db, localBase) // a process that opens a store of v0.2.0
	var all []storage.Entry
	for i := range 998 {
		all = append(all, oldKey(i, "k", network)) // and one is there
	}
	w.put(all...)
	of, both := w.as(user(network, network)), w.as(user(other, network, other))
	if a := public(of, network); a.status != 201 {
		t.Errorf("the 1,000th: %d %s", a.status, a.body)
	}
	limit("the 1,001st that reads the network", public(both, network))
	if a := public(both, other); a.status != 201 {
		t.Errorf("of another network: %d %s", a.status, a.body)
	}
	both2 := w.as(user(network, network, other))
	limit("the 1,001st that its people make", public(both2, other))
	first := strings.TrimPrefix(all[0].Key, "people key/")
	of.want(204, "DELETE", "/x/keys/"+first, nil)
	if a := public(both2, other); a.status != 201 {
		t.Errorf("after one was revoked: %d %s", a.status, a.body)
	}

	all = nil
	for i := range 10_000 - 3 {
		all = append(all, storage.Entry{Key: fmt.Sprintf("people network/%s %08d", network, i)})
	}
	w.put(all...)
	limit("10,001 people", of.send("POST", "/x/people/", object{"name": "Cid"}))
	if _, err := w.people.Invite(t.Context(), signin.Invitation{Name: "Cid", Network: network}); err == nil {
		t.Error("the program invites the 10,001st")
	}
	both.want(201, "POST", "/x/people/", object{"name": "Cid"})
}

// A person has 1,000 sessions: the oldest ends when there is another.
func TestSessionsOfAPerson(t *testing.T) {
	w := newWorld(t, localBase)
	ann := w.invited("Ann", signin.Rights{Moderates: []string{network}})
	id, now := ann.id(), w.clock().UnixMilli()
	var all []storage.Entry
	for i := range 1000 {
		hash := fmt.Sprintf("hash%04d", (i*7)%1000)
		text, _ := json.Marshal(object{"id": fmt.Sprintf("0%04d", i), "via": "passkey", "browser": "b",
			"createdAt": now, "expires": now + 1e9, "person": id})
		all = append(all, storage.Entry{Key: "people session/" + hash, Value: text},
			storage.Entry{Key: "people sessions/" + id + " " + hash})
	}
	w.put(all...)
	again := w.browser()
	again.auth, again.key = ann.auth, ann.key
	again.signIn()
	var ids []string
	pages := 0
	for path := "/x/signin/sessions/?limit=300"; path != ""; pages++ {
		a := again.want(200, "GET", path, nil)
		var body struct{ Sessions []struct{ ID string } }
		if err := json.Unmarshal(a.body, &body); err != nil {
			t.Fatal(err)
		}
		for _, one := range body.Sessions {
			ids = append(ids, one.ID)
		}
		path, _, _ = strings.Cut(strings.TrimPrefix(a.header.Get("Link"), "<"+w.base), ">")
	}
	if pages != 4 || len(ids) != 1000 ||
		!slices.IsSortedFunc(ids, func(a, b string) int { return strings.Compare(b, a) }) ||
		slices.Contains(ids, "00000") {
		t.Errorf("%d sessions on %d pages, %q …", len(ids), pages, ids[:min(3, len(ids))])
	}
	again.want(204, "DELETE", "/x/signin/sessions/", nil)
	for key := range everything(t, w.db) {
		if strings.HasPrefix(key, "people session") {
			t.Errorf("after all have ended there is %s", key)
		}
	}
}
