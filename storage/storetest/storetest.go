// Package storetest is a suite of tests for the rules of package storage. Each driver runs it:
//
//	func TestStore(t *testing.T) { storetest.Run(t, storetest.Driver{Open: open}) }
package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

// Driver is what the suite needs of a driver.
type Driver struct {
	// Open returns an empty store, which the test's cleanup closes.
	Open func(t testing.TB) storage.Store
	// Again reopens a store that Open has returned and the suite has closed. It is nil for a driver without durable
	// data.
	Again func(t testing.TB, closed storage.Store) storage.Store
	// Beside opens a store a second time while the first one is open, as another process would. It is nil if that is
	// not possible.
	Beside func(t testing.TB, open storage.Store) storage.Store
}

// Run tests a driver: each rule is a subtest with an empty store of its own, and its name says what the driver must do.
func Run(t *testing.T, d Driver) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			if err := r.check(d.Open(t)); err != nil {
				t.Error(err)
			}
		})
	}
	if d.Again != nil {
		t.Run("what was committed is there when the store is opened again", func(t *testing.T) {
			s := d.Open(t)
			if err := errors.Join(fill(s, "a 1", "one", "b 2", "two"), s.Close()); err != nil {
				t.Fatal(err)
			}
			if err := contains(d.Again(t, s), "a 1", "one", "b 2", "two"); err != nil {
				t.Error(err)
			}
		})
	}
	if d.Beside != nil {
		t.Run("two openings of a store count and tell as one", func(t *testing.T) {
			s := d.Open(t)
			if err := errors.Join(counts(s, d.Beside(t, s)), tells(s, d.Beside(t, s)),
				repeated(s, d.Beside(t, s))); err != nil {
				t.Error(err)
			}
		})
	}
}

type rule struct {
	name  string
	check func(storage.Store) error
}

var ctx = context.Background()

var rules = []rule{
	{"keys are in the order of their bytes", order},
	{"an empty value is not an absent one", emptyValues},
	{"Get returns values in the order of its keys, which may repeat", gets},
	{"a range begins with From, ends before To, and has Limit entries at most", ranges},
	{"ranges are merged by what follows Skip bytes", merged},
	{"loops may contain other loops and may be left early", nested},
	{"a loop goes on while its transaction writes", writingLoop},
	{"an update reads what it has written", ownWrites},
	{"an error leaves nothing of an update", failedUpdate},
	{"a panic writes nothing, and goes on to the caller", panics},
	{"a View is one moment", moment},
	{"a View has what was acknowledged before it", acknowledged},
	{"keys that are read again and again have their values of one moment", func(s storage.Store) error {
		return repeated(s)
	}},
	{"updates of a space read what earlier ones have written", func(s storage.Store) error { return counts(s, s) }},
	{"updates that fail beside others leave nothing", failBesideOthers},
	{"an update reads of other spaces what was committed", otherSpaces},
	{"DeleteRange deletes what Scan would yield", deletedRanges},
	{"Large, Erase and Exclusive updates are updates", options},
	{"beside an exclusive update there is no other one", exclusive},
	{"a channel of Changed is closed for what a later View does not see", func(s storage.Store) error {
		return tells(s, s)
	}},
	{"Changed tells of the spaces below its prefix", changedBelow},
	{"Spaces yields those that have entries", spacesWithEntries},
	{"Estimate is 0 only for a range without entries", estimates},
	{"keys have 1 KiB and values 64 MiB at most", largest},
	{"a store is returned through Checked", checked},
	{"a context that has ended ends a call", endedContext},
	{"a caller's bytes and a store's are not changed", bytesStay},
	{"Close waits, and ends everything", closing},
	{"any operations do what they do on a sorted map", func(s storage.Store) error {
		return like(s, rand.New(rand.NewPCG(1, 2)))
	}},
}

// fill puts keys with their values, one update for each.
func fill(s storage.Store, pairs ...string) error {
	for pair := range slices.Chunk(pairs, 2) {
		err := update(s, storage.SpaceOf(pair[0]), func(t storage.Tx) error { return put(t, pair...) })
		if err != nil {
			return err
		}
	}
	return nil
}

// fillMany puts n keys that begin with prefix in one update.
func fillMany(s storage.Store, prefix string, n int) error {
	return update(s, storage.SpaceOf(prefix), func(t storage.Tx) error {
		for i := range n {
			if err := put(t, fmt.Sprintf("%s%04d", prefix, i), "v"); err != nil {
				return err
			}
		}
		return nil
	})
}

// put puts keys with their values, by one call.
func put(t storage.Tx, pairs ...string) error {
	var all []storage.Entry
	for pair := range slices.Chunk(pairs, 2) {
		all = append(all, storage.Entry{Key: pair[0], Value: []byte(pair[1])})
	}
	return t.Put(ctx, all...)
}

func update(s storage.Store, space string, fn func(storage.Tx) error) error {
	return s.Update(ctx, space, storage.UpdateOptions{}, fn)
}

// contains checks that the store has these keys with these values and no others.
func contains(s storage.Store, pairs ...string) error {
	return s.View(ctx, func(r storage.Reader) error { return has(r, storage.Range{}, pairs...) })
}

// has checks that a Scan yields these keys with these values, in this order.
func has(r storage.Reader, in storage.Range, pairs ...string) error {
	return yields(r, []storage.Range{in}, pairs...)
}

func yields(r storage.Reader, in []storage.Range, pairs ...string) error {
	got, err := scanned(r, in...)
	if err == nil && !slices.Equal(got, pairs) {
		err = fmt.Errorf("Scan(%+v) yields %.500q, want %.500q", in, got, pairs)
	}
	return err
}

// scanned returns the keys that a Scan yields, each with its value.
func scanned(r storage.Reader, in ...storage.Range) (pairs []string, err error) {
	for e, err := range r.Scan(ctx, in...) {
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, e.Key, string(e.Value))
	}
	return pairs, nil
}

// within checks in a View and in an update.
func within(s storage.Store, check func(storage.Reader) error) error {
	if err := s.View(ctx, check); err != nil {
		return fmt.Errorf("in a View: %w", err)
	}
	for _, space := range []string{"a", "none"} {
		if err := update(s, space, func(t storage.Tx) error { return check(t) }); err != nil {
			return fmt.Errorf("in an update of %q: %w", space, err)
		}
	}
	return nil
}

// parallel calls f with 0 to n-1 at the same time.
func parallel(n int, f func(i int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// patience is how long the suite waits for an event that happens at once on an idle machine.
var patience = 30 * time.Second

// comes receives from a channel, the zero value if it is closed. ok is false if nothing came within patience.
func comes[T any](c <-chan T) (got T, ok bool) {
	select {
	case got = <-c:
		return got, true
	case <-time.After(patience):
		return got, false
	}
}
