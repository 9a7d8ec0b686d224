package reviews_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/reviews/reviewstore"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// rowStore is a store that watches how an Update uses its rows. Each row that it yields has bytes of its own.
type rowStore struct {
	reviews.Store
	held    int   // the most rows that an Update had yielded by ReviewsByID or CollectionsByKey and that were in use at a time
	written []int // bytes of the reviews of each PutReviews
}

func (s *rowStore) Update(ctx context.Context, network string, fn func(reviews.Tx) error) error {
	return s.Store.Update(ctx, network, func(tx reviews.Tx) error { return fn(rowTx{tx, s}) })
}

type rowTx struct {
	reviews.Tx
	s *rowStore
}

func (t rowTx) ReviewsByID(ctx context.Context, key reviews.Key, ids []string) iter.Seq2[reviews.Review, error] {
	return watched(t.s, t.Tx.ReviewsByID(ctx, key, ids), func(r *reviews.Review) *[]byte { return &r.Data })
}

func (t rowTx) CollectionsByKey(ctx context.Context, q reviewstore.CollectionQuery) iter.Seq2[reviews.Collection, error] {
	return watched(t.s, t.Tx.CollectionsByKey(ctx, q), func(c *reviews.Collection) *[]byte { return &c.Fields })
}

func (t rowTx) PutReviews(ctx context.Context, key reviews.Key, list []reviews.Review) error {
	size := 0
	for _, r := range list {
		size += len(r.Data)
	}
	t.s.written = append(t.s.written, size)
	return t.Tx.PutReviews(ctx, key, list)
}

// watched yields rows with a copy of their bytes, and counts how many of the copies are in use after each step.
func watched[T any](s *rowStore, rows iter.Seq2[T, error], data func(*T) *[]byte) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var copies []weak.Pointer[byte]
		for row, err := range rows {
			*data(&row) = bytes.Clone(*data(&row))
			copies = append(copies, weak.Make(&(*data(&row))[0]))
			if !yield(row, err) {
				return
			}
			*data(&row) = nil
			runtime.GC()
			held := 0
			for _, c := range copies {
				if c.Value() != nil {
					held++
				}
			}
			s.held = max(s.held, held)
		}
	}
}

// A stored review may have 16 MiB, though the one of the file that replaces it is small.
func TestAnImportHasOneStoredReviewInMemoryAtATime(t *testing.T) {
	store := &rowStore{Store: memory.New().Reviews()}
	list := func(rating int) (list []string) {
		for i := range 5 {
			list = append(list, review(fmt.Sprint(i), rating, `,"subparts":{"s":"`+strings.Repeat("x", 1000)+`"}`))
		}
		return list
	}
	importInto(t, store, collection("YQ", single, list(10)...), nil)
	checkCounts(t, importInto(t, store, collection("YQ", single, list(20)...), nil), 1, 1, 5, 0, 5, 0, 0, 0, 0)
	if store.held > 1 {
		t.Errorf("an import has %d stored reviews in memory", store.held)
	}
}

// The members of a stored collection may have 16 MiB, and one transaction erases a thousand collections.
func TestDeleteHasOneStoredCollectionInMemoryAtATime(t *testing.T) {
	store := &rowStore{Store: memory.New().Reviews()}
	for i := range 5 {
		importInto(t, store, collection(fmt.Sprintf("YQ%02d", i), single, review("1", 10, "")), nil)
	}
	done, err := reviews.New(store, nil).Delete(ctx, operator, reviews.DeleteRequest{Network: network, Everything: true})
	if err != nil || done != (reviews.Deleted{Collections: 5, Reviews: 5}) {
		t.Errorf("%+v, %v", done, err)
	}
	if store.held > 1 {
		t.Errorf("Delete has %d stored collections in memory", store.held)
	}
}

