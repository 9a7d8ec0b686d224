package assetstore

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine/internal/feed"
)

// Store stores the assets and folders of libraries. Storage drivers implement it, and
// assets.Service calls it. A driver stores rows and answers queries by key, terms, order and limit;
// the Service applies the rules of the domain. A transaction is opened for one library and cannot
// name a row of another. The suite storage/storagetest.Assets tests the rules of this file.
//
// A driver returns the errors ErrNotFound, ErrBusy, ErrFull and ErrUnknown of this package, or
// errors that wrap them. Every method may return ErrBusy when the data cannot be reached in time,
// and the error of ctx when ctx is done. Every write may return ErrFull when there is no room. A
// method returns ErrNotFound only where its comment says so. After the store was closed, View and
// Update return an error that wraps vitrine.ErrClosed, and Libraries yields it. The Service treats
// any other error as a fault of the driver.
//
// A driver copies the slices that it stores, so later changes by the caller do not affect the
// store. The slices that it returns belong to the caller and may be changed, except bodies: a
// driver may share these, and nobody changes them.
type Store interface {
	// View calls fn with a Reader of one consistent snapshot, which contains every update that was
	// acknowledged before View was called. It may call fn again with another snapshot; then the
	// last call counts. The Reader and its iterators are valid until fn returns.
	//
	// It returns the error of fn, or ErrBusy if it could not take a snapshot in time. A library to
	// which nothing was written is no error: its Reader finds nothing.
	View(ctx context.Context, lib Library, fn func(Reader) error) error

	// Update calls fn with a transaction. When fn returns nil, all of its writes are committed;
	// when fn returns an error or panics, none of them is, and the error or the panic reaches the
	// caller of Update. Updates are serializable: what fn read is still current when its writes are
	// committed. When Update returns nil, the writes are as durable as the store can make them.
	// Update may call fn again, after it has rolled back what the call before wrote. fn does not
	// call the Store.
	//
	// It returns ErrBusy if nothing was committed and the same call may succeed later, ErrFull if
	// nothing was committed because the store has no room, and ErrUnknown if the commit failed so
	// that its outcome is unknown: the writes may have been committed or not.
	Update(ctx context.Context, lib Library, fn func(Tx) error) error

	// Changed returns a channel that is closed when the feed of changes of some library may have
	// new entries: within 10 ms after an update of this process is committed, and within 500 ms
	// after one of another process. It may also be closed when nothing was added. Closing the store
	// closes the channel. All callers share one channel, so waiting takes no memory. A caller takes
	// the channel first, then reads the feed, and then waits, so it misses no entry.
	Changed() <-chan struct{}

	// Libraries yields every library that has a State, by network and then by ID, in byte order. It
	// yields an error once, as its last pair.
	Libraries(ctx context.Context) iter.Seq2[Library, error]
}

