package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/assets/assetstore"
)

// addChanges adds entries to the feed of a library in one Update.
func addChanges(t *testing.T, s assetstore.Store, lib assetstore.Library, numbers ...int) {
	t.Helper()
	change(t, s, lib, func(w assetstore.Tx) error {
		for _, n := range numbers {
			if err := w.AddEntry(ctx, entry(n)); err != nil {
				return err
			}
		}
		return nil
	})
}

// changesAfter returns the entries of a library's feed after a position, at most limit of them.
func changesAfter(t *testing.T, s assetstore.Store, lib assetstore.Library, after assetstore.FeedPosition, limit int) (out []assetstore.FeedEntry) {
	t.Helper()
	if err := s.View(ctx, lib, func(r assetstore.Reader) (err error) {
		out, err = collect(r.Entries(ctx, after, limit))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// changesState returns the state of a library's feed.
func changesState(t *testing.T, s assetstore.Store, lib assetstore.Library) (out assetstore.FeedState) {
	t.Helper()
	if err := s.View(ctx, lib, func(r assetstore.Reader) (err error) {
		out, err = r.Feed(ctx)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// readChanges reads the feed of a library, as readFeed does that of the apps: when it has count entries after the position.
func readChanges(t *testing.T, s assetstore.Store, lib assetstore.Library, after assetstore.FeedPosition, count int) []assetstore.FeedEntry {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		changed := s.Changed()
		found := changesAfter(t, s, lib, after, 100_000)
		if len(found) >= count || time.Now().After(deadline) {
			return found
		}
		select {
		case <-changed:
		case <-time.After(10 * time.Millisecond):
		}
	}
}

var assetFeedRules = []assetRule{
	// All libraries of a store share the key and the identity.
	{"each library has its own feed, in the order of its Updates", func(t *testing.T, s assetstore.Store) {
		other := assetstore.Library{Network: library.Network, ID: library.ID + "2"}
		checkEntries(t, "a new feed", changesAfter(t, s, library, assetstore.FeedPosition{}, 10))
		for i := range 5 {
			addChanges(t, s, library, 2*i, 2*i+1)
			addChanges(t, s, other, 100+i)
		}
		checkEntries(t, "feed", readChanges(t, s, library, assetstore.FeedPosition{}, 10), upTo(10)...)
		checkEntries(t, "the other feed", readChanges(t, s, other, assetstore.FeedPosition{}, 5), 100, 101, 102, 103, 104)
		one, two := changesState(t, s, library), changesState(t, s, other)
		if len(one.Key) < 16 || len(one.Identity) < 16 || !bytes.Equal(one.Key, two.Key) || !bytes.Equal(one.Identity, two.Identity) {
			t.Errorf("the feeds of two libraries are %+v and %+v, want one key and one identity", one, two)
		}
	}},
	// A follower must never hear of a change that did not happen.
	{"an Update of a library that is rolled back adds no entry to its feed", func(t *testing.T, s assetstore.Store) {
		addChanges(t, s, library, 0)
		for range 3 {
			err := s.Update(ctx, library, func(w assetstore.Tx) error { return errors.Join(w.AddEntry(ctx, entry(7)), errRolledBack) })
			checkError(t, err, errRolledBack, "Update")
		}
		addChanges(t, s, library, 1)
		checkEntries(t, "feed", readChanges(t, s, library, assetstore.FeedPosition{}, 2), 0, 1)
	}},
	// The limits lie around 256, where a driver that reads rows in batches may go wrong.
	{"Entries of a library yields the entries after a position, and stops after limit", func(t *testing.T, s assetstore.Store) {
		const count = 300
		addChanges(t, s, library, upTo(count)...)
		all := readChanges(t, s, library, assetstore.FeedPosition{}, count)
		checkEntries(t, "feed", all, upTo(count)...)
		if state := changesState(t, s, library); state.Last != all[count-1].Position || state.Removed != (assetstore.FeedPosition{}) {
			t.Errorf("the feed is %+v, want the end at %v", state, all[count-1].Position)
		}
		for _, from := range []int{0, 1, 256, count - 1, count} {
			var after assetstore.FeedPosition
			if from > 0 {
				after = all[from-1].Position
			}
			for _, limit := range []int{1, 256, 257, count + 1} {
				what := fmt.Sprintf("after %d, limit %d", from, limit)
				checkEntries(t, what, changesAfter(t, s, library, after, limit), upTo(count)[from:min(from+limit, count)]...)
			}
		}
	}},
	// The feeds of other libraries stay. After everything was removed, the next entry still gets a higher position, so
	// that no follower skips it.
	{"RemoveEntries removes from the beginning of the feed of one library, and no position is assigned twice", func(t *testing.T, s assetstore.Store) {
		other := assetstore.Library{Network: library.Network, ID: library.ID + "2"}
		addChanges(t, s, library, 0, 1, 2, 3)
		addChanges(t, s, other, 0, 1)
		all := readChanges(t, s, library, assetstore.FeedPosition{}, 4)
		remove := func(before int64, limit, left int) {
			t.Helper()
			change(t, s, library, func(w assetstore.Tx) error { return w.RemoveEntries(ctx, before, limit) })
			checkEntries(t, "what is left", changesAfter(t, s, library, assetstore.FeedPosition{}, 10), upTo(4)[4-left:]...)
			var removed assetstore.FeedPosition
			if left < 4 {
				removed = all[3-left].Position
			}
			if state := changesState(t, s, library); state.Removed != removed || state.Last != all[3].Position {
				t.Errorf("the feed is %+v, want removed %v and the end %v", state, removed, all[3].Position)
			}
		}
		remove(999, 10, 4)
		remove(1001, 1, 3)
		remove(1001, 10, 2)
		remove(1003, 10, 0)
		remove(1003, 10, 0)
		checkEntries(t, "the other feed", readChanges(t, s, other, assetstore.FeedPosition{}, 2), 0, 1)
		addChanges(t, s, library, 5)
		checkEntries(t, "feed", readChanges(t, s, library, all[3].Position, 1), 5)
	}},
	// Updates of one library are committed one after the other, so the numbers that they write rise without a gap.
	{"a reader of a library's feed that goes on from the last position sees each entry once, while others write", func(t *testing.T, s assetstore.Store) {
		const writers, each = 5, 20
		done := make(chan error, writers)
		for range writers {
			go func() {
				var err error
				for n := 0; n < each && err == nil; n++ {
					err = s.Update(ctx, library, func(w assetstore.Tx) error {
						state, err := w.State(ctx)
						if err != nil {
							return err
						}
						state.Key, state.Last = assetstore.Key{1}, state.Last+1
						if err := w.SetState(ctx, state); err != nil {
							return err
						}
						return w.AddEntry(ctx, assetstore.FeedEntry{At: 1, Names: []string{"n"}, Data: fmt.Appendf(nil, "%d", state.Last)})
					})
				}
				done <- err
			}()
		}
		var at assetstore.FeedPosition
		finished, total := 0, 0
		for deadline := time.Now().Add(time.Minute); total < writers*each && time.Now().Before(deadline); {
			changed := s.Changed()
			for _, e := range changesAfter(t, s, library, at, 7) {
				total++
				if string(e.Data) != fmt.Sprint(total) || e.Position.Compare(at) <= 0 {
					t.Fatalf("entry %s at %v after %v, want %d", e.Data, e.Position, at, total)
				}
				at = e.Position
			}
			select {
			case err := <-done:
				finished++
				if err != nil {
					t.Fatal(err)
				}
			case <-changed:
			case <-time.After(10 * time.Millisecond):
			}
		}
		for ; finished < writers; finished++ {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if total != writers*each {
			t.Errorf("%d entries were read, want %d", total, writers*each)
		}
	}},
}
