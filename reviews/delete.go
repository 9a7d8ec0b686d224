package reviews

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// DeleteRequest is the request of Delete. Network is required, and at least one of the other members. These
// combinations are allowed, and what each erases:
//
//	Source                          the collections of the source
//	Collection [Source]             the collection
//	Collection, Review [Source]     one review
//	Author [Source] [Collection]    the reviews of the author, within the source or the collection if it is given
//	Email [Source] [Collection]     likewise, the reviews with this address
//	Everything                      the collections of the network
type DeleteRequest struct {
	Network string // the network whose reviews are erased

	// Source erases the collections of this source. With Collection, Review, Author or Email, only this source is
	// searched for them.
	Source string
	// Collection erases the collection with this id. Without Source, only one source of the network may have this id.
	Collection string
	// Review erases only the review with this id, in the Collection.
	Review string
	// Author erases only the reviews with this author_id, in the Collection, the Source or the whole network.
	Author string
	// Email erases only the reviews with this imported_email, in the Collection, the Source or the whole network. Upper
	// and lower case do not differ. With Author too, a review is erased that has one of the two.
	Email string
	// Everything erases all collections of the network. Source, Collection, Review, Author and Email are "" then.
	Everything bool

	// DryRun erases nothing. The result says what Delete would erase.
	DryRun bool
}

// Deleted is the result of Delete: how much was erased, or would be in a dry run.
type Deleted struct {
	Collections int64 `json:"collections"`
	Reviews     int64 `json:"reviews"`
	Replies     int64 `json:"replies"` // remaining reviews that had replied to an erased one
}

// maxErased limits what one transaction erases, since other writers of the network may have to wait for it: that many
// whole collections or, of an author, that many reviews, counted after each collection. The reviews of one collection
// are always erased together.
const maxErased = 1000

// ErrCopies means that Delete has erased everything, but that copies of it are left in a file of the store. The error
// also wraps the reason, such as ErrBusy. The same request removes the copies later.
var ErrCopies = errors.New("it is erased, but copies are left in the files of the store")

// Delete permanently erases reviews, or collections with their reviews. Counts and means are updated in the same
// transaction. Erased reviews come back only if they are imported again, which an import that runs at the same time may
// do; a backup or an export that was made before still has them. A collection whose last review is erased by Review,
// Author or Email stays, without reviews. A reply to an erased review becomes a reply to the parent of that review;
// without a parent, it stops being a reply.
//
// Delete uses several transactions if there is much to erase. After an error, the committed ones stay and are counted,
// and the same request can be repeated. Author and Email are compared with every review of the Collection, the Source
// or the network, which takes time in proportion to their number. A review that is imported meanwhile may be missed.
//
// When Delete returns nil, no file of the store contains a byte of what was erased, nor of its earlier versions. (In
// PostgreSQL, erased rows may stay in the files until vacuum has removed them, and parts of their bytes until VACUUM
// FULL.) Only the sources and ids of collections stay in the feed of changes. It returns ErrCopies if everything is
// erased but copies remain in a file: in SQLite, if a reader uses its log for a minute. Repeating the request removes
// them, though it finds nothing else to erase.
//
// Delete returns ErrForbidden unless the caller moderates the network as a whole or is an operator, and ErrNotFound if
// there is nothing to erase: no such Collection or Review, a Source without collections, an Author or an Email without
// reviews, an empty network. It returns ErrInvalid if the request has no Network, does not say what to erase, or has
// members that exclude each other, and if several sources have the Collection and the request names none of them.
func (s *Session) Delete(ctx context.Context, in DeleteRequest) (done Deleted, err error) {
	if in.Network == "" {
		return done, fault.Invalid("network", "name the network whose reviews are erased")
	}
	// The rights are checked first: a caller without them gets that error, whatever the request says.
	if err := s.mayUse(in.Network); err != nil {
		return done, err
	}
	if err := in.check(); err != nil {
		return done, err
	}
	e := eraser{ctx: ctx, service: s.service, by: s.by, in: in}
	err = e.run()
	if err == nil && e.done == (Deleted{}) {
		err = fault.NotFound("there is nothing to erase in the network %q", in.Network)
	}
	// After ErrNotFound too: an earlier request may have erased everything and left copies.
	if (err == nil || errors.Is(err, vitrine.ErrNotFound)) && !in.DryRun {
		if left := scrub(ctx, s.service.db); left != nil {
			err = fmt.Errorf("%w: %w", ErrCopies, left)
		}
	}
	return e.done, err
}

