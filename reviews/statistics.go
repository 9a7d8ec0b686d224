package reviews

import (
	"encoding/json"
	"fmt"
)

// CollectionRecord is a stored collection without its reviews, with the statistics of their ratings. The HTTP API
// returns its JSON.
type CollectionRecord struct {
	ID         string      `json:"id"`
	Source     string      `json:"source"`
	Title      string      `json:"title"`
	Created    string      `json:"created"` // as it was imported
	Count      int64       `json:"count"`   // of its reviews
	Dimensions []Dimension `json:"dimensions"`
}

// Dimension is one dimension of a collection, such as price, with statistics of its ratings. Every review of the
// collection has one rating in it.
type Dimension struct {
	Name      string    `json:"name"`
	Mean      float64   `json:"mean"`      // of the ratings, 1 to 100, rounded to two decimals; 0 if there are none
	Histogram [10]int64 `json:"histogram"` // how many ratings are 1 to 10, 11 to 20, …, 91 to 100
}

// newCollectionRecord returns a stored collection in the form for callers. A collection without dimensions has the one
// named default. It returns an error if the stored record is damaged.
func newCollectionRecord(c stored) (CollectionRecord, error) {
	fields := struct {
		Title      string   `json:"title"`
		Created    string   `json:"created"`
		Dimensions []string `json:"dimensions"`
	}{Dimensions: []string{"default"}}
	err := json.Unmarshal(c.fields, &fields)
	if err == nil && len(fields.Dimensions) != len(c.Tally.Ratings) {
		err = fmt.Errorf("it has %d dimensions, and counts of %d", len(fields.Dimensions), len(c.Tally.Ratings))
	}
	if err != nil {
		return CollectionRecord{}, fmt.Errorf("reviews: stored collection %q of %q: %w", c.ID, c.Source, err)
	}
	out := CollectionRecord{ID: c.ID, Source: c.Source, Title: fields.Title, Created: fields.Created,
		Count: c.Tally.Reviews}
	for i, name := range fields.Dimensions {
		d := Dimension{Name: name}
		var sum int64
		for rating, n := range c.Tally.Ratings[i] {
			sum += int64(rating) * n
			d.Histogram[(rating-1)/10] += n
		}
		// The mean is computed in integers, so it is exact before it is rounded to hundredths. Half a hundredth is
		// rounded up: 100·sum/reviews + 1/2, without its fraction, is (200·sum + reviews) / (2·reviews).
		if n := c.Tally.Reviews; n > 0 {
			d.Mean = float64((200*sum+n)/(2*n)) / 100
		}
		out.Dimensions = append(out.Dimensions, d)
	}
	return out, nil
}
