package reviews

import (
	"encoding/json"
	"errors"

	"github.com/vitrine-go/vitrine/reviews/reviewstore"
)

// Key identifies a collection within its network: its Source, and its ID there.
type Key = reviewstore.Key

// StoredReview returns the row that an import stores for a review with this record. It returns ErrInvalid if the record has no
// valid time.
func StoredReview(id string, data []byte) (Review, error) {
	var record struct {
		Created string `json:"created"`
	}
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