// check returns ErrInvalid unless the request says exactly one thing to erase. A request with only a Network is
// rejected, so that a program that forgets to set the other members does not erase the network.
func (in DeleteRequest) check() error {
	parts := in.Source + in.Collection + in.Review + in.Author + in.Email
	switch {
	case parts == "" && !in.Everything:
		return fault.Invalid("",
			"say what to erase: a source, a collection, a review, an author, an e-mail address, or everything")
	case parts != "" && in.Everything:
		return fault.Invalid("",
			"everything names all there is: leave out source, collection, review, author and email, or leave out "+
				"everything")
	case in.Review != "" && in.Author != "":
		return fault.Invalid("author", "a review and an author exclude each other")
	case in.Review != "" && in.Email != "":
		return fault.Invalid("email", "a review and an e-mail address exclude each other")
	case in.Review != "" && in.Collection == "":
		return fault.Invalid("collection",
			"review needs collection, since the id of a review is unique in its collection alone")
	}
	return nil
}

// eraser carries out one request. Each of its transactions erases whole collections, or reviews of some collections
// together with their share of the tally, so that counts and means are right between two transactions too.
type eraser struct {
	ctx     context.Context
	service *Service
	by      vitrine.Caller
	in      DeleteRequest
	done    Deleted // what the committed transactions have erased
}

// target is what to erase in a collection.
type target struct {
	key CollectionKey
	ids []string // of reviews; nil for the collection as a whole
}

// run repeats two steps: find targets in a View, which blocks no writer, and erase them in an Update. There is no index
// of people: every import would pay for it, and people are erased rarely.
func (e *eraser) run() error {
	after := CollectionKey{}
	for more := true; more; {
		var found []target
		err := view(e.ctx, e.service.db, e.in.Network, func(s *rows) (err error) {
			found, more, err = e.find(s, after)
			return err
		})
		if err != nil || len(found) == 0 {
			return err
		}
		if err := e.erase(found); err != nil {
			return err
		}
		after = found[len(found)-1].key
	}
	return nil
}

// find searches the collection of the request, or those of its source or of the network after a key, until it has found
// at least maxErased collections or reviews to erase. It returns them, and whether there may be more after the last of
// them.
func (e *eraser) find(s *rows, after CollectionKey) (found []target, more bool, err error) {
	list := s.byKey(e.in.Source, after, maxErased)
	if e.in.Collection != "" {
		list = func(yield func(stored, error) bool) { yield(collectionOf(s, e.in.Source, e.in.Collection)) }
	}
	count := 0
	for c, err := range list {
		if err != nil {
			return nil, false, err
		}
		t := target{key: c.CollectionKey}
		switch {
		case e.in.Review != "":
			t.ids = []string{e.in.Review}
		case e.in.Author != "" || e.in.Email != "":
			for review, err := range s.byTime(c, nil, 0) {
				if err != nil {
					return nil, false, err
				}
				if e.wants(review.Data) {
					t.ids = append(t.ids, review.ID)
				}
			}
			if t.ids == nil {
				continue
			}
		}
		found = append(found, t)
		if count += max(1, len(t.ids)); count >= maxErased {
			return found, e.in.Collection == "", nil
		}
	}
	return found, false, nil
}

// wants returns whether the request erases a review: the review has the requested id, or the author_id, byte by byte,
// or the imported_email, ignoring case. data is the record of the review. imported_display_name is never compared,
// since it does not identify anybody.
func (e *eraser) wants(data []byte) bool {
	if e.in.Review != "" {
		return true
	}
	author, email := e.in.Author != "" && bytes.Contains(data, []byte(`"author_id":`)), e.in.Email != "" &&
		bytes.Contains(data, []byte(`"imported_email":`))
	if !author && !email {
		return false // skip decoding for most reviews
	}
	var review struct {
		Author string `json:"author_id"`
		Email  string `json:"imported_email"`
	}
	if json.Unmarshal(data, &review) != nil {
		return false
	}
	return author && review.Author == e.in.Author || email && strings.EqualFold(review.Email, e.in.Email)
}

