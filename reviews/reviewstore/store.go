package reviewstore

import (
	"context"
	"iter"
)

// DefaultNetwork is the network of the reviews that a driver stored before reviews had networks.
const DefaultNetwork = "default"

// Key identifies a collection within its network: the site that its reviews come from, and its article there.
type Key struct {
	Source string `json:"source"`
	ID     string `json:"id"` // Base64, compared as it is written
}

// Collection is a stored collection, without its reviews.
type Collection struct {
	Key
	Fields []byte // JSON object: the record without its reviews
	Tally  []byte // the statistics of reviews.Service; opaque to a driver
}

// Review is a stored review.
type Review struct {
	ID   string
	Time int64  // when it was written, in the units of reviews.Service; ReviewsByTime orders by it
	Data []byte // JSON object: the record
}

// CollectionQuery asks for collections by source and then by id.
type CollectionQuery struct {
	After Key // only collections with a higher source, or the same source and a higher id; the zero Key: all
	Limit int // at most so many; 0 = all
}

// ReviewQuery asks for the reviews of a collection by time.
type ReviewQuery struct {
	Collection Key
	After      *Position // only reviews after this position; nil = all
	Limit      int       // at most so many; 0 = all
}

// Position is the position of a review in the order of ReviewsByTime.
type Position struct {
	Time int64
	ID   string
}

// Store stores collections and their reviews, separately for each network. It is implemented by storage drivers and called
// by reviews.Service alone. A driver stores rows and answers queries by network, key, order and limit; the Service applies
// the rules of the domain. The suite storage/storagetest.Reviews tests the rules of this file.
//
// A transaction is opened for one network, and reads and writes that network alone. The same key in two networks names
// two collections, and each network has its own order of collections. Transactions of different networks should not wait
// for each other more than the engine requires.
//
// A driver returns the errors ErrNotFound, ErrBusy, ErrFull and ErrUnknown of this package, or errors that wrap them.
// Every method may return ErrBusy when the data cannot be reached in time, and the error of ctx when ctx is done; every
// write may return ErrFull when there is no room. Anything else is an internal error.
//
// Networks, keys and ids are compared byte by byte and may have any length. A driver copies the slices that it stores, so
// later changes by the caller do not affect the store. The slices that it returns belong to the caller and may be
// changed, except Fields, Tally and Data: a driver may share these, and nobody changes them.
type Store interface {
	// Networks yields the name of each network that has a collection, in byte order.
	Networks(ctx context.Context) iter.Seq2[string, error]

	// View calls fn, once, with a Reader of one consistent snapshot of the network, which contains every update that was
	// acknowledged before View was called. It returns the error of fn. The Reader and its iterators are valid until
	// fn returns.
	View(ctx context.Context, network string, fn func(Reader) error) error

	// Update calls fn with a transaction on the network. When fn returns nil, all of its writes are committed; when fn
	// returns an error or panics, none of them is, and the error or the panic reaches the caller of Update. Updates are
	// serializable: what fn read is still current when its writes are committed. When Update returns nil, the writes are
	// as durable as the store can make them. Update may call fn again, after it has rolled back what the call before
	// wrote. fn does not call the Store.
	//
	// It returns ErrBusy when nothing was committed and the same call may succeed later, ErrFull when nothing was
	// committed for want of room, and ErrUnknown when the outcome of the commit is not known.
	Update(ctx context.Context, network string, fn func(Tx) error) error
}

// Reader is the reading half of a transaction on one network; drivers implement it. An iterator that fails yields the error
// once, as its last pair. It may be left early and ranged over again, and other reads and writes may happen between its
// steps.
type Reader interface {
	// Collection returns a collection. It returns ErrNotFound if the network has no collection with this key.
	Collection(ctx context.Context, key Key) (Collection, error)
	// Collections yields all collections of the network in the order in which they were first put.
	Collections(ctx context.Context) iter.Seq2[Collection, error]
	// CollectionsByKey yields the collections of the network that q asks for, by source and then by id, both in byte
	// order, and stops after q.Limit of them.
	CollectionsByKey(ctx context.Context, q CollectionQuery) iter.Seq2[Collection, error]
	// CollectionsWithID yields the collections of the network that have this id, by source in byte order.
	CollectionsWithID(ctx context.Context, id string) iter.Seq2[Collection, error]
	// Reviews yields the reviews of a collection in the order in which they were first put. It yields nothing if there
	// is no collection with this key.
	Reviews(ctx context.Context, key Key) iter.Seq2[Review, error]
	// ReviewsByID yields those of the given reviews that the collection has, each once, in any order. It yields nothing
	// if there is no collection with this key.
	ReviewsByID(ctx context.Context, key Key, ids []string) iter.Seq2[Review, error]
	// ReviewsByTime yields the reviews that q asks for: the highest Time first, and reviews with the same Time by id in
	// byte order. It stops after q.Limit of them, and yields nothing if there is no such collection.
	ReviewsByTime(ctx context.Context, q ReviewQuery) iter.Seq2[Review, error]
}

// Tx is a writing transaction; drivers implement it. Its reads see its own writes. A write that returns ErrNotFound has
// changed nothing, and the transaction goes on.
type Tx interface {
	Reader
	// Announce tells the driver which collections the transaction is going to read or write, before it does so. They need
	// not exist. A driver that locks collections locks these at once and in one order, so that two transactions that
	// announce the same collections cannot deadlock. Announce changes nothing that can be read.
	Announce(ctx context.Context, keys []Key) error
	// PutCollection adds a collection, or replaces the fields and the tally of the one with the same key, which keeps its
	// place in the order of Collections and its reviews.
	PutCollection(ctx context.Context, c Collection) error
	// PutReviews adds reviews to a collection, after those that it has. A review with an id that the collection has
	// replaces that one and keeps its place. If an id is given twice, the last one counts. PutReviews returns
	// ErrNotFound if there is no such collection.
	PutReviews(ctx context.Context, key Key, reviews []Review) error
	// DeleteCollection removes a collection and all of its reviews. A collection that is put with the same key later is a
	// new one, the last in the order of Collections. DeleteCollection returns ErrNotFound if there is no such
	// collection.
	DeleteCollection(ctx context.Context, key Key) error
	// DeleteReviews removes those of the given reviews that the collection has. A review that is put with the same id
	// later is a new one, after those that the collection has. DeleteReviews returns ErrNotFound if there is no such
	// collection.
	DeleteReviews(ctx context.Context, key Key, ids []string) error
}
