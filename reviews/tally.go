package reviews

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
)

// Dimension is the ratings of a collection in one dimension.
type Dimension struct {
	Name      string    `json:"name"`
	Mean      float64   `json:"mean"`      // of the ratings, 1 to 100, rounded to two decimals; 0 if there are none
	Histogram [10]int64 `json:"histogram"` // how many ratings are 1 to 10, 11 to 20, …, 91 to 100
}

// newCollectionRecord returns a stored collection as callers get it. Its title and dimensions are in Fields, its numbers in Tally.
// A collection that was imported without dimensions has the one called default.
func newCollectionRecord(c Collection) (CollectionRecord, error) {
	counts, err := parseTally(c)
	if err != nil {
		return CollectionRecord{}, err
	}
	var fields struct {
		Title      string   `json:"title"`
		Created    string   `json:"created"`
		Dimensions []string `json:"dimensions"`
	}
	if err := json.Unmarshal(c.Fields, &fields); err != nil {
		return CollectionRecord{}, fmt.Errorf("reviews: stored collection %q of %q: %w", c.ID, c.Source, err)
	}
	if fields.Dimensions == nil {
		fields.Dimensions = []string{"default"}
	}
	counts.size(len(fields.Dimensions))
	out := CollectionRecord{ID: c.ID, Source: c.Source, Title: fields.Title, Created: fields.Created, Count: counts.reviews}
	for i, name := range fields.Dimensions {
		out.Dimensions = append(out.Dimensions, newDimension(name, &counts.values[i], counts.reviews))
	}
	return out, nil
}

// newDimension returns the mean and the histogram of the counts of each rating.
func newDimension(name string, values *[maxRating]int64, reviews int64) Dimension {
	d := Dimension{Name: name}
	var sum int64
	for i, n := range values {
		sum += int64(i+1) * n
		d.Histogram[i/10] += n
	}
	if reviews > 0 { // in hundredths, and half of one is rounded up
		d.Mean = float64((200*sum+reviews)/(2*reviews)) / 100
	}
	return d
}

// tally is the statistics of a collection: how many reviews it has, and for each dimension how many of them have each rating.
// It is stored with the collection and kept up to date, so that no review is read for a mean.
type tally struct {
	reviews int64
	values  [][maxRating]int64 // for each dimension; index 0 is the rating 1
}

// size sets the number of dimensions. It has no effect if the tally has as many, and else it forgets all counts, so it is called
// for a tally without reviews.
func (t *tally) size(dims int) {
	if len(t.values) != dims {
		t.values = make([][maxRating]int64, dims)
	}
}

// add adds the ratings of a review.
func (t *tally) add(ratings []byte) {
	t.reviews++
	for i, r := range ratings {
		t.values[i][r-1]++
	}
}

// remove takes out the ratings of a stored review, which is about to be replaced or erased. It returns an error if the review does
// not fit the tally, which only a damaged store can cause.
func (t *tally) remove(data []byte) error {
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

// encode returns the tally in the form of Collection.Tally. It is numbers as unsigned varints: of reviews, of dimensions, and for
// each dimension how many different ratings there are, and then each of these, less 1, and its count.
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

// parseTally returns the tally of a stored collection, or an error if it is damaged.
func parseTally(c Collection) (t tally, err error) {
	rest, bad := c.Tally, false
	next := func() uint64 {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			bad = true
			return 0
		}
		rest = rest[n:]
		return v
	}
	t.reviews = int64(next())
	dims := next()
	if dims > uint64(len(rest)) {
		bad = true
	}
	for ; dims > 0 && !bad; dims-- {
		var values [maxRating]int64
		for differ := next(); differ > 0 && !bad; differ-- {
			if value := next(); value < maxRating {
				values[value] = int64(next())
			} else {
				bad = true
			}
		}
		t.values = append(t.values, values)
	}
	if bad || len(rest) > 0 {
		return tally{}, fmt.Errorf("reviews: the stored counts of collection %q of %q are damaged", c.ID, c.Source)
	}
	return t, nil
}
