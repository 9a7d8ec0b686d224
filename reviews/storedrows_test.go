package reviews_test

import (
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// No import stores reviews in a circle, but a damaged store may have them.
func TestDeleteOfReviewsThatReplyToEachOther(t *testing.T) {
	for _, test := range []struct {
		name string
		in   reviews.DeleteRequest
		done reviews.Deleted
		left []string
	}{
		{"of both", reviews.DeleteRequest{Author: "ann"}, reviews.Deleted{Reviews: 2, Replies: 1},
			[]string{review("3", 30, "")}},
		{"of one", reviews.DeleteRequest{Collection: "YQ", Review: "1"}, reviews.Deleted{Reviews: 1, Replies: 1},
			[]string{by("ann", review("2", 20, "")), review("3", 30, `,"parent_id":"2"`)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := memory.New()
			importInto(t, store,
				collection("YQ", single, by("ann", review("1", 10, "")), by("ann", review("2", 20, `,"parent_id":"1"`)),
					review("3", 30, `,"parent_id":"2"`)), nil)
			replyByHand(t, store, "1", "2")
			test.in.Network = network
			done, err := reviews.New(store, nil).As(operator).Delete(ctx, test.in)
			if err != nil || done != test.done {
				t.Errorf("%+v, %v", done, err)
			}
			sameRecords(t, export(t, store), collection("YQ", single, test.left...))
		})
	}
}

// replyByHand makes a stored review of the collection YQ, which is no reply, a reply to another one, whether that is
// right or not.
func replyByHand(t *testing.T, store storage.Store, id, parent string) {
	t.Helper()
	err := reviews.EditReview(store, network, reviews.Key{Source: "s", ID: "YQ"}, id, func(data string) string {
		return strings.Replace(data, `,"ratings":`, `,"parent_id":"`+parent+`","ratings":`, 1)
	})
	if err != nil {
		t.Fatal(err)
	}
}
