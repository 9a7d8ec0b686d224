package assets

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/memlimit"
)

// A library has a feed of changes with an entry for every request that changed something in it, written in the
// transaction of the change. It is for moderators of the network, who see everything in the library.

// Now, as ChangesRequest.After, begins with what comes after the call.
const Now = feed.Now

// EventType is the type of every Event.
const EventType = "assets.changed"

const (
	// keepChanges is how long entries are kept by default.
	keepChanges = 30 * 24 * time.Hour
	// looks is how many entries one page looks at.
	looks = 10_000
	// Every removeEach-th entry that a Service writes takes up to removeMost old ones of its library away.
	removeEach, removeMost = 64, 256
)

// Event is an entry of the feed of changes: what one request has changed. In JSON, At is an ISO 8601 time, and the
// lists are never null:
//
//	{"cursor", "type": "assets.changed", "at", "by": {"urn"}, "added", "changed", "removed", "folders"}
type Event struct {
	Cursor  string // goes into ChangesRequest.After, to read on after this entry
	At      int64  // milliseconds since the epoch
	By      string // URN of the caller
	Added   []string
	Changed []string // ids of assets
	Removed []string
	Folders []string // ids of folders that were created, changed or deleted, or whose permissions were changed
}

// eventText is an Event in JSON.
type eventText struct {
	Cursor  string    `json:"cursor,omitzero"`
	Type    string    `json:"type"`
	At      time.Time `json:"at"`
	By      userText  `json:"by"`
	Added   []string  `json:"added"`
	Changed []string  `json:"changed"`
	Removed []string  `json:"removed"`
	Folders []string  `json:"folders"`
}

type userText struct {
	URN string `json:"urn"`
}

// MarshalJSON writes the event. An empty Cursor is left out.
func (e Event) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	if e.Cursor != "" {
		b = append(appendString(append(b, `"cursor":`...), e.Cursor), ',')
	}
	b = append(b, `"type":"`+EventType+`","at":"`...)
	b = append(appendTime(b, e.At), `","by":{"urn":`...)
	b = append(appendString(b, e.By), '}')
	for _, list := range []struct {
		name string
		ids  []string
	}{{"added", e.Added}, {"changed", e.Changed}, {"removed", e.Removed}, {"folders", e.Folders}} {
		b = append(append(append(b, `,"`...), list.name...), `":[`...)
		for i, id := range list.ids {
			b = appendString(appendComma(b, i), id)
		}
		b = append(b, ']')
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Event) UnmarshalJSON(text []byte) error {
	var t eventText
	if err := json.Unmarshal(text, &t); err != nil {
		return err
	}
	*e = Event{Cursor: t.Cursor, At: t.At.UnixMilli(), By: t.By.URN, Added: t.Added, Changed: t.Changed, Removed: t.Removed, Folders: t.Folders}
	return nil
}

// ChangesRequest asks for entries of the feed of changes of a library.
type ChangesRequest struct {
	After string // a cursor: only entries after it; "" = from the oldest that is kept; Now = what comes
	Limit int    // 1 to 500; 0 = 100
}

// ChangesPage is a page of the feed of changes.
type ChangesPage struct {
	Changes []Event `json:"changes"`
	Next    string  `json:"next"` // After of the next page; always a cursor, also if Changes is empty
	More    bool    `json:"more"` // the page ends before the end of the feed
}

// Changes returns a page of the feed of changes of a library, in the order in which the changes were committed. It waits
// for nothing. Whoever goes on from Next misses no change and meets none twice.
//
// It returns ErrForbidden unless the caller moderates the network, ErrGone if entries after the cursor were removed or if
// the feed has another identity now, and ErrInvalid if After is not a cursor of this feed or Limit is out of range. A page
// ends before its limit when it has reached Limits.PageBytes.
func (s *Service) Changes(ctx context.Context, by Caller, lib Library, in ChangesRequest) (ChangesPage, error) {
	var out ChangesPage
	err := s.view(ctx, by, lib, func(ss *request) (err error) {
		if !ss.moderator {
			return forbidden("", "the feed of changes of a library is for moderators of its network")
		}
		out, err = s.feedPage(ctx, ss.r, lib, ss.state, in, s.limits.PageBytes)
		return err
	})
	return out, err
}

