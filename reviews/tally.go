package reviews

import (
	"encoding/json"
	"fmt"

	"github.com/vitrine-go/vitrine/reviews/internal/format"
)

// tally has the stored statistics of a collection: how many reviews it has, and how many of them have each rating.
// Every transaction that stores or deletes reviews also stores the tally, so the two agree in every snapshot, and no
// review is read for a mean. Counts of each rating, unlike a sum, also give the histogram, and can be subtracted
// without rounding errors.
type tally struct {
	Reviews int64           `json:"reviews"`
	Ratings []map[int]int64 `json:"ratings"` // for each dimension, the number of reviews with each rating that occurs
}

// size sets the number of dimensions. If the number changes, all counts are reset. Callers change it only for a tally
// without reviews; otherwise an import rejects the reviews (rule stored-dimensions).
func (t *tally) size(dims int) {
	if len(t.Ratings) == dims {
		return
	}
	t.Ratings = make([]map[int]int64, dims)
	for i := range t.Ratings {
		t.Ratings[i] = map[int]int64{}
	}
}

// add adds the ratings of a review, each from 1 to 100, one for each dimension.
func (t *tally) add(ratings []byte) {
	t.Reviews++
	for i, r := range ratings {
		t.Ratings[i][int(r)]++
	}
}

// subtract subtracts the ratings of a stored review that is about to be replaced or erased. data is its record. It
// returns an error if the review does not fit the tally, which only a damaged store can cause. The tally is then
// invalid, and the transaction must be rolled back.
func (t *tally) subtract(data []byte) error {
	var review struct {
		Ratings []int `json:"ratings"`
	}
	err := json.Unmarshal(data, &review)
	if err == nil && len(review.Ratings) != len(t.Ratings) {
		err = fmt.Errorf("it has %d ratings, its collection has %d dimensions", len(review.Ratings), len(t.Ratings))
	}
	if err != nil {
		return fmt.Errorf("reviews: a stored review: %w", err)
	}
	t.Reviews--
	for i, r := range review.Ratings {
		if t.Ratings[i][r]--; t.Ratings[i][r] == 0 {
			delete(t.Ratings[i], r)
		}
	}
	return nil
}

// check returns an error if the counts are damaged.
func (t *tally) check() error {
	for _, counts := range t.Ratings {
		sum := int64(0)
		for rating, n := range counts {
			if rating < 1 || rating > format.MaxRating || n < 1 {
				return fmt.Errorf("%d reviews have the rating %d", n, rating)
			}
			sum += n
		}
		if counts == nil || sum != t.Reviews {
			return fmt.Errorf("%d of %d reviews have a rating", sum, t.Reviews)
		}
	}
	return nil
}
