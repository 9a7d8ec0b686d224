package appsvc

import (
	"encoding/json"

	"github.com/vitrine-go/vitrine"
)

// A change has four forms. Change, in changehook.go, is what Options.Check sees, with content. record, in feedrecord.go, is
// what the feed keeps of it. An entry of package feed is a record as it is stored. Event is what a caller gets, with a cursor; viewer, in
// feed.go, decides which changes a caller sees, and as which events.

// Event is an entry of the feed of changes. Which fields are set depends on the type. In JSON the members are these, and
// those that do not apply are left out:
//
//	{"cursor", "type", "at", "by": {"urn"}, "app", "version", "note", "tag", "from", "to", "rollback", "release", "state", "component": {"name", "version"}}
type Event struct {
	Cursor string // goes into ChangesRequest.After, to read on after this entry
	Type   ChangeType
	At     int64  // milliseconds since the epoch
	By     string // URN of the caller who made the change; "" for AppLeft, AppDeleted and AppErased

	AppID   string          // of changes of apps and tags
	Version vitrine.Version // the new one, of AppCreated, AppUpdated and AppRestored; the latest one, of AppUndeleted
	Note    string          // of the new version; "" = none, or the app was erased

	// Tag is the tag of TagSet and TagDeleted, which pointed to From and points to To. From is zero for a tag that is
	// new, and To is zero for TagDeleted; in JSON they are null then.
	Tag      string
	From, To vitrine.Version
	Rollback bool   // the tag was rolled back
	Release  string // id of the release that moved the tag; "" = none. Of ReleaseChanged the id of the release

	State ReleaseState // of the release, of ReleaseChanged

	// Component is the new version of ComponentCreated. ComponentDeleted gives its Name alone.
	Component ComponentRef
}

// eventText is the JSON of an Event. A member that does not apply to the type is left out. From and To may also be null, for a tag that
// is new or deleted: then they point to nil.
type eventText struct {
	Cursor    string            `json:"cursor,omitzero"`
	Type      ChangeType        `json:"type"`
	At        int64             `json:"at"`
	By        *user             `json:"by,omitzero"`
	App       string            `json:"app,omitzero"`
	Version   *vitrine.Version  `json:"version,omitzero"`
	Note      string            `json:"note,omitzero"`
	Tag       string            `json:"tag,omitzero"`
	From      **vitrine.Version `json:"from,omitzero"`
	To        **vitrine.Version `json:"to,omitzero"`
	Rollback  bool              `json:"rollback,omitzero"`
	Release   string            `json:"release,omitzero"`
	State     ReleaseState      `json:"state,omitzero"`
	Component *componentText    `json:"component,omitzero"`
}

// user is a user in JSON.
type user struct {
	URN string `json:"urn"`
}

// componentText is a component in the JSON of an Event. ComponentDeleted has no version, since all are deleted.
type componentText struct {
	Name    string `json:"name"`
	Version string `json:"version,omitzero"`
}

// orNull returns what JSON has for a version where the zero Version is null, and orZero the version for that.
func orNull(v vitrine.Version) *vitrine.Version {
	if v.IsZero() {
		return nil
	}
	return &v
}

func orZero(v *vitrine.Version) vitrine.Version {
	if v == nil {
		return vitrine.Version{}
	}
	return *v
}

// MarshalJSON writes the members that apply to the type. Which these are shows in the fields: one with its zero value does not
// apply, except From and To, which apply if there is a Tag. An empty Cursor is left out too, as in the events that
// adapters/webhook sends.
func (e Event) MarshalJSON() ([]byte, error) {
	t := eventText{Cursor: e.Cursor, Type: e.Type, At: e.At, App: e.AppID, Version: orNull(e.Version), Note: e.Note, Tag: e.Tag, Rollback: e.Rollback, Release: e.Release, State: e.State}
	if e.By != "" {
		t.By = &user{e.By}
	}
	if from, to := orNull(e.From), orNull(e.To); e.Tag != "" {
		t.From, t.To = &from, &to
	}
	if e.Component.Name != "" {
		t.Component = &componentText{e.Component.Name, e.Component.Version}
	}
	return json.Marshal(t)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Event) UnmarshalJSON(text []byte) error {
	var from, to *vitrine.Version
	t := eventText{By: &user{}, From: &from, To: &to, Component: &componentText{}}
	by, component := t.By, t.Component
	err := json.Unmarshal(text, &t)
	*e = Event{t.Cursor, t.Type, t.At, by.URN, t.App, orZero(t.Version), t.Note, t.Tag, orZero(from), orZero(to), t.Rollback, t.Release, t.State, ComponentRef(*component)}
	return err
}
