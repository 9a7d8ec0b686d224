package storagetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

var iteratorRules = []appRule{
	// A page ends as soon as it is full. Rows and statements of the iterator must be closed then.
	{"a caller may leave an iterator early, and the transaction goes on", func(t *testing.T, s appsvc.Store) {
		fillLists(t, s)
		inBoth(t, s, func(r reader) error {
			for name, list := range lists(r, ctx) {
				for stop := 1; stop <= listed; stop++ {
					if got, err := countUpTo(list, stop); got != stop || err != nil {
						return fmt.Errorf("%s, left after %d: %d pairs, error %v", name, stop, got, err)
					}
				}
			}
			_, err := r.Head(ctx, "id0")
			return err
		})
		addVersions(t, s, 1, "after")
	}},
	// An iterator that uses up its rows on the first pass fails here.
	{"a caller may range over an iterator again, from its start", func(t *testing.T, s appsvc.Store) {
		fillLists(t, s)
		inBoth(t, s, func(r reader) error {
			for name, list := range lists(r, ctx) {
				for _, stop := range []int{2, listed + 1, listed + 1, 1} {
					if got, err := countUpTo(list, stop); got != min(stop, listed) || err != nil {
						return fmt.Errorf("%s: %d pairs, error %v; want %d", name, got, err, min(stop, listed))
					}
				}
			}
			return nil
		})
	}},
	// A database connection often allows one open result at a time, so a driver may have to read ahead.
	{"iterators nest, and other reads may run between their steps", func(t *testing.T, s appsvc.Store) {
		fillLists(t, s)
		inBoth(t, s, func(r reader) error {
			seen := 0
			for app, err := range r.Apps(ctx, appsvc.AppQuery{Owner: owner, Sort: appsvc.UpdatedDescending}) {
				if err != nil {
					return err
				}
				for version, err := range r.Versions(ctx, appsvc.VersionQuery{AppID: app.ID}) {
					if err != nil {
						return err
					}
					if _, err := r.App(ctx, version.ID, version.Version); err != nil {
						return err
					}
					tagged, err := collect(r.Tags(ctx, appsvc.TagQuery{AppID: app.ID, Limit: 2}))
					parts, err2 := collect(r.Components(ctx, appsvc.ComponentQuery{}))
					if err := errors.Join(err, err2); err != nil {
						return err
					}
					seen++
					if app.ID == "id0" && len(tagged) != 2 || len(parts) != listed {
						return fmt.Errorf("inside the lists: %d tags, %d components", len(tagged), len(parts))
					}
				}
			}
			if want := listed - 1 + listed; seen != want {
				return fmt.Errorf("%d versions were seen, want %d", seen, want)
			}
			return nil
		})
	}},
	// Each item that was in the list at the start is yielded once, although the loop deletes it and adds it to another list.
	{"writes may run between the steps of an iterator", func(t *testing.T, s appsvc.Store) {
		fillLists(t, s)
		update(t, s, func(w tx) error {
			seen := map[string]bool{}
			for found, err := range w.Tags(ctx, appsvc.TagQuery{AppID: "id0"}) {
				if err != nil {
					return err
				}
				seen[found.Name] = true
				if err := errors.Join(w.DeleteTag(ctx, "id0", found.Name), w.SetTag(ctx, tag("moved", found.Name, vitrine.NewVersion(0)))); err != nil {
					return err
				}
			}
			if len(seen) != listed {
				return fmt.Errorf("%d tags were seen, want %d", len(seen), listed)
			}
			return nil
		})
		checkEqual(t, "tags that were deleted", read(t, s, tags(appsvc.TagQuery{AppID: "id0"})), nil)
		if got := read(t, s, tags(appsvc.TagQuery{AppID: "moved"})); len(got) != listed {
			t.Errorf("%d tags were moved, want %d", len(got), listed)
		}
	}},
	// Callers stop at an error, and a list that ends without one counts as complete. A driver must never end a list
	// early without an error.
	{"an iterator yields an error once, as its last pair", func(t *testing.T, s appsvc.Store) {
		fillLists(t, s)
		inBoth(t, s, func(r reader) error {
			over, cancel := context.WithCancel(ctx)
			cancel()
			for name, list := range lists(r, over) {
				pairs, failed := 0, error(nil)
				for err := range list {
					if failed != nil {
						return fmt.Errorf("%s: a pair follows the error %v", name, failed)
					}
					pairs, failed = pairs+1, err
				}
				// A driver may have read the whole list already, and need not check the context then.
				if failed == nil && pairs != listed || failed != nil && !errors.Is(failed, context.Canceled) {
					return fmt.Errorf("%s, with a context that is over: %d pairs, error %v", name, pairs, failed)
				}
			}
			return nil
		})
		if got := read(t, s, tags(appsvc.TagQuery{AppID: "id0"})); len(got) != listed {
			t.Errorf("afterwards %d tags are there, want %d", len(got), listed)
		}
	}},
	// Twenty panics in a row would use up the connections or locks of a driver that does not release them.
	{"a panic between the steps of an iterator reaches the caller, and the store stays usable", func(t *testing.T, s appsvc.Store) {
		fillLists(t, s)
		want := new(int)
		stepInto := func(r reader) error {
			for range r.Apps(ctx, appsvc.AppQuery{Owner: owner, Sort: appsvc.CreatedAscending}) {
				panic(want)
			}
			return errors.New("no app was there")
		}
		for range 20 {
			if got := panicOf(func() { _ = s.View(ctx, stepInto) }); got != any(want) {
				t.Errorf("View: the panic came out as %v", got)
			}
			if got := panicOf(func() { _ = s.Update(ctx, func(w tx) error { return stepInto(w) }) }); got != any(want) {
				t.Errorf("Update: the panic came out as %v", got)
			}
		}
		addVersions(t, s, 1, "after")
	}},
}

