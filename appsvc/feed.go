package appsvc

import (
	"context"
	"iter"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// The feed of changes has an entry for every change of apps, tags and components, written in the transaction of the
// change (a transactional outbox): so there is no change without an entry, and no entry of a change that was rolled
// back. A call that changes nothing adds no entry.
//
// All callers read the same entries but each sees only some of them: the changes of components, and those of the apps
// that it may read at the time of reading. Rights are checked when the feed is read, since they may have changed since
// the entry was written. The stored entry has the groups that an app has left, so that their readers learn that they
// must forget the app.

// feedName distinguishes the cursors of this feed from those of other feeds of the store.
const feedName = "apps"

// ChangesRequest asks for entries of the feed of changes. A program stores Next of the last page that it has handled,
// or the Cursor of the last event, and continues from there after a restart. A cursor does not depend on Types, AppID,
// Limit or the caller, so these may change.
type ChangesRequest struct {
	// a cursor: only entries after it; "" = from the oldest that is kept; vitrine.Now = only later entries
	After string
	Types []ChangeType // only these; nil = all
	AppID string       // only changes of this app; "" = all
	Limit int          // 1 to 500; 0 = 100
}

// Changes returns a page of the feed of changes. The changes of one app are in the order of their commits, and so are
// those of components. Changes does not wait for more. A caller that continues from Next sees each change exactly once.
// A caller sees no changes of an app that it may not read now, except that each removal of a group which the caller
// moderates or reads is an event of type AppLeft.
//
// It returns ErrGone if entries after the cursor were removed, or if the feed has another identity now, and ErrInvalid
// if After is not a cursor of this feed, if a type is unknown, or if Limit is out of range. A program that gets ErrGone
// asks for the cursor of vitrine.Now first, and then reads all apps again. A page reads at most 10,000 entries, so it
// may be empty although More is true.
func (s *Session) Changes(ctx context.Context, in ChangesRequest) (vitrine.ChangesPage[Event], error) {
	s = s.calls("Changes")
	wanted := typesOf(in.Types)
	if err := s.service.store.feeds.Identify(ctx); err != nil {
		return vitrine.ChangesPage[Event]{}, err
	}
	return view(ctx, s, func(r *reader) (none vitrine.ChangesPage[Event], err error) {
		limit, err := paging.Limit(in.Limit, 100, s.service.limits.Page)
		if err != nil {
			return none, err
		}
		for _, t := range in.Types {
			if !slices.Contains(allTypes, t) {
				return none, fault.Invalid("types", "there is no type %q: want some of %q", t, allTypes)
			}
		}
		v := viewer{r: r, by: s.by, heads: map[string]appHead{}}
		item := func(change storedChange, cursor func() string) (e Event, ok bool, err error) {
			if in.AppID != "" && change.AppID != in.AppID {
				return e, false, nil
			}
			// The type is compared after sees, which may have made the change an AppLeft.
			if e, ok, err = v.sees(ctx, change); err != nil || !ok || !slices.Contains(wanted, e.Type) {
				return e, false, err
			}
			e.Cursor = cursor()
			return e, true, nil
		}
		return feedPage(ctx, r, in.After, limit, item)
	})
}

// viewer decides which changes a caller sees, by the rights that it has in one snapshot. It reads the head of each app
// once.
type viewer struct {
	r     *reader
	by    vitrine.Caller
	heads map[string]appHead // the zero head for an app that does not exist
}

// sees returns the change as an event for the caller. ok is false if the caller does not see it. Everybody sees changes
// of components. Whoever may read every app of a release sees its changes. Whoever may read an app now sees its
// changes. Otherwise a change that removed the app from a group which the caller moderates or reads becomes AppLeft,
// with only the id of the app and the time.
func (v *viewer) sees(ctx context.Context, change storedChange) (event Event, ok bool, err error) {
	if change.Type == ReleaseChanged {
		rel, err := v.r.storedRelease(ctx, change.Release)
		if err == nil {
			ok, err = v.seesRelease(ctx, rel)
		}
		return change.Event, ok, ignore(err, vitrine.ErrNotFound)
	}
	if change.AppID == "" {
		return change.Event, true, nil
	}
	if change.Type == AppDeleted || change.Type == AppErased {
		ok = v.by.Owns(change.owner) || readsOneOf(v.by, change.groups)
		return Event{Type: change.Type, At: change.At, AppID: change.AppID}, ok, nil
	}
	head, err := v.head(ctx, change.AppID)
	switch {
	case err != nil:
		return Event{}, false, err
	case head.ID == "":
		return Event{}, false, nil
	case mayRead(v.by, head):
		change.Note, err = v.r.noteOf(ctx, change)
		return change.Event, err == nil, err
	case readsOneOf(v.by, change.left):
		return Event{Type: AppLeft, At: change.At, AppID: change.AppID}, true, nil
	}
	return Event{}, false, nil
}

// head returns the head of an app. If there is no such app, it returns the zero appHead.
func (v *viewer) head(ctx context.Context, app string) (h appHead, err error) {
	h, known := v.heads[app]
	if !known {
		if h, err = v.r.head(ctx, app); ignore(err, vitrine.ErrNotFound) != nil {
			return h, err
		}
		v.heads[app] = h
	}
	return h, nil
}

// Follow yields the entries of the feed as Changes returns them, and waits for more. It ends with an error as its last
// pair: the error of ctx when ctx is done. To resume, pass the Cursor of the last event that was handled as After. A
// cursor is gone with its entry, so a follower of rare Types asks for all types and stores the Cursor of each event.
// in.Limit is the number of entries that are read at a time.
//
// A slow follower costs nothing: neither entries nor a snapshot of the store are kept for it.
func (s *Session) Follow(ctx context.Context, in ChangesRequest) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		next, stop := s.service.Watch(s.by, in)
		defer stop()
		feed.Follow(ctx, in.After, next, func(after string) (vitrine.ChangesPage[Event], error) {
			in.After = after
			return s.Changes(ctx, in)
		})(yield)
	}
}

