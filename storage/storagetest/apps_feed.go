package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// entry returns the entry with a number. Entries with different numbers differ in their times and data, and share some
// names.
func entry(number int) appsvc.FeedEntry {
	return appsvc.FeedEntry{
		At: int64(1000 + number), Names: []string{editor, fmt.Sprintf("%s:site=%d", network, number%3), ""},
		Data: append([]byte{0, 0xff, byte(number)}, strings.Repeat("x", number%7)...),
	}
}

// addEntries adds entries to the feed in one Update.
func addEntries(t *testing.T, s appsvc.Store, numbers ...int) {
	t.Helper()
	update(t, s, func(w tx) error {
		for _, n := range numbers {
			if err := w.AddEntry(ctx, entry(n)); err != nil {
				return err
			}
		}
		return nil
	})
}

func entriesAfter(after appsvc.FeedPosition, limit int) func(reader) ([]appsvc.FeedEntry, error) {
	return func(r reader) ([]appsvc.FeedEntry, error) { return collect(r.Entries(ctx, after, limit)) }
}

func feedState(r reader) (appsvc.FeedState, error) { return r.Feed(ctx) }

// readFeed waits until the feed has count entries after the position, and returns them. It waits because a driver may leave
// entries out while other transactions are open, even transactions of other tests on the same database server. After a
// minute it returns what there is.
func readFeed(t *testing.T, s appsvc.Store, after appsvc.FeedPosition, count int) []appsvc.FeedEntry {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		changed := s.Changed()
		found := read(t, s, entriesAfter(after, 100_000))
		if len(found) >= count || time.Now().After(deadline) {
			return found
		}
		select {
		case <-changed:
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// checkEntries checks that the entries are those with the numbers, in this order and at rising positions. what names them in a
// failure.
func checkEntries(t *testing.T, what string, got []appsvc.FeedEntry, numbers ...int) {
	t.Helper()
	var last appsvc.FeedPosition
	for i, e := range got {
		if i < len(numbers) {
			want := entry(numbers[i])
			if e.At != want.At || !slices.Equal(e.Names, want.Names) || !bytes.Equal(e.Data, want.Data) {
				t.Errorf("%s: entry %d is %+v, want %+v", what, i, e, want)
			}
		}
		if e.Position.Compare(last) <= 0 {
			t.Errorf("%s: entry %d is at %v, after %v", what, i, e.Position, last)
		}
		last = e.Position
	}
	if len(got) != len(numbers) {
		t.Errorf("%s: %d entries, want %d", what, len(got), len(numbers))
	}
}

// upTo returns the numbers 0 to n-1.
func upTo(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

var feedRules = []appRule{
	// Entries of one Update stand in the order of the calls of AddEntry.
	{"the entries of committed Updates are in the feed, in the order of the Updates", func(t *testing.T, s appsvc.Store) {
		checkEntries(t, "a new feed", read(t, s, entriesAfter(appsvc.FeedPosition{}, 10)))
		addEntries(t, s, 0, 1)
		for i := 2; i < 9; i++ {
			addEntries(t, s, i)
		}
		checkEntries(t, "feed", readFeed(t, s, appsvc.FeedPosition{}, 9), upTo(9)...)
	}},
	// A follower must never hear of a change that did not happen. The next committed entry follows as usual.
	{"an Update that is rolled back adds no entry to the feed", func(t *testing.T, s appsvc.Store) {
		addEntries(t, s, 0)
		stop := errors.New("stop")
		for range 3 {
			err := s.Update(ctx, func(w tx) error {
				if err := w.AddEntry(ctx, entry(7)); err != nil {
					return err
				}
				return stop
			})
			checkError(t, err, stop, "Update")
		}
		addEntries(t, s, 1)
		checkEntries(t, "feed", readFeed(t, s, appsvc.FeedPosition{}, 2), 0, 1)
	}},
	// The limits lie around 256, where a driver that reads rows in batches may go wrong.
	{"Entries yields the entries after a position, and stops after limit", func(t *testing.T, s appsvc.Store) {
		const count = 600
		addEntries(t, s, upTo(count)...)
		all := readFeed(t, s, appsvc.FeedPosition{}, count)
		checkEntries(t, "feed", all, upTo(count)...)
		for _, from := range []int{0, 1, 255, 256, 257, count - 1, count} {
			var after appsvc.FeedPosition
			if from > 0 {
				after = all[from-1].Position
			}
			for _, limit := range []int{1, 2, 256, 257, count, count + 1} {
				what := fmt.Sprintf("after %d, limit %d", from, limit)
				checkEntries(t, what, read(t, s, entriesAfter(after, limit)), upTo(count)[from:min(from+limit, count)]...)
			}
		}
	}},
	// The Service encrypts and authenticates cursors with the key, so it must be long, secret and the caller's own copy.
	// Without entries both positions are zero.
	{"Feed returns a key and an identity that never change, and the last position", func(t *testing.T, s appsvc.Store) {
		first := read(t, s, feedState)
		if len(first.Key) < 16 || len(first.Identity) < 16 || first.Last != (appsvc.FeedPosition{}) || first.Removed != (appsvc.FeedPosition{}) {
			t.Errorf("a new feed is %+v", first)
		}
		addEntries(t, s, 0, 1, 2)
		all := readFeed(t, s, appsvc.FeedPosition{}, 3)
		now := read(t, s, feedState)
		if !bytes.Equal(now.Key, first.Key) || !bytes.Equal(now.Identity, first.Identity) || now.Last != all[2].Position {
			t.Errorf("the feed is %+v, want the key and the identity of %+v and the end at %v", now, first, all[2].Position)
		}
		clear(now.Key)
		if again := read(t, s, feedState); !bytes.Equal(again.Key, first.Key) {
			t.Error("the key can be changed from outside")
		}
	}},
	// Nothing is removed from the middle: an old entry behind a newer one stays, so that Removed is one position and a
	// follower knows whether it missed something.
	{"RemoveEntries removes entries from the beginning, up to the first that is newer than before, or up to limit", func(t *testing.T, s appsvc.Store) {
		update(t, s, func(w tx) error {
			for i, at := range []int64{10, 20, 50, 30, 60} {
				e := entry(i)
				e.At = at
				if err := w.AddEntry(ctx, e); err != nil {
					return err
				}
			}
			return nil
		})
		all := readFeed(t, s, appsvc.FeedPosition{}, 5)
		left := func(before int64, limit, want int) {
			t.Helper()
			update(t, s, func(w tx) error { return w.RemoveEntries(ctx, before, limit) })
			got := read(t, s, entriesAfter(appsvc.FeedPosition{}, 10))
			if len(got) != want || want > 0 && got[0].Position != all[5-want].Position {
				t.Fatalf("after RemoveEntries(%d, %d): %+v, want the last %d of %+v", before, limit, got, want, all)
			}
			var removed appsvc.FeedPosition
			if want < 5 {
				removed = all[4-want].Position
			}
			if state := read(t, s, feedState); state.Removed != removed || state.Last != all[4].Position {
				t.Errorf("after RemoveEntries(%d, %d) the feed is %+v, want removed %v and the end %v", before, limit, state, removed, all[4].Position)
			}
		}
		left(9, 10, 5)
		left(20, 1, 4)
		left(30, 10, 3) // the third entry is of 50, so it stays, and all after it stay too
		left(50, 10, 1)
		left(60, 10, 0)
		left(60, 10, 0)
	}},
	// A follower goes on from a position that it stored. If a later entry got the same position, the follower would
	// skip it.
	{"a position is never assigned twice, even after all entries were removed", func(t *testing.T, s appsvc.Store) {
		addEntries(t, s, 0, 1)
		first := readFeed(t, s, appsvc.FeedPosition{}, 2)
		update(t, s, func(w tx) error { return w.RemoveEntries(ctx, 1<<40, 10) })
		addEntries(t, s, 2)
		checkEntries(t, "feed", readFeed(t, s, first[1].Position, 1), 2)
		update(t, s, func(w tx) error { return w.RemoveEntries(ctx, 1<<40, 10) })
		err := s.Update(ctx, func(w tx) error { return errors.Join(w.AddEntry(ctx, entry(3)), errors.New("stop")) })
		if err == nil {
			t.Fatal("Update returned nil")
		}
		last := read(t, s, feedState).Last
		addEntries(t, s, 4)
		checkEntries(t, "feed", readFeed(t, s, last, 1), 4)
	}},
	// Several goroutines write three apps at the same time, and some roll back. Transactions commit in another order
	// than they began, so a driver must hold back an entry while a lower position may still be committed. The reader
	// checks that it sees each app's versions without a gap.
	{"a reader that goes on from the last position sees each entry once, while others write", func(t *testing.T, s appsvc.Store) {
		const writers, each = 6, 25
		done := make(chan error, writers)
		for w := range writers {
			id := fmt.Sprintf("app%d", w%3)
			go func() {
				var err error
				for n := 0; n < each && err == nil; n++ {
					err = s.Update(ctx, func(w tx) error {
						h, err := w.Head(ctx, id)
						number := 0
						if err == nil {
							number = int(h.Version.Number()) + 1
						} else if !errors.Is(err, vitrine.ErrNotFound) {
							return err
						}
						if err := w.AddVersion(ctx, newHead(id, number), bodyOf(newHead(id, number), "")); err != nil {
							return err
						}
						if number%5 == 4 { // readers must not wait for an entry that is rolled back
							_ = w.AddEntry(ctx, appsvc.FeedEntry{Names: []string{id}, Data: []byte("never")})
							return errRolledBack
						}
						return w.AddEntry(ctx, appsvc.FeedEntry{At: 1, Names: []string{id}, Data: fmt.Appendf(nil, "%d", number)})
					})
					if errors.Is(err, errRolledBack) {
						err = s.Update(ctx, func(w tx) error {
							h, err := w.Head(ctx, id)
							if err != nil {
								return err
							}
							next := newHead(id, int(h.Version.Number())+1)
							if err := w.AddVersion(ctx, next, bodyOf(next, "")); err != nil {
								return err
							}
							return w.AddEntry(ctx, appsvc.FeedEntry{At: 1, Names: []string{id}, Data: []byte(next.Version.String())})
						})
					}
				}
				done <- err
			}()
		}
		next := map[string]int{}
		var at appsvc.FeedPosition
		finished, total := 0, 0
		for deadline := time.Now().Add(time.Minute); total < writers*each && time.Now().Before(deadline); {
			changed := s.Changed()
			for _, e := range read(t, s, entriesAfter(at, 7)) {
				if want := fmt.Sprint(next[e.Names[0]]); string(e.Data) != want || e.Position.Compare(at) <= 0 {
					t.Fatalf("%s: %s at %v after %v, want %s", e.Names[0], e.Data, e.Position, at, want)
				}
				next[e.Names[0]]++
				at, total = e.Position, total+1
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
	// Two callers that took the channel before the Update are both woken.
	{"the channel of Changed is closed after an Update", func(t *testing.T, s appsvc.Store) {
		one, two := s.Changed(), s.Changed()
		addEntries(t, s, 0)
		for _, changed := range []<-chan struct{}{one, two} {
			select {
			case <-changed:
			case <-time.After(time.Minute):
				t.Fatal("the channel is open a minute after an Update")
			}
		}
	}},
}