// Follow yields the entries of the feed as Changes returns them, and waits for more. It ends with an error, which is
// the last pair: that of ctx when ctx is done. A follower goes on after the Cursor of the last event that it has dealt
// with. A follower that is slow holds neither memory for the entries that wait nor a snapshot of the store.
func (s *Service) Follow(ctx context.Context, by Caller, lib Library, in ChangesRequest) iter.Seq2[Event, error] {
	changed := func(after string) (string, <-chan struct{}) { return after, s.Changed() }
	return feed.Follow(ctx, in.After, changed, func(after string) ([]Event, string, bool, error) {
		in.After = after
		page, err := s.Changes(ctx, by, lib, in)
		return page.Changes, page.Next, page.More, err
	})
}

// Changed returns a channel that is closed when the feed of some library may have new entries: within 10 ms after a
// change of this process, and within 500 ms after one of another. It may be closed without a cause. Take the channel, then
// read the feed, and then wait.
func (s *Service) Changed() <-chan struct{} { return s.store.Changed() }

// Outbox is Changes for a program that delivers changes for the operator of the store, such as adapters/webhook: it asks for
// no rights. It returns an empty page of a library that does not exist.
func (s *Service) Outbox(ctx context.Context, lib Library, in ChangesRequest) (ChangesPage, error) {
	var out ChangesPage
	err := s.store.View(ctx, lib, func(r Reader) error {
		state, err := r.State(ctx)
		if err == nil {
			out, err = s.feedPage(ctx, r, lib, state, in, outboxBytes)
		}
		return err
	})
	return out, err
}

// Libraries yields every library that exists, for programs that act for the operator of the store. They are in the order
// of networks and then of ids, in bytes.
func (s *Service) Libraries(ctx context.Context) iter.Seq2[Library, error] {
	return s.store.Libraries(ctx)
}

const (
	// outboxBytes is where a page of the outbox ends, in bytes of JSON: it waits in memory while a receiver is away.
	outboxBytes = 256 << 10
	// eventFactor is how many times the bytes of its JSON an event takes on its way: as ids, as JSON and as an answer.
	eventFactor = 4
)

// feedPage returns a page of the feed. It ends at so many bytes of JSON, and where there is no memory for more, but never
// before its first entry.
func (s *Service) feedPage(ctx context.Context, r Reader, lib Library, state State, in ChangesRequest, bytes int) (ChangesPage, error) {
	limit := in.Limit
	if limit == 0 {
		limit = min(100, s.limits.Page)
	}
	if limit < 0 || limit > s.limits.Page {
		return ChangesPage{}, invalid("limit", "want 1 to %d", s.limits.Page)
	}
	kept, err := r.Feed(ctx)
	if err != nil {
		return ChangesPage{}, err
	}
	out := ChangesPage{Changes: []Event{}}
	ids, size := newSeal(state.Key), 0
	cursors := feed.NewSeal(kept, fmt.Sprintf("assets %q %q", lib.Network, lib.ID))
	out.Next, out.More, err = feed.Walk(cursors, kept, in.After, looks,
		func(p feed.Position, limit int) iter.Seq2[feed.Entry, error] { return r.Entries(ctx, p, limit) },
		func(e feed.Entry, cursor func() string) (full bool, err error) {
			event, err := readChanges(e, ids)
			if err != nil {
				return false, fmt.Errorf("at %v: %w", e.Position, err)
			}
			if err := memlimit.Reserve(ctx, eventFactor*event.size()); err != nil {
				if len(out.Changes) > 0 {
					err = feed.ErrFull
				}
				return false, err
			}
			event.Cursor = cursor()
			out.Changes = append(out.Changes, event)
			size += event.size()
			return len(out.Changes) == limit || size >= bytes, nil
		})
	switch {
	case errors.Is(err, feed.ErrForeign):
		err = invalid("after", "%s", err)
	case errors.Is(err, feed.ErrGone):
		err = newError(ErrGone, CodeGone, "after", "%s", err)
	}
	if err != nil {
		return ChangesPage{}, err
	}
	return out, nil
}

