package storagetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
)

var transactionRules = []appRule{
	{"an Update that returns an error keeps nothing, and the error passes through", func(t *testing.T, s appsvc.Store) {
		fill(t, s)
		want := errors.New("fn's own")
		err := s.Update(ctx, func(w tx) error {
			if err := writeEverything(w); err != nil {
				return err
			}
			return fmt.Errorf("wrapped: %w", want)
		})
		checkError(t, err, want, "Update")
		checkFilled(t, s)
		update(t, s, writeEverything) // nothing of it is in the way
	}},
	{"an Update that panics keeps nothing, the panic passes through, and the store lives on", func(t *testing.T, s appsvc.Store) {
		fill(t, s)
		want := new(int)
		got := panicOf(func() {
			_ = s.Update(ctx, func(w tx) error {
				if err := writeEverything(w); err != nil {
					return err
				}
				panic(want)
			})
		})
		if got != any(want) {
			t.Errorf("the panic came out as %v", got)
		}
		checkFilled(t, s)
		update(t, s, writeEverything)
	}},
	{"a View passes on errors and panics, and the store lives on", func(t *testing.T, s appsvc.Store) {
		fill(t, s)
		want := errors.New("fn's own")
		checkError(t, s.View(ctx, func(reader) error { return want }), want, "View")
		if got := panicOf(func() { _ = s.View(ctx, func(reader) error { panic(want) }) }); got != any(want) {
			t.Errorf("the panic came out as %v", got)
		}
		checkFilled(t, s)
		update(t, s, writeEverything)
	}},
	{"an Update that returns nil keeps all of its writes", func(t *testing.T, s appsvc.Store) {
		fill(t, s)
		update(t, s, writeEverything)
		if err := s.View(ctx, checkEverything); err != nil {
			t.Error(err)
		}
	}},
	{"the reads of an Update see its own writes", func(t *testing.T, s appsvc.Store) {
		fill(t, s)
		update(t, s, func(w tx) error {
			if err := writeEverything(w); err != nil {
				return err
			}
			return checkEverything(w)
		})
	}},
	{"a write that fails spoils nothing else in its Update", func(t *testing.T, s appsvc.Store) {
		fill(t, s)
		update(t, s, func(w tx) error {
			h := newHead("filled", 0)
			for _, failed := range []struct{ err, want error }{
				{w.AddVersion(ctx, h, bodyOf(h, "taken")), appsvc.ErrExists},
				{w.AddComponent(ctx, component("1", "other", "1")), appsvc.ErrExists},
				{w.AddComponent(ctx, component("other", "filled", "1")), appsvc.ErrExists},
				{w.DeleteComponent(ctx, "absent"), appsvc.ErrNotFound},
				{w.DeleteTag(ctx, "filled", "absent"), appsvc.ErrNotFound},
			} {
				if !errors.Is(failed.err, failed.want) {
					return fmt.Errorf("a write that should fail: error %v, want %v", failed.err, failed.want)
				}
			}
			_, err := w.Head(ctx, "absent")
			checkError(t, err, appsvc.ErrNotFound, "Head")
			return writeEverything(w)
		})
		if err := s.View(ctx, checkEverything); err != nil {
			t.Error(err)
		}
	}},
	{"one Update may add many versions of many apps", func(t *testing.T, s appsvc.Store) {
		update(t, s, func(w tx) error {
			for v := range appsvc.Version(20) {
				for _, id := range []string{"a", "b"} {
					if err := w.AddVersion(ctx, newHead(id, v), bodyOf(newHead(id, v), fmt.Sprint(v))); err != nil {
						return err
					}
				}
			}
			return nil
		})
		for _, id := range []string{"a", "b"} {
			for v := range appsvc.Version(20) {
				checkApps(t, []appsvc.App{read(t, s, appOf(id, v))}, []appsvc.App{titled(newHead(id, v), fmt.Sprint(v))})
			}
		}
	}},
	{"versions rolled back leave no trace in those that are added after them", func(t *testing.T, s appsvc.Store) {
		for v := range appsvc.Version(12) {
			h := newHead("a", v)
			gone := errors.New("rolled back")
			err := s.Update(ctx, func(w tx) error {
				for above := range appsvc.Version(3) {
					if err := w.AddVersion(ctx, newHead("a", v+above), bodyOf(newHead("a", v+above), "rolled back")); err != nil {
						return err
					}
				}
				return gone
			})
			checkError(t, err, gone, "Update")
			add(t, s, h, "kept")
			checkApps(t, read(t, s, versions(appsvc.VersionQuery{AppID: "a", Before: appsvc.Latest, Limit: 1})), []appsvc.App{titled(h, "kept")})
		}
		for v := range appsvc.Version(12) {
			checkApps(t, []appsvc.App{read(t, s, appOf("a", v))}, []appsvc.App{titled(newHead("a", v), "kept")})
		}
	}},
	{"a context that is over ends Update, which keeps nothing, and View, with the context's error", func(t *testing.T, s appsvc.Store) {
		fill(t, s)
		over, cancel := context.WithCancel(ctx)
		cancel()
		checkError(t, s.Update(over, writeEverything), context.Canceled, "Update")
		err := s.View(over, func(r reader) error {
			_, err := r.Head(over, "filled")
			return err
		})
		checkError(t, err, context.Canceled, "View")
		checkFilled(t, s)
		update(t, s, writeEverything)
	}},
	{"a context that ends during fn does no harm to a store that goes on", func(t *testing.T, s appsvc.Store) {
		fill(t, s)
		for range 20 {
			ending, cancel := context.WithCancel(ctx)
			err := s.Update(ending, func(w tx) error {
				err := w.SetTag(ctx, tag("filled", "ended", 0))
				cancel()
				return errors.Join(err, ending.Err())
			})
			checkError(t, err, context.Canceled, "Update")
		}
		checkFilled(t, s)
		update(t, s, writeEverything)
	}},
}