// listed is the number of items that fillLists puts into each list.
const listed = 5

// fillLists stores so much that each iterator of lists yields as many items as listed says.
func fillLists(t *testing.T, s appsvc.Store) {
	t.Helper()
	for i := range listed {
		addVersions(t, s, 1, fmt.Sprint("id", i))
		setTags(t, s, tag("id0", fmt.Sprint(i), vitrine.NewVersion(0)))
		addMoves(t, s, move("id0", "0", int64(i)+1))
		if i > 0 {
			addMoves(t, s, move("id0", fmt.Sprint(i), 1)) // so listed tags have moves
		}
		addComponents(t, s, component("", fmt.Sprint(i), "1"))
		keep(t, s, 0, answer(owner, fmt.Sprint(i), 10))
	}
	for v := range listed - 1 {
		add(t, s, newHead("id0", v+1), "")
	}
}

// lists has an iterator for each kind of list, except Restorations and Entries. Each yields only the error of each pair.
func lists(r reader, ctx context.Context) map[string]iter.Seq[error] {
	return map[string]iter.Seq[error]{
		"Apps":       errorsOf(r.Apps(ctx, appsvc.AppQuery{Owner: owner, Sort: appsvc.CreatedDescending})),
		"Versions":   errorsOf(r.Versions(ctx, appsvc.VersionQuery{AppID: "id0"})),
		"Tags":       errorsOf(r.Tags(ctx, appsvc.TagQuery{AppID: "id0"})),
		"TagMoves":   errorsOf(r.TagMoves(ctx, appsvc.TagMoveQuery{AppID: "id0", Name: "0"})),
		"Users":      errorsOf(r.Users(ctx, appsvc.UserQuery{Component: "clock", Owner: owner})),
		"TagNames":   errorsOf(r.TagNames(ctx, "id0")),
		"Components": errorsOf(r.Components(ctx, appsvc.ComponentQuery{})),
		"IDs":        errorsOf(r.IDs(ctx)),
		"Answers":    errorsOf(r.Answers(ctx)),
	}
}

// errorsOf turns an iterator of any type into one that yields the error of each pair, so that all iterators can be
// tested alike.
func errorsOf[T any](seq iter.Seq2[T, error]) iter.Seq[error] {
	return func(yield func(error) bool) {
		for _, err := range seq {
			if !yield(err) {
				return
			}
		}
	}
}

// countUpTo ranges over a list and stops at the stop-th pair, or at an error. It returns the number of pairs.
func countUpTo(list iter.Seq[error], stop int) (count int, err error) {
	for err := range list {
		count++
		if err != nil || count == stop {
			return count, err
		}
	}
	return count, nil
}

// inBoth runs fn in a View and in an Update.
func inBoth(t *testing.T, s appsvc.Store, fn func(r reader) error) {
	t.Helper()
	if err := s.View(ctx, fn); err != nil {
		t.Errorf("in a View: %v", err)
	}
	if err := s.Update(ctx, func(w tx) error { return fn(w) }); err != nil {
		t.Errorf("in an Update: %v", err)
	}
}