// size estimates the bytes of the event in JSON.
func (e Event) size() int {
	n := 200
	for _, list := range [][]string{e.Added, e.Changed, e.Removed, e.Folders} {
		for _, id := range list {
			n += len(id) + 3
		}
	}
	return n
}

// changeSet is what a request has changed so far.
type changeSet struct {
	added, changed, removed map[int64]bool // ordinals of assets
	folders                 []string       // ids
}

func (c *changeSet) empty() bool {
	return len(c.added)+len(c.changed)+len(c.removed)+len(c.folders) == 0
}

// add notes that an asset was added.
func (c *changeSet) add(ordinal int64) { note(&c.added, ordinal) }

// put notes that an asset was stored; a new one counts as added alone.
func (c *changeSet) put(ordinal int64) {
	if !c.added[ordinal] {
		note(&c.changed, ordinal)
	}
}

// remove notes that an asset was removed.
func (c *changeSet) remove(ordinal int64) {
	delete(c.changed, ordinal)
	note(&c.removed, ordinal)
}

func note(set *map[int64]bool, ordinal int64) {
	if *set == nil {
		*set = map[int64]bool{}
	}
	(*set)[ordinal] = true
}

// entry returns the changes as they are stored: the number of the ordinals of each kind, and the differences between
// them in ascending order, and then the ids of the folders, each with its length.
func (c *changeSet) entry(by string, at int64) FeedEntry {
	e := FeedEntry{At: at, Names: []string{by}}
	for _, set := range []map[int64]bool{c.added, c.changed, c.removed} {
		e.Data = binary.AppendUvarint(e.Data, uint64(len(set)))
		last := int64(0)
		for _, ordinal := range slices.Sorted(maps.Keys(set)) {
			e.Data = binary.AppendUvarint(e.Data, uint64(ordinal-last))
			last = ordinal
		}
	}
	for _, id := range unique(c.folders) {
		e.Data = append(binary.AppendUvarint(e.Data, uint64(len(id))), id...)
	}
	return e
}

var errStoredEntry = errors.New("stored entry of the feed: not one that a service wrote")

// readChanges reads what entry wrote. The seal makes the ids of the assets.
func readChanges(e FeedEntry, ids seal) (Event, error) {
	if len(e.Names) != 1 {
		return Event{}, errStoredEntry
	}
	out := Event{At: e.At, By: e.Names[0]}
	rest, ok := e.Data, true
	number := func() int64 {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > MaxOrdinal {
			ok, rest = false, nil
			return 0
		}
		rest = rest[size:]
		return int64(n)
	}
	for _, list := range []*[]string{&out.Added, &out.Changed, &out.Removed} {
		*list = []string{}
		ordinal := int64(0)
		for n := number(); n > 0 && ok; n-- {
			ordinal += number()
			*list = append(*list, ids.close(sealedID, ordinal))
		}
	}
	out.Folders = []string{}
	for len(rest) > 0 {
		n := number()
		if n > int64(len(rest)) {
			ok, n = false, 0
		}
		out.Folders = append(out.Folders, string(rest[:n]))
		rest = rest[n:]
	}
	if !ok {
		return Event{}, errStoredEntry
	}
	return out, nil
}

// addToFeed writes the entry of what the request has changed. Some calls also remove old entries.
func (ss *request) addToFeed() error {
	if ss.changes.empty() {
		return nil
	}
	now := ss.now().UnixMilli()
	if err := ss.tx.AddEntry(ss.ctx, ss.changes.entry(ss.URN, now)); err != nil {
		return err
	}
	if ss.keep < 0 || ss.writes.Add(1)%removeEach != 1 {
		return nil
	}
	return ss.tx.RemoveEntries(ss.ctx, now-ss.keep.Milliseconds(), removeMost)
}
