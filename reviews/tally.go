package reviews

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// tally is the statistics of a collection: how many reviews it has, and for each dimension how many of them have each rating. A
// transaction parses it, changes it, and encodes it again. It is stored with the collection. Every transaction that puts or
// deletes reviews also writes the tally, so the two agree in every snapshot, and no review is read for a mean. Counts of each
// rating, rather than a sum, also give the histogram, and can be subtracted without an error of rounding.
type tally struct {
	reviews int64
	values  [][maxRating]int64 // for each dimension; index 0 is the rating 1
}

// size sets the number of dimensions. It has no effect if the tally has as many. Otherwise it forgets all counts. Callers change
// the number only for a tally without reviews; an import refuses it for others (rule stored-dimensions).
func (t *tally) size(dims int) {
	if len(t.values) != dims {
		t.values = make([][maxRating]int64, dims)
	}
}

// add adds the ratings of a review, each from 1 to 100, one for each dimension.
func (t *tally) add(ratings []byte) {
	t.reviews++
	for i, r := range ratings {
		t.values[i][r-1]++
	}
}

// remove subtracts the ratings of a stored review, which is about to be replaced or erased. data is its record. It returns an
// error if the review does not fit the tally, which only a damaged store can cause; the tally is of no use afterwards, and the
// transaction is rolled back.
func (t *tally) remove(data []byte) error {
	// A canonical record has the ratings as numbers, in the order of the dimensions.
	var review struct {
		Ratings []int `json:"ratings"`
	}
	if err := json.Unmarshal(data, &review); err != nil {
		return fmt.Errorf("reviews: a stored review: %w", err)
	}
	if len(review.Ratings) != len(t.values) {
		return fmt.Errorf("reviews: a stored review has %d ratings, its collection has %d dimensions", len(review.Ratings), len(t.values))
	}
	t.reviews--
	for i, r := range review.Ratings {
		if r < 1 || r > maxRating {
			return fmt.Errorf("reviews: a stored review has the rating %d", r)
		}
		t.values[i][r-1]--
	}
	return nil
}

// encode returns the tally in the form of Collection.Tally. It is a sequence of unsigned varints (encoding/binary):
//
//	reviews, dimensions
//	for each dimension: the number of different ratings
//	    for each of these, in ascending order: the rating less 1, the number of reviews with it
//
// Three reviews with the ratings 80, 80 and 20 are 3, 1, 2, 19, 1, 79, 2. Equal tallies have equal bytes, so comparing bytes
// shows whether an import has changed the counts. Ratings that no review has take no room.
func (t *tally) encode() []byte {
	out := binary.AppendUvarint(nil, uint64(t.reviews))
	out = binary.AppendUvarint(out, uint64(len(t.values)))
	for i := range t.values {
		var differ uint64
		for _, n := range t.values[i] {
			if n != 0 {
				differ++
			}
		}
		out = binary.AppendUvarint(out, differ)
		for value, n := range t.values[i] {
			if n != 0 {
				out = append(out, byte(value))
				out = binary.AppendUvarint(out, uint64(n))
			}
		}
	}
	return out
}

// parseTally returns the tally of a stored collection, or an error if it is damaged. An empty Tally is damaged too: every
// collection is stored with one. Each dimension takes at least one byte, so damaged numbers cannot make parseTally take memory
// out of proportion to the row.
func parseTally(c Collection) (t tally, err error) {
	f, bad := record.FieldsOf(storage.Entry{Value: c.Tally}), false
	// The order is that of encode. Uint returns 0 behind the end, so the loops end there too.
	t.reviews = int64(f.Uint())
	dims := f.Uint()
	if dims > uint64(len(f.Rest())) {
		bad = true
	}
	for ; dims > 0 && !bad; dims-- {
		var values [maxRating]int64
		for differ := f.Uint(); differ > 0 && !bad; differ-- {
			value, n := f.Uint(), f.Uint()
			if bad = value >= maxRating || f.Err() != nil; !bad {
				values[value] = int64(n)
			}
		}
		t.values = append(t.values, values)
	}
	if bad || f.Err() != nil || len(f.Rest()) > 0 {
		return tally{}, fmt.Errorf("reviews: the stored counts of collection %q of %q are damaged", c.ID, c.Source)
	}
	return t, nil
}
