package storagetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// The number of goroutines that work at the same time, and of rounds of each.
const (
	workers = 8
	rounds  = 25
)

var parallelRules = []appRule{
	// Each Update reads the latest version and adds the next. If two read the same version, one of them must wait or
	// run again; no version is lost and no error is seen.
	{"parallel Updates of one app are all committed, one after the other", func(t *testing.T, s appsvc.Store) {
		add(t, s, newHead("a", 0), "0")
		together(t, workers, func(int) error {
			for range rounds {
				if err := s.Update(ctx, addNext("a")); err != nil {
					return err
				}
			}
			return nil
		})
		all := read(t, s, versions(appsvc.VersionQuery{AppID: "a"}))
		if len(all) != workers*rounds+1 {
			t.Fatalf("%d versions are there, want %d", len(all), workers*rounds+1)
		}
		for i, got := range all {
			v := workers*rounds - i
			checkApps(t, []appsvc.App{got}, []appsvc.App{titled(newHead("a", v), fmt.Sprint(v))})
		}
	}},
	// Updates of different things must not overwrite each other, nor fail because they meet.
	{"parallel Updates of many apps, tags, components and answers are all committed", func(t *testing.T, s appsvc.Store) {
		together(t, workers, func(worker int) error {
			for round := range rounds {
				name := fmt.Sprintf("%d-%d", worker, round)
				err := s.Update(ctx, func(w tx) error {
					return errors.Join(addNext(fmt.Sprint(worker))(w), w.SetTag(ctx, tag("shared", name, vitrine.NewVersion(0))),
						w.AddComponent(ctx, component("", name, "1")), w.KeepAnswer(ctx, answer(owner, name, 10), 0))
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		for worker := range workers {
			if h := read(t, s, headOf(fmt.Sprint(worker))); h.Version.Number() != rounds-1 {
				t.Errorf("app %d has version %s, want %d", worker, h.Version, rounds-1)
			}
			for round := range rounds {
				checkAnswer(t, s, answer(owner, fmt.Sprintf("%d-%d", worker, round), 10))
			}
		}
		if got := len(read(t, s, tags(appsvc.TagQuery{AppID: "shared"}))); got != workers*rounds {
			t.Errorf("%d tags, want %d", got, workers*rounds)
		}
		if got := len(read(t, s, components(appsvc.ComponentQuery{}))); got != workers*rounds {
			t.Errorf("%d components, want %d", got, workers*rounds)
		}
	}},
	// Two creations of one app meet here. Neither finds a row that it could lock.
	{"of parallel Updates that add the same version one succeeds and the others get ErrExists", func(t *testing.T, s appsvc.Store) {
		for round := range rounds {
			var kept, refused atomic.Int64
			together(t, workers, func(worker int) error {
				h := newHead(fmt.Sprint(round), 0)
				err := s.Update(ctx, func(w tx) error { return w.AddVersion(ctx, h, bodyOf(h, fmt.Sprint(worker))) })
				switch {
				case err == nil:
					kept.Add(1)
				case errors.Is(err, appsvc.ErrExists):
					refused.Add(1)
				default:
					return err
				}
				return nil
			})
			if kept.Load() != 1 || refused.Load() != workers-1 {
				t.Fatalf("%d of %d updates took one version, %d were refused", kept.Load(), workers, refused.Load())
			}
		}
	}},
	// Snapshot isolation is too little: both updates of this test read what the other one writes (write skew), and
	// under snapshot isolation both would commit.
	{"what an Update read is still current when its writes are committed", func(t *testing.T, s appsvc.Store) {
		// Two updates each set their tag only if the tag of the other does not exist. In either order exactly one tag
		// is set.
		addVersions(t, s, 1, "a")
		names := []string{"left", "right"}
		for round := range rounds {
			together(t, len(names), func(worker int) error {
				return s.Update(ctx, func(w tx) error {
					other := appsvc.TagQuery{AppID: "a", Name: fmt.Sprint(names[1-worker], round)}
					found, err := collect(w.Tags(ctx, other))
					if err != nil || len(found) > 0 {
						return err
					}
					pause()
					return w.SetTag(ctx, tag("a", fmt.Sprint(names[worker], round), vitrine.NewVersion(0)))
				})
			})
		}
		if got := read(t, s, tags(appsvc.TagQuery{AppID: "a"})); len(got) != rounds {
			t.Errorf("%d tags are set after %d rounds, want one a round: %v", len(got), rounds, got)
		}
	}},
	// A driver may commit several Updates together. Then it must roll back a failed one alone.
	{"an Update that fails does not fail or undo parallel Updates", func(t *testing.T, s appsvc.Store) {
		fails := errors.New("fails")
		together(t, workers, func(worker int) error {
			for range rounds {
				err := s.Update(ctx, func(w tx) error {
					if err := addNext(fmt.Sprint(worker))(w); err != nil || worker%2 == 0 {
						return err
					}
					return fails
				})
				if worker%2 == 0 && err != nil || worker%2 == 1 && !errors.Is(err, fails) {
					return fmt.Errorf("worker %d: error %v", worker, err)
				}
			}
			return nil
		})
		for worker := range workers {
			got, err := tryRead(s, headOf(fmt.Sprint(worker)))
			if worker%2 == 1 {
				checkError(t, err, vitrine.ErrNotFound, "Head of an app that was never kept")
			} else if err != nil || got.Version.Number() != rounds-1 {
				t.Errorf("app %d has version %s, error %v; want version %d", worker, got.Version, err, rounds-1)
			}
		}
	}},
	// Two apps are only ever updated together, so their versions are equal in every snapshot, in single reads and in
	// lists.
	{"a View sees all of an Update or nothing of it", func(t *testing.T, s appsvc.Store) {
		next := func(w tx) error { return errors.Join(addNext("a")(w), addNext("b")(w)) }
		update(t, s, next)
		lookWhileUpdating(t, s, next, func() {}, func() error {
			return s.View(ctx, func(r reader) error {
				for range 5 {
					a, err := r.Head(ctx, "a")
					b, err2 := r.Head(ctx, "b")
					list, err3 := collect(r.Apps(ctx, appsvc.AppQuery{Owner: owner, Sort: appsvc.CreatedAscending}))
					if err := errors.Join(err, err2, err3); err != nil {
						return err
					}
					if a.Version != b.Version || len(list) != 2 || list[0].Version != a.Version || list[1].Version != a.Version {
						return fmt.Errorf("apps that are only ever updated together: %s and %s, in the list %s", a.Version, b.Version, describe(list))
					}
				}
				return nil
			})
		})
	}},
	// The Service reads the caller's rights and the data in one View, so both must be of the same moment. A store may
	// instead let the Update wait for the View.
	{"all reads of one View see one snapshot, whatever is committed meanwhile", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 3, "a")
		err := s.View(ctx, func(r reader) error {
			first, err := r.Head(ctx, "a")
			if err != nil {
				return err
			}
			updated := make(chan error, 1)
			go func() {
				updated <- s.Update(ctx, func(w tx) error { return errors.Join(addNext("a")(w), addNext("b")(w)) })
			}()
			select { // a store may let updates wait for the View
			case err = <-updated:
			case <-time.After(100 * time.Millisecond):
			}
			second, err2 := r.Head(ctx, "a")
			latest, err3 := r.App(ctx, "a", vitrine.Latest)
			all, err4 := collect(r.Versions(ctx, appsvc.VersionQuery{AppID: "a"}))
			list, err5 := collect(r.Apps(ctx, appsvc.AppQuery{Owner: owner, Sort: appsvc.CreatedAscending}))
			if err := errors.Join(err, err2, err3, err4, err5); err != nil {
				return err
			}
			apps := 1
			if first.Version.Number() > 2 { // this function ran before, and so did an update of it
				apps = 2
			}
			if first.Version != second.Version || latest.Version != first.Version || len(all) != int(first.Version.Number())+1 || len(list) != apps {
				return fmt.Errorf("first version %s, then %s and %s, with %d versions and %d apps", first.Version, second.Version, latest.Version, len(all), len(list))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}},
	// A client reads what it has just written. A driver that reads from a replica or a cache must not answer with
	// something older.
	{"a View that begins after an Update returned sees that Update", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 1, "a")
		var acknowledged atomic.Int64
		lookWhileUpdating(t, s, addNext("a"), func() { acknowledged.Add(1) },
			func() error {
				least := vitrine.NewVersion(acknowledged.Load())
				h, err := tryRead(s, headOf("a"))
				if err == nil && h.Version.Compare(least) < 0 {
					err = fmt.Errorf("version %s is the latest after %s was acknowledged", h.Version, least)
				}
				return err
			})
	}},
}

// addNext adds the next version of an app, version 0 if the app does not exist.
func addNext(id string) func(w tx) error {
	return func(w tx) error {
		h, err := w.Head(ctx, id)
		switch {
		case errors.Is(err, vitrine.ErrNotFound):
			h = newHead(id, 0)
		case err != nil:
			return err
		default:
			h = newHead(id, int(h.Version.Number())+1)
		}
		pause()
		return w.AddVersion(ctx, h, bodyOf(h, fmt.Sprint(h.Version)))
	}
}

// pause lets other goroutines run between a read and a write. In a fast store this would rarely happen by itself.
func pause() { time.Sleep(10 * time.Microsecond) }

// together runs work in count goroutines that start at the same time.
func together(t *testing.T, count int, work func(worker int) error) {
	t.Helper()
	var group sync.WaitGroup
	start, errs := make(chan struct{}), make([]error, count)
	for worker := range count {
		group.Go(func() {
			<-start
			errs[worker] = work(worker)
		})
	}
	close(start)
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// lookWhileUpdating calls look in several goroutines, while another one repeats an Update with fn and calls
// acknowledge after each.
func lookWhileUpdating(t *testing.T, s appsvc.Store, fn func(w tx) error, acknowledge func(), look func() error) {
	t.Helper()
	var done atomic.Bool
	together(t, workers/2, func(worker int) error {
		if worker > 0 {
			for !done.Load() {
				if err := look(); err != nil {
					return err
				}
			}
			return look()
		}
		defer done.Store(true)
		for range 2 * rounds {
			if err := s.Update(ctx, fn); err != nil {
				return err
			}
			acknowledge()
		}
		return nil
	})
}
