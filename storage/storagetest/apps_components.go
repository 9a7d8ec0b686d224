package storagetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

var componentRules = []appRule{
	// All fields are opaque text to a driver: a version need not be a semantic version, nor Main a URL.
	{"a component is returned as it was given", func(t *testing.T, s appsvc.Store) {
		want := []appsvc.Component{
			{ID: "1", Name: "@scope/name", Version: "1.0.0-rc.1+x", Main: "https://x.test/a.js?b=%20#c", Manifest: []byte(`{"x":1.10,"y":"\u00e9"}`)},
			{ID: "2", Name: "Ünï côde", Version: "β", Main: "//x", Manifest: []byte(`{"z":"日本"}`)},
		}
		addComponents(t, s, want...)
		checkComponents(t, read(t, s, components(appsvc.ComponentQuery{})), want)
	}},
	// Both are unique by themselves. They are compared byte by byte, so "1" and "1.0" are two versions.
	{"a second component with the same id, or with the same name and version, is ErrExists", func(t *testing.T, s appsvc.Store) {
		addComponents(t, s, component("1", "a", "1"), component("2", "a", "2"), component("3", "b", "1"))
		for _, c := range []appsvc.Component{component("1", "c", "1"), component("3", "c", "2"), component("4", "a", "1"), component("5", "b", "1"), component("2", "a", "2")} {
			err := s.Update(ctx, func(w tx) error { return w.AddComponent(ctx, c) })
			checkError(t, err, appsvc.ErrExists, "AddComponent(%s, %s, %s)", c.ID, c.Name, c.Version)
		}
		more := []appsvc.Component{component("4", "a", "1.0"), component("5", "A", "1"), component("A", "c", "1"), component("a", "c", "2"), component("1 ", "a ", "1")}
		addComponents(t, s, more...)
		if got := read(t, s, components(appsvc.ComponentQuery{})); len(got) != 8 {
			t.Errorf("%d components are there, want 8: %q", len(got), got)
		}
	}},
	// Announce lets a driver read rows ahead. Those rows become outdated when the same Update adds or deletes a
	// component, and an announced component that is absent must stay absent.
	{"announced components read as if they were not announced, and reads see the writes of the Update", func(t *testing.T, s appsvc.Store) {
		a, b := component("1", "a", "1"), component("2", "b", "1")
		addComponents(t, s, a, component("3", "a", "2"))
		update(t, s, func(w tx) error {
			refs := []appsvc.ComponentRef{{Name: "a", Version: "1"}, {Name: "a", Version: "3"}, {Name: "b", Version: "1"}}
			check := func(want ...appsvc.Component) {
				t.Helper()
				var got []appsvc.Component
				for _, ref := range refs {
					found, err := collect(w.Components(ctx, appsvc.ComponentQuery{Name: ref.Name, Version: ref.Version}))
					if err != nil {
						t.Error(err)
					}
					got = append(got, found...)
				}
				checkComponents(t, got, want)
			}
			if err := w.Announce(ctx, "absent", refs); err != nil {
				return err
			}
			_, err := w.Head(ctx, "absent")
			checkError(t, err, vitrine.ErrNotFound, "Head")
			check(a)
			if err := w.AddComponent(ctx, b); err != nil {
				return err
			}
			check(a, b)
			if err := w.DeleteComponent(ctx, "a"); err != nil {
				return err
			}
			check(b)
			return nil
		})
	}},
	// The last component of a name is its newest. A driver cannot find this order by comparing versions, which are any
	// text.
	{"Components yields components by name in byte order, and those of one name in the order in which they were added", func(t *testing.T, s appsvc.Store) {
		orders := [][]string{{"10", "9", "1.0.0"}, {"1.0.0", "9", "10"}, {"b", "a", "c"}}
		for round := range 3 {
			var added []appsvc.Component
			for i := range oddNames {
				i = i * 7 % len(oddNames)
				added = append(added, component("", oddNames[i], orders[i%3][round]))
			}
			addComponents(t, s, added...)
		}
		checkComponentQuery(t, s, appsvc.ComponentQuery{}, func(add func(name, version string)) {
			for i, name := range oddNames {
				for _, version := range orders[i%3] {
					add(name, version)
				}
			}
		})
	}},
	// An empty Name or Version means any. After is compared byte by byte and need not be the name of a component. "%"
	// matches itself alone.
	{"Components applies Name, Version and After together", func(t *testing.T, s appsvc.Store) {
		names, versions := []string{"A", "a", "aa", "b", "ä"}, []string{"2", "1", "10"}
		for _, version := range versions {
			for _, name := range names {
				addComponents(t, s, component("", name, version))
			}
		}
		for _, ofName := range append([]string{"", "absent", "%"}, names...) {
			for _, ofVersion := range append([]string{"", "absent", "1%"}, versions...) {
				for _, after := range []string{"", "A", "B", "a", "a ", "b", "z", "ä", "\U0001f600"} {
					q := appsvc.ComponentQuery{Name: ofName, Version: ofVersion, After: after}
					checkComponentQuery(t, s, q, func(add func(name, version string)) {
						for _, name := range names {
							for _, version := range versions {
								if (ofName == "" || name == ofName) && (ofVersion == "" || version == ofVersion) && name > after {
									add(name, version)
								}
							}
						}
					})
				}
			}
		}
	}},
	// Names that differ in case or by a space are other names.
	{"DeleteComponent removes every version of one name and nothing else; an absent name is ErrNotFound", func(t *testing.T, s appsvc.Store) {
		kept := []appsvc.Component{component("1", "A", "1"), component("2", "a ", "1"), component("3", "b", "1")}
		addComponents(t, s, append(kept, component("4", "a", "1"), component("5", "a", "2"), component("6", "a", "3"))...)
		for _, want := range []error{nil, vitrine.ErrNotFound} {
			err := s.Update(ctx, func(w tx) error { return w.DeleteComponent(ctx, "a") })
			checkError(t, err, want, "DeleteComponent(a)")
		}
		checkComponents(t, read(t, s, components(appsvc.ComponentQuery{})), kept)
	}},
	// The order of adding begins anew too: a version that is added again comes after those that were added meanwhile.
	{"the id, name and version of a deleted component can be added again, and count as new", func(t *testing.T, s appsvc.Store) {
		first, second := component("1", "a", "1"), component("2", "a", "2")
		addComponents(t, s, first, second)
		update(t, s, func(w tx) error { return w.DeleteComponent(ctx, "a") })
		first.Manifest = []byte(`{"new":true}`)
		addComponents(t, s, second)
		addComponents(t, s, first)
		checkComponents(t, read(t, s, components(appsvc.ComponentQuery{Name: "a"})), []appsvc.Component{second, first})
	}},
	// An element has its own copy of the manifest. An app may go on with a component that no longer exists, and is
	// still found by its name.
	{"deleting a component changes no app", func(t *testing.T, s appsvc.Store) {
		addComponents(t, s, component("1", "map", "1"))
		add(t, s, newHead("a", 0), "")
		update(t, s, func(w tx) error { return w.DeleteComponent(ctx, "map") })
		checkHead(t, read(t, s, headOf("a")), newHead("a", 0))
		checkQuery(t, s, appsvc.AppQuery{Owner: owner, Component: "map"}, []head{newHead("a", 0)})
	}},
	// A manifest may be large and a list does not need it, so a driver may save the read. Everything else is returned
	// as always.
	{"a Brief query may leave out manifests and nothing else", func(t *testing.T, s appsvc.Store) {
		want := []appsvc.Component{component("1", "a", "1"), component("2", "a", "2"), component("3", "b", "1")}
		addComponents(t, s, want...)
		got := read(t, s, components(appsvc.ComponentQuery{Brief: true}))
		for i := range got {
			if got[i].Manifest == nil && i < len(want) {
				got[i].Manifest = want[i].Manifest
			}
		}
		checkComponents(t, got, want)
	}},
}

// component returns a component. If id is "", the ID is made from name and version.
func component(id, name, version string) appsvc.Component {
	if id == "" {
		id = name + "@" + version
	}
	return appsvc.Component{
		ID: id, Name: name, Version: version, Main: "https://example.test/" + version + ".js",
		Manifest: fmt.Appendf(nil, `{"name":%q,"version":%q,"configSchema":{"default":1.10}}`, name, version),
	}
}

// addComponents adds components in one Update.
func addComponents(t *testing.T, s appsvc.Store, list ...appsvc.Component) {
	t.Helper()
	update(t, s, func(w tx) error {
		for _, c := range list {
			if err := w.AddComponent(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkComponentQuery compares names and versions with those that want adds.
func checkComponentQuery(t *testing.T, s appsvc.Store, q appsvc.ComponentQuery, want func(add func(name, version string))) {
	t.Helper()
	var list []appsvc.Component
	want(func(name, version string) { list = append(list, component("", name, version)) })
	got := read(t, s, components(q))
	if !slices.EqualFunc(got, list, equalComponents) {
		t.Errorf("query %+v:\n got %q\nwant %q", q, got, list)
	}
}
