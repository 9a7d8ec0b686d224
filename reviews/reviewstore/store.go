package reviewstore

import (
	"context"
	"iter"
)

// DefaultNetwork is the network of the reviews that were stored before reviews had networks.
const DefaultNetwork = "default"

// Key identifies a collection within its network: the site that its reviews come from, and its article there.
type Key struct {
	Source string `json:"source"`
	ID     string `json:"id"` // Base64, compared as it is written
}

// Collection is a stored collection without its reviews. Fields and Tally are stored and returned byte by byte; a driver never
// reads them. Either may be empty.
type Collection struct {
	Key
	Fields []byte // a JSON object: the record without its reviews
	Tally  []byte // statistics of the reviews, kept by reviews.Service
}

// Review is a stored review. Data is stored and returned byte by byte; a driver never reads it.
type Review struct {
	ID   string // unique in its collection
	Time int64  // when it was written; any value is allowed, also a negative one, and ReviewsByTime orders by it
	Data []byte // a JSON object: the record
}

// CollectionQuery is a query for collections by source and then by id.
type CollectionQuery struct {
	After Key // only collections with a higher source, or with the same source and a higher id; the zero Key: all
	Limit int // the highest number of collections; 0: no limit
}

// ReviewQuery is a query for the reviews of a collection by time.
type ReviewQuery struct {
	Collection Key
	After      *Position // only reviews after this position, which need not be that of a stored review; nil: all
	Limit      int       // the highest number of reviews; 0: no limit
}

// Position is a position in the order of ReviewsByTime: after all reviews with a higher Time, and after those with the same
// Time whose ID is lower or equal.
type Position struct {
	Time int64
	ID   string
}

// Store stores collections and their reviews, separately for each network. Storage drivers implement it. reviews.Service
// calls it, and so do programs that move rows, such as package archive. It is safe for concurrent use.
//
// A transaction is opened for one network, and reads and writes that network alone. The same key in two networks names two
// collections, and each network has its own order of collections. Transactions of different networks should not wait for each
// other more than the engine requires.
//
// A driver returns the errors ErrNotFound, ErrBusy, ErrFull and ErrUnknown of this package, or errors that wrap them. Every
// method may return ErrBusy if the data cannot be reached in time, and the error of ctx if ctx is done. Every write may return
// ErrFull if there is no room. After the store was closed, View and Update return an error that wraps vitrine.ErrClosed, and
// Networks yields it. Any other error is an internal one, and the caller gives up.
//
// Networks, keys and ids are compared byte by byte and may have any length. A driver copies the slices that it stores, so
// later changes by the caller do not affect the store. The slices that it returns belong to the caller and may be changed,
// except Fields, Tally and Data: a driver may share these, and nobody changes them.
type Store interface {
	// Networks yields the name of each network that has a collection, in byte order. If it fails, it yields the error once, as
	// its last pair.
	Networks(ctx context.Context) iter.Seq2[string, error]

	// View calls fn once, with a Reader of one consistent snapshot of the network. The snapshot contains every update that was
	// acknowledged before View was called. The Reader and its iterators are valid until fn returns, and nobody uses them
	// afterwards. A network that has no collections is empty, which is no error. View returns the error of fn. If the snapshot
	// cannot be opened in time, it returns ErrBusy and does not call fn.
	View(ctx context.Context, network string, fn func(Reader) error) error

	// Update calls fn with a transaction on the network. If fn returns nil, all of its writes are committed. If fn returns an
	// error or panics, none of them is, and the error or the panic reaches the caller of Update. Updates are serializable:
	// what fn has read is still current when its writes are committed. When Update returns nil, the writes are as durable as
	// the store can make them. Update may call fn again, after it has rolled back what the call before wrote, so fn is
	// idempotent. fn does not call the Store. The Tx is valid until fn returns, and nobody uses it afterwards.
	//
	// Update returns ErrBusy if nothing was committed and the same call may succeed later, ErrFull if nothing was committed
	// for want of room, and ErrUnknown if it is not known whether the writes were committed.
	Update(ctx context.Context, network string, fn func(Tx) error) error

	// Scrub removes what is left of deleted and replaced rows from the files of the store. When it returns nil, no file has a
	// byte of a row that an Update which was committed before Scrub was called has deleted or replaced. Other calls go on
	// meanwhile. Scrub returns ErrBusy if others keep it from this for about a minute: the rows are deleted, a file still has
	// copies, and the same call may succeed later. A store whose files are cleaned by other means, such as the vacuum of
	// PostgreSQL, or that has no files, does nothing.
	Scrub(ctx context.Context) error
}

