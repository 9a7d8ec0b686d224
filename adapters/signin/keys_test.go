package signin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestSecretKeys(t *testing.T) {
	w := newWorld(t, localBase)
	admin := w.invited("Admin", signin.Rights{Admin: true})
	ann := w.invited("Ann", signin.Rights{Moderates: []string{network}})
	id := ann.id()
	made := ann.want(201, "POST", "/x/keys/",
		object{"name": "import", "kind": "secret", "moderates": []string{network}})
	secret := made.text("key")
	if len(secret) != 46 || !strings.HasPrefix(secret, "vt_") || made.text("prefix") != secret[:11] ||
		made.value("expires") == nil {
		t.Fatalf("the key: %s", made.body)
	}
	program := w.withToken(secret)
	me := program.want(200, "GET", "/x/me", nil)
	if me.text("urn") != ann.send("GET", "/x/me", nil).text("urn") || me.text("moderates") != `["`+network+`"]` {
		t.Errorf("me: %s", me.body)
	}
	program.want(201, "POST", "/apps/", object{"title": "Hello", "groups": []string{network}})
	w.browser().want(200, "GET", "/x/me?svctoken="+secret, nil)
	w.browser().want(401, "GET", "/x/public/live?app=x&key="+secret, nil)
	for _, path := range []string{"/x/keys/", "/x/people/"} {
		program.want(403, "POST", path, object{"name": "x", "kind": "secret"})
	}
	program.want(403, "POST", "/x/people/"+ann.id()+"/invite", object{})
	program.want(403, "GET", "/x/signin/sessions/", nil)
	if list := ann.want(200, "GET", "/x/keys/", nil); strings.Contains(string(list.body), secret) ||
		list.text("keys.0") != "" && list.value("keys") == nil {
		t.Errorf("the list: %s", list.body)
	}
	var list struct{ Keys []struct{ LastUsedAt *int64 } }
	if err := json.Unmarshal(ann.send("GET", "/x/keys/", nil).body, &list); err != nil || len(list.Keys) != 1 ||
		list.Keys[0].LastUsedAt == nil {
		t.Errorf("the list: %+v, %v", list, err)
	}
	bob := w.invited("Bob", signin.Rights{Moderates: []string{network}})
	if list := bob.want(200, "GET", "/x/keys/", nil); list.text("keys") != "[]" {
		t.Errorf("the list of another person: %s", list.body)
	}
	bob.want(404, "DELETE", "/x/keys/"+made.text("id"), nil)
	// It may do what Ann may at the moment.
	admin.want(200, "PATCH", "/x/people/"+id, object{"moderates": []string{network + ":site=news", other}})
	if me := program.want(200, "GET", "/x/me", nil); me.text("moderates") != `["`+network+`:site=news"]` {
		t.Errorf("after a change: %s", me.body)
	}
	program.want(403, "POST", "/apps/", object{"title": "Hello", "groups": []string{network}})
	admin.want(200, "PATCH", "/x/people/"+id, object{"disabled": true})
	program.want(401, "GET", "/x/me", nil)
	admin.want(200, "PATCH", "/x/people/"+id, object{"disabled": false})
	program.want(200, "GET", "/x/me", nil)
	admin.want(204, "DELETE", "/x/people/"+id, nil)
	program.want(401, "GET", "/x/me", nil)
}

