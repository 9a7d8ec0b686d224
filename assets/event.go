package assets

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// EventType is the type of every Event.
const EventType = "assets.changed"

// Event is an entry of the feed of changes: what one request has changed in a library. It says
// which assets and folders, and not how they were changed; read them to see how they are now. An
// asset that the request added and changed is in Added alone. In JSON, At is an ISO 8601 time, and
// the lists are never null:
//
//	{"cursor": "…", "type": "assets.changed", "at": "2026-01-31T09:30:00.000Z", "by": {"urn": "urn:…"},
//	 "added": ["…"], "changed": [], "removed": [], "folders": []}
//
// # Changes
//
// Every request that changed something in a library has an entry in the library's feed of changes,
// an [Event], written in the transaction of the change. Session.Changes returns a page of the feed,
// and Session.Follow also waits for further entries. Both are for moderators of the network. A
// follower that resumes from a cursor sees every later change exactly once. Cursors are encrypted
// and belong to the library. Entries are kept for at least Options.KeepChanges. A cursor is
// [vitrine.ErrGone] if an entry after it was removed, or if the feed has another identity by then, as after
// a restore from a backup. A store that was built from an archive (storage/archive) has new feeds,
// in which a cursor of the exported store is ErrGone too, and [vitrine.ErrInvalid] if v0.2.0 made the archive.
type Event struct {
	Cursor  string   // goes into vitrine.ChangesRequest.After, to read on after this entry
	At      int64    // milliseconds since the epoch
	By      string   // URN of the caller
	Agent   string   // the name of the caller's API key, if it is an agent's; in JSON only then
	Added   []string // ids of assets that were added
	Changed []string // ids of assets whose content, folders, tags, via, rights or attributes were changed
	Removed []string // ids of assets that were removed
	// ids of folders that were created, changed, moved, deleted or restored, or whose permissions were changed
	Folders []string
	// ids of files whose bytes were replaced or removed, so that a cache can forget them; in JSON only if there are any
	Files []string
}

// eventText is an Event in JSON.
type eventText struct {
	Cursor string `json:"cursor,omitempty"`
	Type   string `json:"type"`
	At     string `json:"at"`
	By     struct {
		URN string `json:"urn"`
	} `json:"by"`
	Agent   string   `json:"agent,omitempty"`
	Added   []string `json:"added"`
	Changed []string `json:"changed"`
	Removed []string `json:"removed"`
	Folders []string `json:"folders"`
	Files   []string `json:"files,omitempty"`
}

// MarshalJSON writes the event as it is over HTTP. An empty Cursor is left out.
func (e Event) MarshalJSON() ([]byte, error) {
	t := eventText{Cursor: e.Cursor, Type: EventType, At: string(appendTime(nil, e.At)), Agent: e.Agent, Added: e.Added,
		Changed: e.Changed, Removed: e.Removed, Folders: e.Folders, Files: e.Files}
	t.By.URN = e.By
	return json.Marshal(t)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Event) UnmarshalJSON(text []byte) error {
	var t eventText
	if err := json.Unmarshal(text, &t); err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339, t.At)
	if err != nil {
		return err
	}
	*e = Event{Cursor: t.Cursor, At: at.UnixMilli(), By: t.By.URN, Agent: t.Agent, Added: t.Added, Changed: t.Changed,
		Removed: t.Removed, Folders: t.Folders, Files: t.Files}
	return nil
}

// size estimates the bytes of the event in JSON, without building it.
func (e Event) size() int {
	n := 200
	for _, list := range [][]string{e.Added, e.Changed, e.Removed, e.Folders, e.Files} {
		for _, id := range list {
			n += len(id) + 3
		}
	}
	return n
}

// changeSet is what a request has changed so far. At the end of the request it becomes an entry of
// the feed. The zero value is empty.
type changeSet struct {
	assets  map[int64]byte // what became of an asset, by its ordinal: added, changed or removed
	folders []string       // ids
	files   []string       // ids of files whose bytes were replaced or removed

	before, after map[int64]assetRecord // the changed assets, by their ordinals; only with Options.Check
}

const (
	wasAdded = iota + 1
	wasChanged
	wasRemoved
)

// note records what happened to an asset. An asset that the request has added counts as added only. A request removes
// assets before it adds any, so it never removes one that it has added.
func (c *changeSet) note(ordinal int64, what byte) {
	if c.assets == nil {
		c.assets = map[int64]byte{}
	}
	if c.assets[ordinal] != wasAdded {
		c.assets[ordinal] = what
	}
}

// entry returns the changes as they are stored, at this time and by this caller, as urn.Author has it. Most
// requests change neighbouring assets, so an ordinal takes about one byte. All numbers are unsigned
// varints, as in package encoding/binary. Three lists of ordinals, of the added, changed and
// removed assets, are followed by the ids of folders and then by those of files up to the end:
//
//	the number of ordinals, the lowest ordinal, the difference to the next one, …
//	the same for the changed assets
//	the same for the removed assets
//	the length of an id, the id, the length of the next id, …
//	an empty id if there are files, and their ids likewise
func (c *changeSet) entry(by string, at int64) feed.Entry {
	e := feed.Entry{At: at, Names: []string{by}}
	var lists [3][]int64
	for _, ordinal := range slices.Sorted(maps.Keys(c.assets)) {
		what := c.assets[ordinal] - wasAdded
		lists[what] = append(lists[what], ordinal)
	}
	for _, list := range lists {
		e.Data = binary.AppendUvarint(e.Data, uint64(len(list)))
		last := int64(0)
		for _, ordinal := range list {
			e.Data = binary.AppendUvarint(e.Data, uint64(ordinal-last))
			last = ordinal
		}
	}
	for _, id := range unique(c.folders) {
		e.Data = keyval.AppendText(e.Data, id)
	}
	for i, id := range c.files {
		if i == 0 {
			e.Data = keyval.AppendText(e.Data, "")
		}
		e.Data = keyval.AppendText(e.Data, id)
	}
	return e
}

// errStoredEntry is the error of an entry that was not written by entry: the store is damaged, or another program wrote
// to it.
var errStoredEntry = errors.New("stored entry of the feed: not one that a service wrote")

// readChanges is the inverse of entry. ids makes the ids of the assets from their ordinals. It
// takes no more memory than the data can fill, so an entry with false numbers does no harm.
func readChanges(e feed.Entry, ids idCipher) (Event, error) {
	if len(e.Names) != 1 {
		return Event{}, errStoredEntry
	}
	out := Event{At: e.At, Folders: []string{}}
	out.By, out.Agent = urn.Split(e.Names[0])
	f, ok := keyval.Fields{Rest: e.Data}, true
	for _, list := range []*[]string{&out.Added, &out.Changed, &out.Removed} {
		*list = []string{}
		ordinal := int64(0)
		for n := f.Uint(); n > 0 && f.Err() == nil; n-- {
			gap := f.Uint()
			ok = ok && gap <= maxOrdinal
			ordinal += int64(gap)
			*list = append(*list, ids.encrypt(idKind, ordinal))
		}
	}
	list := &out.Folders
	for len(f.Rest) > 0 {
		if id := string(f.Text()); id != "" {
			*list = append(*list, id)
		} else {
			list = &out.Files
		}
	}
	if f.Err() != nil || !ok {
		return Event{}, errStoredEntry
	}
	return out, nil
}
