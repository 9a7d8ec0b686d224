package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

// writingLoop gives every entry another key while it loops over them, as code that rewrites records does. Then it
// deletes, inside a loop, the entries that the loop has not reached.
func writingLoop(s storage.Store) error {
	const n = 2000 // more than what a driver reads at once
	if err := fillMany(s, "a old/", n); err != nil {
		return err
	}
	err := update(s, "a", func(t storage.Tx) error {
		last, seen := "", 0
		for e, err := range t.Scan(ctx, storage.Prefix("a old/")) {
			if err != nil {
				return err
			}
			if e.Key <= last {
				return fmt.Errorf("%q comes after %q", e.Key, last)
			}
			last, seen = e.Key, seen+1
			if err := errors.Join(t.Delete(ctx, e.Key), put(t, "a new/"+e.Key[6:], string(e.Value))); err != nil {
				return err
			}
		}
		if seen != n {
			return fmt.Errorf("a loop that moves entries came to %d of %d", seen, n)
		}
		for range t.Scan(ctx, storage.Prefix("a new/")) {
			return t.DeleteRange(ctx, storage.Range{From: "a new/0002", To: "a new0"})
		}
		return errors.New("nothing was moved")
	})
	return errors.Join(err, contains(s, "a new/0000", "v", "a new/0001", "v"))
}

func ownWrites(s storage.Store) error {
	if err := fill(s, "a 1", "before", "a 2", "before"); err != nil {
		return err
	}
	return update(s, "a", func(t storage.Tx) error {
		if err := errors.Join(put(t, "a 1", "x", "a 3", "y", "a 1", "z"),
			t.Delete(ctx, "a 2", "a 4", "a 2")); err != nil {
			return err
		}
		values, err := t.Get(ctx, "a 1", "a 2", "a 3")
		if err != nil || string(values[0]) != "z" || values[1] != nil || string(values[2]) != "y" {
			return fmt.Errorf("after its writes, an update reads %q; %v", values, err)
		}
		n, err := t.Estimate(ctx, storage.Range{From: "a 3"})
		if err != nil || n == 0 {
			return fmt.Errorf("what was written is estimated as %d; %v", n, err)
		}
		last := strings.Repeat("y", 100_000) // a driver may keep large values elsewhere
		return errors.Join(has(t, storage.Range{}, "a 1", "z", "a 3", "y"),
			put(t, "a 5", strings.Repeat("x", 100_000)),
			put(t, "a 5", "small", "a 5", last),
			has(t, storage.Range{From: "a 5"}, "a 5", last))
	})
}

func failedUpdate(s storage.Store) error {
	if err := fill(s, "a 1", "one"); err != nil {
		return err
	}
	failure := errors.New("a failure")
	err := update(s, "a", func(t storage.Tx) error {
		return errors.Join(put(t, "a 1", "x", "a 2", ""), t.Delete(ctx, "a 1"), failure)
	})
	if !errors.Is(err, failure) {
		return fmt.Errorf("the error of a function is returned as %v", err)
	}
	if err := s.View(ctx, func(storage.Reader) error { return failure }); !errors.Is(err, failure) {
		return fmt.Errorf("the error of a View's function is returned as %v", err)
	}
	return contains(s, "a 1", "one")
}

func panics(s storage.Store) error {
	recovered := func(call func() error) (err error) {
		defer func() {
			if p := recover(); p != "thrown" {
				err = fmt.Errorf("a panic is recovered on as %v; %w", p, err)
			}
		}()
		return call()
	}
	return errors.Join(
		recovered(func() error {
			return update(s, "a", func(t storage.Tx) error {
				if err := put(t, "a 1", ""); err != nil {
					return err
				}
				panic("thrown")
			})
		}),
		recovered(func() error { return s.View(ctx, func(storage.Reader) error { panic("thrown") }) }),
		recovered(func() error {
			return s.View(ctx, func(r storage.Reader) error {
				for range r.Spaces(ctx, "") {
				}
				for range r.Scan(ctx, storage.Range{}) {
				}
				panic("thrown")
			})
		}),
		fill(s, "a 2", "two"),
		contains(s, "a 2", "two"))
}

