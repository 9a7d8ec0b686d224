// Package storetest has the rules of package storage, which every driver passes:
//
//	func TestStore(t *testing.T) { storetest.Run(t, storetest.Driver{Open: open}) }
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

// Driver is what the suite needs of a driver.
type Driver struct {
	// Open returns an empty store, which the test's cleanup closes.
	Open func(t testing.TB) storage.Store
	// Again opens once more what Open has returned and the suite has closed. It is nil for a driver that keeps nothing.
	Again func(t testing.TB, closed storage.Store) storage.Store
	// Beside opens a store a second time while the first one is open, as another process would. It is nil if that cannot be.
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
			if err := errors.Join(fill(s, "a:1", "one", "b:2", "two"), s.Close()); err != nil {
				t.Fatal(err)
			}
			if err := holds(d.Again(t, s), "a:1", "one", "b:2", "two"); err != nil {
				t.Error(err)
			}
		})
	}
	if d.Beside != nil {
		t.Run("two openings of a store count and tell as one", func(t *testing.T) {
			s := d.Open(t)
			if err := errors.Join(counts(s, d.Beside(t, s)), tells(s, d.Beside(t, s))); err != nil {
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
	{"loops may hold other loops and may be left early", nested},
	{"a loop goes on while its transaction writes", writingLoop},
	{"an update reads what it has written", ownWrites},
	{"an error leaves nothing of an update", failedUpdate},
	{"a panic leaves nothing, and is passed on", panics},
	{"a View is one moment", moment},
	{"a View has what was acknowledged before it", acknowledged},
	{"updates of a space read what earlier ones have written", func(s storage.Store) error { return counts(s, s) }},
	{"updates that fail beside others leave nothing", failBesideOthers},
	{"an update reads of other spaces what was committed", otherSpaces},
	{"DeleteRange deletes what Scan would yield", deletedRanges},
	{"Large, Erase and Exclusive updates are updates", options},
	{"beside an exclusive update there is no other one", exclusive},
	{"a channel of Changed is closed for what a later View does not see", func(s storage.Store) error { return tells(s, s) }},
	{"Changed tells of the spaces below its prefix", changedBelow},
	{"Spaces yields those that have entries", spacesWithEntries},
	{"Estimate is 0 only for a range without entries", estimates},
	{"keys have 1 KiB and values 64 MiB at most", largest},
	{"an update writes in its own space alone", ownSpace},
	{"a Reader and a Tx end with their function", afterTheEnd},
	{"a context that has ended ends a call", endedContext},
	{"a caller's bytes and a store's are not changed", bytesStay},
	{"Close waits, and ends everything", closing},
	{"any operations do what they do on a sorted map", func(s storage.Store) error {
		return like(s, rand.New(rand.NewPCG(1, 2)))
	}},
}

// fill puts keys with their values, one update for each.
func fill(s storage.Store, pairs ...string) error {
	for i := 0; i < len(pairs); i += 2 {
		err := update(s, storage.SpaceOf(pairs[i]), func(t storage.Tx) error {
			return t.Put(ctx, storage.Entry{Key: pairs[i], Value: []byte(pairs[i+1])})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func update(s storage.Store, space string, fn func(storage.Tx) error) error {
	return s.Update(ctx, space, storage.UpdateOptions{}, fn)
}

// holds checks that the store has these keys with these values and no others.
func holds(s storage.Store, pairs ...string) error {
	return s.View(ctx, func(r storage.Reader) error { return has(r, storage.Range{}, pairs...) })
}

// has checks that a Scan yields these keys with these values, in this order.
func has(r storage.Reader, in storage.Range, pairs ...string) error {
	return yields(r, []storage.Range{in}, pairs...)
}

func yields(r storage.Reader, in []storage.Range, pairs ...string) error {
	var got []string
	for e, err := range r.Scan(ctx, in...) {
		if err != nil {
			return err
		}
		got = append(got, e.Key, string(e.Value))
	}
	if !slices.Equal(got, pairs) {
		return fmt.Errorf("Scan(%+v) yields %.500q, want %.500q", in, got, pairs)
	}
	return nil
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

func order(s storage.Store) error {
	keys := []string{"a-b:1", "a/b:1", "a:", "a:\x00", "a:\x00\x00", "a:\x00a", "a:A", "a:a", "a:a\x00", "a:a ", "a:aa", "a:b", "a:é", "a:\xff", "a:\xff\xff", "aa:1", "b:"}
	var pairs, reverse []string
	for _, key := range keys {
		pairs = append(pairs, key, "v"+key)
		reverse = append([]string{key, "v" + key}, reverse...)
	}
	mixed := slices.Clone(pairs)
	for i := 0; i+4 <= len(mixed); i += 4 {
		mixed[i], mixed[i+1], mixed[i+2], mixed[i+3] = mixed[i+2], mixed[i+3], mixed[i], mixed[i+1]
	}
	if err := fill(s, mixed...); err != nil {
		return err
	}
	return within(s, func(r storage.Reader) error {
		return errors.Join(has(r, storage.Range{}, pairs...), has(r, storage.Range{Reverse: true}, reverse...))
	})
}

func emptyValues(s storage.Store) error {
	err := update(s, "a", func(t storage.Tx) error {
		return t.Put(ctx, storage.Entry{Key: "a:empty", Value: []byte{}}, storage.Entry{Key: "a:nil"})
	})
	if err != nil {
		return err
	}
	return within(s, func(r storage.Reader) error {
		values, err := r.Get(ctx, "a:empty", "a:nil", "a:absent", "none:absent")
		if err != nil {
			return err
		}
		if values[0] == nil || values[1] == nil || len(values[0])+len(values[1]) > 0 || values[2] != nil || values[3] != nil {
			return fmt.Errorf("two empty values and two absent ones are %#v", values)
		}
		return has(r, storage.Range{}, "a:empty", "", "a:nil", "")
	})
}

func gets(s storage.Store) error {
	if err := fill(s, "a:1", "one", "a:2", "two", "b:1", "b"); err != nil {
		return err
	}
	return within(s, func(r storage.Reader) error {
		values, err := r.Get(ctx, "b:1", "a:2", "a:0", "a:1", "a:2")
		if got := string(bytes.Join(values, []byte("|"))); err != nil || got != "b|two||one|two" {
			return fmt.Errorf("five keys have %q; %v", got, err)
		}
		if values, err = r.Get(ctx); err != nil || len(values) > 0 {
			return fmt.Errorf("no keys have %q; %v", values, err)
		}
		return nil
	})
}

func ranges(s storage.Store) error {
	if err := fill(s, "a:1", "", "a:2", "", "a:3", "", "b:1", ""); err != nil {
		return err
	}
	return within(s, func(r storage.Reader) error {
		return errors.Join(
			has(r, storage.Range{From: "a:2", To: "a:3"}, "a:2", ""),
			has(r, storage.Range{From: "a:2", To: "a:3", Reverse: true}, "a:2", ""),
			has(r, storage.Range{From: "a:2"}, "a:2", "", "a:3", "", "b:1", ""),
			has(r, storage.Range{From: "a:2", Reverse: true}, "b:1", "", "a:3", "", "a:2", ""),
			has(r, storage.Range{To: "a:2"}, "a:1", ""),
			has(r, storage.Range{From: "a:3", To: "a:1"}),
			has(r, storage.Range{From: "a:3", To: "a:1", Reverse: true}),
			has(r, storage.Range{From: "a:2", To: "a:2"}),
			has(r, storage.Range{From: "a:15", To: "b:0", Limit: 1, Expect: 9}, "a:2", ""),
			has(r, storage.Range{From: "a:15", To: "b:0", Limit: 1, Reverse: true}, "a:3", ""),
			has(r, storage.Range{From: "a:3", Limit: 2}, "a:3", "", "b:1", ""),
			has(r, storage.Prefix("a:"), "a:1", "", "a:2", "", "a:3", ""),
			has(r, storage.Range{From: "c:"}),
		)
	})
}

func merged(s storage.Store) error {
	if err := fill(s, "a:x/1", "", "a:x/4", "", "a:yy/1", "", "a:yy/3", "", "b:z/2", "", "b:z/5", ""); err != nil {
		return err
	}
	x, y, z := storage.Prefix("a:x/"), storage.Prefix("a:yy/"), storage.Prefix("b:z/")
	x.Skip, y.Skip, z.Skip = 4, 5, 4
	return within(s, func(r storage.Reader) error {
		err := yields(r, []storage.Range{x, y, z}, "a:x/1", "", "a:yy/1", "", "b:z/2", "", "a:yy/3", "", "a:x/4", "", "b:z/5", "")
		one := []storage.Range{x, y, z}
		for i := range one {
			one[i].Reverse, one[i].Limit = true, 1
		}
		return errors.Join(err,
			yields(r, one, "b:z/5", "", "a:x/4", "", "a:yy/3", ""),
			yields(r, []storage.Range{y, x}, "a:yy/1", "", "a:x/1", "", "a:yy/3", "", "a:x/4", ""),
			yields(r, nil))
	})
}

func nested(s storage.Store) error {
	if err := fill(s, "a:1", "", "a:2", "", "a:3", ""); err != nil {
		return err
	}
	return within(s, func(r storage.Reader) error {
		var got []string
		for outer, err := range r.Scan(ctx, storage.Prefix("a:")) {
			if err != nil {
				return err
			}
			for inner, err := range r.Scan(ctx, storage.Range{From: outer.Key, Reverse: true}) {
				if err != nil {
					return err
				}
				values, err := r.Get(ctx, inner.Key, outer.Key)
				if err != nil || values[0] == nil || values[1] == nil {
					return fmt.Errorf("Get within loops: %q, %v", values, err)
				}
				got = append(got, outer.Key+inner.Key)
				if len(got)%2 == 0 {
					break
				}
			}
		}
		if want := "[a:1a:3 a:1a:2 a:2a:3 a:2a:2 a:3a:3]"; fmt.Sprint(got) != want {
			return fmt.Errorf("two loops go through %s, want %s", got, want)
		}
		return has(r, storage.Range{}, "a:1", "", "a:2", "", "a:3", "")
	})
}

// writingLoop takes each entry to another key, which is how records are rewritten, and deletes what the loop has yet to come to.
func writingLoop(s storage.Store) error {
	const n = 2000 // more than what a driver reads at once
	err := update(s, "a", func(t storage.Tx) error {
		for i := range n {
			if err := t.Put(ctx, storage.Entry{Key: fmt.Sprintf("a:old/%04d", i), Value: []byte("v")}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = update(s, "a", func(t storage.Tx) error {
		last, seen := "", 0
		for e, err := range t.Scan(ctx, storage.Prefix("a:old/")) {
			if err != nil {
				return err
			}
			if e.Key <= last {
				return fmt.Errorf("%q comes after %q", e.Key, last)
			}
			last, seen = e.Key, seen+1
			err = errors.Join(t.Delete(ctx, e.Key), t.Put(ctx, storage.Entry{Key: "a:new/" + e.Key[6:], Value: e.Value}))
			if err != nil {
				return err
			}
		}
		if seen != n {
			return fmt.Errorf("a loop that moves entries came to %d of %d", seen, n)
		}
		for range t.Scan(ctx, storage.Prefix("a:new/")) {
			return t.DeleteRange(ctx, storage.Range{From: "a:new/0002", To: "a:new0"})
		}
		return errors.New("nothing was moved")
	})
	return errors.Join(err, holds(s, "a:new/0000", "v", "a:new/0001", "v"))
}

func ownWrites(s storage.Store) error {
	if err := fill(s, "a:1", "before", "a:2", "before"); err != nil {
		return err
	}
	return update(s, "a", func(t storage.Tx) error {
		err := errors.Join(t.Put(ctx, storage.Entry{Key: "a:1", Value: []byte("x")}, storage.Entry{Key: "a:3", Value: []byte("y")}, storage.Entry{Key: "a:1", Value: []byte("z")}),
			t.Delete(ctx, "a:2", "a:4", "a:2"))
		if err != nil {
			return err
		}
		values, err := t.Get(ctx, "a:1", "a:2", "a:3")
		if err != nil || string(values[0]) != "z" || values[1] != nil || string(values[2]) != "y" {
			return fmt.Errorf("Get in an update that has written returns %q; %v", values, err)
		}
		n, err := t.Estimate(ctx, storage.Range{From: "a:3"})
		if err != nil || n == 0 {
			return fmt.Errorf("Estimate of what was written is %d; %v", n, err)
		}
		return has(t, storage.Range{}, "a:1", "z", "a:3", "y")
	})
}

func failedUpdate(s storage.Store) error {
	if err := fill(s, "a:1", "one"); err != nil {
		return err
	}
	failure := errors.New("a failure")
	err := update(s, "a", func(t storage.Tx) error {
		return errors.Join(t.Put(ctx, storage.Entry{Key: "a:1", Value: []byte("x")}, storage.Entry{Key: "a:2"}), t.Delete(ctx, "a:1"), failure)
	})
	if !errors.Is(err, failure) {
		return fmt.Errorf("the error of a function is returned as %v", err)
	}
	if err := s.View(ctx, func(storage.Reader) error { return failure }); !errors.Is(err, failure) {
		return fmt.Errorf("the error of a View's function is returned as %v", err)
	}
	return holds(s, "a:1", "one")
}

func panics(s storage.Store) error {
	passed := func(call func() error) (err error) {
		defer func() {
			if p := recover(); p != "thrown" {
				err = fmt.Errorf("a panic is passed on as %v; %w", p, err)
			} else {
				err = nil
			}
		}()
		return errors.Join(call(), errors.New("it is not"))
	}
	return errors.Join(
		passed(func() error {
			return update(s, "a", func(t storage.Tx) error {
				if err := t.Put(ctx, storage.Entry{Key: "a:1"}); err != nil {
					return err
				}
				panic("thrown")
			})
		}),
		passed(func() error { return s.View(ctx, func(storage.Reader) error { panic("thrown") }) }),
		passed(func() error {
			return s.View(ctx, func(r storage.Reader) error {
				for range r.Spaces(ctx, "") {
				}
				for range r.Scan(ctx, storage.Range{}) {
				}
				panic("thrown")
			})
		}),
		fill(s, "a:2", "two"),
		holds(s, "a:2", "two"))
}

func moment(s storage.Store) error {
	if err := fill(s, "a:1", "one", "b:1", "one"); err != nil {
		return err
	}
	return s.View(ctx, func(r storage.Reader) error {
		if _, err := r.Get(ctx, "a:1"); err != nil { // a snapshot may begin with the first read
			return err
		}
		done := make(chan error, 1)
		go func() { done <- fill(s, "a:1", "two", "a:2", "two", "b:1", "two") }()
		if err := <-done; err != nil {
			return err
		}
		return has(r, storage.Range{}, "a:1", "one", "b:1", "one")
	})
}

func acknowledged(s storage.Store) error {
	return parallel(4, func(i int) error {
		key := fmt.Sprintf("a%d:n", i%2) + fmt.Sprint(i)
		for n := range 50 {
			want := fmt.Sprint(n)
			if err := fill(s, key, want); err != nil {
				return err
			}
			err := s.View(ctx, func(r storage.Reader) error {
				values, err := r.Get(ctx, key)
				if err == nil && string(values[0]) != want {
					err = fmt.Errorf("after %s was acknowledged, a View reads %q", want, values[0])
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
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

// counts lets updates count in two spaces, through several openings of a store.
func counts(stores ...storage.Store) error {
	const hands, times = 6, 25
	err := parallel(hands, func(i int) error {
		space := fmt.Sprintf("count%d", i%2)
		for range times {
			err := update(stores[i/2%len(stores)], space, func(t storage.Tx) error {
				values, err := t.Get(ctx, space+":n")
				if err != nil {
					return err
				}
				runtime.Gosched()
				n := len(values[0])
				return t.Put(ctx, storage.Entry{Key: space + ":n", Value: make([]byte, n+1)},
					storage.Entry{Key: fmt.Sprintf("%s:log/%03d", space, n), Value: []byte("x")})
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return stores[0].View(ctx, func(r storage.Reader) error {
		for _, space := range []string{"count0", "count1"} {
			values, err := r.Get(ctx, space+":n")
			if err != nil {
				return err
			}
			logged := 0
			for _, err := range r.Scan(ctx, storage.Prefix(space+":log/")) {
				if err != nil {
					return err
				}
				logged++
			}
			if want := hands / 2 * times; len(values[0]) != want || logged != want {
				return fmt.Errorf("%d updates have counted to %d and logged %d", want, len(values[0]), logged)
			}
		}
		return nil
	})
}

func failBesideOthers(s storage.Store) error {
	failure := errors.New("a failure")
	err := parallel(6, func(i int) error {
		for n := range 25 {
			fails := (i+n)%3 == 0
			err := update(s, "a", func(t storage.Tx) error {
				key := fmt.Sprintf("a:%d/%02d/%t", i, n, fails)
				if err := t.Put(ctx, storage.Entry{Key: key}, storage.Entry{Key: "a:last", Value: []byte(key)}); err != nil {
					return err
				}
				values, err := t.Get(ctx, "a:last")
				if err != nil || string(values[0]) != key {
					return fmt.Errorf("an update that has written %s reads %q; %v", key, values[0], err)
				}
				if fails {
					return failure
				}
				return nil
			})
			if errors.Is(err, failure) != fails || err != nil && !fails {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.View(ctx, func(r storage.Reader) error {
		n := 0
		for e, err := range r.Scan(ctx, storage.Prefix("a:")) {
			if err != nil {
				return err
			}
			if strings.HasSuffix(e.Key, "true") || strings.HasSuffix(string(e.Value), "true") {
				return fmt.Errorf("an update that has failed has left %q in %q", e.Value, e.Key)
			}
			n++
		}
		if n != 100+1 {
			return fmt.Errorf("100 updates that have not failed, and the last of them, have left %d entries", n)
		}
		return nil
	})
}

func otherSpaces(s storage.Store) error {
	if err := fill(s, "a:1", "one", "a:2", "two"); err != nil {
		return err
	}
	return update(s, "b", func(t storage.Tx) error {
		values, err := t.Get(ctx, "a:1")
		if err != nil || string(values[0]) != "one" {
			return fmt.Errorf("an update reads %q in another space; %v", values, err)
		}
		return errors.Join(t.Put(ctx, storage.Entry{Key: "b:1", Value: []byte("b")}),
			has(t, storage.Range{}, "a:1", "one", "a:2", "two", "b:1", "b"),
			has(t, storage.Range{Reverse: true, Limit: 2}, "b:1", "b", "a:2", "two"))
	})
}

func deletedRanges(s storage.Store) error {
	if err := fill(s, "a:1", "", "a:2", "", "a:3", "", "a:4", "", "a\x00:1", "", "b:1", ""); err != nil {
		return err
	}
	err := update(s, "a", func(t storage.Tx) error {
		return errors.Join(t.DeleteRange(ctx, storage.Range{From: "a:2", To: "a:3"}), t.DeleteRange(ctx, storage.Range{From: "a:5", To: "a:3"}),
			has(t, storage.Prefix("a:"), "a:1", "", "a:3", "", "a:4", ""))
	})
	if err := errors.Join(err, holds(s, "a\x00:1", "", "a:1", "", "a:3", "", "a:4", "", "b:1", "")); err != nil {
		return err
	}
	err = update(s, "a", func(t storage.Tx) error { return t.DeleteRange(ctx, storage.Prefix("a:")) })
	return errors.Join(err, holds(s, "a\x00:1", "", "b:1", ""))
}

func options(s storage.Store) error {
	pairs := []string{"a:0", "before"}
	if err := fill(s, pairs...); err != nil {
		return err
	}
	for i, o := range []storage.UpdateOptions{{Large: true}, {Erase: true}, {Exclusive: true}, {Large: true, Erase: true, Exclusive: true}} {
		key := fmt.Sprintf("a:%d", i+1)
		err := s.Update(ctx, "a", o, func(t storage.Tx) error {
			return errors.Join(t.Delete(ctx, pairs[0]), t.Put(ctx, storage.Entry{Key: key, Value: []byte("x")}))
		})
		pairs = []string{key, "x"}
		if err := errors.Join(err, holds(s, pairs...)); err != nil {
			return fmt.Errorf("%+v: %w", o, err)
		}
	}
	return nil
}

func exclusive(s storage.Store) error {
	var running atomic.Int32
	return parallel(6, func(i int) error {
		alone := i == 0
		for range 20 {
			err := s.Update(ctx, fmt.Sprintf("a%d", i%3), storage.UpdateOptions{Exclusive: alone}, func(t storage.Tx) error {
				n := running.Add(1)
				defer running.Add(-1)
				runtime.Gosched()
				if alone && (n > 1 || running.Load() > 1) {
					return errors.New("beside an exclusive update there is another one")
				}
				return t.Put(ctx, storage.Entry{Key: fmt.Sprintf("a%d:%d", i%3, i)})
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// patience is how long the suite waits for what happens at once on an idle machine.
var patience = 30 * time.Second

// tells has a follower read a log that another goroutine writes, through another opening perhaps. It looks only when it is told to.
func tells(follower, writer storage.Store) error {
	const n = 40
	written := make(chan error, 1)
	go func() {
		for i := range n {
			if err := fill(writer, fmt.Sprintf("tells:log/%02d", i), ""); err != nil {
				written <- err
				return
			}
			if i%8 == 0 {
				time.Sleep(time.Millisecond) // so that the follower waits now and then
			}
		}
		written <- nil
	}()
	for seen := 0; seen < n; {
		changed := follower.Changed("tells")
		err := follower.View(ctx, func(r storage.Reader) error {
			count := 0
			for _, err := range r.Scan(ctx, storage.Prefix("tells:log/")) {
				if err != nil {
					return err
				}
				count++
			}
			if count < seen {
				return fmt.Errorf("a follower sees %d entries after it has seen %d", count, seen)
			}
			seen = count
			return nil
		})
		if err != nil {
			return err
		}
		if seen < n {
			select {
			case <-changed:
			case <-time.After(patience):
				return fmt.Errorf("nobody has told a follower of %d entries of %d", n-seen, n)
			}
		}
	}
	return <-written
}

func changedBelow(s storage.Store) error {
	told := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		case <-time.After(patience):
			return false
		}
	}
	all, below, same := s.Changed(""), s.Changed("assets/n/"), s.Changed("assets/n/l")
	if err := fill(s, "assets/n/l:1", ""); err != nil {
		return err
	}
	for prefix, c := range map[string]<-chan struct{}{"": all, "assets/n/": below, "assets/n/l": same} {
		if !told(c) {
			return fmt.Errorf("an update of assets/n/l does not close the channel of %q", prefix)
		}
	}
	return nil
}

func spacesWithEntries(s storage.Store) error {
	if err := fill(s, "a:1", "", "a/b:1", "", "a/c:1", "", "b:1", "", "gone:1", ""); err != nil {
		return err
	}
	err := update(s, "gone", func(t storage.Tx) error { return t.Delete(ctx, "gone:1") })
	if err == nil {
		err = update(s, "never", func(t storage.Tx) error { return nil })
	}
	if err != nil {
		return err
	}
	return within(s, func(r storage.Reader) error {
		for prefix, want := range map[string]string{"": "[a/b a/c a b]", "a": "[a/b a/c a]", "a/": "[a/b a/c]", "c": "[]"} {
			var got []string
			for space, err := range r.Spaces(ctx, prefix) {
				if err != nil {
					return err
				}
				got = append(got, space)
			}
			if fmt.Sprint(got) != want {
				return fmt.Errorf("the spaces below %q are %s, want %s", prefix, got, want)
			}
		}
		for space := range r.Spaces(ctx, "") {
			if space != "a/b" {
				return fmt.Errorf("the first space is %q", space)
			}
			break
		}
		return nil
	})
}

func estimates(s storage.Store) error {
	err := update(s, "a", func(t storage.Tx) error {
		for i := range 3000 {
			if err := t.Put(ctx, storage.Entry{Key: fmt.Sprintf("a:many/%04d", i), Value: []byte("v")}); err != nil {
				return err
			}
		}
		return t.Put(ctx, storage.Entry{Key: "a:one"})
	})
	if err != nil {
		return err
	}
	return within(s, func(r storage.Reader) error {
		of := func(in storage.Range) int {
			n, err2 := r.Estimate(ctx, in)
			err = errors.Join(err, err2)
			return n
		}
		none, one, many, limited := of(storage.Prefix("a:none/")), of(storage.Prefix("a:one")), of(storage.Prefix("a:many/")), of(storage.Range{Limit: 5})
		if err != nil || none != 0 || one < 1 || many < 10*one || limited < 1 || limited > 5 {
			return fmt.Errorf("no entry, one, 3000, and 5 of them at most are estimated as %d, %d, %d and %d; %v", none, one, many, limited, err)
		}
		return nil
	})
}

func largest(s storage.Store) error {
	value := bytes.Repeat([]byte("0123456789abcdef"), storage.MaxValue/16)
	key := "a:" + strings.Repeat("k", storage.MaxKey-2)
	put := func(e storage.Entry) error {
		return s.Update(ctx, "a", storage.UpdateOptions{Large: true}, func(t storage.Tx) error { return t.Put(ctx, e) })
	}
	if err := put(storage.Entry{Key: key, Value: value}); err != nil {
		return err
	}
	if put(storage.Entry{Key: key, Value: append(value, 'x')}) == nil || put(storage.Entry{Key: key + "k"}) == nil || put(storage.Entry{Key: "a"}) == nil {
		return errors.New("a value or a key that is too large, or a key without a space, is taken")
	}
	return s.View(ctx, func(r storage.Reader) error {
		values, err := r.Get(ctx, key)
		if err != nil || !bytes.Equal(values[0], value) {
			return fmt.Errorf("a value of %d bytes comes back with %d; %v", len(value), len(values[0]), err)
		}
		if _, err := r.Get(ctx, key+"k"); err == nil {
			return errors.New("Get takes a key that is too long")
		}
		for e, err := range r.Scan(ctx, storage.Range{}) {
			if err != nil || e.Key != key || len(e.Value) != len(value) {
				return fmt.Errorf("Scan yields a key of %d bytes; %v", len(e.Key), err)
			}
		}
		return nil
	})
}

func ownSpace(s storage.Store) error {
	if err := fill(s, "ab:1", "", "b:1", ""); err != nil {
		return err
	}
	for name, write := range map[string]func(storage.Tx) error{
		"Put":                       func(t storage.Tx) error { return t.Put(ctx, storage.Entry{Key: "b:1", Value: []byte("x")}) },
		"Put of a longer space":     func(t storage.Tx) error { return t.Put(ctx, storage.Entry{Key: "a:1"}, storage.Entry{Key: "ab:1"}) },
		"Delete":                    func(t storage.Tx) error { return t.Delete(ctx, "b:1") },
		"DeleteRange of everything": func(t storage.Tx) error { return t.DeleteRange(ctx, storage.Range{}) },
		"DeleteRange beyond":        func(t storage.Tx) error { return t.DeleteRange(ctx, storage.Range{From: "a:", To: "b"}) },
	} {
		if update(s, "a", write) == nil {
			return fmt.Errorf("%s of another space is taken", name)
		}
	}
	for _, space := range []string{"", "a:b", strings.Repeat("s", storage.MaxKey)} {
		if update(s, space, func(storage.Tx) error { return nil }) == nil {
			return fmt.Errorf("%.20q is taken for a space", space)
		}
	}
	return holds(s, "ab:1", "", "b:1", "")
}

func afterTheEnd(s storage.Store) error {
	if err := fill(s, "a:1", ""); err != nil {
		return err
	}
	var late storage.Tx
	var reader storage.Reader
	err := errors.Join(update(s, "a", func(t storage.Tx) error { late = t; return nil }), s.View(ctx, func(r storage.Reader) error { reader = r; return nil }))
	if err != nil {
		return err
	}
	for _, r := range []storage.Reader{late, reader} {
		_, get := r.Get(ctx, "a:1")
		_, estimate := r.Estimate(ctx, storage.Range{})
		var scan, spaces error
		for _, err := range r.Scan(ctx, storage.Range{}) {
			scan = err
		}
		for _, err := range r.Spaces(ctx, "") {
			spaces = err
		}
		if get == nil || estimate == nil || scan == nil || spaces == nil {
			return fmt.Errorf("a Reader is used after its function: %v, %v, %v, %v", get, estimate, scan, spaces)
		}
	}
	if late.Put(ctx, storage.Entry{Key: "a:2"}) == nil || late.Delete(ctx, "a:1") == nil || late.DeleteRange(ctx, storage.Prefix("a:")) == nil {
		return errors.New("a Tx writes after its function")
	}
	return holds(s, "a:1", "")
}

func endedContext(s storage.Store) error {
	if err := fill(s, "a:1", ""); err != nil {
		return err
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	called := func() error { return errors.New("a function is called though the context has ended") }
	view := s.View(over, func(storage.Reader) error { return called() })
	write := s.Update(over, "a", storage.UpdateOptions{}, func(storage.Tx) error { return called() })
	if !errors.Is(view, context.Canceled) || !errors.Is(write, context.Canceled) {
		return fmt.Errorf("calls with a context that has ended return %v and %v", view, write)
	}
	// One that waits for another update of its space goes on when its context ends.
	waiting, giveUp := context.WithCancel(ctx)
	defer giveUp()
	err := update(s, "a", func(storage.Tx) error {
		given := make(chan error, 1)
		go func() {
			given <- s.Update(waiting, "a", storage.UpdateOptions{Large: true}, func(storage.Tx) error { return called() })
		}()
		time.Sleep(10 * time.Millisecond)
		giveUp()
		select {
		case err := <-given:
			if !errors.Is(err, context.Canceled) {
				return fmt.Errorf("an update that waited returns %v", err)
			}
			return nil
		case <-time.After(patience):
			return errors.New("an update waits though its context has ended")
		}
	})
	if err != nil {
		return err
	}
	err = s.View(ctx, func(r storage.Reader) error {
		_, get := r.Get(over, "a:1")
		var scan error
		for _, err := range r.Scan(over, storage.Range{}) {
			scan = err
		}
		if get == nil || scan == nil {
			return errors.New("reads go on though their context has ended")
		}
		return nil
	})
	return errors.Join(err, holds(s, "a:1", ""))
}

func bytesStay(s storage.Store) error {
	mine := []byte("mine")
	err := update(s, "a", func(t storage.Tx) error {
		return t.Put(ctx, storage.Entry{Key: "a:1", Value: mine}, storage.Entry{Key: "a:2", Value: mine[:2]})
	})
	if err != nil {
		return err
	}
	var kept [][]byte
	err = s.View(ctx, func(r storage.Reader) (err error) {
		kept, err = r.Get(ctx, "a:1", "a:2")
		for e, scan := range r.Scan(ctx, storage.Range{}) {
			kept, err = append(kept, e.Value), errors.Join(err, scan)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := fill(s, "a:1", "MINE", "a:2", "XX", "a:3", "more"); err != nil {
		return err
	}
	if err := holds(s, "a:1", "MINE", "a:2", "XX", "a:3", "more"); err != nil {
		return err
	}
	if got := string(bytes.Join(append(kept, mine), []byte(" "))); got != "mine mi mine mi mine" {
		return fmt.Errorf("values that were handed in and out are %q now", got)
	}
	return nil
}

func closing(s storage.Store) error {
	changed := s.Changed("")
	began, closed := make(chan struct{}), make(chan error, 1)
	go func() {
		<-began
		closed <- s.Close()
	}()
	err := update(s, "a", func(t storage.Tx) error {
		close(began)
		select {
		case err := <-closed:
			closed <- err
			return errors.New("Close does not wait for an update")
		case <-time.After(20 * time.Millisecond):
		}
		return t.Put(ctx, storage.Entry{Key: "a:1"})
	})
	if err := errors.Join(err, <-closed); err != nil {
		return err
	}
	select {
	case <-changed:
	default:
		return errors.New("Close leaves a channel of Changed open")
	}
	select {
	case <-s.Changed("later"):
	default:
		return errors.New("a channel of Changed is open after Close")
	}
	called := func() error { return errors.New("a function is called after Close") }
	view, write := s.View(ctx, func(storage.Reader) error { return called() }), update(s, "a", func(storage.Tx) error { return called() })
	if !errors.Is(view, storage.ErrClosed) || !errors.Is(write, storage.ErrClosed) {
		return fmt.Errorf("after Close, calls return %v and %v", view, write)
	}
	return s.Close()
}

// like compares a store with a map, under random updates, of which some fail.
func like(s storage.Store, rng *rand.Rand) error {
	spaces := []string{"a", "a/b", "b"}
	model := map[string]string{}
	key := func(space string) string {
		return space + ":" + strings.Repeat("\x00", rng.IntN(2)) + fmt.Sprint(rng.IntN(40)) + strings.Repeat("\xff", rng.IntN(3))
	}
	stop := errors.New("stop")
	for range 300 {
		space := spaces[rng.IntN(len(spaces))]
		var next map[string]string
		seed := rng.Uint64()
		err := update(s, space, func(t storage.Tx) error {
			rng = rand.New(rand.NewPCG(seed, 0)) // the function may be called again
			next = map[string]string{}
			for k, v := range model {
				next[k] = v
			}
			for range rng.IntN(12) {
				from, to := key(space), key(space)
				var err error
				switch rng.IntN(6) {
				case 0:
					delete(next, from)
					delete(next, to)
					err = t.Delete(ctx, from, to)
				case 1:
					for k := range next {
						if k >= from && k < to {
							delete(next, k)
						}
					}
					err = t.DeleteRange(ctx, storage.Range{From: from, To: to})
				default:
					value := strings.Repeat("v", []int{0, 1, 300, 3000}[rng.IntN(4)])
					next[from], next[to] = value, value
					err = t.Put(ctx, storage.Entry{Key: from, Value: []byte(value)}, storage.Entry{Key: to, Value: []byte(value)})
				}
				if err != nil {
					return err
				}
			}
			if err := reads(t, next, key, spaces, rng); err != nil {
				return fmt.Errorf("in an update: %w", err)
			}
			if rng.IntN(4) == 0 {
				return stop
			}
			return nil
		})
		if err == nil {
			model = next
		} else if !errors.Is(err, stop) {
			return err
		}
		if err := s.View(ctx, func(r storage.Reader) error { return reads(r, model, key, spaces, rng) }); err != nil {
			return err
		}
	}
	return nil
}

// reads compares random reads with those of a map.
func reads(r storage.Reader, model map[string]string, key func(string) string, spaces []string, rng *rand.Rand) error {
	from, to := key(spaces[rng.IntN(3)]), key(spaces[rng.IntN(3)])
	values, err := r.Get(ctx, from, to)
	if err != nil {
		return err
	}
	for i, k := range []string{from, to} {
		if want, found := model[k]; found != (values[i] != nil) || string(values[i]) != want {
			return fmt.Errorf("Get(%q) = %.20q, want %.20q, which is there: %t", k, values[i], want, found)
		}
	}
	in := storage.Range{From: from, To: to, Reverse: rng.IntN(2) == 0, Limit: rng.IntN(40), Expect: rng.IntN(40)}
	if rng.IntN(4) == 0 {
		in.From, in.To = "", ""
	}
	var keys []string
	for k := range model {
		if k >= in.From && (in.To == "" || k < in.To) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	if in.Reverse {
		slices.Reverse(keys)
	}
	if in.Limit > 0 {
		keys = keys[:min(in.Limit, len(keys))]
	}
	var pairs []string
	for _, k := range keys {
		pairs = append(pairs, k, model[k])
	}
	return has(r, in, pairs...)
}
