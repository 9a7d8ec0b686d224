//go:build proof

package postgres

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/reviews/reviewstore"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestReviews(t *testing.T) {
	t.Parallel()
	storagetest.Reviews(t, func(t *testing.T) reviews.Store { return openTest(t, nil).Reviews() })
}

// A review may have 16 MiB, and 64 of them are read in one round trip if they are small. The test counts what is allocated, so
// nothing runs beside it.
func TestListsOfLargeReviewsTakeLittleMemory(t *testing.T) {
	const count, size = 24, 1 << 20
	s, key := openTest(t, nil).Reviews(), reviews.Key{Source: "s", ID: "0"}
	large := bytes.Repeat([]byte("x"), size)
	for i := range count {
		err := s.Update(ctx, "n", func(w reviews.Tx) error {
			if err := w.PutCollection(ctx, reviews.Collection{Key: reviews.Key{Source: "s", ID: fmt.Sprint(i)}, Fields: large}); err != nil {
				return err
			}
			return w.PutReviews(ctx, key, []reviews.Review{{ID: fmt.Sprint(i), Time: int64(i), Data: large}, {ID: fmt.Sprint("small ", i), Data: []byte("{}")}})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	err := s.View(ctx, "n", func(r reviews.Reader) error {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for c, err := range r.Collections(ctx) {
			if err != nil || len(c.Fields) != size {
				t.Errorf("a collection of %d bytes, error %v", len(c.Fields), err)
			}
			break
		}
		for one, err := range r.Reviews(ctx, key) {
			if err != nil || len(one.Data) != size {
				t.Errorf("a review of %d bytes, error %v", len(one.Data), err)
			}
			break
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > count*size/2 {
			t.Errorf("the first collection and the first review took %d bytes of memory", took)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(ctx, "n", func(w reviews.Tx) error {
		var seen []string
		for one, err := range w.ReviewsByTime(ctx, reviewstore.ReviewQuery{Collection: key, Limit: 4}) {
			if err == nil {
				err = w.DeleteReviews(ctx, key, []string{"22"})
			}
			if err != nil {
				return err
			}
			seen = append(seen, one.ID)
		}
		if want := "[23 21 20]"; fmt.Sprint(seen) != want {
			t.Errorf("reviews %v while one of them is deleted, want %s", seen, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
