package reviews_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A reply has the same bytes whether a deletion has given it its parent or an import: importing it again changes
// nothing.
func TestADeletionStoresAReplyInTheFormOfAnImport(t *testing.T) {
	// The reply 3 has the name of the member in texts before it and in a member after it.
	const name = `"\"parent_id\":\"x\","`
	for _, first := range []string{`p`, `<&>`, `"`, `\`, "\u2028\t\x7f€", `"parent_id":"1",`} {
		second := "2" + first
		reply := review("3", 30, `,"parent_id":`+quoted(t, second)+`,"subparts":{"parent_id":`+name+`}`)
		reply = strings.Replace(reply, `"b"`, name, 1)
		store := memory.New()
		service := reviews.New(store, nil)
		importInto(t, store, collection("YQ", single,
			strings.Replace(review("#", 10, ""), `"#"`, quoted(t, first), 1),
			strings.Replace(review("#", 20, `,"parent_id":`+quoted(t, first)), `"#"`, quoted(t, second), 1),
			reply), nil)
		for _, step := range []struct{ erased, parent string }{{second, first}, {first, ""}} {
			done, err := service.As(operator).Delete(ctx,
				reviews.DeleteRequest{Network: network, Collection: "YQ", Review: step.erased})
			if err != nil || done != (reviews.Deleted{Reviews: 1, Replies: 1}) {
				t.Fatalf("%+v, %v", done, err)
			}
			for r, err := range service.As(operator).AllReviews(ctx,
				reviews.ListReviewsRequest{Network: network, Collection: "YQ"}) {
				if err != nil || r.ID == "3" && r.ParentID != step.parent {
					t.Errorf("the reply has the parent %q, %v, want %q", r.ParentID, err, step.parent)
				}
			}
			left := importInto(t, store, export(t, store), nil)
			if left.Errors > 0 || left.Reviews == 0 || left.ReviewsUnchanged != left.Reviews {
				t.Errorf("%q: what is left is imported anew as %+v", first, left)
			}
		}
	}
}

func quoted(t *testing.T, text string) string {
	t.Helper()
	out, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
