package reviews

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/reviews/reviewstore"
)

// DeleteRequest is the request of Delete. Network is required, and at least one of the other members. These combinations are
// allowed, and what each erases:
//
//	Source                          the collections of the source
//	Collection [Source]             the collection
//	Collection, Review [Source]     one review
//	Author [Source] [Collection]    the reviews of the author, within the source or the collection if it is given
//	Everything                      the collections of the network
type DeleteRequest struct {
	Network    string
	Source     string // erase the collections of this source; with the members below, look for those in this source alone
	Collection string // erase the collection with this id; without Source, it must be the only one of the network
	Review     string // erase only the review of the Collection with this id
	Author     string // erase only the reviews with this author_id, in the Collection, the Source or the whole network
	Everything bool   // erase all reviews of the network; all members above except Network are "" then
}

// Deleted is the result of Delete: how much was erased.
type Deleted struct {
	Collections int64 `json:"collections"`
	Reviews     int64 `json:"reviews"`
	Replies     int64 `json:"replies"` // reviews that are left, and had replied to an erased one
}

// maxErased is about how many collections, or reviews of an author, one transaction erases. Other writers of the network may
// have to wait for a transaction, so it is bounded. The reviews of one collection are erased together, however many there are.
const maxErased = 1000

// Delete erases reviews, or collections with their reviews, for good, since people have a right to it. Counts and means are
// updated in the same transaction. What is erased comes back only if it is imported again. A collection whose last review is
// erased by Review or Author stays, without reviews. A reply to an erased review becomes a reply to the parent of that review,
// or is no reply any more if there is no parent.
//
// Delete uses several transactions if there is much to erase. After an error, what was erased before stays erased and is
// counted, and the same request can be made again. An Author is looked for in every review of the Collection, the Source or the
// network, which takes time in proportion to these reviews. A review that is imported meanwhile may be missed.
//
// Delete returns ErrForbidden unless the caller moderates the network as a whole, and ErrNotFound if there is no such
// Collection or Review. A Source without collections, an Author without reviews and an empty network are no error: the result
// is zero. Delete returns ErrInvalid for a request without a Network, with nothing to erase, or with members that exclude each
// other, and if several sources have the Collection and the request names none of them.
func (s *Service) Delete(ctx context.Context, by Caller, in DeleteRequest) (done Deleted, err error) {
	if in.Network == "" {
		return done, invalid("network", "name the network whose reviews are erased")
	}
	if err := s.Admit(by, in.Network); err != nil {
		return done, err
	}
	if err := in.check(); err != nil {
		return done, err
	}
	e := eraser{ctx: ctx, store: s.store, in: in}
	// The order matters: an Author may come with a Collection, and a Review always does.
	switch {
	case in.Author != "":
		err = e.author()
	case in.Review != "":
		err = e.review()
	case in.Collection != "":
		err = e.collection()
	default:
		err = e.collections()
	}
	return e.done, err
}

// check returns ErrInvalid unless the request says one thing to erase. A request with a Network alone is refused, so that a
// program that forgets to set the other members does not erase the network.
func (in DeleteRequest) check() error {
	parts := in.Source + in.Collection + in.Review + in.Author
	switch {
	case parts == "" && !in.Everything:
		return invalid("", "say what to erase: a source, a collection, a review, an author, or everything")
	case parts != "" && in.Everything:
		return invalid("", "everything leaves nothing to name: no source, collection, review or author")
	case in.Review != "" && in.Author != "":
		return invalid("author", "a review and an author exclude each other")
	case in.Review != "" && in.Collection == "":
		return invalid("collection", "the id of a review is one of its collection: name that too")
	}
	return nil
}

// eraser carries out one request. Each of its transactions erases whole collections, or reviews of some collections together with
// their part of the tally, so that counts and means are right between two transactions too.
type eraser struct {
	ctx   context.Context
	store Store
	in    DeleteRequest
	done  Deleted // what the transactions that were committed have erased
}

// update runs fn in a transaction, and adds what it has erased to the result once that is committed. The store may call fn
// again after a rollback, so each call counts from zero.
func (e *eraser) update(fn func(tx Tx, done *Deleted) error) error {
	var done Deleted
	err := e.store.Update(e.ctx, e.in.Network, func(tx Tx) error {
		done = Deleted{}
		return fn(tx, &done)
	})
	if err == nil {
		e.done.Collections += done.Collections
		e.done.Reviews += done.Reviews
		e.done.Replies += done.Replies
	}
	return err
}

// collection erases the collection of the request with its reviews, in one transaction. It returns ErrNotFound if there is none,
// and ErrInvalid if the request leaves the source out and several have the id.
func (e *eraser) collection() error {
	return e.update(func(tx Tx, done *Deleted) error {
		c, err := collectionOf(e.ctx, tx, e.in.Source, e.in.Collection)
		if err != nil {
			return err
		}
		return done.collection(e.ctx, tx, c)
	})
}

