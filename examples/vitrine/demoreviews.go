package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews"
)

// demoCollection is what sample reviews are about: how many there are, how good they find it in each dimension, from 1 to
// 100, and what they say when they like it and when they do not.
type demoCollection struct {
	id, title     string
	dimensions    []string
	means         []float64
	count         int
	praise, blame []string
}

var demoCollections = []demoCollection{
	{"ferry-pass", "Ferry pass for a year", []string{"value", "comfort", "punctuality"}, []float64{82, 61, 48}, 64,
		[]string{"Paid for itself by May", "Nicer than any bus", "The upper deck is the best office"}, []string{"Late again on Mondays", "No seats after four", "Cold in winter"}},
	{"enamel-kettle", "Enamel kettle, two litres", []string{"quality", "design"}, []float64{68, 90}, 41,
		[]string{"Boils quickly", "It looks lovely on the stove", "Still like new"}, []string{"The lid rattles", "Chipped within a month", "The handle gets hot"}},
	{"city-guide", "City guide, second edition", []string{"default"}, []float64{74}, 23,
		[]string{"Found three cafés I never knew", "Good maps at last", "Fits in a pocket"}, []string{"The museum has moved since", "Small print", "Little about the harbour"}},
}

// demoReview is a review of the import format.
type demoReview struct {
	ID       string            `json:"id"`
	Parent   string            `json:"parent_id,omitempty"`
	Title    string            `json:"title"`
	Body     string            `json:"body_html"`
	Created  string            `json:"created"`
	Ratings  []int             `json:"ratings"`
	Author   string            `json:"author_id,omitempty"`
	Display  string            `json:"imported_display_name,omitempty"`
	Subparts map[string]string `json:"subparts,omitempty"`
}

// fillReviews imports the sample reviews.
func fillReviews(ctx context.Context, s *reviews.Service, clock *demoClock) error {
	var file bytes.Buffer
	lines := json.NewEncoder(&file)
	random := rand.New(rand.NewPCG(1, 2)) // the same reviews each time
	for i, c := range demoCollections {
		begun := clock.time(demoTime{400 - 60*i, 9, 0})
		record := map[string]any{"source": "shop.demo.test", "id": base64.RawURLEncoding.EncodeToString([]byte(c.id)), "title": c.title,
			"created": begun.Format(time.RFC3339), "dimensions": c.dimensions}
		var list []demoReview
		for n := range c.count {
			at := begun.Add(time.Duration(n) * 360 * 24 * time.Hour / time.Duration(c.count+8)).Add(time.Duration(random.IntN(600)) * time.Minute)
			r := demoReview{ID: fmt.Sprintf("%s-%d", c.id, n+1), Created: at.Format(time.RFC3339)}
			sum := 0
			for _, mean := range c.means {
				rating := min(100, max(1, int(mean+random.NormFloat64()*18)))
				r.Ratings, sum = append(r.Ratings, rating), sum+rating
			}
			words := c.praise
			if sum < 60*len(c.means) {
				words = c.blame
			}
			first, second := random.IntN(len(words)), random.IntN(len(c.praise))
			r.Title = words[first]
			r.Body = fmt.Sprintf("<p>%s.</p><p>%s, <a href=\"https://shop.demo.test/%s\">as said here</a>.</p>", words[first], c.praise[second], c.id)
			if n%3 == 0 {
				r.Display = fmt.Sprintf("user-%d", 100+random.IntN(800))
			} else {
				r.Author = demoHandles[random.IntN(len(demoHandles))].id
			}
			if n%10 == 9 {
				r.Parent, r.Title, r.Subparts = list[n-1].ID, "Re: "+list[n-1].Title, map[string]string{"role": "answer"}
			}
			list = append(list, r)
		}
		record["reviews"] = list
		if err := lines.Encode(record); err != nil {
			return err
		}
	}
	by := vitrine.Caller{URN: demoUser.URN, Moderates: demoUser.Moderates}
	report, err := s.Import(ctx, by, reviews.ImportRequest{Network: demoLibrary.Network, File: &file})
	if err == nil && report.Errors > 0 {
		err = fmt.Errorf("the sample reviews: %s", report.Problems[0].Message)
	}
	return err
}
