package appsvc

import (
	"context"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/rule"
	"github.com/vitrine-go/vitrine/storage"
)

// ChangeType says what a Change does.
type ChangeType string

// The types of changes.
const (
	AppCreated       ChangeType = "app.created"       // a new app, version 0
	AppUpdated       ChangeType = "app.updated"       // a new version by a patch
	AppRestored      ChangeType = "app.restored"      // a new version with the content of an older one
	AppDeleted       ChangeType = "app.deleted"       // the app is absent until it comes back
	AppUndeleted     ChangeType = "app.undeleted"     // a deleted app is there again
	AppErased        ChangeType = "app.erased"        // a deleted app is removed for good
	TagSet           ChangeType = "tag.set"           // a tag is made, or moved to another version
	TagDeleted       ChangeType = "tag.deleted"       // a tag is removed
	ComponentCreated ChangeType = "component.created" // a new version of a component
	ComponentDeleted ChangeType = "component.deleted" // all versions of a component are removed

	// AppLeft is the type of an Event for callers who can no longer read an app, since groups were removed from it. No
	// Change has this type.
	AppLeft ChangeType = "app.left"

	// ReleaseChanged is the type of an Event for every change of a release. No Change has this type: the tags that a
	// release moves have Changes of their own.
	ReleaseChanged ChangeType = "release"

	// AppCommented is the type of an Event for every change of a comment and its replies, also for its removal. No
	// Change has this type.
	AppCommented ChangeType = "app.commented"
)

// Change describes a write to Options.Check before it is committed. Its slices belong to the service and
// must not be changed.
type Change struct {
	Type  ChangeType
	AppID string // "" for changes of components
	At    int64  // milliseconds since the epoch, as in the Event of the change

	// Before and After are the app's latest version, without its Body, before and after the change. Before is zero for
	// AppCreated and AppUndeleted, and After for AppDeleted and AppErased. For a change of a tag the two are equal.
	Before, After App

	// Old is the content of the app's latest version before the change; set for AppUpdated, AppRestored and AppDeleted
	// alone. New is the content of the new version, of the latest one for AppUndeleted, or, for TagSet, of the version
	// that the tag will point to, which may be an old one; nil for all other changes. Body.Content reads title, groups
	// and elements.
	Old, New Body

	// From and To are the versions between which the app's latest version, or the tag, moves. From is zero
	// for AppCreated and for a tag that is new; To is zero for TagDeleted.
	From, To vitrine.Version

	Note string // of the new version, or of the move of a tag; "" for none

	Restored vitrine.Version // the version whose content an AppRestored brings back
	// Tag is the name of the tag of TagSet and TagDeleted. AppDeleted takes all tags along, and AppUndeleted brings
	// them back, without a change for each.
	Tag      string
	Rollback bool   // a TagSet or TagDeleted rolls an earlier move back
	Release  string // id of the release that a TagSet or TagDeleted is of; "" = none

	// Component is the new version of ComponentCreated. ComponentDeleted gives its Name alone.
	Component Component

	tx storage.Tx // of the change, until Options.Check returns
}

// Rows returns a transaction in which a rule of the embedding program keeps rows of its own: it reads what earlier
// changes have written under the same name, and what it writes is committed with the change, or not at all. Keys are
// any bytes; together with the name they have up to 1,000. Prefer texts, and the hex digits of a hash for what may be
// longer. Use it until Options.Check returns.
//
// The rows are records of the store below "apps x/<name>/". To fill the rows of a rule that comes later, write them
// before the first Service with the rule is made, and to read them outside of Check, use the store:
//
//	err := db.Update(ctx, "apps", storage.UpdateOptions{}, func(tx storage.Tx) error {
//		return vitrine.Unique(ctx, storage.Sub(tx, "apps x/titles/"), app.ID, nil, []string{app.Title})
//	})
//	err = db.View(ctx, func(r storage.Reader) error {
//		for e, err := range r.Scan(ctx, storage.Prefix("apps x/titles/")) {
//			… // e.Key begins with the prefix
//		}
//	})
func (c Change) Rows(name string) storage.Tx {
	return rule.Rows(c.tx, records.Space, name)
}

// Tx returns the transaction of the change, for tables of the program's own: the functions SQL of storage/sqlite and
// storage/postgres give the SQL of it. Use it until Options.Check returns. The records of the domain in it are not part
// of the API.
func (c Change) Tx() storage.Tx { return c.tx }

// commitChange finishes a change that passed all other rules: it asks Options.Check, the rule of the embedding program,
// and writes the change into the feed. It is the last step of the transaction: other writers that change the same thing
// wait by then, so the order of the feed is the order of the commits. If it returns an error, the transaction is rolled
// back.
func (s *Session) commitChange(ctx context.Context, tx *writer, c Change) error {
	switch {
	case c.At != 0: // the time of the move of a tag
	case c.To != c.From: // the time of the new version
		c.At = c.After.UpdatedAt
	default:
		c.At = s.service.millis()
	}
	if err := s.allowed(ctx, tx, c); err != nil {
		return err
	}
	return s.service.store.feeds.Add(ctx, tx.tx, s.service.store.feed, s.service.millis(), feedEntry(s.by, c))
}

// allowed asks Options.Check.
func (s *Session) allowed(ctx context.Context, tx *writer, c Change) error {
	if s.service.check == nil {
		return nil
	}
	c.tx = tx.tx.Unwrap() // which keeps nothing that the rule may undo
	return rule.Ask(ctx, s.service.check, s.by, c)
}