// Changed returns a channel that is closed when the feed may have new entries: within 10 ms after a change by this
// process, and within 500 ms after one by another process. It may be closed without a change. Take the channel, then
// read the feed, and then wait.
func (s *Service) Changed() <-chan struct{} { return s.made().store.changed() }

// OutboxEvent is a change with the groups of its app. Its type is that of the change, so it is never AppLeft.
type OutboxEvent struct {
	Event
	Groups []string // of the app, after the change; nil for components
	Left   []string // groups that the change took away from the app

	Apps [][]string // of a release: the groups of each of its apps
}

// Outbox returns a page of the feed with the changes of all apps. It takes no Caller: it is for programs that deliver
// changes for the operator of the store, such as adapters/webhook. Its cursors and errors are those of Changes.
func (s *Service) Outbox(
	ctx context.Context, in vitrine.ChangesRequest,
) (out vitrine.ChangesPage[OutboxEvent], err error) {
	limit, err := paging.Limit(in.Limit, 100, s.made().limits.Page)
	if err == nil {
		err = s.store.feeds.Identify(ctx)
	}
	if err != nil {
		return out, err
	}
	err = s.store.view(ctx, func(r *reader) (err error) {
		item := func(c storedChange, cursor func() string) (e OutboxEvent, _ bool, err error) {
			e = OutboxEvent{Event: c.Event, Groups: c.groups, Left: c.left}
			e.Cursor = cursor()
			if c.Type == ReleaseChanged {
				rel, err := r.storedRelease(ctx, c.Release)
				for _, app := range rel.Apps {
					e.Apps = append(e.Apps, app.Groups)
				}
				return e, true, err
			}
			e.Note, err = r.noteOf(ctx, c)
			return e, true, err
		}
		out, err = feedPage(ctx, r, in.After, limit, item)
		return err
	})
	return out, err
}

// Feed returns the outbox for vitrine.Follow.
func (s *Service) Feed() vitrine.Feed[OutboxEvent] {
	return vitrine.Feed[OutboxEvent]{Read: s.Outbox, Changed: s.Changed,
		Cursor: func(e OutboxEvent) string { return e.Cursor }}
}

// noteOf returns the note of the version of an entry. The feed does not contain notes, so that they are erased with the
// app.
func (r *reader) noteOf(ctx context.Context, change storedChange) (string, error) {
	if !change.noted {
		return "", nil
	}
	note, err := r.Value(ctx, records.NoteKey(change.AppID, change.Version.Number()))
	return string(note), err
}

// feedPage returns a page of the feed with what item returns for the entries after a cursor; ok is false for an entry
// that is left out. Encrypting a cursor takes time, so item gets a function that makes the cursor of its entry, and
// calls it only for entries that it returns.
//
// It returns ErrInvalid if the text is not a cursor of this feed, and ErrGone if the feed has another identity than the
// cursor, or if entries after the cursor were removed.
func feedPage[T any](
	ctx context.Context, r *reader, after string, limit int,
	item func(change storedChange, cursor func() string) (event T, ok bool, err error),
) (vitrine.ChangesPage[T], error) {
	return feed.Page(ctx, r.Reader, r.s.feed, feedName, after, limit, limit,
		func(e feed.Entry, cursor func() string) (event T, size int, err error) {
			change, err := decodeChange(e)
			if err != nil {
				return event, 0, err
			}
			event, ok, err := item(change, cursor)
			if ok {
				size = 1 // each counts alike, so that limit alone bounds the page
			}
			return event, size, err
		})
}
