package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
)

type (
	reviewRule   = rule[reviews.Store]
	reviewReader = reviews.Reader
	reviewTx     = reviews.Tx
)

// oddKeys are sources and ids that a careless driver takes for one another.
var oddKeys = []string{"", "\x00", "\x00\x00", "\n", " ", "%", "'", "A", "A ", "_", "a", "a\x00", "a\x00b", "aa", "É", "é", "e\u0301", "Я", "\uffff", "😀", "\xff"}

func key(source, id string) reviews.Key { return reviews.Key{Source: source, ID: id} }

// newCollection returns a collection whose bytes tell it from others.
func newCollection(k reviews.Key, text string) reviews.Collection {
	return reviews.Collection{Key: k, Fields: fmt.Appendf(nil, "{\"fields\": %q}\x00", k.Source+k.ID+text), Tally: fmt.Appendf(nil, "\x00tally %s\xff", text)}
}

func newReview(id, text string) reviews.Review {
	return reviews.Review{ID: id, Data: fmt.Appendf(nil, "{\"data\": %q}\x00\xff", id+text)}
}

// many returns reviews with the ids from…to-1.
func many(from, to int, text string) (list []reviews.Review) {
	for i := from; i < to; i++ {
		list = append(list, newReview(fmt.Sprint(i), text))
	}
	return list
}

func updateReviews(t *testing.T, s reviews.Store, fn func(w reviewTx) error) {
	t.Helper()
	if err := s.Update(ctx, fn); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

func putCollections(t *testing.T, s reviews.Store, list ...reviews.Collection) {
	t.Helper()
	for _, c := range list {
		updateReviews(t, s, func(w reviewTx) error { return w.PutCollection(ctx, c) })
	}
}

func putReviews(t *testing.T, s reviews.Store, k reviews.Key, list ...reviews.Review) {
	t.Helper()
	updateReviews(t, s, func(w reviewTx) error { return w.PutReviews(ctx, k, list) })
}

// checkCollections checks all collections, in order and one by one.
func checkCollections(t *testing.T, s reviews.Store, want ...reviews.Collection) {
	t.Helper()
	err := s.View(ctx, func(r reviewReader) error {
		return errors.Join(hasCollections(r, want...))
	})
	if err != nil {
		t.Error(err)
	}
}

func hasCollections(r reviewReader, want ...reviews.Collection) error {
	got, err := collect(r.Collections(ctx))
	if err != nil {
		return err
	}
	if !slices.EqualFunc(got, want, equalCollections) {
		return fmt.Errorf("collections:\n got %q\nwant %q", got, want)
	}
	for _, w := range want {
		if got, err := r.Collection(ctx, w.Key); err != nil || !equalCollections(got, w) {
			return fmt.Errorf("collection: got %q, error %v, want %q", got, err, w)
		}
	}
	return nil
}

func checkReviews(t *testing.T, s reviews.Store, k reviews.Key, want ...reviews.Review) {
	t.Helper()
	if err := s.View(ctx, func(r reviewReader) error { return hasReviews(r, k, want...) }); err != nil {
		t.Error(err)
	}
}

// hasReviews says how the reviews of a collection differ from want, in order and by id.
func hasReviews(r reviewReader, k reviews.Key, want ...reviews.Review) error {
	got, err := collect(r.Reviews(ctx, k))
	if err != nil {
		return err
	}
	if !slices.EqualFunc(got, want, equalReviews) {
		return fmt.Errorf("reviews of %q:\n got %.2000q\nwant %.2000q", k, got, want)
	}
	ids := make([]string, len(want))
	for i, w := range want {
		ids[i] = w.ID
	}
	return hasByID(r, k, ids, want...)
}

func hasByID(r reviewReader, k reviews.Key, ids []string, want ...reviews.Review) error {
	got, err := collect(r.ReviewsByID(ctx, k, ids))
	if err != nil {
		return err
	}
	byID := func(a, b reviews.Review) int { return bytes.Compare([]byte(a.ID), []byte(b.ID)) }
	want = slices.SortedFunc(slices.Values(want), byID)
	slices.SortFunc(got, byID)
	if !slices.EqualFunc(got, want, equalReviews) {
		return fmt.Errorf("reviews of %q by the ids %.2000q:\n got %.2000q\nwant %.2000q", k, ids, got, want)
	}
	return nil
}

func equalCollections(a, b reviews.Collection) bool {
	return a.Key == b.Key && bytes.Equal(a.Fields, b.Fields) && bytes.Equal(a.Tally, b.Tally)
}

func equalReviews(a, b reviews.Review) bool { return a.ID == b.ID && bytes.Equal(a.Data, b.Data) }
