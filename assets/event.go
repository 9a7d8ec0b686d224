package assets

import (
	"time"

	"github.com/go-json-experiment/json"
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
type Event struct {
	Cursor  string   // goes into ChangesRequest.After, to read on after this entry
	At      int64    // milliseconds since the epoch
	By      string   // URN of the caller
	Added   []string // ids of assets that were added
	Changed []string // ids of assets whose content, folders, tags, via, rights or attributes were changed
	Removed []string // ids of assets that were removed
	Folders []string // ids of folders that were created, changed, moved, deleted or restored, or whose permissions were changed
}

// eventText is an Event in JSON.
type eventText struct {
	Cursor string `json:"cursor,omitempty"`
	Type   string `json:"type"`
	At     string `json:"at"`
	By     struct {
		URN string `json:"urn"`
	} `json:"by"`
	Added   []string `json:"added"`
	Changed []string `json:"changed"`
	Removed []string `json:"removed"`
	Folders []string `json:"folders"`
}

// MarshalJSON writes the event as it is over HTTP. An empty Cursor is left out.
func (e Event) MarshalJSON() ([]byte, error) {
	t := eventText{Cursor: e.Cursor, Type: EventType, At: string(appendTime(nil, e.At)), Added: e.Added, Changed: e.Changed, Removed: e.Removed, Folders: e.Folders}
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
	*e = Event{Cursor: t.Cursor, At: at.UnixMilli(), By: t.By.URN, Added: t.Added, Changed: t.Changed, Removed: t.Removed, Folders: t.Folders}
	return nil
}

// size estimates the bytes of the event in JSON, without building it.
func (e Event) size() int {
	n := 200
	for _, list := range [][]string{e.Added, e.Changed, e.Removed, e.Folders} {
		for _, id := range list {
			n += len(id) + 3
		}
	}
	return n
}
