package assets

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/memreserve"
	"github.com/vitrine-go/vitrine/internal/paging"
	"github.com/vitrine-go/vitrine/storage"
)

// A library has a feed of changes with an entry for every request that changed something in it,
// written in the transaction of the change. So an entry is there if and only if the change is. The
// feed is for moderators of the network, who see everything in the library: an entry names assets
// and folders without regard to who may see them.

// Now, as ChangesRequest.After, stands for the end of the feed: only changes that are committed
// after the call.
const Now = feed.Now

const (
	// defaultKeepChanges is how long entries are kept by default.
	defaultKeepChanges = 30 * 24 * time.Hour
	// maxScanned is how many entries one page reads at most.
	maxScanned = 10_000
	// One in removeEach entries that a Service writes also removes up to removeMost old entries of
	// the same library. So more are removed than are added, and no request removes many.
	removeEach, removeMost = 64, 256
)

// ChangesRequest asks for entries of the feed of changes of a library.
type ChangesRequest struct {
	After string // a cursor: only entries after it; "" = from the oldest that is kept; Now = from the end of the feed
	Limit int    // entries of a page, up to Limits.Page; 0 = 100, or Limits.Page if that is lower
}

// ChangesPage is a page of the feed of changes.
type ChangesPage struct {
	Changes []Event `json:"changes"` // oldest first
	Next    string  `json:"next"`    // After of the next page; always a cursor, also if Changes is empty
	More    bool    `json:"more"`    // the feed has more entries after this page
}

// Changes returns a page of the feed of changes of a library, in the order in which the changes
// were committed. It does not wait for changes: at the end of the feed, it returns an empty page.
// Whoever goes on from Next misses no change and meets none twice. A page ends before its limit
// when it has reached Limits.PageBytes.
//
// It returns ErrForbidden unless the caller moderates the network; ErrInvalid if After is not a
// cursor of this feed or Limit is out of range; and ErrGone if entries after the cursor were
// removed, or if the feed has another identity, as after a restore from a backup. A follower that
// gets ErrGone asks with Now for a cursor, reads the whole library, and goes on from the cursor.
func (s *Service) Changes(ctx context.Context, by vitrine.Caller, lib Library, in ChangesRequest) (ChangesPage, error) {
	return view(ctx, s, by, lib, func(req *request) (ChangesPage, error) {
		if !req.moderator {
			return ChangesPage{}, forbidden("", "the feed of changes of a library is for moderators of its network")
		}
		return s.feedPage(req.records, in, s.limits.PageBytes)
	})
}

// Follow yields the entries of the feed as Changes returns them, and waits for more. It ends only
// with an error, which is its last pair: one of Changes, or that of ctx when ctx is done. After a
// restart, a follower goes on with the Cursor of the last event that it has dealt with as in.After.
// A slow follower takes no memory for the entries that it has not read, and keeps no snapshot of the store.
func (s *Service) Follow(ctx context.Context, by vitrine.Caller, lib Library, in ChangesRequest) iter.Seq2[Event, error] {
	return s.follow(ctx, in, func(in ChangesRequest) (ChangesPage, error) { return s.Changes(ctx, by, lib, in) })
}

// Changed returns a channel that is closed when the feed of some library may have new entries:
// within 10 ms after a change by this process, and within 500 ms after one by another process on
// the same store. It may be closed without a change. Take the channel first, then read the feed,
// and then wait, so that no change between reading and waiting is missed.
func (s *Service) Changed() <-chan struct{} { return s.db.Changed(librarySpaces) }

// AllOutbox yields the entries of a library's feed from in.After up to its end. An error is the last pair. Like Outbox, it
// is for a program that acts for the operator of the store.
func (s *Service) AllOutbox(ctx context.Context, lib Library, in ChangesRequest) iter.Seq2[Event, error] {
	return paging.Sparse(in.After, func(after string) ([]Event, string, error) {
		in.After = after
		page, err := s.Outbox(ctx, lib, in)
		if !page.More {
			page.Next = ""
		}
		return page.Changes, page.Next, err
	})
}

// FollowOutbox yields the entries of a library's feed as Outbox returns them, and waits for more. It ends with an error as
// its last pair: one of Outbox, or that of ctx when ctx is done.
func (s *Service) FollowOutbox(ctx context.Context, lib Library, in ChangesRequest) iter.Seq2[Event, error] {
	return s.follow(ctx, in, func(in ChangesRequest) (ChangesPage, error) { return s.Outbox(ctx, lib, in) })
}

