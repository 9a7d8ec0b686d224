package reviews

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/vitrine-go/vitrine"
)

// Shown is a collection as pages show it: the statistics of its ratings, and some of its reviews. The HTTP API returns
// its JSON.
type Shown struct {
	Title      string        `json:"title"`
	Count      int64         `json:"count"` // of all reviews of the collection
	Dimensions []Dimension   `json:"dimensions"`
	Reviews    []ShownReview `json:"reviews"` // of this page, the latest first
	Next       string        `json:"-"`       // the cursor of the next page; "" on the last one
}

// ShownReview is a review as pages show it. Of its author it has only the imported display name, and no id or address.
// BodyHTML is harmless HTML, see the package documentation; all other texts are plain text.
type ShownReview struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	BodyHTML string `json:"body_html"`
	Created  string `json:"created"`
	Ratings  []int  `json:"ratings"` // 1 to 100, in the order of Shown.Dimensions
	Author   struct {
		// imported_display_name; "" for an author with a profile, whose name this service does not know
		Name string `json:"name"`
	} `json:"author"`
	Subparts map[string]string `json:"subparts,omitzero"`
	ParentID string            `json:"parent_id,omitzero"`
}

// Show returns a page of a collection, for everybody who visits a web page. See Session.Show.
func (s *Service) Show(ctx context.Context, by vitrine.Caller, in ListReviewsRequest) (out Shown, err error) {
	if !by.TagsOnly {
		err = s.Admit(by, in.Network)
	} else if err = checkNetwork(in.Network); err == nil {
		err = by.Check()
		if err == nil && (!by.PublicReviews || !slices.Contains(by.Reads, s.NetworkURN(in.Network))) {
			err = forbidden("the caller may not show the reviews of the network %s", in.Network)
		}
	}
	if err != nil {
		return out, err
	}
	err = view(ctx, s.made().db, in.Network, func(r *rows) error {
		c, page, err := reviewsPage(s, r, in, func(data []byte) (shown ShownReview, err error) {
			read := struct {
				*ShownReview
				Name *string `json:"imported_display_name"`
			}{&shown, &shown.Author.Name}
			err = json.Unmarshal(data, &read)
			return shown, err
		})
		if err != nil {
			return err
		}
		record, err := newCollectionRecord(c)
		out = Shown{record.Title, record.Count, record.Dimensions, page.Items, page.Next}
		return err
	})
	return out, err
}
