package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

var userRules = []appRule{
	// Before a component gets a new version, the Service checks which apps it would break. A tag may point to an old
	// version, so old versions count too. Each app comes with its latest head and body and with all of its tags. From is
	// the lowest id that is yielded.
	{"Users yields the apps of which any version has the component, by id in byte order, with their tags", func(t *testing.T, s appsvc.Store) {
		version := func(id string, n int, components ...string) {
			h := newHead(id, n)
			h.Components = components
			add(t, s, h, "")
		}
		version("now", 0)
		version("now", 1, "clock")
		version("ever", 0, "clock", "map")
		version("Once", 0, "map")
		version("Once", 1, "clock", "map")
		version("Once", 2, "map")
		version("Once", 3, "clock")
		version("Once", 4)
		version("never", 0, "Clock", "clock ", "clocks")
		setTags(t, s, tag("Once", "b", vitrine.NewVersion(1)), tag("Once", "B", vitrine.NewVersion(4)), tag("never", "b", vitrine.NewVersion(0)))
		all := appsvc.UserQuery{Component: "clock", Owner: owner}
		checkEqual(t, "users", usersOf(t, s, all), []string{
			fmt.Sprintf("Once 4 [] %q %v", bodyOf(newHead("Once", 4), ""), []appsvc.Tag{tag("Once", "B", vitrine.NewVersion(4)), tag("Once", "b", vitrine.NewVersion(1))}),
			fmt.Sprintf("ever 0 [clock map] %q []", bodyOf(newHead("ever", 0), "")),
			fmt.Sprintf("now 1 [clock] %q []", bodyOf(newHead("now", 1), "")),
		})
		checkEqual(t, "users of a name that no component has", usersOf(t, s, appsvc.UserQuery{Component: "cloc", Owner: owner}), nil)
		for from, want := range map[string]int{"": 3, "Once": 3, "Oncf": 2, "ever": 2, "ever ": 1, "now": 1, "nox": 0} {
			all.From = from
			if got := usersOf(t, s, all); len(got) != want {
				t.Errorf("from %q: %q, want %d", from, got, want)
			}
		}
	}},
	// The Update itself sees the app before that.
	{"an Update that is rolled back adds no user of a component", func(t *testing.T, s appsvc.Store) {
		err := s.Update(ctx, func(w tx) error {
			if err := w.AddVersion(ctx, newHead("a", 0), bodyOf(newHead("a", 0), "")); err != nil {
				return err
			}
			own, err := collect(w.Users(ctx, appsvc.UserQuery{Component: "clock", Owner: owner}))
			if err == nil && len(own) != 1 {
				err = fmt.Errorf("%d users are seen in the update", len(own))
			}
			return errors.Join(err, errRolledBack)
		})
		checkError(t, err, errRolledBack, "Update")
		checkEqual(t, "users", usersOf(t, s, appsvc.UserQuery{Component: "clock", Owner: owner}), nil)
	}},
	// A driver that reads apps or tags in batches must neither repeat nor lose any at the border of a batch, nor mix up
	// tags.
	{"Users yields each of a thousand apps once", func(t *testing.T, s appsvc.Store) {
		var want []string
		update(t, s, func(w tx) error {
			want = nil
			for i := range 1000 {
				h := newHead(fmt.Sprintf("app%04d", i), 0)
				want = append(want, h.ID)
				if err := errors.Join(w.AddVersion(ctx, h, bodyOf(h, "")), w.SetTag(ctx, tag(h.ID, "live", h.Version))); err != nil {
					return err
				}
			}
			return nil
		})
		for _, from := range []int{0, 1, 127, 128, 129, 255, 256, 257, 999} {
			var got []string
			for _, u := range read(t, s, users(appsvc.UserQuery{Component: "map", Owner: owner, From: want[from]})) {
				got = append(got, u.ID)
				if len(u.Tags) != 1 || u.Tags[0].AppID != u.ID {
					t.Errorf("app %q has the tags %v", u.ID, u.Tags)
				}
			}
			checkEqual(t, fmt.Sprint("users from ", from), got, want[from:])
		}
	}},
	// When a driver yields an app, it may already have read what App needs for the versions of the app. What App returns must
	// not differ by that.
	{"App returns each version of the app that Users has yielded last", func(t *testing.T, s appsvc.Store) {
		// Every third version has 10 KB that hardly compress, and 500 KB in the later apps. So stores that keep differences begin
		// anew at such a version, and stores that read portions cut them at many places.
		text := func(app, version int) string {
			if (app+version)%3 > 0 {
				return fmt.Sprint(version)
			}
			words := 600
			if app > 3 {
				words = 30_000
			}
			random, text := rand.New(rand.NewPCG(uint64(app), uint64(version))), new(strings.Builder)
			for range words {
				fmt.Fprintf(text, "%016x", random.Uint64())
			}
			return text.String()
		}
		const last = 6
		for app := range 8 {
			id := fmt.Sprint("app", app)
			for v := range last + 1 {
				add(t, s, newHead(id, v), text(app, v))
			}
			for v := range last {
				setTags(t, s, tag(id, fmt.Sprint("one", v), vitrine.NewVersion(v)), tag(id, fmt.Sprint("two", v), vitrine.NewVersion(v)))
			}
		}
		check := func(r reader, app, version int) error {
			h := newHead(fmt.Sprint("app", app), version)
			got, err := r.App(ctx, h.ID, h.Version)
			if err == nil && !equalApps(got, titled(h, text(app, version))) {
				err = fmt.Errorf("what App returns for version %d of app %d is not that version", version, app)
			}
			return err
		}
		all := appsvc.UserQuery{Component: "clock", Owner: owner}
		err := s.View(ctx, func(r reader) error {
			app := 0
			for user, err := range r.Users(ctx, all) {
				if err != nil {
					return err
				}
				for v := last; v >= 0; v-- {
					if err := check(r, app, v); err != nil {
						return err
					}
				}
				overwrite(user.Groups)
				if h, err := r.Head(ctx, user.ID); err != nil || !equalHeads(h, newHead(user.ID, last)) {
					return fmt.Errorf("head %+v, %w", h, err)
				}
				for other := range app {
					if err := check(r, other, (app+other)%last); err != nil {
						return err
					}
				}
				app++
			}
			return nil
		})
		if err != nil {
			t.Error("in a View:", err)
		}
		err = s.Update(ctx, func(w tx) error {
			app := 0
			for user, err := range w.Users(ctx, all) {
				if err != nil {
					return err
				}
				next := newHead(user.ID, last+1)
				if err := w.AddVersion(ctx, next, bodyOf(next, text(app, last+1))); err != nil {
					return err
				}
				for _, v := range []int{last + 1, last, 2} {
					if err := check(w, app, v); err != nil {
						return err
					}
				}
				app++
			}
			return nil
		})
		if err != nil {
			t.Error("in an Update:", err)
		}
	}},
	// Match says which of the users a caller may see. It looks at the latest version; the component may be in any
	// version.
	{"random queries of Users yield the apps with the component for which UserQuery.Match is true", func(t *testing.T, s appsvc.Store) {
		const seed = 21
		d := randomData{rand.New(rand.NewPCG(seed, 0))}
		t.Logf("seed %d", seed)
		latest, used := map[string]head{}, map[string]map[string]bool{}
		for range 12 {
			var next map[string]head
			var written []head
			update(t, s, func(w tx) error {
				next, written = maps.Clone(latest), nil
				for range 3 {
					id := d.id()
					h := d.next(id, next[id])
					if err := w.AddVersion(ctx, h, bodyOf(h, "")); err != nil {
						return err
					}
					next[id], written = h, append(written, h)
				}
				return nil
			})
			latest = next
			for _, h := range written {
				for _, c := range h.Components {
					if used[c] == nil {
						used[c] = map[string]bool{}
					}
					used[c][h.ID] = true
				}
			}
			for range 20 {
				q := appsvc.UserQuery{Component: pick(d, oddNames[:7]), Owner: d.user(), Groups: d.some(3, d.group)}
				if d.IntN(2) == 0 {
					q.From = d.id()
				}
				var want []string
				for id := range used[q.Component] {
					if q.Match(latest[id]) {
						want = append(want, id)
					}
				}
				slices.Sort(want)
				var got []string
				for _, u := range read(t, s, users(q)) {
					got = append(got, u.ID)
					if !equalHeads(u.Head, latest[u.ID]) || !bytes.Equal(u.Body, bodyOf(latest[u.ID], "")) {
						t.Errorf("%+v: user %+v with the body %s, want %+v", q, u.Head, u.Body, latest[u.ID])
					}
				}
				checkEqual(t, fmt.Sprintf("%+v", q), got, want)
			}
		}
	}},
}

func users(q appsvc.UserQuery) func(reader) ([]appsvc.ComponentUser, error) {
	return func(r reader) ([]appsvc.ComponentUser, error) { return collect(r.Users(ctx, q)) }
}

// usersOf returns a text for each user: its id, version, components, body and tags.
func usersOf(t *testing.T, s appsvc.Store, q appsvc.UserQuery) (told []string) {
	t.Helper()
	for _, u := range read(t, s, users(q)) {
		told = append(told, strings.TrimSpace(fmt.Sprintf("%s %s %v %q %v", u.ID, u.Version, u.Components, u.Body, u.Tags)))
	}
	return told
}
