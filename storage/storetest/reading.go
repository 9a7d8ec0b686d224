package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

func order(s storage.Store) error {
	keys := []string{"a ", "a \x00", "a \x00\x00", "a \x00a", "a A", "a a", "a a\x00", "a a ", "a aa", "a b", "a é",
		"a \xff", "a \xff\xff", "a-b 1", "a/b 1", "aa 1", "b "}
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
		return t.Put(ctx, storage.Entry{Key: "a empty", Value: []byte{}}, storage.Entry{Key: "a nil"})
	})
	if err != nil {
		return err
	}
	return within(s, func(r storage.Reader) error {
		values, err := r.Get(ctx, "a empty", "a nil", "a absent", "none absent")
		if err != nil {
			return err
		}
		if values[0] == nil || values[1] == nil || len(values[0])+len(values[1]) > 0 || values[2] != nil ||
			values[3] != nil {
			return fmt.Errorf("two empty values and two absent ones are %#v", values)
		}
		return has(r, storage.Range{}, "a empty", "", "a nil", "")
	})
}

func gets(s storage.Store) error {
	if err := fill(s, "a 1", "one", "a 2", "two", "b 1", "b"); err != nil {
		return err
	}
	return within(s, func(r storage.Reader) error {
		values, err := r.Get(ctx, "b 1", "a 2", "a 0", "a 1", "a 2")
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
	if err := fill(s, "a 1", "", "a 2", "", "a 3", "", "b 1", ""); err != nil {
		return err
	}
	return within(s, func(r storage.Reader) error {
		return errors.Join(
			has(r, storage.Range{From: "a 2", To: "a 3"}, "a 2", ""),
			has(r, storage.Range{From: "a 2", To: "a 3", Reverse: true}, "a 2", ""),
			has(r, storage.Range{From: "a 2"}, "a 2", "", "a 3", "", "b 1", ""),
			has(r, storage.Range{From: "a 2", Reverse: true}, "b 1", "", "a 3", "", "a 2", ""),
			has(r, storage.Range{To: "a 2"}, "a 1", ""),
			has(r, storage.Range{From: "a 3", To: "a 1"}),
			has(r, storage.Range{From: "a 3", To: "a 1", Reverse: true}),
			has(r, storage.Range{From: "a 2", To: "a 2"}),
			has(r, storage.Range{From: "a 15", To: "b 0", Limit: 1, Expect: 9}, "a 2", ""),
			has(r, storage.Range{From: "a 15", To: "b 0", Limit: 1, Reverse: true}, "a 3", ""),
			has(r, storage.Range{From: "a 3", Limit: 2}, "a 3", "", "b 1", ""),
			has(r, storage.Prefix("a "), "a 1", "", "a 2", "", "a 3", ""),
			has(r, storage.Range{From: "c "}),
		)
	})
}

func merged(s storage.Store) error {
	if err := fill(s, "a x/1", "", "a x/4", "", "a yy/1", "", "a yy/3", "", "b z/2", "", "b z/5", ""); err != nil {
		return err
	}
	x, y, z := storage.Prefix("a x/"), storage.Prefix("a yy/"), storage.Prefix("b z/")
	x.Skip, y.Skip, z.Skip = 4, 5, 4
	return within(s, func(r storage.Reader) error {
		err := yields(r, []storage.Range{x, y, z}, "a x/1", "", "a yy/1", "", "b z/2", "", "a yy/3", "", "a x/4", "",
			"b z/5", "")
		one := []storage.Range{x, y, z}
		for i := range one {
			one[i].Reverse, one[i].Limit = true, 1
		}
		apart := []storage.Range{storage.Prefix("b z/"), storage.Prefix("a x/"), storage.Prefix("a yy/")}
		back := slices.Clone(apart)
		for i := range back {
			back[i].Reverse = true
		}
		back[0].Limit = 1
		return errors.Join(err,
			yields(r, one, "b z/5", "", "a x/4", "", "a yy/3", ""),
			yields(r, apart, "a x/1", "", "a x/4", "", "a yy/1", "", "a yy/3", "", "b z/2", "", "b z/5", ""),
			yields(r, back, "b z/5", "", "a yy/3", "", "a yy/1", "", "a x/4", "", "a x/1", ""),
			yields(r, []storage.Range{y, x}, "a yy/1", "", "a x/1", "", "a yy/3", "", "a x/4", ""),
			yields(r, nil))
	})
}

func nested(s storage.Store) error {
	if err := fill(s, "a 1", "", "a 2", "", "a 3", ""); err != nil {
		return err
	}
	return within(s, func(r storage.Reader) error {
		var got []string
		for outer, err := range r.Scan(ctx, storage.Prefix("a ")) {
			if err != nil {
				return err
			}
			for inner, err := range r.Scan(ctx, storage.Range{From: outer.Key, Reverse: true}) {
				if err != nil {
					return err
				}
				values, err := r.Get(ctx, inner.Key, outer.Key)
				if err != nil || values[0] == nil || values[1] == nil {
					return fmt.Errorf("within loops, Get returns %q; %v", values, err)
				}
				got = append(got, outer.Key+inner.Key)
				if len(got)%2 == 0 {
					break
				}
			}
		}
		if want := "[a 1a 3 a 1a 2 a 2a 3 a 2a 2 a 3a 3]"; fmt.Sprint(got) != want {
			return fmt.Errorf("two loops go through %s, want %s", got, want)
		}
		return has(r, storage.Range{}, "a 1", "", "a 2", "", "a 3", "")
	})
}

func moment(s storage.Store) error {
	if err := fill(s, "a 1", "run 0", "b 1", "run 0"); err != nil {
		return err
	}
	err := s.View(ctx, func(r storage.Reader) error { // a driver may keep what was read
		_, err := r.Get(ctx, "a 1", "b 1")
		return err
	})
	if err != nil {
		return err
	}
	run := 0 // the function may be called again, and then sees what it has written itself
	return s.View(ctx, func(r storage.Reader) error {
		run++
		values, err := r.Get(ctx, "a 1") // a snapshot may begin with the first read
		if err != nil {
			return err
		}
		seen, value := string(values[0]), fmt.Sprint("run ", run)
		want := []string{"a 1", seen}
		if seen != "run 0" {
			want = append(want, "a 2", seen)
		}
		err = parallel(1, func(int) error { return fill(s, "a 2", value, "b 1", value, "a 1", value) })
		if err != nil {
			return err
		}
		return has(r, storage.Range{}, append(want, "b 1", seen)...)
	})
}

func acknowledged(s storage.Store) error {
	return parallel(4, func(i int) error {
		key := fmt.Sprintf("a%d n", i%2) + fmt.Sprint(i)
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

// repeated reads the same keys again and again, through several openings of a store, while they are changed together.
func repeated(stores ...storage.Store) error {
	var acknowledged atomic.Int64
	var done atomic.Bool
	count := func(r storage.Reader, key string) (n int64, err error) {
		values, err := r.Get(ctx, key)
		if err == nil && values[0] != nil {
			n, err = strconv.ParseInt(string(values[0]), 10, 64)
		}
		return n, err
	}
	return parallel(len(stores)+1, func(i int) error {
		if i == len(stores) {
			defer done.Store(true)
			for n := range int64(200) {
				value := strconv.FormatInt(n+1, 10)
				err := update(stores[0], "a", func(t storage.Tx) error {
					return put(t, "a 1", value, "a 2", value, "a 3", value)
				})
				if err != nil {
					return err
				}
				acknowledged.Store(n + 1)
				time.Sleep(time.Millisecond / 4)
			}
			return nil
		}
		for last := int64(0); !done.Load(); {
			least := max(last, acknowledged.Load())
			err := stores[i].View(ctx, func(r storage.Reader) (err error) {
				var all [2]int64
				for i, key := range []string{"a 1", "a 2"} {
					all[i], err = count(r, key)
					if err != nil {
						return err
					}
				}
				last = all[0]
				if all[0] != all[1] || last < least {
					return fmt.Errorf("after %d was acknowledged or read, a View reads %d", least, all)
				}
				want := strconv.FormatInt(last, 10)
				if last%2 == 1 {
					return has(r, storage.Prefix("a "), "a 1", want, "a 2", want, "a 3", want)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func otherSpaces(s storage.Store) error {
	if err := fill(s, "a 1", "one", "a 2", "two"); err != nil {
		return err
	}
	return update(s, "b", func(t storage.Tx) error {
		values, err := t.Get(ctx, "a 1")
		if err != nil || string(values[0]) != "one" {
			return fmt.Errorf("an update reads %q in another space; %v", values, err)
		}
		return errors.Join(put(t, "b 1", "b"),
			has(t, storage.Range{}, "a 1", "one", "a 2", "two", "b 1", "b"),
			has(t, storage.Range{Reverse: true, Limit: 2}, "b 1", "b", "a 2", "two"))
	})
}

func spacesWithEntries(s storage.Store) error {
	if err := fill(s, "a 1", "", "a/b 1", "", "a/c 1", "", "b 1", "", "gone 1", ""); err != nil {
		return err
	}
	err := update(s, "gone", func(t storage.Tx) error { return t.Delete(ctx, "gone 1") })
	if err == nil {
		err = update(s, "never", func(t storage.Tx) error { return nil })
	}
	if err != nil {
		return err
	}
	return within(s, func(r storage.Reader) error {
		for prefix, want := range map[string]string{"": "[a a/b a/c b]", "a": "[a a/b a/c]", "a/": "[a/b a/c]",
			"c": "[]"} {
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
			if space != "a" {
				return fmt.Errorf("the first space is %q", space)
			}
			break
		}
		return nil
	})
}

func estimates(s storage.Store) error {
	err := errors.Join(fillMany(s, "a many/", 3000), fill(s, "a one", ""))
	if err != nil {
		return err
	}
	return within(s, func(r storage.Reader) error {
		of := func(in storage.Range) int {
			n, err2 := r.Estimate(ctx, in)
			err = errors.Join(err, err2)
			return n
		}
		none, one, many, limited := of(storage.Prefix("a none/")), of(storage.Prefix("a one")),
			of(storage.Prefix("a many/")), of(storage.Range{Limit: 5})
		if err != nil || none != 0 || one < 1 || many < 10*one || limited < 1 || limited > 5 {
			return fmt.Errorf("no entry, one, 3000, and 5 of them at most are estimated as %d, %d, %d and %d; %v", none,
				one, many, limited, err)
		}
		return nil
	})
}

func bytesStay(s storage.Store) error {
	mine := []byte("mine")
	err := update(s, "a", func(t storage.Tx) error {
		return t.Put(ctx, storage.Entry{Key: "a 1", Value: mine}, storage.Entry{Key: "a 2", Value: mine[:2]})
	})
	if err != nil {
		return err
	}
	var kept [][]byte
	err = s.View(ctx, func(r storage.Reader) (err error) {
		kept, err = r.Get(ctx, "a 1", "a 2")
		for e, scan := range r.Scan(ctx, storage.Range{}) {
			kept, err = append(kept, e.Value), errors.Join(err, scan)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := fill(s, "a 1", "MINE", "a 2", "XX", "a 3", "more"); err != nil {
		return err
	}
	if err := contains(s, "a 1", "MINE", "a 2", "XX", "a 3", "more"); err != nil {
		return err
	}
	if got := string(bytes.Join(append(kept, mine), []byte(" "))); got != "mine mi mine mi mine" {
		return fmt.Errorf("values that were handed in and out are %q now", got)
	}
	return nil
}
