package reviews_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/reviews/reviewstore"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// rowStore is a store that watches how a transaction uses its rows. Each row that it yields has bytes of its own.
type rowStore struct {
	reviews.Store
	yielded int   // rows that the watched iterators have yielded
	held    int   // the most rows that one of these had yielded and that were in use at a time
	written []int // bytes of the reviews of each PutReviews
}

func (s *rowStore) View(ctx context.Context, network string, fn func(reviews.Reader) error) error {
	return s.Store.View(ctx, network, func(r reviews.Reader) error { return fn(rowReader{r, s}) })
}

func (s *rowStore) Update(ctx context.Context, network string, fn func(reviews.Tx) error) error {
	return s.Store.Update(ctx, network, func(tx reviews.Tx) error { return fn(rowTx{tx, s}) })
}

type rowReader struct {
	reviews.Reader
	s *rowStore
}

func (r rowReader) CollectionsByKey(ctx context.Context, q reviewstore.CollectionQuery) iter.Seq2[reviews.Collection, error] {
	return watched(r.s, r.Reader.CollectionsByKey(ctx, q), ownCollection)
}

type rowTx struct {
	reviews.Tx
	s *rowStore
}

func (t rowTx) ReviewsByID(ctx context.Context, key reviews.Key, ids []string) iter.Seq2[reviews.Review, error] {
	return watched(t.s, t.Tx.ReviewsByID(ctx, key, ids), ownReview)
}

func (t rowTx) CollectionsByKey(ctx context.Context, q reviewstore.CollectionQuery) iter.Seq2[reviews.Collection, error] {
	return watched(t.s, t.Tx.CollectionsByKey(ctx, q), ownCollection)
}

func (t rowTx) PutReviews(ctx context.Context, key reviews.Key, list []reviews.Review) error {
	size := 0
	for _, r := range list {
		size += len(r.Data)
	}
	t.s.written = append(t.s.written, size)
	return t.Tx.PutReviews(ctx, key, list)
}

// ownReview gives a review memory of its own, and returns its first byte.
func ownReview(r *reviews.Review) *byte {
	r.Data = bytes.Clone(r.Data)
	return &r.Data[0]
}

// ownCollection gives a collection memory of its own, and returns its first byte. All of it is in one allocation, as in the
// PostgreSQL driver, so who keeps the tally keeps the fields too.
func ownCollection(c *reviews.Collection) *byte {
	n := len(c.Fields)
	row := append(bytes.Clone(c.Fields), c.Tally...)
	c.Fields, c.Tally = row[:n:n], row[n:]
	return &row[0]
}

// watched yields rows with memory of their own, and counts how many of them are in use after each step.
func watched[T any](s *rowStore, rows iter.Seq2[T, error], own func(*T) *byte) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var copies []weak.Pointer[byte]
		for row, err := range rows {
			copies = append(copies, weak.Make(own(&row)))
			s.yielded++
			if !yield(row, err) {
				return
			}
			row = *new(T)
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
	store := &rowStore{Store: reviews.NewRecords(memory.New())}
	list := func(rating int) (list []string) {
		for i := range 5 {
			list = append(list, review(fmt.Sprint(i), rating, `,"subparts":{"s":"`+strings.Repeat("x", 1000)+`"}`))
		}
		return list
	}
	importInto(t, store, collection("YQ", single, list(10)...), nil)
	checkCounts(t, importInto(t, store, collection("YQ", single, list(20)...), nil), 1, 1, 5, 0, 5, 0, 0, 0, 1) // overwrite
	if store.yielded != 5 || store.held > 1 {
		t.Errorf("an import reads %d stored reviews, and has %d of them in memory", store.yielded, store.held)
	}
}

