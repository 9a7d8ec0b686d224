package storagetest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

var sorts = []appsvc.Sort{
	appsvc.CreatedAscending, appsvc.CreatedDescending, appsvc.UpdatedAscending, appsvc.UpdatedDescending,
}

// oddNames are in byte order. No collation of a locale, and no folding of case, gives the same order.
var oddNames = []string{
	"!", "0", "10", "2", "A", "AB", "Z", "Zz", "_", "a", "a b", "a%", "a-b", "a.b", "aB", "a_b", "ab", "a\u0308", "b", "z", "~",
	"\u00c4", "\u00df", "\u00e4", "\u03a9", "\u0436", "\u65e5", "\ufb01", "\uff21", "\U0001f600",
}

var listRules = []appRule{
	// A list of apps is not a list of versions, however many versions each app has.
	{"Apps yields each app once, as its latest version", func(t *testing.T, s appsvc.Store) {
		for _, id := range []string{"a", "b"} {
			for v := range 3 {
				add(t, s, newHead(id, v), fmt.Sprint(v))
			}
		}
		checkApps(t, read(t, s, apps(appsvc.AppQuery{Owner: owner, Sort: appsvc.CreatedAscending})),
			[]appsvc.App{titled(newHead("a", 2), "2"), titled(newHead("b", 2), "2")})
	}},
	// This rule decides which apps a caller sees. A URN contains itself and all URNs that continue it after a colon:
	// "a:b" contains "a:b:c" but not "a:bc". Case counts, and "_" and "%" match themselves alone. An owner sees an app
	// whatever its groups are.
	{"Apps yields the apps of the owner and those with a group that is contained in one of the given URNs", func(t *testing.T, s appsvc.Store) {
		groups := []string{network, site1, network + ":site=10", network + ":site=1:deeper", network + ":SITE=1", network + ":site=_",
			"urn:vitrine:example.test2", "urn:vitrine:Example.test", "urn:vitrine", "urn:vitrine:other.test:site=1"}
		all := storeEach(t, s, groups, func(h *head, group string) { h.Groups = []string{"urn:none:none", group} })
		for _, outer := range append(groups, "", "urn", "urn:vitrine:", "urn:vitrine:example", "urn:vitrine:%", "urn:none:non_") {
			checkQuery(t, s, appsvc.AppQuery{Owner: editor, Groups: []string{outer}}, all)
			checkQuery(t, s, appsvc.AppQuery{Owner: editor, Groups: []string{"urn:x:y", outer, network + ":site=10"}}, all)
		}
		checkQuery(t, s, appsvc.AppQuery{Owner: owner}, all)
		checkQuery(t, s, appsvc.AppQuery{Owner: editor}, all)
	}},
	// A driver that joins apps with their groups finds such an app several times.
	{"an app that matches by its owner and by several groups is yielded once", func(t *testing.T, s appsvc.Store) {
		all := storeEach(t, s, []string{"x", "y"}, func(h *head, _ string) { h.Groups = []string{network, site1, network + ":site=2"} })
		for _, sort := range sorts {
			got := read(t, s, apps(appsvc.AppQuery{Owner: owner, Groups: []string{network, site1, "urn:vitrine"}, Sort: sort}))
			if len(got) != len(all) {
				t.Errorf("%s: %s", sort, describe(got))
			}
		}
	}},
	// Otherwise an app that was moved to another group would still be shown to the group it left.
	{"Apps matches the groups and components of the latest version, not those of older ones", func(t *testing.T, s appsvc.Store) {
		old, now := newHead("a", 0), newHead("a", 1)
		now.Groups, now.Components = []string{network + ":site=2"}, []string{"video"}
		add(t, s, old, "")
		add(t, s, now, "")
		all := []head{now}
		for _, group := range []string{site1, network + ":site=2"} {
			for _, component := range []string{"", "clock", "map", "video"} {
				checkQuery(t, s, appsvc.AppQuery{Owner: editor, Groups: []string{group}, Component: component}, all)
			}
		}
	}},
	// Names of components are compared byte by byte, without wildcards and without folding of case.
	{"Apps with a component yields the apps whose latest version has exactly this component", func(t *testing.T, s appsvc.Store) {
		all := storeEach(t, s, oddNames, func(h *head, name string) {
			h.Components = []string{"@scope/x", name}
			slices.Sort(h.Components)
		})
		for _, name := range append(oddNames, "@scope/x", "@scope/X", "@scope", "%", "") {
			checkQuery(t, s, appsvc.AppQuery{Owner: owner, Component: name}, all)
		}
	}},
	// A caller may belong to many groups. Some databases limit the number of parameters of a statement.
	{"a query may name a thousand groups", func(t *testing.T, s appsvc.Store) {
		all := storeEach(t, s, []string{"a", "b"}, func(h *head, id string) { h.Groups = []string{network + ":site=" + id} })
		groups := make([]string, 1000)
		for i := range groups {
			groups[i] = fmt.Sprintf("%s:site=%d", network, i)
		}
		checkQuery(t, s, appsvc.AppQuery{Owner: editor, Groups: append(groups, network+":site=b")}, all)
	}},
	// The id breaks ties in ascending order in both directions. Without a total order a page could repeat or skip apps.
	{"apps are ordered by time, up or down, and at the same time by ascending id in byte order", func(t *testing.T, s appsvc.Store) {
		place := 0
		all := storeEach(t, s, oddNames, func(h *head, id string) {
			h.ID, h.CreatedAt, h.UpdatedAt = id, int64(place*7%3), int64(place*5%4)
			place++
		})
		checkQuery(t, s, appsvc.AppQuery{Owner: owner}, all)
	}},
	// CreatedAt is that of the app, not of the version.
	{"a new version moves an app in the orders by update time, and not in those by creation time", func(t *testing.T, s appsvc.Store) {
		all := storeEach(t, s, []string{"a", "b", "c", "d"}, func(*head, string) {})
		for i := range all {
			h := all[(i*3+1)%len(all)]
			h.Version, h.UpdatedAt = vitrine.NewVersion(1), 5000+int64(i/2)
			add(t, s, h, "")
			all[(i*3+1)%len(all)] = h
			checkQuery(t, s, appsvc.AppQuery{Owner: owner}, all)
		}
	}},
	// Export and audit walk all apps by it. An app with several versions is still one app.
	{"IDs yields the id of each app once, in byte order", func(t *testing.T, s appsvc.Store) {
		for i := range oddNames {
			addVersions(t, s, 1+i%2, oddNames[(i*7)%len(oddNames)])
		}
		checkEqual(t, "ids", read(t, s, func(r reader) ([]string, error) { return collect(r.IDs(ctx)) }), oddNames)
	}},
	// Times are milliseconds in 64 bits. A driver that stores them in 32 bits or as seconds fails here.
	{"times from the epoch to the year 9999 keep their order", func(t *testing.T, s appsvc.Store) {
		times := []int64{0, 1, math.MaxInt32, math.MaxInt32 + 1, math.MaxUint32 + 1, 253402300799999}
		var all []head
		for i, at := range times {
			h := newHead(fmt.Sprint(i), 0)
			h.CreatedAt, h.UpdatedAt = at, at
			add(t, s, h, "")
			all = append(all, h)
		}
		checkQuery(t, s, appsvc.AppQuery{Owner: owner}, all)
	}},
	// The app that a cursor was made from may have changed since, so it may be elsewhere in the order. The next page begins
	// after the position all the same.
	{"After is a position in the order, and needs no app at this position", func(t *testing.T, s appsvc.Store) {
		var all []head
		for i, id := range []string{"B", "D", "b", "d", "\u00e4"} {
			for _, at := range []int64{10, 20} {
				h := newHead(fmt.Sprint(id, at), 0)
				h.CreatedAt, h.UpdatedAt = at, 30-at+int64(i/3)
				add(t, s, h, "")
				all = append(all, h)
			}
		}
		for _, at := range []int64{math.MinInt64, -1, 0, 9, 10, 11, 20, 21, math.MaxInt64} {
			for _, id := range []string{"", "A", "B10", "B20", "C", "b10", "c", "z", "\u00e410", "\U0001f600"} {
				checkQuery(t, s, appsvc.AppQuery{Owner: owner, After: &appsvc.AppPosition{Time: at, ID: id}}, all)
			}
		}
	}},
	// No app is repeated and none is skipped, for each order and also where many apps have the same time.
	{"pages of any size, each after the last app of the page before, make up the whole list", func(t *testing.T, s appsvc.Store) {
		var all []head
		for i := range 23 {
			h := newHead(fmt.Sprintf("id%02d", i*7%23), 0)
			h.CreatedAt, h.UpdatedAt = int64(i%3), int64(i%2)
			add(t, s, h, "")
			all = append(all, h)
		}
		for _, sort := range sorts {
			for _, size := range []int{1, 2, 5, 22, 23, 24} {
				q := appsvc.AppQuery{Owner: owner, Sort: sort, Limit: size}
				var got []appsvc.App
				for page := read(t, s, apps(q)); len(page) > 0; page = read(t, s, apps(q)) {
					got = append(got, page...)
					if len(page) > size || len(got) > len(all) {
						t.Fatalf("%s: a page of %d with limit %d, %d apps in all pages; want %d", sort, len(page), size, len(got), len(all))
					}
					last := q.Position(head{Meta: page[len(page)-1].Meta})
					q.After = &last
				}
				q.Limit, q.After = 0, nil
				checkApps(t, got, answerTo(q, all))
			}
		}
	}},
}