// Reader is the reading half of a transaction; drivers implement it. An iterator that fails yields
// the error once, as its last pair. The caller may stop ranging over an iterator early, and may
// range over it again.
type Reader interface {
	// State returns the library's State. It returns the zero State if nothing was written to the
	// library yet.
	State(ctx context.Context) (State, error)
	// Asset returns the asset with this ordinal. It returns ErrNotFound if the library has none.
	Asset(ctx context.Context, ordinal int64) (Record, error)
	// AssetsFrom yields, for each of the origins in their order, the asset with this origin, or the
	// zero Record if the library has none. The caller gives no origin twice. Other methods may be
	// called while it iterates; an asset that is put or deleted meanwhile may be yielded as it was
	// before.
	AssetsFrom(ctx context.Context, origins []Origin) iter.Seq2[Record, error]
	// Assets yields the assets that match q, in the order of q.Compare, and stops after q.Limit of
	// them.
	Assets(ctx context.Context, q AssetQuery) iter.Seq2[Record, error]
	// Count returns how many assets match q. It ignores q.Limit.
	Count(ctx context.Context, q AssetQuery) (int64, error)
	// CountTerms counts, for each term that begins with prefix, how many of the assets that match q
	// have it. It yields the terms with their counts and leaves out terms with a count of 0. If q
	// has a limit, it yields only so many terms: the most frequent, in the order of
	// TermCount.Compare. Without a limit it yields all of them, in any order. prefix is not empty.
	// The memory that it needs does not grow with the number of terms. Other methods may be called
	// while it iterates.
	CountTerms(ctx context.Context, q AssetQuery, prefix string) iter.Seq2[TermCount, error]
	// Folders yields every folder of the library, including deleted ones, by ID in byte order.
	Folders(ctx context.Context) iter.Seq2[FolderRecord, error]
	// Values yields the values that the attribute with this key has in the assets that match each
	// set of all: each value once, in byte order. An empty list matches every asset.
	Values(ctx context.Context, key string, all []AnyOf) iter.Seq2[string, error]
	// Feed returns the state of the library's feed of changes. Its Key and Identity have 16 bytes
	// or more. They are those of the store, so all libraries have the same. A library to which
	// nothing was written has an empty feed, and that is no error.
	Feed(ctx context.Context) (FeedState, error)
	// Entries yields the entries of the library's feed that are after a position and were not
	// removed, in the order of positions, and stops after limit of them. It must never yield an
	// entry while an entry with a lower position may still be committed; it stops before that entry
	// instead. So a follower that reads on from the last position misses nothing.
	Entries(ctx context.Context, after FeedPosition, limit int) iter.Seq2[FeedEntry, error]
}

// Tx is a writing transaction; drivers implement it. Its reads see its own writes. After a write
// has returned ErrNotFound, nothing was changed and the transaction can be used as before. After
// any other error fn returns an error, so the transaction is rolled back.
type Tx interface {
	Reader
	// SetState replaces the library's State. The library exists from then on: Libraries yields it.
	SetState(ctx context.Context, s State) error
	// PutAsset adds an asset, or replaces the one with the same ordinal. The entries of x replace
	// all index entries that the asset had. The Service has checked that no other asset has the
	// same origin.
	PutAsset(ctx context.Context, r Record, x Index) error
	// DeleteAsset removes an asset and its index entries. It returns ErrNotFound if the library has
	// no asset with this ordinal.
	DeleteAsset(ctx context.Context, ordinal int64) error
	// PutFolder adds a folder, or replaces the one with the same ID.
	PutFolder(ctx context.Context, f FolderRecord) error
	// AddEntry adds e to the library's feed and assigns it a position, which is higher than that of
	// every entry of the library that was committed before. It ignores e.Position. A position is
	// never assigned twice, even if its entry was removed. Entries of the same transaction need not
	// yield e.
	AddEntry(ctx context.Context, e FeedEntry) error
	// RemoveEntries removes entries from the beginning of the library's feed, at most limit of
	// them. It stops at the first entry whose At is later than before. It may also stop at an entry
	// that Entries would not yield yet. Removing nothing is no error.
	RemoveEntries(ctx context.Context, before int64, limit int) error
}

// FeedEntry, FeedPosition and FeedState are what a driver keeps of the feed of changes of a
// library.
type (
	// FeedEntry is a change. The driver assigns its Position. At is the time in milliseconds since
	// the epoch. Many entries have the same strings in Names, so a driver may store each string
	// once. Data is opaque to a driver.
	FeedEntry = feed.Entry
	// FeedPosition is the place of an entry in a feed. Positions are ordered by Round and then by
	// Number. A driver that commits one update of a library at a time leaves Round 0. The zero
	// position is before the first entry.
	FeedPosition = feed.Position
	// FeedState describes a feed. Key is random and made with the store. Identity names the feeds
	// of this store; a copy of the store gets another one. Removed is the position of the last
	// entry that was removed, and Last is the last position that a Reader yields.
	FeedState = feed.State
)
