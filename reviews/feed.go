package reviews

import (
	"context"
	"fmt"
	"iter"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/paging"
	"github.com/vitrine-go/vitrine/internal/rule"
	"github.com/vitrine-go/vitrine/storage"
)

// A network has a feed of changes with an entry for every transaction that changed something in it, written in the same
// transaction. So an entry is there if and only if the change is. An entry names collections and counts reviews. It has
// nothing of a review, so that what is erased does not stay in the feed.

// EventType is the type of every Event.
const EventType = "reviews.changed"

// Action is what has changed reviews.
type Action string

const (
	ActionImported Action = "imported" // Import
	ActionDeleted  Action = "deleted"  // Delete
)

// Event is an entry of the feed of changes of a network: what one transaction of Import or Delete has changed, written
// in the same transaction. A large import has several transactions. It names collections and counts reviews, and tells
// nothing of a single review or its author. The source and the id of a collection stay in the feed after it was erased,
// for Options.KeepChanges. In JSON it is
//
//	{"cursor": "…", "type": "reviews.changed", "at": 1700000000000, "by": {"urn": "urn:…"},
//	 "network": "example.test", "action": "imported",
//	 "collections": [{"source": "example.test", "id": "bGFtcA=="}], "collectionsTruncated": false,
//	 "created": 2, "updated": 0, "deleted": 0}
type Event struct {
	// goes into ChangesRequest.After, to read on after this entry; left out by adapters/webhook
	Cursor string `json:"cursor,omitzero"`
	At     int64  `json:"at"` // milliseconds since the epoch
	// URN of the caller; "" for an operator without one, and then left out of the JSON
	By      string `json:"by"`
	Network string `json:"network"`
	Action  Action `json:"action"`

	// Collections are those that were made, changed or deleted, or had a review that was. The list ends after 4 KiB of
	// sources and ids.
	Collections          []CollectionKey `json:"collections"`
	CollectionsTruncated bool            `json:"collectionsTruncated"` // there were more

	Created int64 `json:"created"` // how many reviews were created
	Updated int64 `json:"updated"`
	Deleted int64 `json:"deleted"`
}

// user is a user in JSON.
type user struct {
	URN string `json:"urn"`
}