// storeEach stores an app for each name and returns the heads. set changes each head before it is stored.
func storeEach(t *testing.T, s appsvc.Store, names []string, set func(h *head, name string)) []head {
	t.Helper()
	all := make([]head, len(names))
	for i, name := range names {
		all[i] = newHead(fmt.Sprintf("id%d", i), 0)
		set(&all[i], name)
	}
	update(t, s, func(w tx) error {
		for _, h := range all {
			if err := w.AddVersion(ctx, h, bodyOf(h, "")); err != nil {
				return err
			}
		}
		return nil
	})
	return all
}

// checkQuery runs q in every order and with some limits on a store. The apps of the store have these heads and empty
// titles.
func checkQuery(t *testing.T, s appsvc.Store, q appsvc.AppQuery, all []head) {
	t.Helper()
	for _, q.Sort = range sorts {
		for _, q.Limit = range []int{0, 1, 3} {
			got, want := read(t, s, apps(q)), answerTo(q, all)
			if !slices.EqualFunc(got, want, equalApps) {
				t.Errorf("query %s:\n got %s\nwant %s", describeQuery(q), describe(got), describe(want))
			}
		}
	}
}

// answerTo returns the correct result of q: the apps that match, in order, up to the limit. All titles are empty.
func answerTo(q appsvc.AppQuery, all []head) []appsvc.App {
	var out []appsvc.App
	for _, h := range slices.SortedFunc(slices.Values(all), q.Compare) {
		if q.Match(h) && (q.Limit == 0 || len(out) < q.Limit) {
			out = append(out, titled(h, ""))
		}
	}
	return out
}

// describeQuery returns the query as text, with the position itself in place of the pointer to it.
func describeQuery(q appsvc.AppQuery) string {
	return fmt.Sprintf("owner %q, groups %.300q, component %q, sort %q, after %+v, limit %d",
		q.Owner, q.Groups, q.Component, q.Sort, *cmp.Or(q.After, &appsvc.AppPosition{}), q.Limit)
}
