package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/vitrine-go/vitrine/storage"
)

var ctx = context.Background()

// group runs functions as updates of the space "a" that share one transaction, in their order. It returns their errors,
// also for a panic.
func group(t *testing.T, db *DB, fns []func(storage.Tx) error) []error {
	errs, all, start := make([]error, len(fns)), sync.WaitGroup{}, make(chan struct{})
	before := db.Stats().Commits
	for i, fn := range fns {
		all.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[i] = fmt.Errorf("panic: %v", p)
				}
			}()
			errs[i] = db.Update(ctx, "a", storage.UpdateOptions{}, func(tx storage.Tx) error {
				<-start // holds up the first one, until the others wait for it
				return fn(tx)
			})
		})
		synctest.Wait()
	}
	close(start)
	all.Wait()
	if n := db.Stats().Commits - before; n != 1 {
		t.Errorf("a group took %d commits", n)
	}
	return errs
}

func TestAnUpdateThatFailsTakesNothingOfItsGroupAlong(t *testing.T) {
	errFailed := errors.New("failed")
	put := func(tx storage.Tx, key string, n int) error {
		return tx.Put(ctx, storage.Entry{Key: "a " + key, Value: make([]byte, n)})
	}
	// scan returns the keys with the lengths of their values.
	scan := func(r storage.Reader) (keys []string) {
		for e, err := range r.Scan(ctx, storage.Range{}) {
			if err != nil {
				t.Error(err)
			}
			keys = append(keys, e.Key[2:]+strconv.Itoa(len(e.Value)))
		}
		slices.Sort(keys)
		return keys
	}
	// Those that succeed leave an entry of their name, too.
	type member struct {
		name string
		fn   func(storage.Tx) error
	}
	members := []member{
		{"succeeds", func(tx storage.Tx) error { return nil }},
		{"fails", func(tx storage.Tx) error {
			return errors.Join(put(tx, "x", 9), tx.Delete(ctx, "a succeeds"), errFailed)
		}},
		{"succeeds after a loop", func(tx storage.Tx) error { scan(tx); return nil }},
		{"fails after a loop", func(tx storage.Tx) error {
			err := errors.Join(put(tx, "x", 9), put(tx, "succeeds", 9), tx.Delete(ctx, "a old"))
			scan(tx)
			return errors.Join(err, errFailed)
		}},
		{"panics", func(tx storage.Tx) error { panic(put(tx, "x", 9)) }},
		{"panics in a loop", func(tx storage.Tx) error {
			for range tx.Scan(ctx, storage.Range{}) {
				panic(put(tx, "succeeds", 9))
			}
			return nil
		}},
		{"fails after it has deleted all", func(tx storage.Tx) error {
			return errors.Join(tx.DeleteRange(ctx, storage.Prefix("a ")), errFailed)
		}},
		{"fails after 2 MB", func(tx storage.Tx) error {
			return errors.Join(put(tx, "x", 1000_000), put(tx, "y", 1000_000), tx.Delete(ctx, "a old"), errFailed)
		}},
		{"succeeds with 2 MB", func(tx storage.Tx) error {
			return errors.Join(put(tx, "z", 1000_000), put(tx, "z", 1000_000), tx.Delete(ctx, "a z"))
		}},
	}
	// Each of them is the first one in turn.
	for first := range members {
		t.Run(members[first].name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := openTest(t, nil)
				err := db.Update(ctx, "a", storage.UpdateOptions{}, func(tx storage.Tx) error {
					return put(tx, "old", 0)
				})
				if err != nil {
					t.Fatal(err)
				}
				want := []string{"old0"}
				var fns []func(storage.Tx) error
				for _, m := range slices.Concat(members[first:], members[:first]) {
					fns = append(fns, func(tx storage.Tx) error {
						if values, err := tx.Get(ctx, "a old", "a x", "a succeeds"); err != nil ||
							len(values[0]) != len(want)-1 || values[1] != nil ||
							(values[2] == nil) == slices.Contains(want, "succeeds3") {
							t.Errorf("%s: reads %v, %v", m.name, values, err)
						}
						counted := len(want) - 1 // "old" has as many bytes as updates have succeeded
						if err := errors.Join(put(tx, "old", counted+1), m.fn(tx), put(tx, m.name, 3)); err != nil {
							return err
						}
						want[0] = fmt.Sprint("old", counted+1)
						want = append(want, m.name+"3")
						slices.Sort(want)
						return nil
					})
				}
				fns = append(fns, func(tx storage.Tx) error {
					if got := scan(tx); !slices.Equal(got, want) {
						t.Errorf("the last update reads %q, want %q", got, want)
					}
					return nil
				})
				for i, err := range group(t, db, fns) {
					if i < len(members) {
						name := members[(first+i)%len(members)].name
						if succeeds := name[:1] == "s"; succeeds != (err == nil) || name[:1] == "f" &&
							!errors.Is(err, errFailed) {
							t.Errorf("%s: %v", name, err)
						}
					}
				}
				err = db.View(ctx, func(r storage.Reader) error {
					if got := scan(r); !slices.Equal(got, want) {
						t.Errorf("the store has %q, want %q", got, want)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		})
	}
}
