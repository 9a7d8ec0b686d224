package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets/assetstore"
)

// AppFeedsEqual runs the same random operations on the feeds of two empty stores. It fails unless both feeds have the
// entries that were added and not removed, in the order of adding, after each operation and from each position on. The
// seed determines the operations; a failure names it.
func AppFeedsEqual(t *testing.T, a, b appsvc.Store, seed uint64, operations int) {
	t.Helper()
	feedsEqual(t, seed, operations, [][]*feedOf{{appFeed(a)}, {appFeed(b)}})
}

// AssetFeedsEqual is AppFeedsEqual for the feeds of three libraries, each of which must be left alone by operations on
// the others.
func AssetFeedsEqual(t *testing.T, a, b assetstore.Store, seed uint64, operations int) {
	t.Helper()
	var stores [][]*feedOf
	for _, s := range []assetstore.Store{a, b} {
		var feeds []*feedOf
		for _, id := range []string{"a", "A", "é"} {
			feeds = append(feeds, libraryFeed(s, assetstore.Library{Network: library.Network, ID: id}))
		}
		stores = append(stores, feeds)
	}
	feedsEqual(t, seed, operations, stores)
}

// feedReader and feedWriter are the halves of a transaction that a feed needs.
type feedReader interface {
	Feed(ctx context.Context) (appsvc.FeedState, error)
	Entries(ctx context.Context, after appsvc.FeedPosition, limit int) iter.Seq2[appsvc.FeedEntry, error]
}

type feedWriter interface {
	AddEntry(ctx context.Context, e appsvc.FeedEntry) error
	RemoveEntries(ctx context.Context, before int64, limit int) error
}

// feedOf is a feed in a store, and what is known of it so far.
type feedOf struct {
	view    func(func(feedReader) error) error
	update  func(func(feedWriter) error) error
	changed func() <-chan struct{}
	first   appsvc.FeedState               // as it was when it was first read
	given   map[appsvc.FeedPosition]string // entries by their positions, removed ones too
}

func appFeed(s appsvc.Store) *feedOf {
	return newFeedOf(s.Changed,
		func(fn func(feedReader) error) error {
			return s.View(ctx, func(r appsvc.Reader) error { return fn(r) })
		},
		func(fn func(feedWriter) error) error { return s.Update(ctx, func(w appsvc.Tx) error { return fn(w) }) })
}

func libraryFeed(s assetstore.Store, lib assetstore.Library) *feedOf {
	return newFeedOf(s.Changed,
		func(fn func(feedReader) error) error {
			return s.View(ctx, lib, func(r assetstore.Reader) error { return fn(r) })
		},
		func(fn func(feedWriter) error) error {
			return s.Update(ctx, lib, func(w assetstore.Tx) error { return fn(w) })
		})
}

func newFeedOf(changed func() <-chan struct{}, view func(func(feedReader) error) error, update func(func(feedWriter) error) error) *feedOf {
	return &feedOf{view: view, update: update, changed: changed, given: map[appsvc.FeedPosition]string{}}
}

// feedOperation is one Update of a feed.
type feedOperation struct {
	add     []appsvc.FeedEntry
	remove  bool // remove entries instead
	before  int64
	limit   int
	outcome error // what fn returns in the end
	panics  bool  // fn panics instead
}

func (d randomData) feedOperation() feedOperation {
	o := feedOperation{remove: d.IntN(4) == 0, before: d.Int64N(24), limit: 1 + d.IntN(12)}
	for n := d.IntN(6); !o.remove && n > 0; n-- {
		e := appsvc.FeedEntry{At: d.Int64N(24), Data: bytes.Repeat([]byte{byte(d.IntN(256)), 0}, d.IntN(20)*d.IntN(20))}
		for range d.IntN(4) {
			e.Names = append(e.Names, pick(d, oddNames))
		}
		o.add = append(o.add, e)
	}
	if n := d.IntN(10); n < 3 {
		o.outcome, o.panics = errRolledBack, n == 0
	}
	return o
}

// run carries out the operation and returns its result as text.
func (o feedOperation) run(f *feedOf) string {
	var err error
	panicked := panicOf(func() {
		err = f.update(func(w feedWriter) error {
			if o.remove {
				if err := w.RemoveEntries(ctx, o.before, o.limit); err != nil {
					return err
				}
			}
			for _, e := range o.add {
				if err := w.AddEntry(ctx, e); err != nil {
					return err
				}
			}
			if o.panics {
				panic(o.outcome)
			}
			return o.outcome
		})
	})
	return fmt.Sprintf("panic %v, error %s", panicked, class(err))
}

