package feed_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestFeed(t *testing.T) {
	ctx, db, f := context.Background(), memory.New(), feed.Feed{Space: "s"}
	defer db.Close()
	if err := storage.EnsureIdentity(ctx, db); err != nil {
		t.Fatal(err)
	}
	update := func(fn func(storage.Tx) error) {
		t.Helper()
		if err := db.Update(ctx, "s", storage.UpdateOptions{}, fn); err != nil {
			t.Fatal(err)
		}
	}
	read := func(after int64, limit int) (numbers []int64, entries []feed.Entry, s feed.State) {
		t.Helper()
		err := db.View(ctx, func(r storage.Reader) (err error) {
			numbers, entries = nil, nil
			for e, err := range f.Entries(ctx, r, feed.Position(after), limit) {
				if err != nil {
					return err
				}
				numbers, entries = append(numbers, int64(e.Position)), append(entries, e)
			}
			s, err = f.State(ctx, r)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return numbers, entries, s
	}
	want := []feed.Entry{{At: 5, Names: []string{"a", "b", "a"}, Data: []byte("one")},
		{At: 6, Names: []string{"b", "c"}, Data: []byte{}}, {At: 7, Names: nil, Data: []byte("three")}}
	update(func(tx storage.Tx) error { return f.Add(ctx, tx, want[:2]...) })
	update(func(tx storage.Tx) error { return f.Add(ctx, tx, want[2]) })
	for i := range want {
		want[i].Position = feed.Position(i + 1)
	}
	var numbers []int64
	_, entries, state := read(0, 0)
	if !reflect.DeepEqual(entries, want) || int64(state.Last) != 3 || len(state.Key) < 16 || len(state.Identity) < 16 {
		t.Errorf("the feed has %+v, %+v, want %+v", entries, state, want)
	}
	if numbers, _, _ = read(1, 1); fmt.Sprint(numbers) != "[2]" {
		t.Errorf("after 1, one entry at most: %d", numbers)
	}
	for _, step := range []struct {
		before int64
		limit  int
		want   string
	}{{4, 10, "[1 2 3]"}, {7, 1, "[2 3]"}, {6, 10, "[3]"}, {9, 10, "[]"}} {
		update(func(tx storage.Tx) error { return f.Remove(ctx, tx, step.before, step.limit) })
		if numbers, _, state = read(0, 0); fmt.Sprint(numbers) != step.want ||
			int64(state.Removed) != 3-int64(len(numbers)) || int64(state.Last) != 3 {
			t.Errorf("after removing up to %d, at most %d: %d, %+v, want %s", step.before, step.limit, numbers, state,
				step.want)
		}
	}
	update(func(tx storage.Tx) error { return f.Add(ctx, tx, want[0]) })
	if numbers, _, _ = read(0, 0); fmt.Sprint(numbers) != "[4]" {
		t.Errorf("the next entry has the number %d, want 4", numbers)
	}
	before := state
	if err := storage.RenewIdentity(ctx, db); err != nil {
		t.Fatal(err)
	}
	if _, _, state = read(0, 0); string(state.Key) != string(before.Key) ||
		string(state.Identity) == string(before.Identity) {
		t.Errorf("a renewed identity: %x %x, before %x %x", state.Key, state.Identity, before.Key, before.Identity)
	}
}

// Who knows the secret of a store can make cursors up. They lead to nothing else than what a follower gets to see that
// begins without a cursor, and they cost no more.
func TestCursorsThatAreMadeUp(t *testing.T) {
	ctx, db, f := context.Background(), memory.New(), feed.Feed{Space: "s"}
	defer db.Close()
	if err := storage.EnsureIdentity(ctx, db); err != nil {
		t.Fatal(err)
	}
	err := db.Update(ctx, "s", storage.UpdateOptions{}, func(tx storage.Tx) error {
		for i := range int64(100) {
			if err := f.Add(ctx, tx, feed.Entry{At: i, Data: make([]byte, 100)}); err != nil {
				return err
			}
		}
		return f.Remove(ctx, tx, 40, 100)
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(ctx, func(r storage.Reader) error {
		state, err := f.State(ctx, r)
		seal := feed.NewSeal(state, "feed")
		seen := 0
		see := func(feed.Entry, func() string) (none any, size int, err error) { seen++; return none, 0, nil }
		for p, want := range map[feed.Position]int{
			-1 << 63: -1, -1: -1, 0: -1, 40: -1, 41: 59, 99: 1, 100: 0, 101: -1, 1<<63 - 1: -1, // -1: gone
		} {
			scanned := &counted{Reader: r}
			seen = 0
			_, err := feed.Page(ctx, scanned, f, "feed", seal.Close(p), 1, 1, see)
			gone := errors.Is(err, vitrine.ErrGone)
			if gone != (want < 0) || !gone && seen != want || gone && scanned.scans > 0 {
				t.Errorf("after %d: %d entries in %d scans, %v, want %d", p, seen, scanned.scans, err, want)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// counted counts scans.
type counted struct {
	storage.Reader
	scans int
}

func (c *counted) Scan(ctx context.Context, in ...storage.Range) iter.Seq2[storage.Entry, error] {
	c.scans++
	return c.Reader.Scan(ctx, in...)
}

// A feed of many entries reads the same from every position, and after every removal, whether they are in blocks yet or
// not.
func TestAFeedIsOneListWhateverItsBlocks(t *testing.T) {
	ctx, db, f := context.Background(), memory.New(), feed.Feed{Space: "s"}
	defer db.Close()
	const n = 150
	for i := 0; i < n; {
		var some []feed.Entry
		for range 1 + i%7 {
			i++
			some = append(some,
				feed.Entry{At: int64(i), Names: []string{fmt.Sprint("name", i%5)}, Data: make([]byte, i*i%90)})
		}
		if err := db.Update(ctx, "s", storage.UpdateOptions{}, func(tx storage.Tx) error {
			return f.Add(ctx, tx, some...)
		}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(removed int64) {
		t.Helper()
		err := db.View(ctx, func(r storage.Reader) error {
			state, err := f.State(ctx, r)
			if err != nil || int64(state.Removed) != removed || int64(state.Last) < n {
				t.Errorf("after %d were removed: %+v, %v", removed, state, err)
			}
			for after := int64(0); after <= int64(state.Last); after++ {
				next, want := max(after, removed)+1, min(10, int64(state.Last)-max(after, removed))
				for e, err := range f.Entries(ctx, r, feed.Position(after), 10) {
					if err != nil {
						return err
					}
					if int64(e.Position) != next || e.At != next || e.Names[0] != fmt.Sprint("name", next%5) ||
						len(e.Data) != int(next*next%90) {
						t.Errorf("after %d: %+v, want the entry %d", after, e, next)
					}
					next, want = next+1, want-1
				}
				if want != 0 {
					t.Errorf("after %d: %d entries too few", after, want)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	check(0)
	for _, removed := range []int64{1, 2, 40, 41, 100, n - 1} {
		err := db.Update(ctx, "s", storage.UpdateOptions{}, func(tx storage.Tx) error {
			return f.Remove(ctx, tx, removed, n)
		})
		if err != nil {
			t.Fatal(err)
		}
		check(removed)
	}
}
