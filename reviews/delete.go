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

// DeleteRequest says what Delete erases. Network is required, and so is one of the others.
type DeleteRequest struct {
	Network    string
	Source     string // its collections, or those of the following that are in it
	Collection string // id of a collection; without Source the only one of the network with this id
	Review     string // id of a review of the Collection
	Author     string // the reviews with this author_id, in the Collection, the Source or the whole network
	Everything bool   // all reviews of the network; the others are "" then
}

// Deleted counts what Delete has erased.
type Deleted struct {
	Collections int64 `json:"collections"`
	Reviews     int64 `json:"reviews"`
	Replies     int64 `json:"replies"` // reviews that are left and replied to one that was erased
}

// maxErased is about how many collections, or reviews of an author, one transaction erases.
const maxErased = 1000

// Delete erases reviews, and collections with their reviews, for good: people have a right to it. Counts and means follow. What is
// erased comes back only when it is imported again. A collection whose last review is erased by Review or Author stays, without
// reviews. A reply to an erased review moves up: it replies to what the erased one replied to, if anything.
//
// It works in transactions of its own; after an error, what was erased before stays so, is counted, and the same request may go on.
// Looking for an Author reads every review of the Collection, the Source or the network.
//
// ErrForbidden unless the caller moderates the network as a whole; ErrNotFound if there is no such Collection or Review;
// ErrInvalid for a request without a Network, with nothing to erase or with members that exclude each other.
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
	e := eraser{ctx: ctx, store: s.store, in: in, hash: newHasher()}
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

// eraser carries out one request.
type eraser struct {
	ctx   context.Context
	store Store
	in    DeleteRequest
	hash  *hasher
	done  Deleted
}

// update runs fn in a transaction and counts what it has erased.
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

func (e *eraser) collection() error {
	return e.update(func(tx Tx, done *Deleted) error {
		c, err := collectionOf(e.ctx, tx, e.in.Source, e.in.Collection)
		if err != nil {
			return err
		}
		return done.collection(e.ctx, tx, c)
	})
}

// collections erases those of the source, or of the network.
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

// next returns so many collections of the source, or of the network, behind a key.
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

func (d *Deleted) collection(ctx context.Context, tx Tx, c Collection) error {
	counts, err := parseTally(c)
	if err != nil {
		return err
	}
	d.Collections++
	d.Reviews += counts.reviews
	return tx.DeleteCollection(ctx, c.Key)
}

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

// byAuthor is the reviews of an author in one collection.
type byAuthor struct {
	key Key
	ids []string
}

// author erases the reviews of an author. It looks for them without keeping others from writing, and erases them some
// collections at a time.
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

// authorOf erases the reviews of an author in one collection.
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

// find looks through the collections behind a key until some reviews are found. more says that it did not come to the end.
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
			if after = c.Key; len(ids) == 0 {
				continue
			}
			found = append(found, byAuthor{c.Key, ids})
			if count += len(ids); count >= maxErased {
				break
			}
		}
	}
	return found, after, true, nil
}

// findIn returns the ids of the author's reviews in a collection.
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

// isAuthors says whether a review is one of the author's.
func (e *eraser) isAuthors(data []byte) bool {
	if !bytes.Contains(data, []byte(`"author_id":`)) {
		return false // without decoding
	}
	var review struct {
		Author string `json:"author_id"`
	}
	return json.Unmarshal(data, &review) == nil && review.Author == e.in.Author
}

// eraseFound erases what find found, if it is still there.
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

// erase erases those of the reviews that are wanted, has replies to them move up, and returns how many it has erased.
func (e *eraser) erase(tx Tx, c Collection, ids []string, wanted func(data []byte) bool, done *Deleted) (int, error) {
	counts, err := parseTally(c)
	if err != nil {
		return 0, err
	}
	parents := map[string]string{} // of the erased reviews, "" for none
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

// replies returns the reviews that reply to an erased one and stay, as they are to be from now on.
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
		_, replies := erased[parent]
		if goes || parent == "" || !replies {
			continue
		}
		for replies {
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

// withParent returns the record of a review that replies to another one, or to none.
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