// The members of a stored collection may have 16 MiB, and one transaction reads a thousand collections.
func TestDeleteHasOneStoredCollectionInMemoryAtATime(t *testing.T) {
	for _, test := range []struct {
		name string
		in   reviews.DeleteRequest
		done reviews.Deleted
	}{
		{"everything", reviews.DeleteRequest{Network: network, Everything: true}, reviews.Deleted{Collections: 5, Reviews: 5}},
		{"an author", reviews.DeleteRequest{Network: network, Author: "ann"}, reviews.Deleted{Reviews: 5}},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := &rowStore{Store: reviews.NewRecords(memory.New())}
			for i := range 5 {
				importInto(t, store, collection(fmt.Sprintf("YQ%02d", i), single, by("ann", review("1", 10, ""))), nil)
			}
			store.yielded, store.held = 0, 0
			done, err := reviews.NewWith(store, nil).Delete(ctx, operator, test.in)
			if err != nil || done != test.done {
				t.Errorf("%+v, %v", done, err)
			}
			if store.yielded < 5 || store.held > 1 {
				t.Errorf("Delete reads %d stored collections, and has %d of them in memory", store.yielded, store.held)
			}
		})
	}
}

func TestDeleteWritesLargeRepliesOneAfterTheOther(t *testing.T) {
	store := &rowStore{Store: reviews.NewRecords(memory.New())}
	list := []string{review("1", 10, "")}
	left := []string{}
	for _, id := range []string{"2", "3", "4"} {
		list = append(list, review(id, 5, `,"parent_id":"1","subparts":{"s":"`+large+`"}`))
		left = append(left, largeReview(id))
	}
	importInto(t, store, collection("YQ", single, list...), nil)
	store.written = nil
	done, err := reviews.NewWith(store, nil).Delete(ctx, operator, reviews.DeleteRequest{Network: network, Collection: "YQ", Review: "1"})
	if err != nil || done != (reviews.Deleted{Reviews: 1, Replies: 3}) {
		t.Errorf("%+v, %v", done, err)
	}
	if len(store.written) != 3 {
		t.Errorf("replies of %d bytes were written together, want each by itself", store.written)
	}
	sameRecords(t, export(t, store), collection("YQ", single, left...))
}

// sharedStore is a store in which something else is done after each Update, as another process may do.
type sharedStore struct {
	reviews.Store
	meanwhile func()
}