// A secret key has what its maker owns only if it was made with owner, or before there was the choice.
func TestKeysWithAndWithoutOwner(t *testing.T) {
	w := newWorld(t, localBase)
	ann := w.invited("Ann", signin.Rights{Moderates: []string{network}})
	app := "/apps/" +
		ann.want(201, "POST", "/apps/", object{"title": "Ann's", "groups": []string{network + ":site=1"}}).text("id")
	rename := object{"name": "k", "kind": "secret"}
	patch := `[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/title",` +
		`"value":"Mine"}]`
	program := func(more object) (*browser, string) {
		maps.Copy(more, rename)
		made := ann.want(201, "POST", "/x/keys/", more)
		b := w.withToken(made.text("key"))
		b.headers["Content-Type"] = "application/json-patch+json"
		return b, made.text("id")
	}
	narrow, id := program(object{"reads": []string{network + ":site=1"}})
	narrow.want(200, "GET", app, nil)
	narrow.want(403, "PATCH", app, patch)
	narrow.want(403, "DELETE", app, nil)
	elsewhere, _ := program(object{"moderates": []string{network + ":site=2"}, "owner": false})
	elsewhere.want(404, "GET", app, nil)
	if me, list := elsewhere.want(200, "GET", "/x/me", nil),
		elsewhere.want(200, "GET", "/apps/", nil); me.text("owner") != "false" || list.text("apps") != "[]" {
		t.Errorf("%s %s", me.body, list.body)
	}
	wide, _ := program(object{"owner": true})
	if me := wide.want(200, "GET", "/x/me", nil); me.text("owner") != "true" {
		t.Errorf("%s", me.body)
	}
	wide.want(200, "PATCH", app, patch)
	if key := ann.want(200, "GET", "/x/keys/"+id, nil); key.text("owner") != "false" {
		t.Errorf("%s", key.body)
	}
	ann.want(400, "POST", "/x/keys/",
		object{"name": "k", "kind": "public", "reads": []string{network}, "tags": []string{"live"}, "owner": true})

	// A record of a key as v0.2.0 has written it.
	key := "people key/" + id
	before := everything(t, w.db)[key]
	without := strings.Replace(before, `"owner":false,`, "", 1)
	err := w.db.Update(t.Context(), "people", storage.UpdateOptions{}, func(t storage.Tx) error {
		return t.Put(narrow.t.Context(), storage.Entry{Key: key, Value: []byte(without)})
	})
	if err != nil || without == before {
		t.Fatal(err, before)
	}
	if key := ann.want(200, "GET", "/x/keys/"+id, nil); key.text("owner") != "true" {
		t.Errorf("%s", key.body)
	}
	narrow.want(204, "DELETE", app, nil)
}

// A key of an agent speaks with its name, and does what agents do.
func TestKeysOfAgents(t *testing.T) {
	w := newWorld(t, localBase)
	ann := w.invited("Ann", signin.Rights{Moderates: []string{network}})
	made := ann.want(201, "POST", "/x/keys/",
		object{"name": "Draft writer", "kind": "secret", "moderates": []string{network}, "agent": true})
	agent := w.withToken(made.text("key"))
	if me := agent.want(200, "GET", "/x/me", nil); me.text("agent") != "Draft writer" || made.text("agent") != "true" {
		t.Errorf("%s %s", me.body, made.body)
	}
	app := "/apps/" + agent.want(201, "POST", "/apps/",
		object{"title": "a", "groups": []string{network + ":site=1"}}).text("id")
	if h := ann.want(200, "GET", app+"/history/", nil); !strings.Contains(string(h.body), `"agent":"Draft writer"`) {
		t.Errorf("%s", h.body)
	}
	agent.want(403, "PUT", app+"/tags/live", object{"latest": true})
	agent.want(403, "POST", "/x/people/", object{"name": "Ben"})
	agent.want(403, "POST", "/x/keys/", object{"name": "k", "kind": "secret"})
	ann.want(201, "PUT", app+"/tags/live", object{"latest": true})
	if key := ann.want(201, "POST", "/x/keys/", object{"name": "k", "kind": "secret"}); key.text("agent") != "false" {
		t.Errorf("%s", key.body)
	}
}