// Reader is the reading half of a transaction on one network. It is used by one goroutine at a time.
//
// An iterator that fails yields the error once, as its last pair. The caller may leave an iterator early, range over it again,
// and read and write between its steps. The iterator may or may not see what such a write changes. It yields each row that the
// write does not touch exactly once.
type Reader interface {
	// Collection returns a collection. It returns ErrNotFound if the network has no collection with this key.
	Collection(ctx context.Context, key Key) (Collection, error)
	// Collections yields all collections of the network in the order in which they were first put.
	Collections(ctx context.Context) iter.Seq2[Collection, error]
	// CollectionsByKey yields the collections of the network that are after q.After, by source and then by id, both in byte
	// order, and stops after q.Limit of them. The collection q.After need not exist.
	CollectionsByKey(ctx context.Context, q CollectionQuery) iter.Seq2[Collection, error]
	// CollectionsWithID yields the collections of the network that have this id, by source in byte order.
	CollectionsWithID(ctx context.Context, id string) iter.Seq2[Collection, error]
	// Reviews yields the reviews of a collection in the order in which they were first put. It yields nothing if there
	// is no collection with this key.
	Reviews(ctx context.Context, key Key) iter.Seq2[Review, error]
	// ReviewsByID yields those of the given reviews that the collection has, each once, in any order. It yields nothing
	// if there is no collection with this key.
	ReviewsByID(ctx context.Context, key Key, ids []string) iter.Seq2[Review, error]
	// ReviewsByTime yields the reviews of a collection that are after q.After: the highest Time first, and reviews with the
	// same Time by id in byte order. It stops after q.Limit of them. It yields nothing if there is no collection with this key.
	ReviewsByTime(ctx context.Context, q ReviewQuery) iter.Seq2[Review, error]
}

// Tx is a writing transaction on one network. Its reads see its own writes. A write that returns ErrNotFound has changed
// nothing, and the transaction goes on. After any other error of a write, the caller returns that error from fn.
type Tx interface {
	Reader
	// Announce names the collections that the transaction is going to read or write, before it does so. They need not exist,
	// and a key may be given twice. A driver that locks collections locks these at once and in one order, so that two
	// transactions that announce the same collections cannot deadlock. Announce changes nothing that can be read. A driver
	// without such locks does nothing.
	Announce(ctx context.Context, keys []Key) error
	// PutCollection adds a collection, or replaces the fields and the tally of the one with the same key, which keeps its
	// place in the order of Collections and its reviews.
	PutCollection(ctx context.Context, c Collection) error
	// PutReviews adds reviews to a collection, after those that it has. A review with an id that the collection has replaces
	// that review, and keeps its place in the order of Reviews. If an id is given twice, the last review counts. PutReviews
	// returns ErrNotFound if there is no such collection.
	PutReviews(ctx context.Context, key Key, reviews []Review) error
	// DeleteCollection removes a collection and all of its reviews. A collection that is put with the same key later is a
	// new one, the last in the order of Collections. DeleteCollection returns ErrNotFound if there is no such
	// collection.
	DeleteCollection(ctx context.Context, key Key) error
	// DeleteReviews removes those of the given reviews that the collection has, and ignores the other ids. A review that is put
	// with the same id later is a new one, after those that the collection has. DeleteReviews returns ErrNotFound if there is
	// no such collection.
	DeleteReviews(ctx context.Context, key Key, ids []string) error
}