// follow yields the entries of page after page, and waits for more.
func (s *Service) follow(ctx context.Context, in ChangesRequest, page func(ChangesRequest) (ChangesPage, error)) iter.Seq2[Event, error] {
	changed := func(after string) (string, <-chan struct{}) { return after, s.Changed() }
	return feed.Follow(ctx, in.After, changed, func(after string) ([]Event, string, bool, error) {
		in.After = after
		p, err := page(in)
		return p.Changes, p.Next, p.More, err
	})
}

// Outbox is Changes for a program that delivers changes for the operator of the store, such as
// adapters/webhook. It asks for no rights, and returns an empty page of a library that does not
// exist. Its pages end at 256 KiB, whatever Limits.PageBytes is.
func (s *Service) Outbox(ctx context.Context, lib Library, in ChangesRequest) (ChangesPage, error) {
	var out ChangesPage
	err := s.identify(ctx)
	if err == nil {
		err = s.db.View(ctx, func(r storage.Reader) error {
			of, err := openRecords(ctx, lib, s.segments, r, nil)
			if err == nil {
				out, err = s.feedPage(of, in, outboxBytes)
			}
			return err
		})
	}
	return out, err
}

const (
	// outboxBytes is the size in bytes of JSON at which a page of Outbox ends. The page stays in memory until the receiver
	// of the changes responds.
	outboxBytes = 256 << 10
	// eventFactor is how much memory an event takes while a response is made, as a multiple of its
	// JSON: as ids, as JSON and as a part of the response.
	eventFactor = 4
)

// feedPage returns a page of the feed. It ends at in.Limit, at this number of bytes of JSON, or
// where memreserve has no memory for more, but never before its first entry.
func (s *Service) feedPage(r *records, in ChangesRequest, bytes int) (ChangesPage, error) {
	limit, err := s.pageLimit(in.Limit, 100)
	if err != nil {
		return ChangesPage{}, err
	}
	kept, err := r.feed().State(r.ctx, r.r) // which entries are kept, and the key of the cursors
	if err != nil {
		return ChangesPage{}, err
	}
	// Entries name assets by their ordinals. Callers get ids, made with the library's key.
	out := ChangesPage{Changes: []Event{}}
	ids, size := newIDCipher(r.state.Key), 0
	cursors := feed.NewSeal(kept, fmt.Sprintf("assets %q %q", r.lib.Network, r.lib.ID))
	out.Next, out.More, err = feed.Walk(cursors, kept, in.After, maxScanned,
		func(p feed.Position, limit int) iter.Seq2[feed.Entry, error] {
			return r.feed().Entries(r.ctx, r.r, p, limit)
		},
		func(e feed.Entry, cursor func() string) (full bool, err error) {
			event, err := readChanges(e, ids)
			if err != nil {
				return false, fmt.Errorf("at %v: %w", e.Position, err)
			}
			if err := memreserve.Reserve(r.ctx, eventFactor*event.size()); err != nil {
				if len(out.Changes) > 0 {
					err = feed.ErrFull // end the page before this entry
				}
				return false, err
			}
			// The page ends with this entry if that makes it full.
			event.Cursor = cursor()
			out.Changes = append(out.Changes, event)
			size += event.size()
			return len(out.Changes) == limit || size >= bytes, nil
		})
	switch {
	case errors.Is(err, feed.ErrForeign):
		err = invalid("after", "%s", err)
	case errors.Is(err, feed.ErrGone):
		err = newError(vitrine.ErrGone, vitrine.CodeGone, "after", "%s", err)
	}
	if err != nil {
		return ChangesPage{}, err
	}
	return out, nil
}

// addToFeed adds the entry of what the request has changed to the feed, in the transaction of the
// request. A request that has changed nothing has no entry. One in removeEach calls also removes
// old entries.
func (req *request) addToFeed() error {
	if len(req.changes.assets)+len(req.changes.folders) == 0 {
		return nil
	}
	// The entry has the URN of the caller, and the time of this service's clock.
	now := req.now().UnixMilli()
	if err := req.feed().Add(req.ctx, req.tx, req.changes.entry(req.URN, now)); err != nil {
		return err
	}
	if req.keepChanges < 0 || req.writes.Add(1)%removeEach != 1 {
		return nil
	}
	return req.feed().Remove(req.ctx, req.tx, now-req.keepChanges.Milliseconds(), removeMost)
}