func TestDeleteWritesLargeRepliesOneAfterTheOther(t *testing.T) {
	store := &rowStore{Store: memory.New().Reviews()}
	list := []string{review("1", 10, "")}
	left := []string{}
	for _, id := range []string{"2", "3", "4"} {
		list = append(list, review(id, 5, `,"parent_id":"1","subparts":{"s":"`+large+`"}`))
		left = append(left, largeReview(id))
	}
	importInto(t, store, collection("YQ", single, list...), nil)
	store.written = nil
	done, err := reviews.New(store, nil).Delete(ctx, operator, reviews.DeleteRequest{Network: network, Collection: "YQ", Review: "1"})
	if err != nil || done != (reviews.Deleted{Reviews: 1, Replies: 3}) {
		t.Errorf("%+v, %v", done, err)
	}
	if len(store.written) != 3 {
		t.Errorf("replies of %d bytes were written together, want each by itself", store.written)
	}
	sameRecords(t, export(t, store), collection("YQ", single, left...))
}

// erasingStore is a store in which a Delete is made after each Update, as another process may do.
type erasingStore struct {
	reviews.Store
	erase func()
}

func (s erasingStore) Update(ctx context.Context, network string, fn func(reviews.Tx) error) error {
	err := s.Store.Update(ctx, network, fn)
	s.erase()
	return err
}

// The parts of a long line are stored one after the other, and the parent of a reply may be erased between two of them.
func TestAReplyToAReviewThatWasErasedMeanwhileIsStoredAsNoReply(t *testing.T) {
	file := collection("YQ", single, review("1", 10, ""), largeReview("2"), review("3", 30, `,"parent_id":"1"`), review("4", 40, `,"parent_id":"3"`))
	for _, test := range []struct {
		erased string
		in     reviews.DeleteRequest
		left   []string
		whole  []string // after another import: what was erased comes last, and replies after their parents
	}{
		{"the parent", reviews.DeleteRequest{Network: network, Collection: "YQ", Review: "1"},
			[]string{largeReview("2"), review("3", 30, ""), review("4", 40, `,"parent_id":"3"`)},
			[]string{largeReview("2"), review("1", 10, ""), review("3", 30, `,"parent_id":"1"`), review("4", 40, `,"parent_id":"3"`)}},
		{"the collection", reviews.DeleteRequest{Network: network, Collection: "YQ"},
			[]string{review("3", 30, ""), review("4", 40, `,"parent_id":"3"`)},
			[]string{review("1", 10, ""), review("3", 30, `,"parent_id":"1"`), review("4", 40, `,"parent_id":"3"`), largeReview("2")}},
	} {
		t.Run(test.erased, func(t *testing.T) {
			store := memory.New().Reviews()
			service := reviews.New(store, nil)
			done := false
			during := erasingStore{store, func() {
				if !done {
					_, err := service.Delete(ctx, operator, test.in)
					done = err == nil
				}
			}}
			report := importInto(t, during, file, &reviews.ImportRequest{})
			if !done || report.Created != 4 || report.Errors != 0 {
				t.Errorf("erased: %v, %+v", done, report)
			}
			sameRecords(t, export(t, store), collection("YQ", single, test.left...))
			importInto(t, store, file, nil)
			sameRecords(t, export(t, store), collection("YQ", single, test.whole...))
		})
	}
}

// Two imports at the same time can store reviews that reply to each other.
func TestDeleteOfReviewsThatReplyToEachOtherEnds(t *testing.T) {
	store := memory.New().Reviews()
	importInto(t, store, collection("YQ", single, by("ann", review("1", 10, "")), by("ann", review("2", 20, `,"parent_id":"1"`)), review("3", 30, `,"parent_id":"2"`)), nil)
	err := store.Update(ctx, network, func(tx reviews.Tx) error {
		var circle []reviews.Review
		for r, err := range tx.ReviewsByID(ctx, reviews.Key{Source: "s", ID: "YQ"}, []string{"1"}) {
			if err != nil {
				return err
			}
			r.Data = []byte(strings.Replace(string(r.Data), `,"ratings":`, `,"parent_id":"2","ratings":`, 1))
			circle = append(circle, r)
		}
		return tx.PutReviews(ctx, reviews.Key{Source: "s", ID: "YQ"}, circle)
	})
	if err != nil {
		t.Fatal(err)
	}
	done, err := reviews.New(store, nil).Delete(ctx, operator, reviews.DeleteRequest{Network: network, Author: "ann"})
	if err != nil || done != (reviews.Deleted{Reviews: 2, Replies: 1}) {
		t.Errorf("%+v, %v", done, err)
	}
	sameRecords(t, export(t, store), collection("YQ", single, review("3", 30, "")))
}
