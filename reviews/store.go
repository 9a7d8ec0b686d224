package reviews

import (
	"encoding/json"
	"errors"

	"github.com/vitrine-go/vitrine/reviews/reviewstore"
)

// Key is the identity of a collection within its network: its Source, and its ID there.
type Key = reviewstore.Key

// StoredReview returns the row of a review from its record, as an import stores it. ErrInvalid when the record
// has no time.
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

// What a storage driver implements and keeps, see reviewstore. Who uses a Service needs none of these.
type (
	Collection = reviewstore.Collection
	Review     = reviewstore.Review
	Store      = reviewstore.Store
	Reader     = reviewstore.Reader
	Tx         = reviewstore.Tx
)
