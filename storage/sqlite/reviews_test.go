package sqlite

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestReviews(t *testing.T) {
	storagetest.Reviews(t, func(t *testing.T) reviews.Store { return openTest(t, nil).Reviews() })
}

func TestAReaderOfReviewsEndsWithItsView(t *testing.T) {
	store := openTest(t, nil).Reviews()
	var kept reviews.Reader
	if err := store.View(context.Background(), "n", func(r reviews.Reader) error { kept = r; return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Collection(context.Background(), reviews.Key{}); !errors.Is(err, errEnded) {
		t.Errorf("Collection: %v", err)
	}
	for _, err := range kept.Collections(context.Background()) {
		if !errors.Is(err, errEnded) {
			t.Errorf("Collections: %v", err)
		}
	}
}

// What a network costs to read must not tell how many collections other networks have.
func TestReviewStatementsUseTheirIndexes(t *testing.T) {
	db := openTest(t, nil)
	for sql, want := range map[string]string{
		collectionsInOrder: "SEARCH review_collection USING INDEX review_collection_in_order (network=?)",
		collectionsByKey + " AND (source, id) > ('s', 'i') ORDER BY source, id LIMIT 3":            "SEARCH review_collection USING INDEX sqlite_autoindex_review_collection_1 (network=? AND (source,id)>(?,?))",
		strings.Replace(collectionsByKey+withID, "$2", "'i'", 1):                                   "SEARCH review_collection USING INDEX review_collection_by_id (network=? AND id=?)",
		reviewsByTime + " ORDER BY time DESC, id LIMIT 3":                                          "SEARCH review USING INDEX review_by_time (collection=?)",
		reviewsByTime + " AND time <= 5 AND (time < 5 OR id > 'i') ORDER BY time DESC, id LIMIT 3": "SEARCH review USING INDEX review_by_time (collection=? AND time<?)",
	} {
		err := db.view(context.Background(), func(c *conn) error {
			r := c.query("EXPLAIN QUERY PLAN "+sql, "n")
			defer r.close()
			for n := 0; r.next(); n++ {
				sorted := strings.Contains(sql, " AND id = ") && n > 0 // the few collections of one id
				if plan := r.text(3); plan != want && !sorted {
					t.Errorf("%s\n%s, want %s", sql, plan, want)
				}
			}
			return r.err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