func (s sharedStore) Update(ctx context.Context, network string, fn func(reviews.Tx) error) error {
	err := s.Store.Update(ctx, network, fn)
	s.meanwhile()
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
			store := reviews.NewRecords(memory.New())
			service := reviews.NewWith(store, nil)
			done := false
			during := sharedStore{store, func() {
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

// Between two parts of a long line, another import may make the parent of a reply a reply to it.
func TestTwoImportsAtATimeStoreNoRepliesInACircle(t *testing.T) {
	reply := func(id string, rating int, parent string) string {
		return review(id, rating, `,"parent_id":"`+parent+`"`)
	}
	for _, test := range []struct {
		name              string
		long, other, left []string
	}{
		{"two reviews",
			[]string{review("1", 1, ""), largeReview("0"), reply("2", 2, "1")},
			[]string{review("2", 20, ""), reply("1", 10, "2")},
			[]string{largeReview("0"), review("2", 2, ""), reply("1", 10, "2")}},
		{"through a reply of the same part",
			[]string{review("1", 1, ""), largeReview("0"), reply("2", 2, "1"), reply("3", 3, "2")},
			[]string{review("3", 30, ""), reply("1", 10, "3")},
			[]string{largeReview("0"), review("3", 3, ""), reply("1", 10, "3"), reply("2", 2, "1")}},
		{"through two replies of the same part",
			[]string{review("1", 1, ""), review("4", 4, ""), largeReview("0"), reply("2", 2, "1"), reply("3", 3, "4")},
			[]string{review("3", 30, ""), reply("1", 10, "3"), review("2", 20, ""), reply("4", 40, "2")},
			[]string{largeReview("0"), review("3", 3, ""), reply("1", 10, "3"), reply("2", 2, "1"), reply("4", 40, "2")}},
		{"no circle",
			[]string{review("1", 1, ""), review("4", 4, ""), largeReview("0"), reply("2", 2, "1"), reply("3", 3, "2")},
			[]string{review("4", 40, ""), reply("1", 10, "4"), review("3", 30, "")},
			[]string{review("4", 40, ""), reply("1", 10, "4"), largeReview("0"), reply("2", 2, "1"), reply("3", 3, "2")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := reviews.NewRecords(memory.New())
			done := false
			shared := sharedStore{store, func() {
				if !done && strings.Contains(export(t, store), `"id":"1"`) {
					done = true
					importInto(t, store, collection("YQ", single, test.other...), nil)
				}
			}}
			importInto(t, shared, collection("YQ", single, test.long...), nil)
			if !done {
				t.Fatal("nothing was imported meanwhile")
			}
			left := export(t, store)
			sameReviews(t, left, collection("YQ", single, test.left...))
			fresh := reviews.NewRecords(memory.New())
			if again := importInto(t, fresh, left, nil); again.Errors > 0 || export(t, fresh) != left {
				t.Errorf("what was exported is imported as %+v", again)
			}
		})
	}
}

// sameReviews compares two files of one line each: their reviews are the same, in any order.
func sameReviews(t *testing.T, got, want string) {
	t.Helper()
	sorted := func(file string) (list []string) {
		for _, r := range decodeAll(t, file)[0].(map[string]any)["reviews"].([]any) {
			list = append(list, fmt.Sprint(r))
		}
		slices.Sort(list)
		return list
	}
	if a, b := sorted(got), sorted(want); !slices.Equal(a, b) {
		t.Errorf("got %v\nwant %v", a, b)
	}
}

// No import stores reviews in a circle, but a damaged store may have them.
func TestDeleteOfReviewsThatReplyToEachOther(t *testing.T) {
	for _, test := range []struct {
		name string
		in   reviews.DeleteRequest
		done reviews.Deleted
		left []string
	}{
		{"of both", reviews.DeleteRequest{Author: "ann"}, reviews.Deleted{Reviews: 2, Replies: 1}, []string{review("3", 30, "")}},
		{"of one", reviews.DeleteRequest{Collection: "YQ", Review: "1"}, reviews.Deleted{Reviews: 1, Replies: 1},
			[]string{by("ann", review("2", 20, "")), review("3", 30, `,"parent_id":"2"`)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := reviews.NewRecords(memory.New())
			importInto(t, store, collection("YQ", single, by("ann", review("1", 10, "")), by("ann", review("2", 20, `,"parent_id":"1"`)), review("3", 30, `,"parent_id":"2"`)), nil)
			replyByHand(t, store, "1", "2")
			test.in.Network = network
			done, err := reviews.NewWith(store, nil).Delete(ctx, operator, test.in)
			if err != nil || done != test.done {
				t.Errorf("%+v, %v", done, err)
			}
			sameRecords(t, export(t, store), collection("YQ", single, test.left...))
		})
	}
}

// replyByHand makes a stored review of the collection YQ, which is no reply, a reply to another one, whether that is right or not.
func replyByHand(t *testing.T, store reviews.Store, id, parent string) {
	t.Helper()
	key := reviews.Key{Source: "s", ID: "YQ"}
	err := store.Update(ctx, network, func(tx reviews.Tx) error {
		var list []reviews.Review
		for r, err := range tx.ReviewsByID(ctx, key, []string{id}) {
			if err != nil {
				return err
			}
			r.Data = []byte(strings.Replace(string(r.Data), `,"ratings":`, `,"parent_id":"`+parent+`","ratings":`, 1))
			list = append(list, r)
		}
		return tx.PutReviews(ctx, key, list)
	})
	if err != nil {
		t.Fatal(err)
	}
}