func TestWhatKeysMayNotBe(t *testing.T) {
	w := newWorld(t, localBase)
	ann := w.invited("Ann", signin.Rights{Moderates: []string{network}})
	year := time.Now().AddDate(1, 0, 0).UnixMilli()
	w.invited("Admin", signin.Rights{Admin: true}).want(201, "POST", "/x/keys/",
		object{"name": "k", "kind": "public", "reads": []string{other}, "tags": []string{"live"}})
	for name, c := range map[string]struct {
		body   object
		status int
	}{
		"a year":                 {object{"name": "k", "kind": "secret", "expires": year}, 201},
		"more than a year":       {object{"name": "k", "kind": "secret", "expires": year + 86400_000}, 400},
		"past":                   {object{"name": "k", "kind": "secret", "expires": 1000}, 400},
		"more than the maker":    {object{"name": "k", "kind": "secret", "moderates": []string{other}}, 403},
		"components":             {object{"name": "k", "kind": "secret", "components": true}, 403},
		"an unknown kind":        {object{"name": "k", "kind": "other"}, 400},
		"no name":                {object{"kind": "secret"}, 400},
		"a secret one with tags": {object{"name": "k", "kind": "secret", "tags": []string{"live"}}, 400},
		"a public one": {object{"name": "k", "kind": "public", "reads": []string{network},
			"tags": []string{"live"}}, 201},
		"for reviews": {object{"name": "k", "kind": "public", "reads": []string{network},
			"reviews": true}, 201},
		"that reads nothing":   {object{"name": "k", "kind": "public", "tags": []string{"live"}}, 400},
		"that reads by no tag": {object{"name": "k", "kind": "public", "reads": []string{network}}, 400},
		"that moderates": {object{"name": "k", "kind": "public", "reads": []string{network},
			"tags": []string{"live"}, "moderates": []string{network}}, 400},
		"of another network": {object{"name": "k", "kind": "public", "reads": []string{other},
			"tags": []string{"live"}}, 403},
		"of two networks": {object{"name": "k", "kind": "public", "reads": []string{network, other},
			"tags": []string{"live"}}, 400},
		"with a pattern for a tag": {object{"name": "k", "kind": "public", "reads": []string{network},
			"tags": []string{"*"}}, 400},
		"a secret one that lists": {object{"name": "k", "kind": "secret", "list": true}, 400},
		"that lists by no tag": {object{"name": "k", "kind": "public", "reads": []string{network}, "reviews": true,
			"list": true}, 400},
		"a public agent": {object{"name": "k", "kind": "public", "reads": []string{network}, "tags": []string{"live"},
			"agent": true}, 400},
		"of an administrator's kind": {object{"name": "k", "kind": "secret", "admin": true}, 400},
	} {
		if got := ann.send("POST", "/x/keys/", c.body); got.status != c.status {
			t.Errorf("%s: %d %s, want %d", name, got.status, got.body, c.status)
		}
	}
}

// A public key stands in a page, is good nowhere else, belongs to its network and not to its maker, and stops when it
// is revoked.
func TestPublicKeys(t *testing.T) {
	w := newWorld(t, localBase)
	admin := w.invited("Admin", signin.Rights{Admin: true})
	ann, bob := w.invited("Ann", signin.Rights{Moderates: []string{network}}),
		w.invited("Bob", signin.Rights{Moderates: []string{network}})
	app := ann.want(201, "POST", "/apps/", object{"title": "Hello", "groups": []string{network}}).text("id")
	ann.want(201, "PUT", "/apps/"+app+"/tags/live", object{"appVersion": "0"})
	made := ann.want(201, "POST", "/x/keys/",
		object{"name": "page", "kind": "public", "reads": []string{network}, "tags": []string{"live"}})
	key, path := made.text("key"), "/x/keys/"+made.text("id")
	page := w.browser()
	got := page.want(200, "GET", "/x/public/live?app="+app+"&key="+key, nil)
	if !strings.Contains(string(got.body), "Hello") || !strings.Contains(got.header.Get("Cache-Tag"), "key-"+key[:11]) {
		t.Errorf("%v %s", got.header, got.body)
	}
	page.want(403, "GET", "/x/public/draft?app="+app+"&key="+key, nil)
	// A key made before there was list has none.
	at := "people key/" + made.text("id")
	before := everything(t, w.db)[at]
	for name, change := range map[string]func(string) string{"made without list": func(r string) string { return r },
		"of an older release": func(r string) string { return strings.Replace(r, `"list":false,`, "", 1) }} {
		if err := w.db.Update(t.Context(), "people", storage.UpdateOptions{}, func(tx storage.Tx) error {
			return tx.Put(t.Context(), storage.Entry{Key: at, Value: []byte(change(before))})
		}); err != nil || !strings.Contains(before, `"list":false,`) {
			t.Fatal(name, err, before)
		}
		page.want(403, "GET", "/x/public/live?key="+key, nil)
	}
	lists := ann.want(201, "POST", "/x/keys/",
		object{"name": "build", "kind": "public", "reads": []string{network}, "tags": []string{"live"}, "list": true})
	if all := page.want(200, "GET", "/x/public/live?key="+lists.text("key"), nil); lists.text("list") != "true" ||
		!strings.Contains(string(all.body), `"id":"`+app+`","title":"Hello"`) ||
		all.header.Get("Cache-Tag") != "tag-live, key-"+lists.text("prefix") {
		t.Errorf("%s: %v %s", lists.body, all.header, all.body)
	}
	page.want(403, "GET", "/x/public/draft?key="+lists.text("key"), nil)
	page.want(401, "GET", "/apps/"+app+"/tagged/live?svctoken="+key, nil)
	w.withToken(key).want(401, "GET", "/apps/"+app+"/tagged/live", nil)
	admin.want(204, "DELETE", "/x/people/"+ann.id(), nil)
	page.want(200, "GET", "/x/public/live?app="+app+"&key="+key, nil)
	if shown := bob.want(200, "GET", path, nil); shown.text("key") != key {
		t.Errorf("another moderator sees %s", shown.body)
	}
	w.invited("Site", signin.Rights{Moderates: []string{network + ":site=x"}}).want(404, "DELETE", path, nil)
	bob.want(204, "DELETE", path, nil)
	page.want(401, "GET", "/x/public/live?app="+app+"&key="+key, nil)
	bob.want(404, "GET", path, nil)
}

