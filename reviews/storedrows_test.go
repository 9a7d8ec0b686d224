package reviews_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// sharedStore is a store in which something else is done after each Update, as another process may do.
type sharedStore struct {
	storage.Store
	meanwhile func()
}

func (s sharedStore) Update(ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	err := s.Store.Update(ctx, space, o, fn)
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
			store := memory.New()
			service := reviews.New(store, nil)
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
			store := memory.New()
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
			fresh := memory.New()
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
			store := memory.New()
			importInto(t, store, collection("YQ", single, by("ann", review("1", 10, "")), by("ann", review("2", 20, `,"parent_id":"1"`)), review("3", 30, `,"parent_id":"2"`)), nil)
			replyByHand(t, store, "1", "2")
			test.in.Network = network
			done, err := reviews.New(store, nil).Delete(ctx, operator, test.in)
			if err != nil || done != test.done {
				t.Errorf("%+v, %v", done, err)
			}
			sameRecords(t, export(t, store), collection("YQ", single, test.left...))
		})
	}
}

// replyByHand makes a stored review of the collection YQ, which is no reply, a reply to another one, whether that is right or not.
func replyByHand(t *testing.T, store storage.Store, id, parent string) {
	t.Helper()
	err := reviews.EditReview(store, network, reviews.Key{Source: "s", ID: "YQ"}, id, func(data string) string {
		return strings.Replace(data, `,"ratings":`, `,"parent_id":"`+parent+`","ratings":`, 1)
	})
	if err != nil {
		t.Fatal(err)
	}
}
