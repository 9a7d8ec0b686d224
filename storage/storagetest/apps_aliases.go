package storagetest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

var aliasRules = []appRule{
	// The caller overwrites its slices first before the commit and then after it. Neither reaches the store.
	{"a store copies what it is given: the caller may change it afterwards", func(t *testing.T, s appsvc.Store) {
		h := newHead("a", 0)
		body, c, a := bodyOf(h, "kept"), component("1", "map", "1"), answer(owner, "key", 10)
		scribble := func() {
			overwrite(h.Groups)
			overwrite(h.Components)
			for _, text := range [][]byte{body, c.Manifest, a.Request, a.Result} {
				copy(text, bytes.Repeat([]byte("#"), len(text)))
			}
		}
		update(t, s, func(w tx) error {
			h, c, a = newHead("a", 0), component("1", "map", "1"), answer(owner, "key", 10)
			body = bodyOf(h, "kept")
			if err := w.AddVersion(ctx, h, body); err != nil {
				return err
			}
			if err := w.AddComponent(ctx, c); err != nil {
				return err
			}
			err := w.KeepAnswer(ctx, a, 0)
			scribble() // before it is committed
			return err
		})
		for range 2 {
			checkHead(t, read(t, s, headOf("a")), newHead("a", 0))
			checkApps(t, read(t, s, apps(appsvc.AppQuery{Owner: editor, Groups: []string{site1}, Component: "map", Sort: appsvc.CreatedAscending})),
				[]appsvc.App{titled(newHead("a", 0), "kept")})
			checkComponents(t, read(t, s, components(appsvc.ComponentQuery{})), []appsvc.Component{component("1", "map", "1")})
			checkAnswer(t, s, answer(owner, "key", 10))
			scribble() // and afterwards
		}
	}},
	// This holds for lists and for the request of an answer. Bodies, manifests and results may be shared, and nobody
	// changes them.
	{"a caller may change what a store returned, and the store stays as it is", func(t *testing.T, s appsvc.Store) {
		add(t, s, newHead("a", 0), "")
		keep(t, s, 0, answer(owner, "key", 10))
		for range 3 {
			h := read(t, s, headOf("a"))
			checkHead(t, h, newHead("a", 0))
			overwrite(h.Groups)
			overwrite(h.Components)
			checkQuery(t, s, appsvc.AppQuery{Owner: editor, Groups: []string{site1}, Component: "map"}, []head{newHead("a", 0)})

			a := read(t, s, answerOf(owner, "key"))
			checkAnswer(t, s, answer(owner, "key", 10))
			copy(a.Request, "############")
		}
	}},
	// A slice with spare capacity would let append write into memory that the store shares with other callers.
	{"appending to a returned list or body does not reach the store", func(t *testing.T, s appsvc.Store) {
		add(t, s, newHead("a", 0), "")
		add(t, s, newHead("a", 1), "")
		for range 2 {
			h, app := read(t, s, headOf("a")), read(t, s, appOf("a", vitrine.NewVersion(0)))
			_, _, _ = append(h.Groups, "#"), append(h.Components, "#"), append(app.Body, '#')
			checkHead(t, read(t, s, headOf("a")), newHead("a", 1))
			for v := range 2 {
				checkApps(t, []appsvc.App{read(t, s, appOf("a", vitrine.NewVersion(int64(v))))}, []appsvc.App{titled(newHead("a", v), "")})
			}
		}
	}},
	// A driver that returns memory of a cache or of a database page must not use that memory again.
	{"what a View returned does not change when the store is written later", func(t *testing.T, s appsvc.Store) {
		add(t, s, newHead("a", 0), "first")
		addComponents(t, s, component("1", "map", "1"))
		all := appsvc.VersionQuery{AppID: "a"}
		h, before, parts := read(t, s, headOf("a")), read(t, s, versions(all)), read(t, s, components(appsvc.ComponentQuery{}))
		for v := range 40 {
			add(t, s, newHead("a", v+1), "later")
		}
		update(t, s, func(w tx) error { return w.DeleteComponent(ctx, "map") })
		checkHead(t, h, newHead("a", 0))
		checkApps(t, before, []appsvc.App{titled(newHead("a", 0), "first")})
		checkComponents(t, parts, []appsvc.Component{component("1", "map", "1")})
	}},
	// A driver that sorts or shortens the groups of a query must do so on a copy.
	{"a query is not changed, and can be used again", func(t *testing.T, s appsvc.Store) {
		add(t, s, newHead("a", 0), "")
		groups, after := []string{site1, network, "urn:a:b"}, appsvc.AppPosition{Time: 5, ID: "x"}
		q := appsvc.AppQuery{Owner: owner, Groups: slices.Clone(groups), Sort: appsvc.CreatedAscending, After: &after, Limit: 5}
		for range 2 {
			checkApps(t, read(t, s, apps(q)), []appsvc.App{titled(newHead("a", 0), "")})
			checkEqual(t, "groups of the query", q.Groups, groups)
			if after != (appsvc.AppPosition{Time: 5, ID: "x"}) {
				t.Errorf("the query's place is now %+v", after)
			}
		}
	}},
}

// overwrite changes every item of a list in place, as a careless caller of a store may do.
func overwrite(list []string) {
	for i := range list {
		list[i] = "#"
	}
}
