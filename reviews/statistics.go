package reviews

import (
	"encoding/json"
	"fmt"
)

// CollectionRecord is a stored collection without its reviews, with the statistics of their ratings. Its JSON is what the HTTP
// API answers.
type CollectionRecord struct {
	ID         string      `json:"id"`
	Source     string      `json:"source"`
	Title      string      `json:"title"`
	Created    string      `json:"created"` // as it was imported
	Count      int64       `json:"count"`   // of its reviews
	Dimensions []Dimension `json:"dimensions"`
}

// Dimension is the statistics of the ratings of a collection in one dimension, such as its price. Every review of the
// collection has one rating in it.
type Dimension struct {
	Name      string    `json:"name"`
	Mean      float64   `json:"mean"`      // of the ratings, 1 to 100, rounded to two decimals; 0 if there are none
	Histogram [10]int64 `json:"histogram"` // how many ratings are 1 to 10, 11 to 20, …, 91 to 100
}

// newCollectionRecord returns a stored collection as callers get it. Its title and dimensions are in Fields, its numbers in
// Tally. A collection that was imported without dimensions has the one called default. An error means that the row is damaged.
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
	// Each dimension has its name from the fields and its numbers from the tally.
	if fields.Dimensions == nil {
		fields.Dimensions = []string{"default"}
	}
	counts.size(len(fields.Dimensions)) // a damaged row may have another number
	out := CollectionRecord{ID: c.ID, Source: c.Source, Title: fields.Title, Created: fields.Created, Count: counts.reviews}
	for i, name := range fields.Dimensions {
		out.Dimensions = append(out.Dimensions, newDimension(name, &counts.values[i], counts.reviews))
	}
	return out, nil
}

// newDimension returns the mean and the histogram of one dimension. values has the number of reviews with each rating; index 0
// is the rating 1. The mean is computed in integers, so that it is exact before it is rounded to hundredths. Half a hundredth is
// rounded up: 100·sum/reviews + 1/2, without its fraction, is (200·sum + reviews) / (2·reviews).
func newDimension(name string, values *[maxRating]int64, reviews int64) Dimension {
	d := Dimension{Name: name}
	var sum int64
	for i, n := range values {
		sum += int64(i+1) * n
		d.Histogram[i/10] += n
	}
	if reviews > 0 {
		d.Mean = float64((200*sum+reviews)/(2*reviews)) / 100
	}
	return d
}