// after returns the entries that a feed has after the operation, if it had those of list before.
func (o feedOperation) after(list []appsvc.FeedEntry) []appsvc.FeedEntry {
	if o.outcome != nil {
		return list
	}
	list = append(slices.Clip(list), o.add...)
	for n := 0; o.remove && n < o.limit && len(list) > 0 && list[0].At <= o.before; n++ {
		list = list[1:]
	}
	return list
}

func (o feedOperation) String() string {
	return fmt.Sprintf("add %s, remove %t before %d, at most %d, outcome %v, panics %t", entriesText(o.add), o.remove, o.before, o.limit, o.outcome, o.panics)
}

// entriesText has all of entries but their positions, which differ between drivers.
func entriesText(list []appsvc.FeedEntry) string {
	var told strings.Builder
	for _, e := range list {
		fmt.Fprintf(&told, "[%d %q %q]", e.At, e.Names, e.Data)
	}
	return told.String()
}

// feedsEqual runs random operations on some feeds of each store.
func feedsEqual(t *testing.T, seed uint64, operations int, stores [][]*feedOf) {
	t.Helper()
	d := randomData{rand.New(rand.NewPCG(seed, 3))}
	want := make([][]appsvc.FeedEntry, len(stores[0]))
	var told []string // the operations up to now
	for range operations {
		i, o := d.IntN(len(want)), d.feedOperation()
		told = append(told, fmt.Sprintf("feed %d: %s", i, o))
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("seed %d: after\n%s\n%s", seed, strings.Join(told, "\n"), fmt.Sprintf(format, args...))
		}
		if first, second := o.run(stores[0][i]), o.run(stores[1][i]); first != second {
			fail("the first store says %s and the second %s", first, second)
		}
		want[i] = o.after(want[i])
		from, limit := d.IntN(len(want[i])+1), 1+d.IntN(8)
		for s, feeds := range stores {
			for j, f := range feeds {
				if err := f.check(want[j]); err != nil {
					fail("feed %d of store %d: %v", j, s, err)
				}
			}
			if err := feeds[i].checkFrom(want[i], from, limit); err != nil {
				fail("feed %d of store %d, %d entries after the first %d: %v", i, s, limit, from, err)
			}
		}
	}
}

// entries waits until the feed has count entries, as readFeed does, and returns them with the state of the feed.
func (f *feedOf) entries(count int) (list []appsvc.FeedEntry, state appsvc.FeedState, err error) {
	for deadline := time.Now().Add(time.Minute); ; {
		changed := f.changed()
		err = f.view(func(r feedReader) (err error) {
			if state, err = r.Feed(ctx); err == nil {
				list, err = collect(r.Entries(ctx, appsvc.FeedPosition{}, 100_000))
			}
			return err
		})
		if err != nil || len(list) >= count || time.Now().After(deadline) {
			return list, state, err
		}
		select {
		case <-changed:
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// check returns an error unless the feed has exactly the wanted entries at rising positions, ends at the last of them, has
// the key and identity of the first read, and has assigned no position to two entries.
func (f *feedOf) check(want []appsvc.FeedEntry) error {
	list, state, err := f.entries(len(want))
	if err != nil {
		return err
	}
	if got, want := entriesText(list), entriesText(want); got != want {
		return fmt.Errorf("it has %s, want %s", got, want)
	}
	if f.first.Key == nil {
		f.first = state
	}
	if !bytes.Equal(state.Key, f.first.Key) || !bytes.Equal(state.Identity, f.first.Identity) {
		return errors.New("it has another key or another identity")
	}
	last := state.Removed
	for _, e := range list {
		if e.Position.Compare(last) <= 0 {
			return fmt.Errorf("an entry is at %v, after %v", e.Position, last)
		}
		last = e.Position
		text := entriesText([]appsvc.FeedEntry{e})
		if was, known := f.given[last]; known && was != text {
			return fmt.Errorf("the position %v was given to %s before, and now to %s", last, was, text)
		}
		f.given[last] = text
	}
	if state.Last != last {
		return fmt.Errorf("it ends at %v, want %v", state.Last, last)
	}
	return nil
}

// checkFrom returns an error unless reading on after the first from entries yields the next ones, at most limit of them.
func (f *feedOf) checkFrom(want []appsvc.FeedEntry, from, limit int) error {
	list, state, err := f.entries(len(want))
	if err != nil {
		return err
	}
	after := state.Removed
	if from > 0 {
		after = list[from-1].Position
	}
	var got []appsvc.FeedEntry
	err = f.view(func(r feedReader) (err error) {
		got, err = collect(r.Entries(ctx, after, limit))
		return err
	})
	if err != nil {
		return err
	}
	if got, want := entriesText(got), entriesText(want[from:min(from+limit, len(want))]); got != want {
		return fmt.Errorf("it has %s, want %s", got, want)
	}
	return nil
}