// A stream ends as soon as the rights of who reads it change, also by another process.
func TestStreamsEndWithTheRights(t *testing.T) {
	for name, end := range map[string]func(b, elsewhere *browser){
		"a right": func(b, elsewhere *browser) {
			elsewhere.want(200, "PATCH", "/x/people/"+b.id(), object{"reads": []string{network}})
		},
		"disabled": func(b, elsewhere *browser) {
			elsewhere.want(200, "PATCH", "/x/people/"+b.id(), object{"disabled": true})
		},
		"signs out": func(b, _ *browser) { b.want(204, "DELETE", "/x/signin/sessions/", nil) },
		"an administrator who is disabled": func(b, elsewhere *browser) {
			elsewhere.want(200, "PATCH", "/x/people/"+b.id(), object{"admin": true})
			elsewhere.want(200, "PATCH", "/x/people/"+b.id(), object{"disabled": true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := memory.New()
				w, again := newWorldOver(t, db, localBase), newWorldOver(t, db, localBase) // two processes
				go w.people.Watch(t.Context(), w.streams.Recheck)
				elsewhere := again.browser()
				elsewhere.cookies = w.invited("Admin", signin.Rights{Admin: true}).cookies
				b := w.invited("Reader", signin.Rights{Moderates: []string{network}})
				reading := *b
				reading.headers = map[string]string{"Accept": "text/event-stream"}
				ended := make(chan answer, 1)
				go func() { ended <- reading.sendContext(t.Context(), "GET", "/x/changes?after=now", nil) }()
				synctest.Wait()
				begun := time.Now()
				end(b, elsewhere)
				select {
				case got := <-ended:
					if got.status != http.StatusOK {
						t.Errorf("%d %s", got.status, got.body)
					}
					if took := time.Since(begun); took > time.Second {
						t.Errorf("it took %v", took)
					}
				case <-time.After(5 * time.Second):
					t.Fatal("the stream goes on")
				}
			})
		})
	}
}

// A change of people authenticates the streams of those whom it concerns again, by another process too, and no other
// stream.
func TestWhoseStreamsAChangeConcerns(t *testing.T) { synctest.Test(t, whoseStreamsAChangeConcerns) }