// MarshalJSON writes the event as it is over HTTP.
func (e Event) MarshalJSON() ([]byte, error) {
	type members Event
	return json.Marshal(struct {
		Cursor string `json:"cursor,omitzero"`
		Type   string `json:"type"`
		At     int64  `json:"at"`
		By     user   `json:"by,omitzero"`
		members
	}{e.Cursor, EventType, e.At, user{e.By}, members(e)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Event) UnmarshalJSON(text []byte) error {
	type members Event
	in := struct {
		*members
		By user `json:"by"`
	}{members: (*members)(e)}
	err := json.Unmarshal(text, &in)
	e.By = in.By.URN
	return err
}

// maxNamed is the size in bytes of the sources and ids of an Event.
const maxNamed = 4 << 10

// change calls fn with the rows of a network in a transaction, and adds the event that fn returns to the feed if fn has
// changed a collection. fn sets the action and the counts of the event.
func (s *Session) change(
	ctx context.Context, network string, o storage.UpdateOptions, fn func(*rows) (Event, error),
) error {
	err := rule.Outside(ctx)
	if err == nil {
		err = s.service.feeds.Identify(ctx) // before the first change, so that a backup with it has the identity
	}
	if err != nil {
		return err
	}
	space := spaceOf(network)
	return s.service.db.Update(ctx, space, o, func(t storage.Tx) error {
		r := &rows{ctx: ctx, space: space, network: network, r: t, t: t}
		if s.service.check != nil {
			r.changes = map[CollectionKey]*Change{}
		}
		e, err := fn(r)
		if err != nil || len(r.changed) == 0 {
			return err
		}
		e.At, e.By, e.Network = s.service.now().UnixMilli(), s.by.URN, network
		e.Collections = []CollectionKey{}
		size := 0
		for _, key := range r.changed {
			if size += len(key.Source) + len(key.ID); size > maxNamed {
				e.CollectionsTruncated = true
				break
			}
			e.Collections = append(e.Collections, key)
		}
		if err := s.checkRule(r, e); err != nil {
			return err
		}
		data, err := json.Marshal(e)
		if err != nil {
			return err
		}
		return s.service.feeds.Add(ctx, t, feed.Feed{Space: space}, e.At, feed.Entry{At: e.At, Data: data})
	})
}

// ChangesRequest is the request of Changes and Follow.
type ChangesRequest struct {
	Network string // "" = the only one that the caller moderates
	// a cursor: only entries after it; "" = from the oldest that is kept; vitrine.Now = only later entries
	After string
	Limit int // 1 to Limits.Page, which is 500 by default; 0 = 100
}

// Changes returns a page of the feed of changes of a network, in the order in which the changes were committed. It does
// not wait for changes: at the end of the feed, it returns an empty page. Whoever goes on from Next misses no change
// and meets none twice. A page also ends before the entry that would bring it above Limits.PageBytes.
//
// Changes returns ErrForbidden unless the caller moderates the network as a whole or is an operator. It returns
// ErrInvalid if After is not a cursor of this feed, if Limit is out of range, and without a Network if the caller
// moderates several networks or is an operator. It returns ErrGone if entries after the cursor were removed, or if the
// feed has another identity, as in a copy of the store. A follower that gets ErrGone asks with vitrine.Now for a
// cursor, reads all that it needs, and goes on from the cursor.
func (s *Session) Changes(ctx context.Context, in ChangesRequest) (out vitrine.ChangesPage[Event], err error) {
	s = s.calls("Changes")
	network, err := s.network(in.Network)
	if err != nil {
		return out, err
	}
	return s.service.Outbox(ctx, network, vitrine.ChangesRequest{After: in.After, Limit: in.Limit})
}

// Outbox is Changes for a program of the operator, such as adapters/webhook: it asks for no rights.
func (s *Service) Outbox(
	ctx context.Context, network string, in vitrine.ChangesRequest,
) (out vitrine.ChangesPage[Event], err error) {
	limit, err := paging.Limit(in.Limit, 100, s.made().limits.Page)
	if err == nil {
		err = s.feeds.Identify(ctx)
	}
	if err != nil {
		return out, err
	}
	err = view(ctx, s.db, network, func(r *rows) error {
		out, err = feed.Page(ctx, r.r, feed.Feed{Space: r.space}, fmt.Sprintf("reviews %q", network), in.After,
			limit, s.limits.PageBytes,
			func(stored feed.Entry, cursor func() string) (e Event, size int, err error) {
				err = json.Unmarshal(stored.Data, &e)
				e.Cursor = cursor()
				return e, 150 + len(e.Cursor) + len(stored.Data), err
			})
		return err
	})
	return out, err
}

// Feed returns the outbox of a network for vitrine.Follow.
func (s *Service) Feed(network string) vitrine.Feed[Event] {
	read := func(ctx context.Context, in vitrine.ChangesRequest) (vitrine.ChangesPage[Event], error) {
		return s.Outbox(ctx, network, in)
	}
	return vitrine.Feed[Event]{Read: read, Changed: s.Changed, Cursor: func(e Event) string { return e.Cursor }}
}

// Follow yields the entries of the feed as Changes returns them, and waits for more. It ends with an error as its last
// pair: one of Changes, or that of ctx when ctx is done. To resume, pass the Cursor of the last event that was handled
// as After.
func (s *Session) Follow(ctx context.Context, in ChangesRequest) iter.Seq2[Event, error] {
	changed := feed.Shared(s.service.Changed)
	return feed.Follow(ctx, in.After, changed, func(after string) (vitrine.ChangesPage[Event], error) {
		in.After = after
		return s.Changes(ctx, in)
	})
}

// Changed returns a channel that is closed when the feed of some network may have new entries: within 10 ms after a
// change by this process, and within 500 ms after one by another process. It may be closed without a change. Take the
// channel, then read the feed, and then wait.
func (s *Service) Changed() <-chan struct{} { return s.made().db.Changed(networkSpaces) }

// ChangedNetworks returns the names of the networks that may have entries in their feeds: those of Networks, and those
// whose reviews were all erased. Like Networks it is for programs of the operator.
func (s *Service) ChangedNetworks(ctx context.Context) ([]string, error) {
	return s.networks(ctx, true)
}
