package assets

import (
	"context"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/paging"
	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/storage"
)

// A library has a feed of changes with an entry for every request that changed something in it,
// written in the transaction of the change. So an entry is there if and only if the change is. The
// feed is for moderators of the network, who see everything in the library: an entry names assets
// and folders without regard to who may see them.

// Changes returns a page of the feed of changes of a library, in the order in which the changes
// were committed. It does not wait for changes: at the end of the feed, it returns an empty page.
// Whoever goes on from Next misses no change and meets none twice. A page also ends
// before the entry that would bring it above Limits.PageBytes.
//
// It returns ErrForbidden unless the caller moderates the network; ErrInvalid if After is not a
// cursor of this feed or Limit is out of range; and ErrGone if entries after the cursor were
// removed, or if the feed has another identity, as after a restore from a backup. A follower that
// gets ErrGone asks with vitrine.Now for a cursor, reads the whole library, and goes on from the cursor.
func (s *Session) Changes(
	ctx context.Context, lib Library, in vitrine.ChangesRequest,
) (vitrine.ChangesPage[Event], error) {
	s = s.calls("Changes")
	if err := s.service.feeds.Identify(ctx); err != nil {
		return vitrine.ChangesPage[Event]{}, err
	}
	return view(ctx, s, lib, func(req *request) (vitrine.ChangesPage[Event], error) {
		if !req.moderator {
			return vitrine.ChangesPage[Event]{},
				fault.Forbidden("the feed of changes of a library is for moderators of its network")
		}
		return s.service.feedPage(req.records, in, s.service.limits.PageBytes)
	})
}

// Follow yields the entries of the feed as Changes returns them, and waits for more. It ends only
// with an error, which is its last pair: one of Changes, or that of ctx when ctx is done. After a
// restart, a follower goes on with the Cursor of the last event that it has dealt with as in.After.
// A slow follower takes no memory for the entries that it has not read, and keeps no snapshot of the store.
func (s *Session) Follow(ctx context.Context, lib Library, in vitrine.ChangesRequest) iter.Seq2[Event, error] {
	changed := feed.Shared(s.service.Changed)
	return feed.Follow(ctx, in.After, changed, func(after string) (vitrine.ChangesPage[Event], error) {
		in.After = after
		return s.Changes(ctx, lib, in)
	})
}

// Changed returns a channel that is closed when the feed of some library may have new entries:
// within 10 ms after a change by this process, and within 500 ms after one by another process on
// the same store. It may be closed without a change. Take the channel first, then read the feed,
// and then wait, so that no change between reading and waiting is missed.
func (s *Service) Changed() <-chan struct{} { return s.made().db.Changed(librarySpaces) }

// Feed returns the outbox of a library for vitrine.Follow.
func (s *Service) Feed(lib Library) vitrine.Feed[Event] {
	read := func(ctx context.Context, in vitrine.ChangesRequest) (vitrine.ChangesPage[Event], error) {
		return s.Outbox(ctx, lib, in)
	}
	return vitrine.Feed[Event]{Read: read, Changed: s.Changed, Cursor: func(e Event) string { return e.Cursor }}
}

// Outbox is Changes for a program that delivers changes for the operator of the store, such as
// adapters/webhook. It asks for no rights, and returns an empty page of a library that does not
// exist. Its pages end at 256 KiB, whatever Limits.PageBytes is.
func (s *Service) Outbox(
	ctx context.Context, lib Library, in vitrine.ChangesRequest,
) (out vitrine.ChangesPage[Event], err error) {
	if err := s.made().feeds.Identify(ctx); err != nil {
		return out, err
	}
	err = s.made().db.View(ctx, func(r storage.Reader) error {
		of, err := openRecords(ctx, lib, s.segments, r, nil)
		if err == nil {
			out, err = s.feedPage(of, in, outboxBytes)
		}
		return err
	})
	return out, err
}

// outboxBytes is the size in bytes of JSON at which a page of Outbox ends. The page stays in memory until the receiver
// of the changes responds.
const outboxBytes = 256 << 10

// feedPage returns a page of the feed, of at most this number of bytes of JSON unless it has one entry.
func (s *Service) feedPage(r *records, in vitrine.ChangesRequest, bytes int) (vitrine.ChangesPage[Event], error) {
	limit, err := paging.Limit(in.Limit, 100, s.limits.Page)
	if err != nil {
		return vitrine.ChangesPage[Event]{}, err
	}
	// Entries name assets by their ordinals. Callers get ids, made with the library's key.
	ids, name := newIDCipher(r.state.Key), fmt.Sprintf("assets %q %q", r.lib.Network, r.lib.ID)
	return feed.Page(r.ctx, r.r, r.feed(), name, in.After, limit, bytes,
		func(e feed.Entry, cursor func() string) (Event, int, error) {
			event, err := readChanges(e, ids)
			event.Cursor = cursor()
			return event, event.size(), err
		})
}

// addToFeed adds the entry of what the request has changed to the feed, in the transaction of the
// request. A request that has changed nothing has no entry.
func (req *request) addToFeed() error {
	if len(req.changes.assets)+len(req.changes.folders) == 0 {
		return nil
	}
	// The entry has the caller, and the time of this service's clock.
	now := req.now().UnixMilli()
	return req.feeds.Add(req.ctx, req.tx, req.feed(), now, req.changes.entry(urn.Author(req.URN, req.Agent), now))
}
