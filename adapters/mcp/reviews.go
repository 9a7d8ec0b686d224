package mcp

import (
	"cmp"
	"math"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/isotime"
	"github.com/vitrine-go/vitrine/reviews"
)

// addReviewTools adds the tools for reviews.
func addReviewTools(s *sdk.Server) {
	tool(s, reads, "find_collections", "Find collections of reviews", `Lists the collections of reviews, one for each
article that is reviewed, with the number of reviews and the mean of their ratings. Ratings are 1 to 100: each of five
stars is 20.`, findCollections)
	tool(s, reads, "find_reviews", "Find reviews",
		`Finds reviews of all collections or of one, by their rating, time and
words; of each collection the latest first. A result says how many reviews were looked at: go on with its cursor until
there is none, also when it has no reviews. It imports, changes and erases nothing: people do, under Reviews in the
console.`, findReviews)
}

type findCollectionsInput struct {
	Source string `json:"source,omitzero" jsonschema:"name of the site that the reviews come from"`
	Cursor string `json:"cursor,omitzero" jsonschema:"that of the result before"`
}

type foundCollections struct {
	Collections []foundCollection `json:"collections"`
	Cursor      string            `json:"cursor,omitzero"`
}

type foundCollection struct {
	Source string             `json:"source"`
	ID     string             `json:"id"`
	Title  string             `json:"title"`
	Count  int64              `json:"count"`
	Means  map[string]float64 `json:"means" jsonschema:"of the ratings, by what is rated"`
}

func findCollections(c *call, in findCollectionsInput) (out foundCollections, err error) {
	out.Collections, out.Cursor, err = pageOf(40, func(limit int) (vitrine.Page[reviews.CollectionRecord], error) {
		return c.reviews.ListCollections(c.Context(), reviews.ListCollectionsRequest{Source: in.Source,
			After: in.Cursor, Limit: limit})
	}, func(x reviews.CollectionRecord) foundCollection {
		one := foundCollection{x.Source, x.ID, cut(x.Title, mostDescription), x.Count, map[string]float64{}}
		for _, d := range x.Dimensions[:min(len(x.Dimensions), mostOfApp)] {
			one.Means[cut(d.Name, 100)] = d.Mean
		}
		return one
	})
	return out, err
}

type findReviewsInput struct {
	Collection string `json:"collection,omitzero" jsonschema:"id of a collection"`
	Source     string `json:"source,omitzero" jsonschema:"name of the site that the reviews come from"`
	Below      int    `json:"below,omitzero" jsonschema:"their mean rating is below this: 60 for below 3 of 5 stars"`
	Above      int    `json:"above,omitzero" jsonschema:"their mean rating is above this"`
	Since      string `json:"since,omitzero" jsonschema:"not earlier than this date or time, such as 2026-10-01"`
	Until      string `json:"until,omitzero" jsonschema:"earlier than this date or time: 2026-11-01 for October"`
	Query      string `json:"q,omitzero" jsonschema:"a text in the title or the review"`
	Cursor     string `json:"cursor,omitzero" jsonschema:"that of the result before"`
}

type foundReviews struct {
	Reviews []foundReview `json:"reviews"`
	Read    int           `json:"read" jsonschema:"how many reviews were looked at"`
	Cursor  string        `json:"cursor,omitzero"`
}

type foundReview struct {
	Collection string  `json:"collection" jsonschema:"id of the collection"`
	Article    string  `json:"article" jsonschema:"title of the collection"`
	ID         string  `json:"id"`
	Created    string  `json:"created"`
	Ratings    []int   `json:"ratings" jsonschema:"1 to 100"`
	Mean       float64 `json:"mean" jsonschema:"of the ratings"`
	Title      string  `json:"title,omitzero"`
	HTML       string  `json:"html" jsonschema:"what it says, the beginning if it is long"`
	Author     string  `json:"author,omitzero"`
	Reply      string  `json:"replyTo,omitzero" jsonschema:"id of a review"`
}

// mostRead is how many reviews a call looks at, about.
const mostRead = 2_000

// mostReview is how many bytes of a review are shown.
const mostReview = 1_000

// reviewsAt is a place in the reviews of all collections: where the page of collections begins, the collection, and
// where the page of its reviews begins.
type reviewsAt struct {
	Page       string `json:"p"`
	Source     string `json:"s"`
	Collection string `json:"c"`
	After      string `json:"a"`
}

