package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/webhook/webhookstore"
)

// Webhooks tests that a driver follows the rules of webhookstore.Store. open returns an empty store.
func Webhooks(t *testing.T, open func(t *testing.T) webhookstore.Store) {
	checkRules(t, open, webhookRules)
}

type webhookRule = rule[webhookstore.Store]

var webhookRules = []webhookRule{
	// An empty prev stands for no value. Swap with any other prev changes nothing and returns false.
	{"a name has no value until Swap replaces no value by one", func(t *testing.T, s webhookstore.Store) {
		checkValue(t, s, "a", "")
		checkSwap(t, s, "a", "something", "1", false)
		checkValue(t, s, "a", "")
		checkSwap(t, s, "a", "", "1", true)
		checkValue(t, s, "a", "1")
	}},
	// This is compare-and-swap: a process whose knowledge is outdated must not overwrite the position of another. All
	// bytes are compared, and no padding is ignored.
	{"Swap replaces a value only if it equals prev", func(t *testing.T, s webhookstore.Store) {
		checkSwap(t, s, "a", "", "1", true)
		for _, other := range []string{"", "2", "1 ", "1\x00", "11", "\x001"} {
			checkSwap(t, s, "a", other, "3", false)
			checkValue(t, s, "a", "1")
		}
		checkSwap(t, s, "a", "1", "2", true)
		checkSwap(t, s, "a", "1", "3", false)
		checkValue(t, s, "a", "2")
	}},
	// Swap returns true then: what counts is that the value was prev.
	{"a value can be replaced by itself", func(t *testing.T, s webhookstore.Store) {
		checkSwap(t, s, "a", "", "1", true)
		checkSwap(t, s, "a", "1", "1", true)
		checkValue(t, s, "a", "1")
	}},
	// After that the name is as if it was never used.
	{"an empty next removes the value, and no value can be replaced by no value", func(t *testing.T, s webhookstore.Store) {
		checkSwap(t, s, "a", "", "", true)
		checkSwap(t, s, "a", "", "1", true)
		checkSwap(t, s, "a", "", "", false)
		checkSwap(t, s, "a", "2", "", false)
		checkValue(t, s, "a", "1")
		checkSwap(t, s, "a", "1", "", true)
		checkValue(t, s, "a", "")
		checkSwap(t, s, "a", "1", "2", false)
		checkSwap(t, s, "a", "", "3", true)
		checkValue(t, s, "a", "3")
	}},
	// Names may be empty, contain NUL or be invalid UTF-8.
	{"names that differ in any byte are different names", func(t *testing.T, s webhookstore.Store) {
		names := append([]string{"", "\x00", "a\x00", "\xff\xfe"}, oddNames...)
		for i, name := range names {
			checkSwap(t, s, name, "", fmt.Sprint(i), true)
		}
		for i, name := range names {
			checkValue(t, s, name, fmt.Sprint(i))
		}
		checkSwap(t, s, names[0], "0", "", true)
		for i, name := range names[1:] {
			checkValue(t, s, name, fmt.Sprint(i+1))
		}
	}},
	// A driver that stores values as text would change or refuse some of them.
	{"a value has any bytes, up to a few megabytes", func(t *testing.T, s webhookstore.Store) {
		every := make([]byte, 256)
		for i := range every {
			every[i] = byte(i)
		}
		for _, value := range []string{string(every), "\x00", "\xff\xfe", string(bytes.Repeat(every, 2<<20/256))} {
			checkSwap(t, s, "a", "", value, true)
			checkValue(t, s, "a", value)
			checkSwap(t, s, "a", value, "", true)
		}
	}},
	// The caller may change the slice that it has given to Swap, and the one that Get has returned.
	{"a store shares no bytes with its callers", func(t *testing.T, s webhookstore.Store) {
		next := []byte("value")
		if _, err := s.Swap(ctx, "a", nil, next); err != nil {
			t.Fatal(err)
		}
		next[0] = 'X'
		got, err := s.Get(ctx, "a")
		if err != nil || string(got) != "value" {
			t.Fatalf("%q, %v", got, err)
		}
		got[0] = 'X'
		checkValue(t, s, "a", "value")
	}},
	// Two processes that want the lease read the same value. Only one may become the process that delivers.
	{"of parallel Swaps of one value one succeeds", func(t *testing.T, s webhookstore.Store) {
		checkSwap(t, s, "a", "", "0", true)
		for round := range 10 {
			var wins atomic.Int64
			var group sync.WaitGroup
			for i := range 8 {
				group.Go(func() {
					swapped, err := s.Swap(ctx, "a", []byte(strconv.Itoa(round)), []byte(strconv.Itoa(round+1)))
					if err != nil {
						t.Errorf("Swap %d: %v", i, err)
					}
					if swapped {
						wins.Add(1)
					}
				})
			}
			group.Wait()
			if wins.Load() != 1 {
				t.Errorf("round %d: %d won", round, wins.Load())
			}
			checkValue(t, s, "a", strconv.Itoa(round+1))
		}
	}},
	// The row does not exist yet, so a transaction cannot lock it.
	{"of parallel Swaps into a name without a value one succeeds", func(t *testing.T, s webhookstore.Store) {
		for round := range 5 {
			name := fmt.Sprint("n", round)
			var wins atomic.Int64
			var group sync.WaitGroup
			for i := range 8 {
				group.Go(func() {
					swapped, err := s.Swap(ctx, name, nil, []byte(strconv.Itoa(i)))
					if err != nil {
						t.Errorf("Swap: %v", err)
					}
					if swapped {
						wins.Add(1)
					}
				})
			}
			group.Wait()
			if wins.Load() != 1 {
				t.Errorf("round %d: %d won", round, wins.Load())
			}
		}
	}},
	// Each goroutine reads the number and swaps in the next one until it succeeds.
	{"parallel counting with Get and Swap loses no count", func(t *testing.T, s webhookstore.Store) {
		const workers, each = 4, 20
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				for done := 0; done < each; {
					now, err := s.Get(ctx, "count")
					if err != nil {
						t.Error(err)
						return
					}
					n, _ := strconv.Atoi(string(now))
					swapped, err := s.Swap(ctx, "count", now, []byte(strconv.Itoa(n+1)))
					if err != nil {
						t.Error(err)
						return
					}
					if swapped {
						done++
					}
				}
			})
		}
		group.Wait()
		checkValue(t, s, "count", strconv.Itoa(workers*each))
	}},
	// A client that has gone away costs the store no transaction.
	{"with a context that is done Get and Swap return the context's error, and Swap changes nothing", func(t *testing.T, s webhookstore.Store) {
		over, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := s.Get(over, "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("Get: %v", err)
		}
		if swapped, err := s.Swap(over, "a", nil, []byte("1")); swapped || !errors.Is(err, context.Canceled) {
			t.Errorf("Swap: %t, %v", swapped, err)
		}
		checkValue(t, s, "a", "")
	}},
}

// checkValue fails unless the name has the value want; "" means that it has none, for which Get returns nil.
func checkValue(t *testing.T, s webhookstore.Store, name, want string) {
	t.Helper()
	got, err := s.Get(ctx, name)
	if err != nil || string(got) != want || (want == "" && got != nil) {
		t.Errorf("value of %q: %.80q (nil: %t), %v; want %.80q", name, got, got == nil, err, want)
	}
}

// checkSwap fails unless Swap returns no error and reports want.
func checkSwap(t *testing.T, s webhookstore.Store, name, prev, next string, want bool) {
	t.Helper()
	if got, err := s.Swap(ctx, name, []byte(prev), []byte(next)); err != nil || got != want {
		t.Errorf("Swap of %q from %.80q to %.80q: %t, %v; want %t", name, prev, next, got, err, want)
	}
}
