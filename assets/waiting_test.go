package assets_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// slowStore is a store whose steps take as long as a test says. It counts how often the folders are read.
type slowStore struct {
	storage.Store
	snapshot, folders, index, update time.Duration

	reads   atomic.Int32
	failing int32 // the number of reads of the folders that fail, the first ones

	permissions []assets.Permission // of each folder as it is read
}

var errRead = errors.New("the folders cannot be read")

func (s *slowStore) View(ctx context.Context, fn func(storage.Reader) error) error {
	if err := pause(ctx, s.snapshot); err != nil {
		return err
	}
	return s.Store.View(ctx, func(r storage.Reader) error { return fn(slowReader{r, s}) })
}

func (s *slowStore) Update(
	ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error,
) error {
	if err := pause(ctx, s.update); err != nil {
		return err
	}
	return s.Store.Update(ctx, space, o, fn)
}

type slowReader struct {
	storage.Reader
	s *slowStore
}

func (r slowReader) Scan(ctx context.Context, ranges ...storage.Range) iter.Seq2[storage.Entry, error] {
	_, kind, _ := strings.Cut(ranges[0].From, " ")
	return func(yield func(storage.Entry, error) bool) {
		var err error
		folders := strings.HasPrefix(kind, "folder/")
		switch {
		case folders:
			read := r.s.reads.Add(1)
			if err = pause(ctx, r.s.folders); err == nil && read <= r.s.failing {
				err = errRead
			}
		case strings.HasPrefix(kind, "t1/"):
			err = pause(ctx, r.s.index)
		}
		if err != nil {
			yield(storage.Entry{}, err)
			return
		}
		for e, err := range r.Reader.Scan(ctx, ranges...) {
			if folders && r.s.permissions != nil {
				e.Value, _ = json.Marshal(map[string]any{"id": "f", "permissions": r.s.permissions})
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// pause returns after d, or with the error of ctx when that is done before.
func pause(ctx context.Context, d time.Duration) error {
	if d > 0 {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// onSlowStore returns a service that has cached nothing, on a library with a folder, and an asset in the pages of its
// index, in a slow store.
func onSlowStore(t *testing.T) (*assets.Service, *slowStore) {
	store := memory.New()
	d := &desk{t: t, Service: assets.New(store, nil)}
	f, _ := d.folder("f", "", true)
	d.asset("a", "zebra", f)
	if err := assets.EraseRemoved(d.As(moderator), ctx, lib); err != nil {
		t.Fatal(err)
	}
	slow := &slowStore{Store: store}
	svc := assets.New(slow, nil)
	// it has found out the identity of the store
	if _, err := svc.Outbox(ctx, lib, vitrine.ChangesRequest{}); err != nil {
		t.Fatal(err)
	}
	return svc, slow
}

// await runs fn and returns how many seconds it took, and its error.
func await(fn func() error) (seconds float64, err error) {
	begin := time.Now()
	err = fn()
	return time.Since(begin).Seconds(), err
}

func TestTheFoldersAreReadOnceForAllWhoWait(t *testing.T) {
	for _, c := range []struct {
		name    string
		patient time.Duration // how long the first reader waits; 0 = for ever
		failing int32
		reads   int32
		seconds float64 // until those have the folders who wait for the first reader
		want    error   // of the first reader
	}{
		{name: "all wait", reads: 1, seconds: 10},
		{name: "the first reader leaves", patient: 3 * time.Second, reads: 2, seconds: 13,
			want: context.DeadlineExceeded},
		{name: "the first reader fails", failing: 1, reads: 2, seconds: 20, want: errRead},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				svc, store := onSlowStore(t)
				store.folders, store.failing = 10*time.Second, c.failing
				list := func(ctx context.Context) error {
					_, err := svc.As(member).ListFolders(ctx, lib, assets.ListFoldersRequest{})
					return err
				}
				var all sync.WaitGroup
				all.Go(func() {
					ctx := ctx
					if c.patient > 0 {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, c.patient)
						defer cancel()
					}
					if err := list(ctx); !errors.Is(err, c.want) {
						t.Errorf("the first reader: %v, want %v", err, c.want)
					}
				})
				synctest.Wait() // until it reads
				for range 20 {
					all.Go(func() {
						if seconds, err := await(func() error { return list(ctx) }); err != nil ||
							seconds != c.seconds {
							t.Errorf("one who waits: %v after %v s, want no error after %v s", err, seconds, c.seconds)
						}
					})
				}
				all.Go(func() {
					ctx, cancel := context.WithTimeout(ctx, time.Second)
					defer cancel()
					if seconds, err := await(func() error {
						return list(ctx)
					}); !errors.Is(err, context.DeadlineExceeded) || seconds != 1 {
						t.Errorf("one who waits for a second: %v after %v s", err, seconds)
					}
				})
				all.Wait()
				if seconds, err := await(func() error { return list(ctx) }); err != nil || seconds != 0 {
					t.Errorf("with the folders in the cache: %v after %v s", err, seconds)
				}
				if got := store.reads.Load(); got != c.reads {
					t.Errorf("the folders were read %d times, want %d", got, c.reads)
				}
			})
		})
	}
}

// The folders that are kept in memory are bounded, however many libraries there are and however large they are.
func TestTheFoldersThatAreKeptAreBounded(t *testing.T) {
	assets.SmallTreeCache(t)
	for _, c := range []struct {
		libraries   int
		permissions int   // of each of them
		again       int   // how many of the libraries are listed again
		least, most int32 // how often folders are read for that
	}{
		{256, 0, 255, 0, 0},
		{300, 0, 299, 44, 299},
		{2, 2_500, 1, 0, 0},
		{3, 2_500, 2, 1, 2},
		{1, 6_000, 0, 0, 0},
	} {
		inMemory := memory.New()
		store := &slowStore{Store: inMemory,
			permissions: slices.Repeat([]assets.Permission{{Operation: assets.View, Role: &assets.Subject{ID: "r"}}},
				c.permissions)}
		filling, svc := assets.New(inMemory, nil), assets.New(store, nil)
		library := func(i int) assets.Library { return assets.Library{Network: lib.Network, ID: fmt.Sprint(i)} }
		list := func(i int) {
			if _, err := svc.As(member).ListFolders(ctx, library(i), assets.ListFoldersRequest{}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range c.libraries {
			if _, err := filling.As(moderator).ChangeFolders(ctx, library(i),
				assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "f"}}}); err != nil {
				t.Fatal(err)
			}
			list(i)
		}
		list(c.libraries - 1)
		if got := store.reads.Load(); got != int32(c.libraries) {
			t.Errorf("%+v: the folders were read %d times: the latest ones are not kept", c, got)
		}
		store.reads.Store(0)
		for i := range c.again {
			list(i)
		}
		if got := store.reads.Load(); got < c.least || got > c.most {
			t.Errorf("%+v: the folders were read again %d times", c, got)
		}
	}
}