// counts lets updates count in two spaces, through several openings of a store.
func counts(stores ...storage.Store) error {
	const hands, times = 6, 25
	err := parallel(hands, func(i int) error {
		space := fmt.Sprintf("count%d", i%2)
		for range times {
			err := update(stores[i/2%len(stores)], space, func(t storage.Tx) error {
				values, err := t.Get(ctx, space+" n")
				if err != nil {
					return err
				}
				runtime.Gosched()
				n := len(values[0])
				return put(t, space+" n", strings.Repeat("x", n+1), fmt.Sprintf("%s log/%03d", space, n), "x")
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
			values, err := r.Get(ctx, space+" n")
			if err != nil {
				return err
			}
			logged, err := scanned(r, storage.Prefix(space+" log/"))
			if want := hands / 2 * times; err != nil || len(values[0]) != want || len(logged) != 2*want {
				return fmt.Errorf("%d updates have counted to %d and logged %d; %v", want, len(values[0]),
					len(logged)/2, err)
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
				key := fmt.Sprintf("a %d/%02d/%t", i, n, fails)
				if err := put(t, key, "", "a last", key); err != nil {
					return err
				}
				values, err := t.Get(ctx, "a last")
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
		left, err := scanned(r, storage.Prefix("a "))
		for _, text := range left {
			if strings.HasSuffix(text, "true") {
				return fmt.Errorf("an update that has failed has left %q", text)
			}
		}
		if err != nil || len(left) != 2*(100+1) {
			return fmt.Errorf("100 updates that have not failed, and the last of them, have left %d entries; %v",
				len(left)/2, err)
		}
		return nil
	})
}

func deletedRanges(s storage.Store) error {
	if err := fill(s, "a 1", "", "a 2", "", "a 3", "", "a 4", "", "a\x00 1", "", "b 1", ""); err != nil {
		return err
	}
	err := update(s, "a", func(t storage.Tx) error {
		return errors.Join(t.DeleteRange(ctx, storage.Range{From: "a 2", To: "a 3"}),
			t.DeleteRange(ctx, storage.Range{From: "a 5", To: "a 3"}),
			has(t, storage.Prefix("a "), "a 1", "", "a 3", "", "a 4", ""))
	})
	if err := errors.Join(err, contains(s, "a\x00 1", "", "a 1", "", "a 3", "", "a 4", "", "b 1", "")); err != nil {
		return err
	}
	err = update(s, "a", func(t storage.Tx) error { return t.DeleteRange(ctx, storage.Prefix("a ")) })
	return errors.Join(err, contains(s, "a\x00 1", "", "b 1", ""))
}

func options(s storage.Store) error {
	pairs := []string{"a 0", "before"}
	if err := fill(s, pairs...); err != nil {
		return err
	}
	for i, o := range []storage.UpdateOptions{{Large: true}, {Erase: true}, {Exclusive: true},
		{Large: true, Erase: true, Exclusive: true}} {
		key := fmt.Sprintf("a %d", i+1)
		err := s.Update(ctx, "a", o, func(t storage.Tx) error {
			return errors.Join(t.Delete(ctx, pairs[0]), put(t, key, "x"))
		})
		pairs = []string{key, "x"}
		if err := errors.Join(err, contains(s, pairs...)); err != nil {
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
			err := s.Update(ctx, fmt.Sprintf("a%d", i%3), storage.UpdateOptions{Exclusive: alone},
				func(t storage.Tx) error {
					n := running.Add(1)
					defer running.Add(-1)
					time.Sleep(time.Millisecond) // so that others would run beside it
					if alone && (n > 1 || running.Load() > 1) {
						return errors.New("beside an exclusive update there is another one")
					}
					return put(t, fmt.Sprintf("a%d %d", i%3, i), "")
				})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func largest(s storage.Store) error {
	value := bytes.Repeat([]byte("0123456789abcdef"), storage.MaxValue/16)
	key := "a " + strings.Repeat("k", storage.MaxKey-2)
	put := func(e storage.Entry) error {
		return s.Update(ctx, "a", storage.UpdateOptions{Large: true}, func(t storage.Tx) error { return t.Put(ctx, e) })
	}
	if err := put(storage.Entry{Key: key, Value: value}); err != nil {
		return err
	}
	if put(storage.Entry{Key: key, Value: append(value, 'x')}) == nil || put(storage.Entry{Key: key + "k"}) == nil ||
		put(storage.Entry{Key: "a"}) == nil {
		return errors.New("a value or a key that is too large, or a key without a space, is taken")
	}
	return s.View(ctx, func(r storage.Reader) error {
		values, err := r.Get(ctx, key)
		if err != nil || !bytes.Equal(values[0], value) {
			return fmt.Errorf("a value of %d bytes comes back with %d; %v", len(value), len(values[0]), err)
		}
		if _, err := r.Get(ctx, key+"k"); err == nil {
			return errors.New("a call of Get takes a key that is too long")
		}
		for e, err := range r.Scan(ctx, storage.Range{}) {
			if err != nil || e.Key != key || len(e.Value) != len(value) {
				return fmt.Errorf("a call of Scan yields a key of %d bytes; %v", len(e.Key), err)
			}
		}
		return nil
	})
}

// checked makes calls for which package storage returns errors for all drivers.
func checked(s storage.Store) error {
	if err := fill(s, "b 1", ""); err != nil {
		return err
	}
	err := update(s, "a", func(t storage.Tx) error { return put(t, "b 1", "x") })
	if err == nil || update(s, "a b", func(storage.Tx) error { return nil }) == nil {
		return errors.New("a write of another space, or a space with a blank, is taken")
	}
	return contains(s, "b 1", "")
}
