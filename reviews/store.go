package reviews

import (
	"encoding/json"
	"errors"

	"github.com/vitrine-go/vitrine/reviews/reviewstore"
)

// The storage contract is in package reviewstore: Store, which a driver implements, and its transactions and rows. This file
// gives its types names in package reviews.

// Key identifies a collection within its network: its Source, and its ID there.
type Key = reviewstore.Key

// StoredReview returns the row that an import stores for a review. data is the record of the review, a JSON object, and becomes
// Review.Data without a copy. Review.Time is the member created of data, in microseconds since 1970. It is for programs that
// write rows without an import, such as the restore of an archive. StoredReview checks no other rule: use an Auditor for
// that. It returns ErrInvalid if data is not a JSON object or its created is not a time of the format.
func StoredReview(id string, data []byte) (Review, error) {
	var record struct {
		Created string `json:"created"`
	}
	// instant expects a time that keeps the rule, so the rule is applied first.
	err := json.Unmarshal(data, &record)
	if err == nil && timestampFault([]byte(record.Created)) != "" {
		err = errors.New("created is no time")
	}
	if err != nil {
		return Review{}, invalid("", "the data of review %q: %s", id, err)
	}
	return Review{ID: id, Time: instant([]byte(record.Created)), Data: data}, nil
}

// The types of package reviewstore, for authors of storage drivers. A program that uses a Service needs none of them.
type (
	Collection = reviewstore.Collection
	Review     = reviewstore.Review
	Store      = reviewstore.Store
	Reader     = reviewstore.Reader
	Tx         = reviewstore.Tx
)