// collections erases the collections of the source, or of the network. Each transaction erases the first maxErased of those that
// are left, so it needs no cursor.
func (e *eraser) collections() error {
	for more := true; more; {
		err := e.update(func(tx Tx, done *Deleted) error {
			list, err := e.next(tx, Key{Source: e.in.Source}, maxErased)
			if err != nil {
				return err
			}
			for _, c := range list {
				if err := done.collection(e.ctx, tx, c); err != nil {
					return err
				}
			}
			more = len(list) == maxErased
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// next returns up to limit collections of the source, or of the network, after a key, by source and then by id. The key
// {Source, ""} stands before all collections of a source, since no id is empty.
func (e *eraser) next(r Reader, after Key, limit int) (list []Collection, err error) {
	for c, err := range r.CollectionsByKey(e.ctx, reviewstore.CollectionQuery{After: after, Limit: limit}) {
		if err != nil {
			return nil, err
		}
		if e.in.Source != "" && c.Source != e.in.Source {
			break
		}
		list = append(list, c)
	}
	return list, nil
}

// collection erases a collection with its reviews, and counts them. The number of reviews comes from the tally, so none is read.
func (d *Deleted) collection(ctx context.Context, tx Tx, c Collection) error {
	counts, err := parseTally(c)
	if err != nil {
		return err
	}
	d.Collections++
	d.Reviews += counts.reviews
	return tx.DeleteCollection(ctx, c.Key)
}

// review erases one review, and returns ErrNotFound if the collection has no such review.
func (e *eraser) review() error {
	return e.update(func(tx Tx, done *Deleted) error {
		c, err := collectionOf(e.ctx, tx, e.in.Source, e.in.Collection)
		if err != nil {
			return err
		}
		n, err := e.erase(tx, c, []string{e.in.Review}, func([]byte) bool { return true }, done)
		if err == nil && n == 0 {
			err = notFound("the collection %q of %q has no review %q", c.ID, c.Source, e.in.Review)
		}
		return err
	})
}

// byAuthor is the reviews of the author in one collection: their ids, as find has found them in a View.
type byAuthor struct {
	key Key
	ids []string
}

// author erases the reviews of an author. It looks for some of them in a View, which blocks no writer, erases these in an
// Update, and looks for more after the last collection that it has looked through. No index of authors is kept: every import
// would pay for it, and people are erased rarely.
func (e *eraser) author() error {
	after := Key{Source: e.in.Source}
	if e.in.Collection != "" {
		return e.authorOf()
	}
	for more := true; more; {
		var found []byAuthor
		err := e.store.View(e.ctx, e.in.Network, func(r Reader) (err error) {
			found, after, more, err = e.find(r, after)
			return err
		})
		if err == nil {
			err = e.eraseFound(found)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// authorOf erases the reviews of an author in the collection of the request, in one transaction. The collection must exist; that
// the author has no review in it is no error.
func (e *eraser) authorOf() error {
	var found []byAuthor
	err := e.store.View(e.ctx, e.in.Network, func(r Reader) error {
		c, err := collectionOf(e.ctx, r, e.in.Source, e.in.Collection)
		if err != nil {
			return err
		}
		ids, err := e.findIn(r, c.Key)
		found = []byAuthor{{c.Key, ids}}
		return err
	})
	if err != nil {
		return err
	}
	return e.eraseFound(found)
}

// find looks through the collections after a key until it has found about maxErased reviews. It returns them, the key of the
// last collection that it has looked through, and whether there may be more collections after that.
func (e *eraser) find(r Reader, after Key) (found []byAuthor, last Key, more bool, err error) {
	count := 0
	for count < maxErased {
		list, err := e.next(r, after, maxErased)
		if err != nil || len(list) == 0 {
			return found, after, false, err
		}
		for _, c := range list {
			ids, err := e.findIn(r, c.Key)
			if err != nil {
				return nil, after, false, err
			}
			after = c.Key
			if len(ids) == 0 {
				continue
			}
			found = append(found, byAuthor{c.Key, ids})
			count += len(ids)
			if count >= maxErased {
				break
			}
		}
	}
	return found, after, true, nil
}

// findIn returns the ids of the author's reviews in a collection. It reads all reviews of the collection.
func (e *eraser) findIn(r Reader, k Key) (ids []string, err error) {
	for review, err := range r.Reviews(e.ctx, k) {
		if err != nil {
			return nil, err
		}
		if e.isAuthors(review.Data) {
			ids = append(ids, review.ID)
		}
	}
	return ids, nil
}

// isAuthors returns whether a review is one of the author's: its author_id is that of the request, byte by byte. data is the
// record of the review. An imported_display_name is never compared, since it does not identify anybody.
func (e *eraser) isAuthors(data []byte) bool {
	if !bytes.Contains(data, []byte(`"author_id":`)) {
		return false // most reviews, without decoding
	}
	var review struct {
		Author string `json:"author_id"`
	}
	return json.Unmarshal(data, &review) == nil && review.Author == e.in.Author
}

// eraseFound erases the reviews that were found in a View, if they are still there and still the author's. What another
// transaction has erased since then is skipped.
func (e *eraser) eraseFound(found []byAuthor) error {
	if len(found) == 0 {
		return nil
	}
	return e.update(func(tx Tx, done *Deleted) error {
		for _, f := range found {
			if len(f.ids) == 0 {
				continue
			}
			c, err := tx.Collection(e.ctx, f.key)
			if errors.Is(err, ErrNotFound) {
				continue
			}
			if err == nil {
				_, err = e.erase(tx, c, f.ids, e.isAuthors, done)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// erase erases those of the reviews with these ids that are there and wanted, and returns how many. wanted gets the record of a
// review, and is asked inside the transaction, since an import may have replaced a review after it was found. Replies to the
// erased reviews get another parent, and the tally of the collection is written without the erased ones. All reviews of the
// collection are read for the replies, but only if something is erased. What was erased is added to done.
func (e *eraser) erase(tx Tx, c Collection, ids []string, wanted func(data []byte) bool, done *Deleted) (int, error) {
	counts, err := parseTally(c)
	if err != nil {
		return 0, err
	}
	// What is there and wanted leaves the tally.
	parents := map[string]string{} // the parent of each erased review; "" for none
	for review, err := range tx.ReviewsByID(e.ctx, c.Key, ids) {
		if err != nil {
			return 0, err
		}
		if !wanted(review.Data) {
			continue
		}
		if err := counts.remove(review.Data); err != nil {
			return 0, err
		}
		if parents[review.ID], err = parentOf(review.Data); err != nil {
			return 0, fmt.Errorf("reviews: stored review %q: %w", review.ID, err)
		}
	}
	if len(parents) == 0 {
		return 0, nil
	}
	// Then the rows are written: without the erased reviews, with the replies to them, and with the tally.
	replies, err := e.replies(tx, c.Key, parents)
	if err != nil {
		return 0, err
	}
	erased := make([]string, 0, len(parents))
	for id := range parents {
		erased = append(erased, id)
	}
	if err := tx.DeleteReviews(e.ctx, c.Key, erased); err != nil {
		return 0, err
	}
	if len(replies) > 0 {
		if err := tx.PutReviews(e.ctx, c.Key, replies); err != nil {
			return 0, err
		}
	}
	done.Reviews += int64(len(erased))
	done.Replies += int64(len(replies))
	return len(erased), tx.PutCollection(e.ctx, Collection{Key: c.Key, Fields: c.Fields, Tally: counts.encode()})
}

// replies returns the reviews that stay and reply to an erased one, each with another parent: the nearest of its ancestors that
// stays, or none. erased has the parent of each erased review. If 3 replies to 2 and 2 to 1, and 2 is erased, then 3 replies to
// 1; if 1 and 2 are erased, 3 is no reply any more. No import stores replies in a circle, so the search for an ancestor ends.
func (e *eraser) replies(tx Tx, k Key, erased map[string]string) (list []Review, err error) {
	for review, err := range tx.Reviews(e.ctx, k) {
		if err != nil {
			return nil, err
		}
		parent, err := parentOf(review.Data)
		if err != nil {
			return nil, fmt.Errorf("reviews: stored review %q: %w", review.ID, err)
		}
		_, goes := erased[review.ID]
		_, replies := erased[parent] // to an erased review
		if goes || parent == "" || !replies {
			continue
		}
		for replies { // up to an ancestor that stays; "" is no id
			parent = erased[parent]
			_, replies = erased[parent]
		}
		if review.Data, err = withParent(review.Data, parent); err != nil {
			return nil, fmt.Errorf("reviews: stored review %q: %w", review.ID, err)
		}
		list = append(list, Review{ID: strings.Clone(review.ID), Time: review.Time, Data: review.Data})
	}
	return list, nil
}

// withParent returns the record of a review with another parent_id, or without one if parent is "". All other members keep their
// text, and the result is in the stored form, see canonical.
func withParent(data []byte, parent string) ([]byte, error) {
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, err
	}
	delete(members, "parent_id")
	if parent != "" {
		text, err := jsontext.AppendQuote(nil, parent)
		if err != nil {
			return nil, err
		}
		members["parent_id"] = text
	}
	out, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	return canonical(out), nil
}
