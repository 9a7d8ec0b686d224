package reviews

import (
	"context"
	"iter"
)

// Key is the identity of a collection: where its reviews come from and its article there.
type Key struct {
	Source string
	ID     string // Base64, compared as it is written
}

// Collection is a collection as it is stored.
type Collection struct {
	Key
	Fields []byte // JSON object: the record without its reviews
	Tally  []byte // what Service counts; opaque to a driver
}

// Review is a review as it is stored.
type Review struct {
	ID   string
	Data []byte // JSON object: the record
}

// Store keeps collections and their reviews. A driver knows keys, equality and order; every rule is
// the Service's. The suite storage/storagetest.Reviews states what a driver must do.
//
// Drivers answer with this package's sentinels: ErrNotFound, ErrBusy, ErrFull, ErrUnknown.
// Keys and ids are compared byte by byte and may have any length. What a driver returns belongs to
// the caller, and what it is given stays the caller's: nobody sees the other's later changes. Fields,
// Tally and Data that it returns are not to be written to.
type Store interface {
	// View calls fn, once, with one consistent snapshot that holds every update acknowledged
	// before. The Reader and its iterators end with fn.
	View(ctx context.Context, fn func(Reader) error) error

	// Update calls fn with a transaction and keeps all of its writes when fn returns nil, none
	// when it returns an error or panics; the error and the panic pass through. Updates are
	// serializable. When Update returns nil the writes are as durable as the store can make them.
	// fn may be called again, and must not call the Store itself.
	Update(ctx context.Context, fn func(Tx) error) error
}

// Reader is the reading half of a transaction. Iterators yield an error once, as the last pair, can
// be left and gone through again, and allow other reads and writes between their steps.
type Reader interface {
	// Collection returns a collection. ErrNotFound.
	Collection(ctx context.Context, key Key) (Collection, error)
	// Collections yields all collections in the order in which they were first put.
	Collections(ctx context.Context) iter.Seq2[Collection, error]
	// Reviews yields the reviews of a collection in the order in which they were first put; none
	// where there is no such collection.
	Reviews(ctx context.Context, key Key) iter.Seq2[Review, error]
	// ReviewsByID yields those of the given reviews that the collection has, each once, in any
	// order.
	ReviewsByID(ctx context.Context, key Key, ids []string) iter.Seq2[Review, error]
}

// Tx is a writing transaction. Its reads see its own writes.
type Tx interface {
	Reader
	// PutCollection adds a collection, or replaces its fields and tally; its place and its
	// reviews stay.
	PutCollection(ctx context.Context, c Collection) error
	// PutReviews adds reviews to a collection, behind those that are there, and replaces in their
	// place those whose id it has. Where an id is given twice the last counts. ErrNotFound when
	// there is no such collection.
	PutReviews(ctx context.Context, key Key, reviews []Review) error
}
