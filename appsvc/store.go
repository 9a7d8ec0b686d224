package appsvc

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/feed"
)

// This file and storequery.go are for authors of drivers: they declare what a Service needs of a Store. Programs that only
// use a Service need none of it.

// Store keeps apps, tags, components, answers and the feed of changes. It is implemented by storage drivers and called by
// the Service alone. A driver stores rows and answers queries by key, order and limit; the Service applies the rules of
// the domain. The suite storage/storagetest.Apps tests the rules of this file.
//
// All methods are called by many goroutines at the same time. A Reader or a Tx is used by one goroutine at a time.
//
// A driver returns the errors ErrNotFound, ErrExists, ErrBusy, ErrFull, ErrUnknown and ErrClosed of this package, or
// errors that wrap them. Every method may return ErrBusy when the data cannot be reached in time, and the error of ctx
// when ctx is done; every write may return ErrFull when there is no room. View and Update return ErrClosed after the
// store was closed. Anything else is an internal error.
//
// A driver copies the slices that it stores, so later changes by the caller do not affect the store. The slices that
// it returns belong to the caller and may be changed, except bodies, manifests, and results of answers: a driver may
// share these, and nobody changes them.
type Store interface {
	// View calls fn with a Reader of one consistent snapshot, which holds every update that was acknowledged
	// before View was called. It returns the error of fn. It may call fn again with another snapshot; then the
	// last call counts. The Reader and its iterators are valid until fn returns.
	View(ctx context.Context, fn func(Reader) error) error

	// Update calls fn with a transaction. When fn returns nil, all of its writes are committed; when fn returns
	// an error or panics, none of them is, and the error or the panic reaches the caller of Update. Updates
	// are serializable: what fn read is still current when its writes are committed. When Update returns nil,
	// the writes are as durable as the store can make them. Update may call fn again, after it has rolled back
	// what the call before wrote; the Service writes every fn so that the last call counts. fn does not call the Store.
	//
	// A driver may commit several updates together. It then answers each of them as if it had been alone.
	//
	// It returns ErrBusy when nothing was committed and the same call may succeed later, ErrFull when
	// nothing was committed for want of room, and ErrUnknown when the outcome of the commit is not known.
	Update(ctx context.Context, fn func(Tx) error) error

	// Changed returns a channel that is closed when the feed may have new entries: within 10 ms after an update of
	// this process is committed, and within 500 ms after one of another process. It may be closed without a cause. A
	// caller takes the channel first, then reads the feed, and then waits; so it misses nothing. Waiting takes no
	// memory but that of the channel, which all callers share. Closing the store closes the channel too.
	Changed() <-chan struct{}
}

// Reader is the reading half of a transaction; drivers implement it. An iterator that fails yields the error
// once, as its last pair. It may be left early and ranged over again, and other reads and writes may happen
// between its steps.
type Reader interface {
	// Head returns the Head of the latest version of the app. It returns ErrNotFound if there is no app with
	// this id.
	Head(ctx context.Context, id string) (Head, error)
	// App returns one version of an app; Latest stands for the highest. It returns ErrNotFound if there is no app
	// with this id, or if the app has no such version.
	App(ctx context.Context, id string, v vitrine.Version) (App, error)
	// Versions yields the versions of one app that q asks for, newest first. It yields nothing if there is
	// no app with this id.
	Versions(ctx context.Context, q VersionQuery) iter.Seq2[App, error]
	// Restorations yields the restorations of the versions of one app that q asks for, newest first; q.Limit
	// counts restorations. It yields nothing if there is no app with this id.
	Restorations(ctx context.Context, q VersionQuery) iter.Seq2[Restoration, error]
	// Apps yields the latest version of each app whose Head matches q, in the order of q.Compare, and stops
	// after q.Limit of them.
	Apps(ctx context.Context, q AppQuery) iter.Seq2[App, error]
	// Tags yields the tags of one app that q asks for, by name in byte order.
	Tags(ctx context.Context, q TagQuery) iter.Seq2[Tag, error]
	// TagMoves yields the moves of one tag that q asks for, newest first, which is by falling Number. Neither the tag nor
	// the app need exist.
	TagMoves(ctx context.Context, q TagMoveQuery) iter.Seq2[TagMoveRecord, error]
	// TagNames yields the names of the tags of the app that have moves, in byte order, each once. Neither the tags nor the
	// app need exist.
	TagNames(ctx context.Context, appID string) iter.Seq2[string, error]
	// Users yields the apps that q asks for, by ID in byte order: those whose Head matches q and of which some version,
	// the latest or an older one, has an element of the component. It may also yield matching apps of which no
	// version has one, such as apps from a release that kept no index of older versions.
	Users(ctx context.Context, q UserQuery) iter.Seq2[ComponentUser, error]
	// Components yields the components that q asks for, by name in byte order, and those of one name in the
	// order in which they were added.
	Components(ctx context.Context, q ComponentQuery) iter.Seq2[Component, error]
	// IDs yields the ids of all apps, in byte order.
	IDs(ctx context.Context) iter.Seq2[string, error]
	// Answers yields every answer that is kept, by caller and then by key, both in byte order. Expired
	// answers that no later KeepAnswer has removed are among them.
	Answers(ctx context.Context) iter.Seq2[Answer, error]
	// Answer returns the answer that was kept for a caller's key, also when it has expired. It returns
	// ErrNotFound if none is kept.
	Answer(ctx context.Context, by, key string) (Answer, error)
	// Feed returns the state of the feed of changes. Key and Identity have 16 bytes or more.
	Feed(ctx context.Context) (FeedState, error)
	// Entries yields the entries after a position and after the last one that was removed, in the order of
	// positions, and stops after limit of them. It leaves out the entry of an update, and all after it, as long as an
	// entry of another update may still get a lower position. So a reader that goes on after the last position
	// that it was given misses no entry and meets none twice.
	Entries(ctx context.Context, after FeedPosition, limit int) iter.Seq2[FeedEntry, error]
}

