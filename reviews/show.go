package reviews

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/vitrine-go/vitrine/internal/fault"
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
// BodyHTML is harmless HTML, see the rule body-html; all other texts are plain text.
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

// Show returns a page of a collection, for everybody who visits a web page. It is the only method for callers with
// TagsOnly: they need PublicReviews, and the network as a whole in Reads. Moderators of the network and operators may
// call it too.
//
// It returns ErrForbidden for any other caller, ErrNotFound if the network has no such collection, and ErrInvalid if
// the request leaves Source out and several sources have the id, if Limit is out of range, or if After is not a cursor
// of the reviews of this collection.
func (s *Session) Show(ctx context.Context, in ListReviewsRequest) (out Shown, err error) {
	s = s.calls("Show")
	if !s.by.TagsOnly {
		err = s.mayUse(in.Network)
	} else if err = checkNetwork(in.Network); err == nil {
		err = s.by.CheckMethod("reviews.Show")
		if err == nil && (!s.by.PublicReviews || !slices.Contains(s.by.Reads, s.service.NetworkURN(in.Network))) {
			err = fault.Forbidden("the caller may not show the reviews of the network %s", in.Network)
		}
	}
	if err != nil {
		return out, err
	}
	err = view(ctx, s.service.db, in.Network, func(r *rows) error {
		c, page, err := reviewsPage(s.service, r, in, func(data []byte) (shown ShownReview, err error) {
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
