package assetstore

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine/internal/feed"
)

// Store stores the assets and folders of libraries. It is implemented by storage drivers and called by assets.Service
// alone. A driver stores rows and answers queries by key, terms, order and limit; the Service applies the rules of the
// domain. A transaction is opened for one library and cannot name a row of another. The suite
// storage/storagetest.Assets tests the rules of this file.
//
// A driver returns the errors ErrNotFound, ErrBusy, ErrFull and ErrUnknown of this package, or errors that wrap them.
// Every method may return ErrBusy when the data cannot be reached in time, and the error of ctx when ctx is done; every
// write may return ErrFull when there is no room. Anything else is an internal error.
//
// A driver copies the slices that it stores, so later changes by the caller do not affect the store. The slices that it
// returns belong to the caller and may be changed, except bodies: a driver may share these, and nobody changes them.
type Store interface {
	// View calls fn with a Reader of one consistent snapshot, which contains every update that was acknowledged before
	// View was called. It returns the error of fn. It may call fn again with another snapshot; then the last call
	// counts. The Reader and its iterators are valid until fn returns.
	View(ctx context.Context, lib Library, fn func(Reader) error) error

	// Update calls fn with a transaction. When fn returns nil, all of its writes are committed; when fn returns an error
	// or panics, none of them is, and the error or the panic reaches the caller of Update. Updates are serializable:
	// what fn read is still current when its writes are committed. When Update returns nil, the writes are as durable
	// as the store can make them. Update may call fn again, after it has rolled back what the call before wrote. fn
	// does not call the Store.
	//
	// It returns ErrBusy when nothing was committed and the same call may succeed later, ErrFull when nothing was
	// committed for want of room, and ErrUnknown when the outcome of the commit is not known.
	Update(ctx context.Context, lib Library, fn func(Tx) error) error

	// Changed returns a channel that is closed when the feed of changes of some library may have new entries: within
	// 10 ms after an update of this process is committed, and within 500 ms after one of another process. It may be
	// closed without a cause. A caller takes the channel first, then reads the feed, and then waits; so it
	// misses nothing. Waiting takes no memory but that of the channel, which all callers share. Closing the store closes
	// the channel too.
	Changed() <-chan struct{}

	// Libraries yields every library that has a State, by network and then by ID, in byte order.
	Libraries(ctx context.Context) iter.Seq2[Library, error]
}

// Reader is the reading half of a transaction; drivers implement it. An iterator that fails yields the error once, as its
// last pair. It may be left early and ranged over again.
type Reader interface {
	// State returns the library's State. It returns the zero State if nothing was written to the library yet.
	State(ctx context.Context) (State, error)
	// Asset returns the asset with this ordinal. It returns ErrNotFound if the library has none.
	Asset(ctx context.Context, ordinal int64) (Record, error)
	// AssetsFrom yields, for each of the origins in their order, the asset with this origin, or the zero Record if the
	// library has none. No origin is given twice. Other methods may be called while it iterates; an asset that is
	// put or deleted meanwhile may be yielded as it was before.
	AssetsFrom(ctx context.Context, origins []Origin) iter.Seq2[Record, error]
	// Assets yields the assets that match q, in the order of q.Compare, and stops after q.Limit of them.
	Assets(ctx context.Context, q AssetQuery) iter.Seq2[Record, error]
	// Count returns how many assets match q. It ignores q.Limit.
	Count(ctx context.Context, q AssetQuery) (int64, error)
	// CountTerms yields the terms that begin with prefix, which is not empty, each with how many of the assets
	// that match q have it. Terms that none of them has are left out. With a limit in q it yields only so many
	// terms: the most frequent, in the order of TermCount.Compare. Without one it yields all, in any order. It
	// needs no memory for each term that it counts. Other methods may be called while it iterates.
	CountTerms(ctx context.Context, q AssetQuery, prefix string) iter.Seq2[TermCount, error]
	// Folders yields every folder of the library, including deleted ones, by ID in byte order.
	Folders(ctx context.Context) iter.Seq2[FolderRecord, error]
	// Values yields the values of the attributes with this key of those assets that match all of the sets of terms, each
	// value once, in byte order.
	Values(ctx context.Context, key string, all []AnyOf) iter.Seq2[string, error]
	// Feed returns the state of the library's feed of changes. Key and Identity, which have 16 bytes or more, are those
	// of the store, so all libraries have the same. A library to which nothing was written has a feed too.
	Feed(ctx context.Context) (FeedState, error)
	// Entries yields the entries of the library's feed after a position and after the last one that was removed, in
	// the order of positions, and stops after limit of them. It leaves out the entry of an update, and all after it, as
	// long as an entry of another update of the library may still get a lower position.
	Entries(ctx context.Context, after FeedPosition, limit int) iter.Seq2[FeedEntry, error]
}

// Tx is a writing transaction; drivers implement it. Its reads see its own writes. A write that returns ErrNotFound has
// changed nothing, and the transaction goes on.
type Tx interface {
	Reader
	// SetState replaces the library's State. The library exists from then on: Libraries yields it.
	SetState(ctx context.Context, s State) error
	// PutAsset adds an asset, or replaces the one with the same ordinal together with its index entries: it is found by x
	// alone from then on. The Service checks before that no other asset has the same origin.
	PutAsset(ctx context.Context, r Record, x Index) error
	// DeleteAsset removes an asset and its index entries. It returns ErrNotFound if the library has no asset with this
	// ordinal.
	DeleteAsset(ctx context.Context, ordinal int64) error
	// PutFolder adds a folder, or replaces the one with the same ID.
	PutFolder(ctx context.Context, f FolderRecord) error
	// AddEntry adds e to the library's feed and gives it a position, which is higher than those of the updates of the
	// library that were committed before; e.Position is ignored. A position is never given twice, also when entries
	// were removed. A Reader of the same transaction need not yield the entry.
	AddEntry(ctx context.Context, e FeedEntry) error
	// RemoveEntries removes entries from the beginning of the library's feed, up to the first whose At is after before,
	// and at most limit of them. It may leave out entries that another update may still precede.
	RemoveEntries(ctx context.Context, before int64, limit int) error
}

// FeedEntry, FeedPosition and FeedState are what a driver keeps of the feed of changes of a library.
type (
	// FeedEntry is a change: its Position, which the driver gives, the time At in milliseconds since the epoch, Names,
	// which are strings that many entries have alike, so that a driver may store each of them once, and opaque Data.
	FeedEntry = feed.Entry
	// FeedPosition is where an entry stands: by Round, and then by Number. A driver that commits one update of a library
	// at a time leaves Round 0. The zero position is before the first entry.
	FeedPosition = feed.Position
	// FeedState is a random Key, made with the store, the Identity of the feeds, of which a copy of the store has another
	// one, the position of the last entry that was Removed, and the Last position that a Reader yields.
	FeedState = feed.State
)
