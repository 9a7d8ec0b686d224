package appsvc

import (
	"context"
	"iter"
)

// Store keeps apps, tags and components. A driver knows keys, equality, any-of, order and limits;
// every rule is the Service's. The suite storage/storagetest.Apps states what a driver must do.
//
// Drivers answer with this package's sentinels: ErrNotFound, ErrExists, ErrBusy, ErrFull and
// ErrUnknown. What a driver returns belongs to the caller, and what it is given stays the caller's:
// nobody sees the other's later changes. Bodies, manifests and results that it returns are not to be
// written to.
type Store interface {
	// View calls fn with one consistent snapshot that holds every update acknowledged before.
	// fn may be called again, with another snapshot, and its last result counts. The Reader and
	// its iterators end with fn.
	View(ctx context.Context, fn func(Reader) error) error

	// Update calls fn with a transaction and keeps all of its writes when fn returns nil, none
	// when it returns an error or panics; the error and the panic pass through. Updates are
	// serializable, and what fn read is current when they are kept. When Update returns nil the
	// writes are as durable as the store can make them. fn may be called again, and must not call
	// the Store itself.
	Update(ctx context.Context, fn func(Tx) error) error
}

// Reader is the reading half of a transaction. Iterators yield an error once, as the last pair.
type Reader interface {
	// Head returns what the latest version of the app says of itself. ErrNotFound.
	Head(ctx context.Context, id string) (Head, error)
	// App returns a version of an app; Latest is the highest. ErrNotFound.
	App(ctx context.Context, id string, v Version) (App, error)
	// Versions yields versions of one app, newest first.
	Versions(ctx context.Context, q VersionQuery) iter.Seq2[App, error]
	// Apps yields the latest version of each app whose Head matches q, in the order of q.Compare.
	Apps(ctx context.Context, q AppQuery) iter.Seq2[App, error]
	// Tags yields tags of one app by name, in byte order.
	Tags(ctx context.Context, q TagQuery) iter.Seq2[Tag, error]
	// Components yields components by name, in byte order, and those of one name in the order of
	// their adding.
	Components(ctx context.Context, q ComponentQuery) iter.Seq2[Component, error]
	// IDs yields the IDs of all apps, in byte order.
	IDs(ctx context.Context) iter.Seq2[string, error]
	// Answers yields every answer that is kept, by caller and then by key, in byte order.
	Answers(ctx context.Context) iter.Seq2[Answer, error]
	// Answer returns what was kept for a caller's key. ErrNotFound.
	Answer(ctx context.Context, by, key string) (Answer, error)
}

// Tx is a writing transaction. Its reads see its own writes.
type Tx interface {
	Reader
	// AddVersion adds a version of an app; it is the latest from now on. ErrExists unless
	// h.Version is one above the latest, or 0 for an app that is not there.
	AddVersion(ctx context.Context, h Head, body Body) error
	// SetTag adds the tag or moves the one with the same app and name.
	SetTag(ctx context.Context, t Tag) error
	// DeleteTag removes a tag. ErrNotFound.
	DeleteTag(ctx context.Context, appID, name string) error
	// AddComponent adds a component. ErrExists when its ID, or its name and version, are taken.
	AddComponent(ctx context.Context, c Component) error
	// DeleteComponent removes every version of a component. ErrNotFound when there is none.
	DeleteComponent(ctx context.Context, name string) error
	// KeepAnswer keeps a, replacing what was kept for the same caller and key, and forgets the
	// answers that expired at now (milliseconds since the epoch) or before.
	KeepAnswer(ctx context.Context, a Answer, now int64) error
}