func findReviews(c *call, in findReviewsInput) (out foundReviews, err error) {
	var at reviewsAt
	if in.Cursor != "" && jsonv2.Unmarshal([]byte(in.Cursor), &at) != nil {
		return out, fault.Invalid("/cursor", "want the cursor of the result before this one")
	}
	keeps, since, err := in.filter()
	if err != nil {
		return out, err
	}
	out.Reviews = []foundReview{}
	left, known := room(mostList), in.Collection == "" || in.Cursor != ""
	for {
		page, err := c.reviews.ListCollections(c.Context(), reviews.ListCollectionsRequest{Source: in.Source,
			After: at.Page})
		if err != nil {
			return out, err
		}
		for _, x := range page.Items {
			before := cmp.Or(cmp.Compare(x.Source, at.Source), cmp.Compare(x.ID, at.Collection)) < 0
			if before || in.Collection != "" && x.ID != in.Collection {
				continue
			}
			known = true
			if x.Source != at.Source || x.ID != at.Collection {
				at.After = ""
			}
			at.Source, at.Collection = x.Source, x.ID
			if full, err := c.readReviews(x, &at, &out, &left, keeps, since); err != nil || full {
				cursor, _ := jsonv2.Marshal(at)
				out.Cursor = string(cursor)
				return out, err
			}
		}
		if page.Next == "" && !known {
			return out, fault.At("/collection",
				fault.NotFound("no collection has this id: find_collections lists them"))
		} else if page.Next == "" {
			return out, nil
		}
		at.Page = page.Next
	}
}

// filter returns which reviews are wanted, and the time before which none is.
func (in findReviewsInput) filter() (keeps func(foundReview, time.Time) bool, since time.Time, err error) {
	if in.Since != "" {
		if since, err = isotime.Parse(in.Since); err != nil {
			return nil, since, fault.Invalid("/since", "%s", err)
		}
	}
	until := time.Time{}
	if in.Until != "" {
		if until, err = isotime.Parse(in.Until); err != nil {
			return nil, since, fault.Invalid("/until", "%s", err)
		}
	}
	return func(r foundReview, at time.Time) bool {
		return (in.Below == 0 || r.Mean < float64(in.Below)) && (in.Above == 0 || r.Mean > float64(in.Above)) &&
			!at.Before(since) && (until.IsZero() || at.Before(until)) &&
			strings.Contains(strings.ToLower(r.Title+"\n"+r.HTML), strings.ToLower(in.Query))
	}, since, nil
}

// readReviews adds reviews of a collection to a result, from a place on, and moves the place. It returns true if the
// result is full before the end of the collection.
func (c *call) readReviews(x reviews.CollectionRecord, at *reviewsAt, out *foundReviews, left *room,
	keeps func(foundReview, time.Time) bool, since time.Time) (full bool, err error) {
	limit := 10 // most collections have few, or none that is late enough
	for {
		if out.Read >= mostRead {
			return true, nil
		}
		page, err := c.reviews.ListReviews(c.Context(), reviews.ListReviewsRequest{Source: x.Source, Collection: x.ID,
			After: at.After, Limit: limit})
		if err != nil {
			return false, err
		}
		fit, known, was, older := true, len(out.Reviews), *left, false
		for _, r := range page.Items {
			created, err := isotime.Parse(r.Created)
			if older = err == nil && created.Before(since); older {
				break
			}
			one := foundReview{Collection: x.ID, Article: cut(x.Title, 200), ID: r.ID, Created: r.Created,
				Ratings: r.Ratings, Title: r.Title, HTML: r.BodyHTML, Reply: r.ParentID,
				Author: cut(cmp.Or(r.DisplayName, r.AuthorID), 200)}
			for _, n := range r.Ratings {
				one.Mean += float64(n) / float64(len(r.Ratings))
			}
			if keeps(one, created) {
				one.Mean = math.Round(one.Mean*100) / 100
				one.Title, one.HTML = cut(one.Title, 200), cut(one.HTML, mostReview)
				fit, out.Reviews = fit && left.takes(one), append(out.Reviews, one)
			}
		}
		switch {
		case !fit && known > 0: // the next result begins with this page
			out.Reviews, *left = out.Reviews[:known], was
			return true, nil
		case !fit && limit > 1:
			out.Reviews, *left, limit = out.Reviews[:0], was, limit/2
			continue
		}
		out.Read += len(page.Items)
		if at.After = page.Next; older || page.Next == "" {
			return false, nil
		}
		limit = min(2*limit, 200)
	}
}