// Tx is a writing transaction; drivers implement it. Its reads see its own writes. A write that returns
// ErrNotFound or ErrExists has changed nothing, and the transaction goes on.
type Tx interface {
	Reader
	// Announce tells the driver that the transaction is going to read the Head of an app and these versions of
	// components, each of which may be absent. A driver for which each read is a round trip reads them together; for
	// other drivers it does nothing. It changes nothing that can be read.
	Announce(ctx context.Context, appID string, components []ComponentRef) error
	// AddVersion adds a version of an app, which is the latest from now on. It returns ErrExists, and adds nothing,
	// unless h.Version is one above the latest version, or 0 if there is no app with this id.
	AddVersion(ctx context.Context, h Head, body Body) error
	// AddRestoration stores that a version of an app has the content of an older one. The Service calls it at
	// most once for a version, in the transaction that adds the version; a driver need not check either version.
	AddRestoration(ctx context.Context, r Restoration) error
	// SetTag adds the tag, or moves the one with the same app and name. The Service checks before that the
	// app has this version; a driver need not check it.
	SetTag(ctx context.Context, t Tag) error
	// DeleteTag removes a tag. It returns ErrNotFound if the app has no tag of this name.
	DeleteTag(ctx context.Context, appID, name string) error
	// AddTagMove adds a move of a tag. The Service gives the first move of a tag the Number 1, and each later one the
	// next; a driver need not check it. Moves are never changed nor removed, also when the tag is deleted.
	AddTagMove(ctx context.Context, m TagMoveRecord) error
	// AddComponent adds a component. It returns ErrExists, and adds nothing, if there is a component with the same
	// ID, or one with the same name and version.
	AddComponent(ctx context.Context, c Component) error
	// DeleteComponent removes every version of a component. It returns ErrNotFound if there is none.
	DeleteComponent(ctx context.Context, name string) error
	// KeepAnswer stores a, and replaces the answer that is kept for the same caller and key. It also removes all
	// answers that expired at now (milliseconds since the epoch) or before.
	KeepAnswer(ctx context.Context, a Answer, now int64) error
	// AddEntry adds e to the feed and gives it a position; e.Position is ignored. Of two updates that change the same
	// app, or that add or delete components, the one that is committed later gets the higher position. A position is
	// never given twice, also when entries were removed. A Reader of the same transaction need not yield the entry.
	AddEntry(ctx context.Context, e FeedEntry) error
	// RemoveEntries removes entries from the beginning of the feed, up to the first whose At is after before, and at
	// most limit of them. It may leave out entries that another update is removing.
	RemoveEntries(ctx context.Context, before int64, limit int) error
}

// Restoration says that a version of an app was made by Restore.
type Restoration struct {
	AppID   string
	Version vitrine.Version // the version that Restore made
	From    vitrine.Version // the older version whose content it has
}

// ComponentUser is an app of which some version may have an element of a component.
type ComponentUser struct {
	Head
	Body Body  // of the latest version
	Tags []Tag // all tags, by name
}

// TagMoveRecord is a stored move of a tag.
type TagMoveRecord struct {
	AppID  string
	Name   string // of the tag
	Number int64  // 1 for the first move of the tag, then 2, 3 …
	TagMove
}

// FeedEntry, FeedPosition and FeedState are what a driver keeps of the feed of changes.
type (
	// FeedEntry is a change as a driver stores it. The driver gives the Position. At is a time in milliseconds since the
	// epoch. Many entries have equal strings in Names, so a driver may store each of these strings once. Data is opaque.
	FeedEntry = feed.Entry
	// FeedPosition is where an entry stands: by Round, and then by Number. A driver that commits one update at a time
	// leaves Round 0. The zero position is before the first entry.
	FeedPosition = feed.Position
	// FeedState describes the feed as a whole. Key is random, made with the store, and the same in a copy of the store.
	// Identity is random too, and a copy has another one. Removed is the position of the last entry that was removed. Last
	// is that of the last entry that a Reader yields, or Removed if there is none.
	FeedState = feed.State
)

// Answer is the stored result of a write with an idempotency key. If the caller repeats the write, the Service returns
// this result and does not write again; see idempotency.go. It has only ids and versions, so that a repeat can tell a
// caller nothing that was hidden from it meanwhile.
type Answer struct {
	By      string // URN of the caller
	Key     string
	Request []byte // digest of the operation and its input; opaque to a driver
	Result  []byte // ids and versions, as JSON; opaque to a driver
	Expires int64  // milliseconds since the epoch
}
