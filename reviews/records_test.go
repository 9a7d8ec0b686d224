package reviews_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/reviews/reviewstore"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestRecords(t *testing.T) {
	storagetest.Reviews(t, func(t *testing.T) reviews.Store { return reviews.NewRecords(memory.New()) })
}

// portions is a store that notes how many bytes one Get of a View has returned at most.
type portions struct {
	storage.Store
	most int
}

type portionsReader struct {
	storage.Reader
	store *portions
}

func (s *portions) View(ctx context.Context, fn func(storage.Reader) error) error {
	return s.Store.View(ctx, func(r storage.Reader) error { return fn(portionsReader{r, s}) })
}

func (r portionsReader) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	values, err := r.Reader.Get(ctx, keys...)
	r.store.most = max(r.store.most, len(bytes.Join(values, nil)))
	return values, err
}

// A stored review or collection may have 16 MiB, and lists of them are bounded by their callers, who count as they go.
func TestRecordsAreReadInSmallPortions(t *testing.T) {
	const n, size = 20, 900 << 10
	ctx, db := t.Context(), &portions{Store: memory.New()}
	s, first := reviews.NewRecords(db), reviews.Key{Source: "s", ID: "0"}
	var ids []string
	for i := range n {
		ids = append(ids, fmt.Sprint(i))
		err := s.Update(ctx, "n", func(tx reviews.Tx) error {
			c := reviews.Collection{Key: reviews.Key{Source: "s", ID: ids[i]}}
			if err := tx.PutCollection(ctx, c); err != nil {
				return err
			}
			c.Fields = make([]byte, size)
			if err := tx.PutCollection(ctx, c); err != nil {
				return err
			}
			return tx.PutReviews(ctx, first, []reviews.Review{{ID: ids[i], Data: make([]byte, size)}})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	err := s.View(ctx, "n", func(r reviews.Reader) error {
		seen := map[string]int{}
		for _, err := range r.Collections(ctx) {
			if err != nil {
				return err
			}
			seen["collections"]++
		}
		for _, err := range r.ReviewsByID(ctx, first, ids) {
			if err != nil {
				return err
			}
			seen["by id"]++
		}
		for _, err := range r.ReviewsByTime(ctx, reviewstore.ReviewQuery{Collection: first}) {
			if err != nil {
				return err
			}
			seen["by time"]++
		}
		if len(seen) != 3 || seen["collections"] != n || seen["by id"] != n || seen["by time"] != n {
			t.Errorf("of %d: %v", n, seen)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if db.most > size+100 {
		t.Errorf("one Get has returned %d bytes, and one record has %d", db.most, size)
	}
}
