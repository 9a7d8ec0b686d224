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
	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// DeleteRequest is the request of Delete. Network is required, and at least one of the other members. These combinations are
// allowed, and what each erases:
//
//	Source                          the collections of the source
//	Collection [Source]             the collection
//	Collection, Review [Source]     one review
//	Author [Source] [Collection]    the reviews of the author, within the source or the collection if it is given
//	Email [Source] [Collection]     likewise, the reviews with this address
//	Everything                      the collections of the network
type DeleteRequest struct {
	Network string // the network whose reviews are erased

	// Source erases the collections of this source. With Collection, Review, Author or Email, only this source is searched for them.
	Source string
	// Collection erases the collection with this id. Without Source, only one source of the network may have this id.
	Collection string
	// Review erases only the review with this id, in the Collection.
	Review string
	// Author erases only the reviews with this author_id, in the Collection, the Source or the whole network.
	Author string
	// Email erases only the reviews with this imported_email, in the Collection, the Source or the whole network. Upper and lower case
	// do not differ. With Author too, a review is erased that has one of the two.
	Email string
	// Everything erases all collections of the network. Source, Collection, Review, Author and Email are "" then.
	Everything bool

	// DryRun erases nothing. The result is what Delete would erase.
	DryRun bool
}

// Deleted is the result of Delete: how much was erased, or would be.
type Deleted struct {
	Collections int64 `json:"collections"`
	Reviews     int64 `json:"reviews"`
	Replies     int64 `json:"replies"` // reviews that are left, and had replied to an erased one
}

// maxErased bounds what one transaction erases, since other writers of the network may have to wait for it: at most so many
// whole collections; of an author, the reviews in one collection after the other, until these are so many. The reviews of one
// collection are erased together, however many there are.
const maxErased = 1000

// Delete erases reviews, or collections with their reviews, for good, since people have a right to it. Counts and means are
// updated in the same transaction. What is erased comes back only if it is imported again. A collection whose last review is
// erased by Review, Author or Email stays, without reviews. A reply to an erased review becomes a reply to the parent of that review,
// or is no reply any more if there is no parent.
//
// Delete uses several transactions if there is much to erase. After an error, what was erased before stays erased and is
// counted, and the same request can be made again. An Author or an Email is looked for in every review of the Collection, the Source or the
// network, which takes time in proportion to these reviews. A review that is imported meanwhile may be missed.
//
// When Delete returns nil, no file of the store has a byte of what was erased, nor of what it had replaced. (In PostgreSQL it is
// vacuum that removes these bytes.) It returns ErrCopies if everything is erased, but copies are left in a file: in SQLite, if
// somebody reads from its log for a minute. The same request removes them, though it finds nothing to erase any more.
//
// Delete returns ErrForbidden unless the caller moderates the network as a whole or is an operator, and ErrNotFound if there is
// nothing to erase: no such Collection or Review, a Source without collections, an Author or an Email without reviews, an empty network. It
// returns ErrInvalid for a request without a Network, without a choice of what to erase, or with members that exclude each other,
// and if several sources have the Collection and the request names none of them.
func (s *Service) Delete(ctx context.Context, by vitrine.Caller, in DeleteRequest) (done Deleted, err error) {
	if in.Network == "" {
		return done, invalid("network", "name the network whose reviews are erased")
	}
	// The rights come first: whoever may not erase anything gets that error, whatever the request says.
	if err := s.Admit(by, in.Network); err != nil {
		return done, err
	}
	if err := in.check(); err != nil {
		return done, err
	}
	e := eraser{ctx: ctx, db: s.db, in: in}
	err = e.run()
	if err == nil && e.done == (Deleted{}) {
		err = notFound("there is nothing to erase in the network %q", in.Network)
	}
	// After ErrNotFound too: an earlier request may have erased everything and left copies.
	if (err == nil || errors.Is(err, vitrine.ErrNotFound)) && !in.DryRun {
		if left := scrub(ctx, s.db); left != nil {
			err = fmt.Errorf("%w: %w", ErrCopies, left)
		}
	}
	return e.done, err
}

// check returns ErrInvalid unless the request says one thing to erase. A request with a Network alone is refused, so that a
// program that forgets to set the other members does not erase the network.
func (in DeleteRequest) check() error {
	parts := in.Source + in.Collection + in.Review + in.Author + in.Email
	switch {
	case parts == "" && !in.Everything:
		return invalid("", "say what to erase: a source, a collection, a review, an author, an e-mail address, or everything")
	case parts != "" && in.Everything:
		return invalid("", "everything leaves nothing to name: no source, collection, review, author or e-mail address")
	case in.Review != "" && in.Author != "":
		return invalid("author", "a review and an author exclude each other")
	case in.Review != "" && in.Email != "":
		return invalid("email", "a review and an e-mail address exclude each other")
	case in.Review != "" && in.Collection == "":
		return invalid("collection", "the id of a review is one of its collection: name that too")
	}
	return nil
}

