package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/paging"
	"github.com/vitrine-go/vitrine/storage"
)

const (
	// MaxWalked is the maximum number of entries that are read for one page of a feed, whether or not they are on the
	// page. It limits the work for a page.
	MaxWalked = 10_000
	// defaultKeep is how long entries are kept by default.
	defaultKeep = 30 * 24 * time.Hour
	// With every removeEach-th entry that it adds, a service removes up to removeMost old ones.
	removeEach, removeMost = 64, 256
	// memoryFactor is how much memory an item of a page takes while a response is made, as a multiple of its JSON.
	memoryFactor = 4
)

// Feeds is what the feeds of one service have in common.
type Feeds struct {
	db         storage.Store
	keep       time.Duration // how long entries are kept; negative = for ever
	identified atomic.Bool   // the store has an identity
	added      atomic.Uint32 // how many entries this service has added, unless it keeps all
}

// New returns the Feeds of a service on a store, which keeps entries for this time; 0 = 30 days, negative = for
// ever.
func New(db storage.Store, keep time.Duration) *Feeds {
	return &Feeds{db: db, keep: cmp.Or(keep, defaultKeep)}
}

// Identify gives the store an identity, which cursors need, if it has none yet.
func (s *Feeds) Identify(ctx context.Context) error {
	if s.identified.Load() {
		return nil
	}
	err := storage.EnsureIdentity(ctx, s.db)
	s.identified.Store(err == nil)
	return err
}

// Add adds entries to a feed. The first entry that a service adds, and every 64th after it, also remove up to 256 old
// entries of the same feed; now is the time in milliseconds since the epoch. So no separate task has to remove them,
// and no write takes long because of it. More are removed than added, so a feed that has grown gets shorter again.
func (s *Feeds) Add(ctx context.Context, t storage.Tx, to Feed, now int64, entries ...Entry) error {
	if err := to.Add(ctx, t, entries...); err != nil {
		return err
	}
	n := uint32(len(entries))
	if s.keep < 0 || (s.added.Add(n)-1)%removeEach >= n {
		return nil
	}
	return to.Remove(ctx, t, now-s.keep.Milliseconds(), removeMost)
}

// errPageFull is returned by the function take of Walk if an entry does not fit on the page any more. The entry is the
// first one of the next page.
var errPageFull = errors.New("the page is full")

// Walk reads one page of a feed. It calls take with the entries after a cursor, from the oldest stored one if after is
// "", and with none if after is vitrine.Now. take adds an entry to the page, or skips it, and returns whether the page
// is full with this entry. The page ends then, or when MaxWalked entries were read. cursor returns the cursor of the
// entry; it is a function, since computing a cursor takes time and skipped entries need none. name tells the feeds of a
// store apart.
//
// Walk returns the cursor of the last entry that take has added or skipped, or where it began if there is none, and
// whether there are entries after it. Its errors are those of Seal.Open, of the store, and of take.
func (f Feed) Walk(
	ctx context.Context, r storage.Reader, name, after string,
	take func(e Entry, cursor func() string) (full bool, err error),
) (next string, more bool, err error) {
	state, err := f.State(ctx, r)
	if err != nil {
		return "", false, err
	}
	seal, at := NewSeal(state, name), state.Removed
	switch after {
	case "":
	case vitrine.Now:
		return seal.Close(state.Last), false, nil
	default:
		if at, err = seal.Open(after); err == nil && at > state.Last {
			err = ErrGone // its entry was lost, for instance in a failover
		}
		if err != nil {
			return "", false, err
		}
	}
	full, walked := false, 0
	for e, err := range f.Entries(ctx, r, at, MaxWalked+1) {
		if err != nil {
			return "", false, err
		}
		if more = full || walked == MaxWalked; more {
			break
		}
		full, err = take(e, func() string { return seal.Close(e.Position) })
		if errors.Is(err, errPageFull) {
			more = true
			break
		}
		if err != nil {
			return "", false, err
		}
		at, walked = e.Position, walked+1
	}
	return seal.Close(at), more, nil
}

// Page returns a page of a feed, as Walk reads it, with an item for each entry. item returns the item of an entry with
// this cursor, and about how many bytes of JSON it is. The page ends at limit items, before the entry that would bring
// it above this number of bytes, but never before its first item.
func Page[T any](
	ctx context.Context, r storage.Reader, f Feed, name, after string, limit, bytes int,
	item func(e Entry, cursor string) (T, int, error),
) (vitrine.ChangesPage[T], error) {
	out, room := vitrine.ChangesPage[T]{Changes: []T{}}, paging.NewRoom(limit, bytes)
	next, more, err := f.Walk(ctx, r, name, after, func(e Entry, cursor func() string) (full bool, err error) {
		made, n, err := item(e, cursor())
		if err != nil {
			return false, fmt.Errorf("at %v: %w", e.Position, err)
		}
		if !room.Takes(n) {
			return false, errPageFull
		}
		out.Changes = append(out.Changes, made)
		return room.Full(), nil
	})
	if err != nil {
		return vitrine.ChangesPage[T]{}, err
	}
	out.Next, out.More = next, more
	return out, nil
}