func whoseStreamsAChangeConcerns(t *testing.T) {
	db := memory.New()
	w, again := newWorldOver(t, db, localBase), newWorldOver(t, db, localBase) // two processes
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	type call struct {
		users []string
		at    time.Time
	}
	calls := make(chan call, 100)
	go w.people.Watch(ctx, func(users ...string) { calls <- call{users, time.Now()} })
	synctest.Wait()
	last := map[string]time.Time{} // by user
	urnOf := func(b *browser) string { return b.send("GET", "/x/me", nil).text("urn") }
	expect := func(what string, want ...string) {
		t.Helper()
		var users []string
		for len(users) < len(want) {
			select {
			case c := <-calls:
				for _, user := range c.users {
					if since := c.at.Sub(last[user]); since < 990*time.Millisecond {
						t.Errorf("%s: %s is named again after %v", what, user, since)
					}
					last[user] = c.at
				}
				if len(c.users) == 0 {
					t.Errorf("%s concerns everybody", what)
				}
				users = append(users, c.users...)
			case <-time.After(5 * time.Second):
				t.Fatalf("%s concerns %q, want %q", what, users, want)
			}
		}
		if !slices.Equal(users, want) {
			t.Errorf("%s concerns %q, want %q", what, users, want)
		}
	}
	admin, ann := again.invited("Admin", signin.Rights{Admin: true}),
		again.invited("Ann", signin.Rights{Moderates: []string{network}})
	adminURN, annURN := urnOf(admin), urnOf(ann)
	public := ann.want(201, "POST", "/x/keys/",
		object{"name": "k", "kind": "public", "reads": []string{network}, "tags": []string{"live"}})
	secret := ann.want(201, "POST", "/x/keys/", object{"name": "k", "kind": "secret"})
	admin.want(200, "PATCH", "/x/people/"+ann.id(), object{"name": "Ann A."})
	for i := range 20 { // one call at once, and one for all others
		admin.want(200, "PATCH", "/x/people/"+ann.id(), object{"reads": []string{fmt.Sprint(network, ":site=", i)}})
		synctest.Wait()
	}
	expect("a right", annURN, annURN)
	begun := time.Now()
	admin.want(204, "DELETE", "/x/keys/"+public.text("id"), nil)
	expect("a public key that is revoked", network+":user="+public.text("id"))
	if took := time.Since(begun); took > 500*time.Millisecond {
		t.Errorf("one who was not named lately waits %v", took)
	}
	ann.want(204, "DELETE", "/x/keys/"+secret.text("id"), nil)
	expect("a secret key that is revoked", annURN)
	admin.want(204, "DELETE", "/x/signin/sessions/", nil)
	expect("a session that ends", adminURN)
	ann.signIn()
	time.Sleep(1100 * time.Millisecond)
	for len(calls) > 0 {
		if c := <-calls; !slices.Equal(c.users, []string{annURN}) { // whose session was replaced
			t.Errorf("and one more call: %q", c.users)
		}
	}
}

// No secret stands in a log, an answer that is not its own, an error, or an archive without access.
func TestSecretsAreNowhere(t *testing.T) {
	w := newWorld(t, localBase)
	var all strings.Builder
	note := func(a answer) answer { all.Write(a.body); return a }
	admin := w.invited("Admin", signin.Rights{Admin: true})
	id := note(admin.want(201, "POST", "/x/people/", object{"name": "Bea", "email": "canary@example.test"})).text("id")
	link := admin.want(201, "POST", "/x/people/"+id+"/invite", object{}).text("link")
	invitation := link[strings.Index(link, "=")+1:]
	key := admin.want(201, "POST", "/x/keys/", object{"name": "k", "kind": "secret"}).text("key")
	b := w.browser()
	note(b.send("POST", "/x/signin/invitation", object{"invitation": invitation}))
	note(b.send("POST", "/x/signin/invitation", object{"invitation": invitation + "x"}))
	note(b.accept(link))
	for _, path := range []string{"/x/me", "/x/people/", "/x/people/" + id, "/x/keys/", "/x/signin",
		"/x/signin/sessions/", "/x/signin/passkeys/", "/x/people/" + invitation, "/" + key, "/x/keys/" + key,
		"/x/me?vt=" + key} {
		note(admin.send("GET", path, nil))
	}
	note(w.withToken(key+"x").send("GET", "/x/me", nil))
	note(w.withToken(key).send("GET", "/x/people/"+key, nil))
	log := w.log.String()
	for name, secret := range map[string]string{"the key": key, "the invitation": invitation,
		"a session": b.cookies["vitrine-8080"], "another session": admin.cookies["vitrine-8080"],
		"an address": "canary@"} {
		if strings.Contains(log, secret) {
			t.Errorf("%s is in the log: %s", name, log)
		}
		if name != "an address" && strings.Contains(strings.ReplaceAll(all.String(), invitation+"x", ""), secret) {
			t.Errorf("%s is in an answer: %s", name, all.String())
		}
		if name != "an address" {
			for key, value := range everything(t, w.db) {
				if strings.Contains(key+value, secret) {
					t.Errorf("%s is in the record %s", name, key)
				}
			}
		}
	}
}