// eraser carries out one request. Each of its transactions erases whole collections, or reviews of some collections together with
// their part of the tally, so that counts and means are right between two transactions too.
type eraser struct {
	ctx  context.Context
	db   storage.Store
	in   DeleteRequest
	done Deleted // what the transactions that were committed have erased
}

// target is what is erased of a collection.
type target struct {
	key Key
	ids []string // of reviews; nil for the collection as a whole
}

// run looks for some of what the request names in a View, which blocks no writer, erases that in an Update, and looks for more after
// the last collection that it has looked through. No index of people is kept: every import would pay for it, and people are
// erased rarely.
func (e *eraser) run() error {
	after := Key{}
	for more := true; more; {
		var found []target
		err := view(e.ctx, e.db, e.in.Network, func(s *rows) (err error) {
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

// find looks through the collection of the request, or those of its source or of the network after a key, until it has found maxErased
// collections or reviews to erase, or more. It returns them, and whether there may be more after the last of them.
func (e *eraser) find(s *rows, after Key) (found []target, more bool, err error) {
	list := s.byKey(e.in.Source, after, maxErased)
	if e.in.Collection != "" {
		list = func(yield func(stored, error) bool) { yield(collectionOf(s, e.in.Source, e.in.Collection)) }
	}
	count := 0
	for c, err := range list {
		if err != nil {
			return nil, false, err
		}
		t := target{key: c.Key}
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

// wants returns whether a review is to be erased: it is the one of the request, or one of the person's. Its author_id is that of the
// request then, byte by byte, or its imported_email, in whatever case. data is the record of the review. An imported_display_name is never
// compared, since it does not identify anybody.
func (e *eraser) wants(data []byte) bool {
	if e.in.Review != "" {
		return true
	}
	author, email := e.in.Author != "" && bytes.Contains(data, []byte(`"author_id":`)), e.in.Email != "" && bytes.Contains(data, []byte(`"imported_email":`))
	if !author && !email {
		return false // most reviews, without decoding
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

// erase erases in one transaction what was found in a View, as far as it is still there. In a dry run it counts only.
func (e *eraser) erase(found []target) (err error) {
	var done Deleted
	fn := func(s *rows) error {
		done = Deleted{} // the store may call the function again
		for _, t := range found {
			c, err := s.existing(t.key)
			if errors.Is(err, vitrine.ErrNotFound) {
				continue
			}
			switch {
			case err != nil:
			case t.ids != nil:
				err = e.reviews(s, c, t.ids, &done)
			default: // the number of reviews comes from the tally, so none is read
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
		err = view(e.ctx, e.db, e.in.Network, fn)
	} else {
		err = update(e.ctx, e.db, e.in.Network, storage.UpdateOptions{Large: true}, fn)
	}
	if err == nil {
		e.done.Collections += done.Collections
		e.done.Reviews += done.Reviews
		e.done.Replies += done.Replies
	}
	return err
}

// reviews erases those of the reviews with these ids that are there and still wanted, since an import may have replaced a review
// after it was found. Replies to the erased reviews get another parent, and the tally of the collection is written without the erased
// ones.
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
		review.Data = nil
		erased = append(erased, review)
	}
	if len(erased) == 0 {
		if e.in.Review != "" {
			return notFound("the collection %q of %q has no review %q", c.ID, c.Source, e.in.Review)
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

// reparent gives another parent to each review that stays and replies to an erased one: the nearest of its ancestors that stays,
// or none. It returns how many such replies there are. erased has the parent of each erased review. If 3 replies to 2 and 2 to 1,
// and 2 is erased, then 3 replies to 1; if 1 and 2 are erased, 3 is no reply any more.
func (e *eraser) reparent(s *rows, c stored, erased map[string]string) (count int64, err error) {
	list, err := s.list(c)
	if err != nil {
		return 0, err
	}
	gone := map[string]bool{} // as list has the ids
	for id := range erased {
		gone[record.Part(id)] = true
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

// staying returns the new parent of a reply once the reviews in erased are gone: parent, which is its parent so far, if that
// stays, else the nearest of its ancestors that does; "" if there is none. erased has the parent of each erased review.
//
// No import stores replies in a circle, but a damaged store may have one. Then no review becomes its own parent, and the search
// ends: a path up that is longer than erased is a circle of erased reviews.
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
