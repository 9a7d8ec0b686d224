package storagetest

import (
	"context"
	"errors"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews/reviewstore"
)

// reviewEraseRules are about collections and reviews that are deleted.
var reviewEraseRules = []reviewRule{
	// The new one is the last in the order of collections, and it has none of the old reviews.
	{"deleting a collection deletes its reviews, and one that is put with the same key later is new", func(t *testing.T, s oneNetwork) {
		a, b := newCollection(key("s", "a"), ""), newCollection(key("s", "b"), "")
		putCollections(t, s, a, b)
		putReviews(t, s, a.Key, many(0, 5, "")...)
		putReviews(t, s, b.Key, many(0, 3, "")...)
		updateReviews(t, s, func(w reviewTx) error { return w.DeleteCollection(ctx, a.Key) })
		checkCollections(t, s, b)
		checkReviews(t, s, a.Key)
		checkReviews(t, s, b.Key, many(0, 3, "")...)
		putCollections(t, s, a)
		checkCollections(t, s, b, a)
		checkReviews(t, s, a.Key)
		putReviews(t, s, a.Key, newReview("3", "new"), newReview("0", "new"))
		checkReviews(t, s, a.Key, newReview("3", "new"), newReview("0", "new"))
	}},
	// It removes copies from files, which the suite cannot see.
	{"Scrub changes nothing that can be read, and returns the error of a context that is done", func(t *testing.T, s oneNetwork) {
		k := key("s", "a")
		putCollections(t, s, newCollection(k, ""))
		putReviews(t, s, k, many(0, 6, "")...)
		updateReviews(t, s, func(w reviewTx) error { return w.DeleteReviews(ctx, k, []string{"4", "1"}) })
		checkError(t, s.all.Scrub(ctx), nil, "Scrub")
		checkReviews(t, s, k, newReview("0", ""), newReview("2", ""), newReview("3", ""), newReview("5", ""))
		done, cancel := context.WithCancel(ctx)
		cancel()
		checkError(t, s.all.Scrub(done), context.Canceled, "Scrub with a context that is done")
	}},
	// Ids that are absent or given twice are ignored. The collection stays, even without reviews.
	{"deleting reviews keeps the order of the others, and one that is put again later comes last", func(t *testing.T, s oneNetwork) {
		k := key("s", "a")
		putCollections(t, s, newCollection(k, ""))
		putReviews(t, s, k, many(0, 6, "")...)
		updateReviews(t, s, func(w reviewTx) error { return w.DeleteReviews(ctx, k, []string{"4", "absent", "1", "5", "1"}) })
		checkReviews(t, s, k, newReview("0", ""), newReview("2", ""), newReview("3", ""))
		putReviews(t, s, k, newReview("1", "again"), newReview("0", "other"))
		checkReviews(t, s, k, newReview("0", "other"), newReview("2", ""), newReview("3", ""), newReview("1", "again"))
		updateReviews(t, s, func(w reviewTx) error { return w.DeleteReviews(ctx, k, []string{"0", "1", "2", "3"}) })
		checkReviews(t, s, k)
		checkCollections(t, s, newCollection(k, ""))
	}},
	// A collection that the same Update has deleted is absent too.
	{"deleting an absent collection, or reviews of one, is ErrNotFound", func(t *testing.T, s oneNetwork) {
		putCollections(t, s, newCollection(key("s", "a"), ""))
		for name, fn := range map[string]func(w reviewTx, k reviewstore.Key) error{
			"DeleteCollection": func(w reviewTx, k reviewstore.Key) error { return w.DeleteCollection(ctx, k) },
			"DeleteReviews":    func(w reviewTx, k reviewstore.Key) error { return w.DeleteReviews(ctx, k, []string{"a"}) },
		} {
			checkError(t, s.Update(ctx, func(w reviewTx) error { return fn(w, key("s", "b")) }), vitrine.ErrNotFound, "%s", name)
			twice := s.Update(ctx, func(w reviewTx) error {
				return errors.Join(w.DeleteCollection(ctx, key("s", "a")), fn(w, key("s", "a")))
			})
			checkError(t, twice, vitrine.ErrNotFound, "%s after it was deleted", name)
		}
		checkCollections(t, s, newCollection(key("s", "a"), ""))
	}},
	// The order of reviews is also as before.
	{"an Update that is rolled back deletes nothing", func(t *testing.T, s oneNetwork) {
		k, undone := key("s", "a"), errors.New("undone")
		putCollections(t, s, newCollection(k, ""))
		putReviews(t, s, k, many(0, 4, "")...)
		err := s.Update(ctx, func(w reviewTx) error {
			return errors.Join(w.DeleteReviews(ctx, k, []string{"1"}), w.DeleteCollection(ctx, k), undone)
		})
		checkError(t, err, undone, "Update")
		checkCollections(t, s, newCollection(k, ""))
		checkReviews(t, s, k, many(0, 4, "")...)
	}},
	// A collection is deleted and put again in one Update; its old reviews must not come back.
	{"the reads of an Update see what it has deleted and put", func(t *testing.T, s oneNetwork) {
		k := key("s", "a")
		putCollections(t, s, newCollection(k, "before"))
		putReviews(t, s, k, many(0, 4, "before")...)
		updateReviews(t, s, func(w reviewTx) error {
			return errors.Join(
				w.DeleteReviews(ctx, k, []string{"2"}), hasReviews(w, k, newReview("0", "before"), newReview("1", "before"), newReview("3", "before")),
				w.PutReviews(ctx, k, many(2, 3, "")), hasReviews(w, k, newReview("0", "before"), newReview("1", "before"), newReview("3", "before"), newReview("2", "")),
				w.DeleteCollection(ctx, k), hasCollections(w), hasReviews(w, k),
				w.PutCollection(ctx, newCollection(k, "")), hasReviews(w, k), w.PutReviews(ctx, k, many(0, 2, "")), w.DeleteReviews(ctx, k, []string{"0"}),
				hasCollections(w, newCollection(k, "")), hasReviews(w, k, many(1, 2, "")...))
		})
		checkCollections(t, s, newCollection(k, ""))
		checkReviews(t, s, k, many(1, 2, "")...)
	}},
}
