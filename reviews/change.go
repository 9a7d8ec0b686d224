package reviews

import (
	"encoding/json"

	"github.com/vitrine-go/vitrine/internal/rule"
	"github.com/vitrine-go/vitrine/storage"
)

// Change describes what a transaction of Import or Delete does to one collection, to Options.Check before it is
// committed. A large import has several transactions, and a collection of it is in one of them. What the Change points
// to belongs to the service and must not be changed.
type Change struct {
	Network    string
	Action     Action
	At         int64 // milliseconds since the epoch
	Collection CollectionKey

	// Before and After are the collection with its counts and means. Before is nil if the change creates it, and After
	// if the change deletes it.
	Before, After *CollectionRecord
	// Reviews are those that the change creates, replaces, erases, or gives another parent; none for a collection that
	// is deleted, with which all of its reviews go.
	Reviews []ReviewChange

	tx storage.Tx // of the change, until Options.Check returns
}

// ReviewChange is a review before and after a change: Before is nil for one that is new, and After for one that is
// erased.
type ReviewChange struct{ Before, After *ReviewRecord }

// Rows returns a transaction in which a rule of the embedding program keeps rows of its own, as those of
// appsvc.Change.Rows. They are records of the network: below "x/<name>/" in its space. Delete does not look into them.
func (c Change) Rows(name string) storage.Tx { return rule.Rows(c.tx, spaceOf(c.Network), name) }

// Tx returns the transaction of the change, for tables of the program's own: the functions SQL of storage/sqlite and
// storage/postgres give the SQL of it. Use it until Options.Check returns. The records of the domain in it are not part
// of the API.
func (c Change) Tx() storage.Tx { return c.tx }

// noted returns the Change of a collection, of which c is what it was before the transaction if this is the first call;
// nil without Options.Check.
func (s *rows) noted(c stored) (*Change, error) {
	change := s.changes[c.CollectionKey]
	if s.changes == nil || change != nil {
		return change, nil
	}
	change = &Change{Collection: c.CollectionKey}
	s.changes[c.CollectionKey] = change
	if c.Number == 0 {
		return change, nil
	}
	before, err := newCollectionRecord(c)
	change.Before = &before
	return change, err
}

// noteReview adds a review to the Change of its collection: the stored texts before and after, nil for none.
func (s *rows) noteReview(c stored, before, after []byte) error {
	change, err := s.noted(c)
	if change == nil || err != nil {
		return err
	}
	var out ReviewChange
	for to, text := range map[**ReviewRecord][]byte{&out.Before: before, &out.After: after} {
		if text != nil {
			*to = new(ReviewRecord)
			if err := json.Unmarshal(text, *to); err != nil {
				return err
			}
		}
	}
	change.Reviews = append(change.Reviews, out)
	return nil
}

// checkRule asks Options.Check about each collection that the transaction has changed.
func (s *Session) checkRule(r *rows, e Event) error {
	if s.service.check == nil {
		return nil
	}
	asked := map[CollectionKey]bool{}
	for _, key := range r.changed {
		if asked[key] {
			continue
		}
		asked[key] = true
		c := *r.changes[key]
		c.Network, c.Action, c.At, c.tx = e.Network, e.Action, e.At, r.t
		if err := rule.Ask(r.ctx, s.service.check, s.by, c); err != nil {
			return err
		}
	}
	return nil
}
