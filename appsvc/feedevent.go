package appsvc

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine"
)

// A change has four forms. Change, in changehook.go, is what Options.Check gets, with content. storedChange, in
// feedrecord.go, is what the feed stores of it, encoded as an entry of package feed. Event is what a caller gets, with
// a cursor; viewer, in feed.go, decides which changes a caller sees, and as which events.

// Event is an entry of the feed of changes. Which fields are set depends on the type. In JSON the members are these,
// and those that do not apply are left out:
//
//	{"cursor", "type", "at", "by": {"urn"}, "agent", "app", "version", "note", "tag", "from", "to", "rollback",
//	 "release", "state", "component": {"name", "version"}, "comment", "mentions": [URN]}
//
// # Feed of changes
//
// Every change has an entry in the feed of changes, an [Event], written in the transaction of the change. A call that
// changes nothing adds no entry, and neither does a repeat with an idempotency key. Session.Changes returns a page of
// the feed, and Session.Follow waits for what comes.
//
//   - A follower that resumes from a cursor sees every later change exactly once. The changes of one app come in the
//     order of their commits, and so do those of components.
//   - A caller sees the changes of components, and those of the apps that it may read at the time of reading. A change
//     that takes an app away from the caller is an event of type AppLeft. A caller that gains rights does not see the
//     changes before its cursor.
//   - Cursors are encrypted and belong to the store. Entries are kept for at least Options.KeepChanges, 30 days by
//     default, and later changes remove older ones. A cursor gives [vitrine.ErrGone] when an entry after it was
//     removed.
//   - A feed has an identity. Whoever restores a store from a backup must give the feed another one, by
//     storage.RenewIdentity; a copy made by Backup of storage/sqlite has another one already. Older cursors give
//     ErrGone then too. A store that was built from an archive (storage/archive) has a new feed, and no stored results
//     of idempotency keys. A cursor of the exported store is ErrGone there, and ErrInvalid if v0.2.0 made the archive.
type Event struct {
	// goes into ChangesRequest.After, to read on after this entry; left out by adapters/webhook
	Cursor string     `json:"cursor,omitzero"`
	Type   ChangeType `json:"type"`
	At     int64      `json:"at"` // milliseconds since the epoch
	// URN of the caller who made the change; "" for AppLeft, AppDeleted and AppErased
	By    string `json:"by"`
	Agent string `json:"agent,omitzero"` // the name of the caller's API key, if it is an agent's

	AppID string `json:"app,omitzero"` // of changes of apps and tags
	// the new one, of AppCreated, AppUpdated and AppRestored; the latest one, of AppUndeleted
	Version vitrine.Version `json:"version,omitzero"`
	Note    string          `json:"note,omitzero"` // of the new version; "" = none, or the app was erased

	// Tag is the tag of TagSet and TagDeleted, which pointed to From and points to To. From is zero for a tag that is
	// new, and To is zero for TagDeleted; in JSON they are null then. AppDeleted takes all tags of the app along, and
	// AppUndeleted brings them back, without an entry for each.
	Tag      string          `json:"tag,omitzero"`
	From     vitrine.Version `json:"from"`
	To       vitrine.Version `json:"to"`
	Rollback bool            `json:"rollback,omitzero"` // the tag was rolled back
	// id of the release that moved the tag; "" = none. Of ReleaseChanged the id of the release
	Release string `json:"release,omitzero"`

	State ReleaseState `json:"state,omitzero"` // of the release, of ReleaseChanged
	Ask   []string     `json:"ask,omitzero"`   // of ReleaseChanged: whom the change asks for the first time

	// Component is the new version of ComponentCreated. ComponentDeleted gives its Name alone.
	Component ComponentRef `json:"component,omitzero"`

	Comment  string   `json:"comment,omitzero"`  // id of the comment of AppCommented
	Mentions []string `json:"mentions,omitzero"` // of AppCommented: whom the change mentions for the first time
}

// user is a user in JSON.
type user struct {
	URN string `json:"urn"`
}

// usersAsURNs lets json.Unmarshal read a user into a string, as its URN.
var usersAsURNs = json.WithUnmarshalers(json.UnmarshalFromFunc(func(from *jsontext.Decoder, to *string) error {
	if from.PeekKind() != '{' {
		return errors.ErrUnsupported // it is an ordinary string
	}
	var u user
	err := json.UnmarshalDecode(from, &u)
	*to = u.URN
	return err
}))

// MarshalJSON writes the members that apply to the type. Which these are shows in the fields: one with its zero value
// does not apply, except From and To, which apply if there is a Tag.
func (e Event) MarshalJSON() ([]byte, error) {
	type members Event
	w := struct {
		Cursor string     `json:"cursor,omitzero"`
		Type   ChangeType `json:"type"`
		At     int64      `json:"at"`
		By     user       `json:"by,omitzero"`
		members
		From **vitrine.Version `json:"from,omitzero"` // nil is left out, and a zero Version is null
		To   **vitrine.Version `json:"to,omitzero"`
	}{Cursor: e.Cursor, Type: e.Type, At: e.At, By: user{e.By}, members: members(e)}
	if from, to := &e.From, &e.To; e.Tag != "" {
		w.From, w.To = &from, &to
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Event) UnmarshalJSON(text []byte) error {
	type members Event
	return json.Unmarshal(text, (*members)(e), usersAsURNs)
}