// The time that a search may take is 2 seconds. Reading the folders does not count, all else does.
func TestReadingTheFoldersIsNoPartOfASearch(t *testing.T) {
	for _, c := range []struct {
		snapshot, count time.Duration
		seconds         float64
		want            error
	}{
		{1900 * time.Millisecond, 1900 * time.Millisecond, 13.8, nil},
		{time.Second, 2100 * time.Millisecond, 13, vitrine.ErrBusy},
		{0, 3 * time.Second, 12, vitrine.ErrBusy},
		{3 * time.Second, 0, 2, vitrine.ErrBusy},
	} {
		synctest.Test(t, func(t *testing.T) {
			svc, store := onSlowStore(t)
			store.snapshot, store.folders, store.index = c.snapshot, 10*time.Second, c.count
			seconds, err := await(func() error {
				_, err := svc.As(member).Search(ctx, lib, assets.SearchRequest{Query: "x"})
				return err
			})
			if !errors.Is(err, c.want) || seconds != c.seconds || err != nil &&
				!strings.Contains(err.Error(), "the search takes longer than 2s") {
				t.Errorf("%v for the snapshot, 10s for the folders, %v to count: %v after %v s, want %v after %v s",
					c.snapshot, c.count, err, seconds, c.want, c.seconds)
			}
		})
	}
}

func TestACallerMakesOneHeavyChangeAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc, store := onSlowStore(t)
		store.update = 10 * time.Second
		change := func(what string, by vitrine.Caller, items int, patient time.Duration, seconds float64, want error) {
			ctx, cancel := context.WithTimeout(ctx, patient)
			defer cancel()
			took, err := await(func() error {
				_, err := svc.As(by).ChangeAttributes(ctx, lib,
					assets.ChangeAttributesRequest{Assets: slices.Repeat([]string{"none"}, items)})
				return err
			})
			if !errors.Is(err, want) || took != seconds {
				t.Errorf("%s: %v after %v s, want %v after %v s", what, err, took, want, seconds)
			}
		}
		var all sync.WaitGroup
		all.Go(func() { change("the first", member, 257, time.Minute, 10, nil) })
		synctest.Wait()
		all.Go(func() { change("the second", member, 257, time.Minute, 20, nil) })
		all.Go(func() {
			change("one that does not wait so long", member, 257, 3*time.Second, 3, context.DeadlineExceeded)
		})
		all.Go(func() { change("a small one", member, 256, time.Minute, 10, nil) })
		all.Go(func() { change("that of another caller", writer, 257, time.Minute, 10, nil) })
		all.Wait()
		change("one after all others", member, 257, time.Minute, 10, nil)
	})
}