// erase erases in one transaction those targets that still exist. In a dry run it only counts.
func (e *eraser) erase(found []target) (err error) {
	var done Deleted
	fn := func(s *rows) error {
		done = Deleted{} // the store may call the function again
		for _, t := range found {
			c, err := s.existing(t.key)
			if errors.Is(err, vitrine.ErrNotFound) {
				continue
			}
			if err == nil {
				_, err = s.noted(c)
			}
			switch {
			case err != nil:
			case t.ids != nil:
				err = e.reviews(s, c, t.ids, &done)
			default: // the tally has the number of reviews, so none is read
				done.Collections++
				done.Reviews += c.Tally.Reviews
				if s.t != nil {
					err = s.deleteCollection(c)
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if e.in.DryRun {
		err = view(e.ctx, e.service.db, e.in.Network, fn)
	} else {
		err = e.service.As(e.by).change(e.ctx, e.in.Network, storage.UpdateOptions{Large: true},
			func(s *rows) (Event, error) {
				err := fn(s)
				return Event{Action: ActionDeleted, Deleted: done.Reviews}, err
			})
	}
	if err == nil {
		e.done.Collections += done.Collections
		e.done.Reviews += done.Reviews
		e.done.Replies += done.Replies
	}
	return err
}

// reviews erases those of the reviews with these ids that still exist and match the request, since an import may have
// replaced a review after it was found. Replies to the erased reviews get another parent, and the tally of the
// collection is stored without the erased reviews.
func (e *eraser) reviews(s *rows, c stored, ids []string, done *Deleted) error {
	parents := map[string]string{} // the parent of each erased review; "" for none
	var erased []row
	for review, err := range s.byID(c, ids) {
		if err != nil {
			return err
		}
		if !e.wants(review.Data) {
			continue
		}
		if err := c.Tally.subtract(review.Data); err != nil {
			return err
		}
		if parents[review.ID], err = parentOf(review.Data); err != nil {
			return err
		}
		if s.changes != nil {
			review.old = review.Data
		}
		review.Data = nil
		erased = append(erased, review)
	}
	if len(erased) == 0 {
		if e.in.Review != "" {
			return fault.NotFound("the collection %q of %q has no review %q", c.ID, c.Source, e.in.Review)
		}
		return nil
	}
	replies, err := e.reparent(s, c, parents)
	if err != nil {
		return err
	}
	done.Reviews += int64(len(erased))
	done.Replies += replies
	if s.t == nil {
		return nil
	}
	if err := s.deleteReviews(c, erased); err != nil {
		return err
	}
	return s.putCollection(c)
}

// reparent gives each remaining reply to an erased review another parent: its nearest ancestor that remains, or none.
// It returns the number of these replies. erased has the parent of each erased review. If 3 replies to 2 and 2 to 1,
// and 2 is erased, then 3 replies to 1; if 1 and 2 are erased, 3 is no reply any more.
func (e *eraser) reparent(s *rows, c stored, erased map[string]string) (count int64, err error) {
	list, err := s.list(c)
	if err != nil {
		return 0, err
	}
	gone := map[string]bool{} // in the form that list has
	for id := range erased {
		gone[keyval.Part(id)] = true
	}
	replies := slices.DeleteFunc(list, func(l listed) bool { return gone[l.id] || !gone[l.parent] })
	if s.t == nil {
		return int64(len(replies)), nil
	}
	for review, err := range s.load(c, replies, nil) {
		if err != nil {
			return 0, err
		}
		parent, err := parentOf(review.Data)
		var text jsontext.Value // nil for none
		review.old = review.Data
		if parent = staying(erased, review.ID, parent); err == nil && parent != "" {
			text, err = jsontext.AppendQuote(nil, parent)
		}
		if err == nil {
			review.Data, err = withMember(review.Data, "parent_id", text)
		}
		if err == nil {
			err = s.putReviews(&c, []row{review})
		}
		if err != nil {
			return 0, fmt.Errorf("reviews: stored review %q: %w", review.ID, err)
		}
	}
	return int64(len(replies)), nil
}

// staying returns the new parent of a reply: its parent if that remains, or else its nearest ancestor that does; "" if
// there is none. erased has the parent of each erased review.
//
// A damaged store may have replies in a circle. Then no review becomes its own parent, and the search ends after as
// many steps as there are erased reviews.
func staying(erased map[string]string, reply, parent string) string {
	for range len(erased) + 1 {
		if parent == reply {
			return ""
		}
		above, goes := erased[parent]
		if !goes {
			return parent
		}
		parent = above
	}
	return ""
}
