package assets

import (
	"context"
	"iter"
)

// Store keeps the assets and folders of libraries. A driver knows keys, equality, postings, order
// and limits; every rule is the Service's. A transaction is opened for one library, so a row of
// another cannot be named in it. The suite storage/storagetest.Assets states what a driver must do.
//
// Drivers answer with this package's sentinels: ErrNotFound, ErrBusy, ErrFull, ErrUnknown. What a
// driver returns belongs to the caller, and what it is given stays the caller's: nobody sees the
// other's later changes. Bodies that it returns are not to be written to.
type Store interface {
	// View calls fn with one consistent snapshot that holds every update acknowledged before.
	// fn may be called again, with another snapshot, and its last result counts. The Reader and
	// its iterators end with fn.
	View(ctx context.Context, lib Library, fn func(Reader) error) error

	// Update calls fn with a transaction and keeps all of its writes when fn returns nil, none
	// when it returns an error or panics; the error and the panic pass through. Updates are
	// serializable, and what fn read is current when they are kept. When Update returns nil the
	// writes are as durable as the store can make them. fn may be called again, and must not call
	// the Store itself.
	Update(ctx context.Context, lib Library, fn func(Tx) error) error

	// Libraries yields every library that has a State, by network and then by ID, in byte order.
	Libraries(ctx context.Context) iter.Seq2[Library, error]
}

// Reader is the reading half of a transaction. Iterators yield an error once, as the last pair.
type Reader interface {
	// State returns what the library knows of itself, the zero State when nothing was written yet.
	State(ctx context.Context) (State, error)
	// Asset returns the asset with this ordinal. ErrNotFound.
	Asset(ctx context.Context, ordinal int64) (Record, error)
	// AssetFrom returns the asset with this origin. ErrNotFound.
	AssetFrom(ctx context.Context, o Origin) (Record, error)
	// Assets yields the assets whose terms match q, in its order, at most q.Limit.
	Assets(ctx context.Context, q AssetQuery) iter.Seq2[Record, error]
	// Count returns how many assets match q, its limit aside.
	Count(ctx context.Context, q AssetQuery) (int64, error)
	// Folders yields every folder, deleted ones too, by ID in byte order.
	Folders(ctx context.Context) iter.Seq2[FolderRecord, error]
	// Values yields the distinct values that attributes with this key have, of assets that match all
	// the sets of terms, in byte order.
	Values(ctx context.Context, key string, all []AnyOf) iter.Seq2[string, error]
}

// Tx is a writing transaction. Its reads see its own writes.
type Tx interface {
	Reader
	// SetState replaces the library's State.
	SetState(ctx context.Context, s State) error
	// PutAsset adds an asset, or replaces the one with the same ordinal and all it was found by.
	PutAsset(ctx context.Context, r Record, x Index) error
	// DeleteAsset removes an asset and all it was found by. ErrNotFound.
	DeleteAsset(ctx context.Context, ordinal int64) error
	// PutFolder adds a folder, or replaces the one with the same ID.
	PutFolder(ctx context.Context, f FolderRecord) error
}