// fill stores one of each thing.
func fill(t *testing.T, s appsvc.Store) {
	t.Helper()
	add(t, s, newHead("filled", 0), "")
	setTags(t, s, tag("filled", "kept", 0), tag("filled", "moved", 0), tag("filled", "deleted", 0))
	addComponents(t, s, component("1", "filled", "1"), component("2", "deleted", "1"))
	keep(t, s, 0, answer(owner, "replaced", 10), answer(owner, "expired", 5))
}

// checkFilled checks that everything is as fill left it.
func checkFilled(t *testing.T, s appsvc.Store) {
	t.Helper()
	h := newHead("filled", 0)
	checkHead(t, read(t, s, headOf("filled")), h)
	checkApps(t, read(t, s, versions(appsvc.VersionQuery{AppID: "filled", Before: appsvc.Latest})), []appsvc.App{titled(h, "")})
	checkQuery(t, s, appsvc.AppQuery{Owner: owner}, []head{h})
	checkEqual(t, "tags", read(t, s, tags(appsvc.TagQuery{AppID: "filled"})),
		[]appsvc.Tag{tag("filled", "deleted", 0), tag("filled", "kept", 0), tag("filled", "moved", 0)})
	checkComponents(t, read(t, s, components(appsvc.ComponentQuery{})), []appsvc.Component{component("2", "deleted", "1"), component("1", "filled", "1")})
	checkAnswer(t, s, answer(owner, "replaced", 10))
	checkAnswer(t, s, answer(owner, "expired", 5))
	checkNoAnswer(t, s, owner, "new")
}

// writeEverything changes each thing that fill stored, and adds to it.
func writeEverything(w tx) error {
	replaced := answer(owner, "replaced", 20)
	replaced.Result = []byte(`"again"`)
	return errors.Join(
		w.AddVersion(ctx, newHead("filled", 1), bodyOf(newHead("filled", 1), "changed")),
		w.AddVersion(ctx, newHead("new", 0), bodyOf(newHead("new", 0), "new")),
		w.SetTag(ctx, tag("filled", "moved", 1)),
		w.SetTag(ctx, tag("new", "kept", 0)),
		w.DeleteTag(ctx, "filled", "deleted"),
		w.AddComponent(ctx, component("3", "filled", "2")),
		w.DeleteComponent(ctx, "deleted"),
		w.KeepAnswer(ctx, replaced, 0),
		w.KeepAnswer(ctx, answer(owner, "new", 30), 5),
	)
}

// checkEverything says how what r reads differs from what writeEverything left.
func checkEverything(r reader) error {
	changed, added := newHead("filled", 1), newHead("new", 0)
	h, err := r.Head(ctx, "filled")
	latest, err2 := r.App(ctx, "filled", appsvc.Latest)
	old, err3 := r.App(ctx, "filled", 0)
	list, err4 := collect(r.Apps(ctx, appsvc.AppQuery{Owner: owner, Sort: appsvc.UpdatedDescending}))
	both, err5 := collect(r.Versions(ctx, appsvc.VersionQuery{AppID: "filled", Before: appsvc.Latest}))
	tagged, err6 := collect(r.Tags(ctx, appsvc.TagQuery{AppID: "filled"}))
	parts, err7 := collect(r.Components(ctx, appsvc.ComponentQuery{}))
	replaced, err8 := r.Answer(ctx, owner, "replaced")
	_, err9 := r.Answer(ctx, owner, "new")
	if err := errors.Join(err, err2, err3, err4, err5, err6, err7, err8, err9); err != nil {
		return err
	}
	if _, err := r.Answer(ctx, owner, "expired"); !errors.Is(err, appsvc.ErrNotFound) {
		return fmt.Errorf("the expired answer: error %v, want %v", err, appsvc.ErrNotFound)
	}
	got := fmt.Sprintf("%+v %s %s %s %s %v %q %s", h, describe([]appsvc.App{latest}), describe([]appsvc.App{old}), describe(list), describe(both), tagged, parts, replaced.Result)
	now, before := titled(changed, "changed"), titled(newHead("filled", 0), "")
	want := fmt.Sprintf("%+v %s %s %s %s %v %q %s", changed, describe([]appsvc.App{now}), describe([]appsvc.App{before}),
		describe([]appsvc.App{now, titled(added, "new")}), describe([]appsvc.App{now, before}),
		[]appsvc.Tag{tag("filled", "kept", 0), tag("filled", "moved", 1)},
		[]appsvc.Component{component("1", "filled", "1"), component("3", "filled", "2")}, `"again"`)
	if got != want {
		return fmt.Errorf("after the writes:\n got %s\nwant %s", got, want)
	}
	return nil
}

// panicOf returns what fn panics with, nil when it does not.
func panicOf(fn func()) (value any) {
	defer func() { value = recover() }()
	fn()
	return nil
}
