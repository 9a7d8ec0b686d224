package reviews

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
)

// Stats are the counts of a collection, kept current by every import.
type Stats struct {
	Key
	Title      string
	Reviews    int64
	Dimensions []Dimension
}

// Dimension is how the reviews of a collection rate in one respect.
type Dimension struct {
	Name      string
	Average   float64          // of the ratings, 1 to 100; 0 where there are none
	Histogram [maxRating]int64 // Histogram[i] reviews have the rating i+1
}

// Stats returns the counts of one collection, or ErrNotFound. It reads one row.
func (s *Service) Stats(ctx context.Context, key Key) (stats Stats, err error) {
	err = s.store.View(ctx, func(r Reader) error {
		c, err := r.Collection(ctx, key)
		if err != nil {
			return err
		}
		stats, err = newStats(c)
		return err
	})
	return stats, err
}

// AllStats yields the counts of every collection, in the order in which they were first imported,
// as of one moment. An error is the last that it yields.
func (s *Service) AllStats(ctx context.Context) iter.Seq2[Stats, error] {
	return func(yield func(Stats, error) bool) {
		goOn := true
		err := s.store.View(ctx, func(r Reader) error {
			for c, err := range r.Collections(ctx) {
				if err != nil {
					return err
				}
				stats, err := newStats(c)
				if err != nil {
					return err
				}
				if goOn = yield(stats, nil); !goOn {
					return nil
				}
			}
			return nil
		})
		if err != nil && goOn {
			yield(Stats{}, err)
		}
	}
}

func newStats(c Collection) (Stats, error) {
	counts, err := parseTally(c)
	if err != nil {
		return Stats{}, err
	}
	var fields struct {
		Title      string   `json:"title"`
		Dimensions []string `json:"dimensions"`
	}
	if err := json.Unmarshal(c.Fields, &fields); err != nil {
		return Stats{}, fmt.Errorf("reviews: stored collection %q of %q: %w", c.ID, c.Source, err)
	}
	if fields.Dimensions == nil {
		fields.Dimensions = []string{"default"}
	}
	counts.size(len(fields.Dimensions))
	stats := Stats{Key: c.Key, Title: fields.Title, Reviews: counts.reviews}
	for i, name := range fields.Dimensions {
		d := Dimension{Name: name, Histogram: counts.values[i]}
		var sum int64
		for value, n := range d.Histogram {
			sum += int64(value+1) * n
		}
		if counts.reviews > 0 {
			d.Average = float64(sum) / float64(counts.reviews)
		}
		stats.Dimensions = append(stats.Dimensions, d)
	}
	return stats, nil
}

// tally counts the ratings of a collection.
type tally struct {
	reviews int64
	values  [][maxRating]int64 // for each dimension
}

// size sets the number of dimensions of a tally without reviews.
func (t *tally) size(dims int) {
	if len(t.values) != dims {
		t.values = make([][maxRating]int64, dims)
	}
}

func (t *tally) add(ratings []byte) {
	t.reviews++
	for i, r := range ratings {
		t.values[i][r-1]++
	}
}

// remove takes the ratings of a stored review out.
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

// encode gives a tally as Collection.Tally holds it: reviews, dimensions, and for each dimension how
// many ratings differ and then rating and count.
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
