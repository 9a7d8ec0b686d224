package storagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

var transactionRules = []appRule{
	// errors.Is must find the error of fn in what Update returns, because the Service finds its own errors by it.
	// Afterwards the same writes succeed, so nothing of the first attempt is left.
	{"an Update that returns an error commits nothing, and returns that error", func(t *testing.T, s appsvc.Store) {
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
		update(t, s, writeEverything)
	}},
	// The same value must come out, on the goroutine of the caller. No lock, connection or transaction stays open: the
	// next Update must not wait.
	{"an Update that panics commits nothing, the caller gets the panic, and the store stays usable", func(t *testing.T, s appsvc.Store) {
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
	// No snapshot or connection stays open, and the writes after it succeed.
	{"a View passes on errors and panics, and the store stays usable", func(t *testing.T, s appsvc.Store) {
		fill(t, s)
		want := errors.New("fn's own")
		checkError(t, s.View(ctx, func(reader) error { return want }), want, "View")
		if got := panicOf(func() { _ = s.View(ctx, func(reader) error { panic(want) }) }); got != any(want) {
			t.Errorf("the panic came out as %v", got)
		}
		checkFilled(t, s)
		update(t, s, writeEverything)
	}},
	// All kinds of writes to apps, tags, components and answers are among them. Restorations, moves of tags and the feed have
	// rules of their own.
	{"an Update that returns nil commits all of its writes", func(t *testing.T, s appsvc.Store) {
		fill(t, s)
		update(t, s, writeEverything)
		if err := s.View(ctx, checkEverything); err != nil {
			t.Error(err)
		}
	}},
	// The rules of the domain read what the same transaction wrote a moment before. A driver that collects writes until
	// the commit, or that reads through a second connection, fails here.
	{"the reads of an Update see its own writes", func(t *testing.T, s appsvc.Store) {
		fill(t, s)
		update(t, s, func(w tx) error {
			if err := writeEverything(w); err != nil {
				return err
			}
			return checkEverything(w)
		})
	}},
	// The Service may go on after these errors. In PostgreSQL, for example, a failed statement ends the transaction
	// unless the driver asks before or uses a savepoint.
	{"after a write that returns ErrExists or ErrNotFound the transaction goes on", func(t *testing.T, s appsvc.Store) {
		fill(t, s)
		update(t, s, func(w tx) error {
			h := newHead("filled", 0)
			for _, failed := range []struct{ err, want error }{
				{w.AddVersion(ctx, h, bodyOf(h, "taken")), appsvc.ErrExists},
				{w.AddComponent(ctx, component("1", "other", "1")), appsvc.ErrExists},
				{w.AddComponent(ctx, component("other", "filled", "1")), appsvc.ErrExists},
				{w.DeleteComponent(ctx, "absent"), vitrine.ErrNotFound},
				{w.DeleteTag(ctx, "filled", "absent"), vitrine.ErrNotFound},
			} {
				if !errors.Is(failed.err, failed.want) {
					return fmt.Errorf("a write that should fail: error %v, want %v", failed.err, failed.want)
				}
			}
			_, err := w.Head(ctx, "absent")
			checkError(t, err, vitrine.ErrNotFound, "Head")
			return writeEverything(w)
		})
		if err := s.View(ctx, checkEverything); err != nil {
			t.Error(err)
		}
	}},
	// Versions that are added one after the other in one Update may be stored as differences of each other.
	{"one Update may add many versions of many apps", func(t *testing.T, s appsvc.Store) {
		update(t, s, func(w tx) error {
			for v := range 20 {
				for _, id := range []string{"a", "b"} {
					if err := w.AddVersion(ctx, newHead(id, v), bodyOf(newHead(id, v), fmt.Sprint(v))); err != nil {
						return err
					}
				}
			}
			return nil
		})
		for _, id := range []string{"a", "b"} {
			for v := range 20 {
				checkApps(t, []appsvc.App{read(t, s, appOf(id, vitrine.NewVersion(int64(v))))}, []appsvc.App{titled(newHead(id, v), fmt.Sprint(v))})
			}
		}
	}},
	// A driver that stores differences, or that caches the latest version, must forget what it learned from an Update
	// that failed.
	{"versions that are rolled back leave no trace in the versions added after them", func(t *testing.T, s appsvc.Store) {
		for v := range 12 {
			h := newHead("a", v)
			gone := errors.New("rolled back")
			err := s.Update(ctx, func(w tx) error {
				for above := range 3 {
					if err := w.AddVersion(ctx, newHead("a", v+above), bodyOf(newHead("a", v+above), "rolled back")); err != nil {
						return err
					}
				}
				return gone
			})
			checkError(t, err, gone, "Update")
			add(t, s, h, "kept")
			checkApps(t, read(t, s, versions(appsvc.VersionQuery{AppID: "a", Limit: 1})), []appsvc.App{titled(h, "kept")})
		}
		for v := range 12 {
			checkApps(t, []appsvc.App{read(t, s, appOf("a", vitrine.NewVersion(int64(v))))}, []appsvc.App{titled(newHead("a", v), "kept")})
		}
	}},
	// An Update may read its own uncommitted rows. A cache that keeps them would show other callers what never
	// happened.
	{"reads inside an Update that is rolled back leave no trace in any cache", func(t *testing.T, s appsvc.Store) {
		fill(t, s)
		// Each round writes the same names with another content, and reads all of them.
		everything := func(text string) func(w tx) error {
			return func(w tx) error {
				for v := range 4 {
					if err := w.AddVersion(ctx, newHead("filled", v+1), bodyOf(newHead("filled", v+1), text)); err != nil {
						return err
					}
				}
				h, c, a := newHead("new", 0), component("new "+text, "new", "1"), answer(owner, "new", 30)
				a.Result = []byte(text)
				return errors.Join(
					w.AddVersion(ctx, h, bodyOf(h, text)), w.SetTag(ctx, tag("filled", text, vitrine.NewVersion(2))), w.SetTag(ctx, tag("new", text, vitrine.NewVersion(0))),
					w.AddComponent(ctx, c), w.KeepAnswer(ctx, a, 0), hasEverything(w, text),
				)
			}
		}
		gone := errors.New("rolled back")
		for round := range 3 {
			err := s.Update(ctx, func(w tx) error {
				return errors.Join(everything(fmt.Sprint("round", round))(w), gone)
			})
			if err == nil || err.Error() != gone.Error() {
				t.Errorf("Update: error %v, want %v alone", err, gone)
			}
			checkFilled(t, s)
			for v := range 4 {
				_, err := tryRead(s, appOf("filled", vitrine.NewVersion(v+1)))
				checkError(t, err, vitrine.ErrNotFound, "App, version %d", v+1)
			}
		}
		update(t, s, everything("kept"))
		if err := s.View(ctx, func(r reader) error { return hasEverything(r, "kept") }); err != nil {
			t.Error(err)
		}
	}},
	// A client that has gone away must not hold a connection, and errors.Is must find context.Canceled.
	{"with a context that is done Update commits nothing, and Update and View return the context's error", func(t *testing.T, s appsvc.Store) {
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
	// Many database clients close the connection when a context ends. The driver must not return a broken connection,
	// or one with an open transaction, to its pool.
	{"a context that ends during fn rolls back, and the store stays usable", func(t *testing.T, s appsvc.Store) {
		fill(t, s)
		for range 20 {
			ending, cancel := context.WithCancel(ctx)
			err := s.Update(ending, func(w tx) error {
				err := w.SetTag(ctx, tag("filled", "ended", vitrine.NewVersion(0)))
				cancel()
				return errors.Join(err, ending.Err())
			})
			checkError(t, err, context.Canceled, "Update")
		}
		checkFilled(t, s)
		update(t, s, writeEverything)
	}},
}

// fill stores an app with three tags, two components and two answers. Their names say what writeEverything does with them.
func fill(t *testing.T, s appsvc.Store) {
	t.Helper()
	add(t, s, newHead("filled", 0), "")
	setTags(t, s, tag("filled", "kept", vitrine.NewVersion(0)), tag("filled", "moved", vitrine.NewVersion(0)), tag("filled", "deleted", vitrine.NewVersion(0)))
	addComponents(t, s, component("1", "filled", "1"), component("2", "deleted", "1"))
	keep(t, s, 0, answer(owner, "replaced", 10), answer(owner, "expired", 5))
}

// checkFilled checks that everything is as fill left it.
func checkFilled(t *testing.T, s appsvc.Store) {
	t.Helper()
	h := newHead("filled", 0)
	checkHead(t, read(t, s, headOf("filled")), h)
	checkApps(t, read(t, s, versions(appsvc.VersionQuery{AppID: "filled"})), []appsvc.App{titled(h, "")})
	checkQuery(t, s, appsvc.AppQuery{Owner: owner}, []head{h})
	checkEqual(t, "tags", read(t, s, tags(appsvc.TagQuery{AppID: "filled"})),
		[]appsvc.Tag{tag("filled", "deleted", vitrine.NewVersion(0)), tag("filled", "kept", vitrine.NewVersion(0)), tag("filled", "moved", vitrine.NewVersion(0))})
	checkComponents(t, read(t, s, components(appsvc.ComponentQuery{})), []appsvc.Component{component("2", "deleted", "1"), component("1", "filled", "1")})
	checkAnswer(t, s, answer(owner, "replaced", 10))
	checkAnswer(t, s, answer(owner, "expired", 5))
	checkNoAnswer(t, s, owner, "new")
}

// writeEverything changes each thing that fill stored, and adds to it, by AddVersion, SetTag, DeleteTag, AddComponent,
// DeleteComponent and KeepAnswer.
func writeEverything(w tx) error {
	replaced := answer(owner, "replaced", 20)
	replaced.Result = []byte(`"again"`)
	return errors.Join(
		w.AddVersion(ctx, newHead("filled", 1), bodyOf(newHead("filled", 1), "changed")),
		w.AddVersion(ctx, newHead("new", 0), bodyOf(newHead("new", 0), "new")),
		w.SetTag(ctx, tag("filled", "moved", vitrine.NewVersion(1))),
		w.SetTag(ctx, tag("new", "kept", vitrine.NewVersion(0))),
		w.DeleteTag(ctx, "filled", "deleted"),
		w.AddComponent(ctx, component("3", "filled", "2")),
		w.DeleteComponent(ctx, "deleted"),
		w.KeepAnswer(ctx, replaced, 0),
		w.KeepAnswer(ctx, answer(owner, "new", 30), 5),
	)
}

// checkEverything fails unless r reads what writeEverything wrote.
func checkEverything(r reader) error {
	changed, added := newHead("filled", 1), newHead("new", 0)
	h, err := r.Head(ctx, "filled")
	latest, err2 := r.App(ctx, "filled", vitrine.Latest)
	old, err3 := r.App(ctx, "filled", vitrine.NewVersion(0))
	list, err4 := collect(r.Apps(ctx, appsvc.AppQuery{Owner: owner, Sort: appsvc.UpdatedDescending}))
	both, err5 := collect(r.Versions(ctx, appsvc.VersionQuery{AppID: "filled"}))
	tagged, err6 := collect(r.Tags(ctx, appsvc.TagQuery{AppID: "filled"}))
	parts, err7 := collect(r.Components(ctx, appsvc.ComponentQuery{}))
	replaced, err8 := r.Answer(ctx, owner, "replaced")
	_, err9 := r.Answer(ctx, owner, "new")
	if err := errors.Join(err, err2, err3, err4, err5, err6, err7, err8, err9); err != nil {
		return err
	}
	if _, err := r.Answer(ctx, owner, "expired"); !errors.Is(err, vitrine.ErrNotFound) {
		return fmt.Errorf("the expired answer: error %v, want %v", err, vitrine.ErrNotFound)
	}
	got := fmt.Sprintf("%+v %s %s %s %s %v %q %s", h, describe([]appsvc.App{latest}), describe([]appsvc.App{old}), describe(list), describe(both), tagged, parts, replaced.Result)
	now, before := titled(changed, "changed"), titled(newHead("filled", 0), "")
	want := fmt.Sprintf("%+v %s %s %s %s %v %q %s", changed, describe([]appsvc.App{now}), describe([]appsvc.App{before}),
		describe([]appsvc.App{now, titled(added, "new")}), describe([]appsvc.App{now, before}),
		[]appsvc.Tag{tag("filled", "kept", vitrine.NewVersion(0)), tag("filled", "moved", vitrine.NewVersion(1))},
		[]appsvc.Component{component("1", "filled", "1"), component("3", "filled", "2")}, `"again"`)
	if got != want {
		return fmt.Errorf("after the writes:\n got %s\nwant %s", got, want)
	}
	return nil
}

// hasEverything returns an error unless r reads the versions 1 to 4 of the app "filled", the app "new", a tag of
// each, the component "new" and the answer "new", all made with the same text.
func hasEverything(r reader, text string) error {
	var wrong []error
	expect := func(what string, same bool, err error) {
		if err != nil || !same {
			wrong = append(wrong, fmt.Errorf("%s is not the one of %q (error %v)", what, text, err))
		}
	}
	for _, h := range []head{newHead("filled", 1), newHead("filled", 2), newHead("filled", 3), newHead("filled", 4), newHead("new", 0)} {
		app, err := r.App(ctx, h.ID, h.Version)
		expect(fmt.Sprintf("version %s of %q", h.Version, h.ID), equalApps(app, titled(h, text)), err)
	}
	for _, h := range []head{newHead("filled", 4), newHead("new", 0)} {
		latest, err := r.Head(ctx, h.ID)
		expect("the head of "+h.ID, equalHeads(latest, h), err)
		list, err := collect(r.Tags(ctx, appsvc.TagQuery{AppID: h.ID}))
		expect("a tag of "+h.ID, slices.ContainsFunc(list, func(t appsvc.Tag) bool { return t.Name == text }), err)
	}
	c := component("new "+text, "new", "1")
	list, err := collect(r.Components(ctx, appsvc.ComponentQuery{Name: "new"}))
	expect("the component", len(list) == 1 && equalComponents(list[0], c), err)
	a, err := r.Answer(ctx, owner, "new")
	expect("the answer", string(a.Result) == text, err)
	return errors.Join(wrong...)
}

// panicOf returns the value that fn panics with, nil if it does not panic.
func panicOf(fn func()) (value any) {
	defer func() { value = recover() }()
	fn()
	return nil
}
