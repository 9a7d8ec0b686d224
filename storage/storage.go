// Package storage is the contract of drivers: each keeps one ordered map from keys to values, with snapshots and
// durable transactions. Records, indices, feeds and rules are built on that once for all drivers.
//
//	db, err := sqlite.Open("vitrine.db", nil) // or memory.New, postgres.Open, postgres.New
//	apps := appsvc.New(db, nil)
//
// A program hands a store to the services, and closes it. SQL of storage/sqlite and storage/postgres is for tables of
// its own, [Observed] for traces and metrics, and [RenewIdentity] for after a restore; README.md says more. Package
// storetest is the suite of tests for drivers, and has a driver on bbolt as an example. To write another one, implement
// [Store] and return it through [Checked].
//
// # Keys, values and spaces
//
// Keys are compared byte by byte. A key has at most [MaxKey] bytes and belongs to the space that it begins with, up to
// its first blank: "apps tag/42 production" is a key of the space "apps". Values have up to [MaxValue] bytes; an empty
// value is not an absent one. Neither the driver nor its caller changes the bytes of a value after one gave it to the
// other, and both may keep it.
//
// Updates of one space are serialized. An update names its space and writes keys of that space alone. There it reads
// exactly what every earlier update of the space has written. In other spaces it reads what is committed at that
// moment, which may change while it runs, so no rule may depend on it. Updates of different spaces run at the same time
// if the driver can do that. The first update of a space creates it.
package storage

import (
	"context"
	"errors"
	"iter"
	"strings"
)

const (
	// MaxKey is how many bytes a key has at most.
	MaxKey = 1 << 10
	// MaxValue is how many bytes a value has at most.
	MaxValue = 64 << 20
)

// Store is an ordered map of keys and values. All methods may be called at the same time, and return when their context
// ends.
//
// The function that View or Update gets uses its Reader or Tx only until it returns, and in one goroutine. It may be
// called again, so its effects outside of the store must be idempotent. A panic in it ends the transaction as an error
// does, and goes on to the caller. It starts no update, and does not wait for the function of another update: both may
// share a transaction, and then they take turns.
type Store interface {
	// View calls fn with a Reader of one snapshot. The snapshot has every update that was acknowledged before View was
	// called. View returns the error of fn.
	View(ctx context.Context, fn func(Reader) error) error

	// Update calls fn with a transaction in a space. If fn returns nil, its writes are committed together, and are
	// durable when Update returns nil. If fn returns an error, nothing is committed, and Update returns that error.
	// Other errors are ErrBusy, ErrFull, ErrUnknown, ErrClosed and those of ctx.
	Update(ctx context.Context, space string, o UpdateOptions, fn func(Tx) error) error

	// Changed returns a channel that is closed when an update of a space that begins with prefix may have been
	// committed since, by any process, or when the store is closed. A caller that takes the channel and then calls View
	// misses nothing: every update that the View does not see closes the channel. It may be closed without a change.
	Changed(prefix string) <-chan struct{}

	// Close waits for the calls that run and closes the store. Later calls return ErrClosed.
	Close() error
}

// UpdateOptions tells a driver beforehand what an update needs.
type UpdateOptions struct {
	// Large is set for updates that write more than about 1 MiB. Such an update shares its commit with no other.
	Large bool
	// If Erase is set, no file of the store contains data any more that this or an earlier update has deleted or
	// replaced when Update returns nil. ErrBusy then means that the update is committed, but that a reader has
	// prevented erasing for too long. Drivers for database servers ignore Erase.
	Erase bool
	// Exclusive lets no other update of the store run at the same time, in any space or process.
	Exclusive bool
}

// Reader reads a snapshot.
type Reader interface {
	// Get returns the values of keys, in the order of the keys, and nil for absent ones. It takes one round trip,
	// however many keys there are.
	Get(ctx context.Context, keys ...string) ([][]byte, error)

	// Scan yields the entries of ranges, which all go in the same direction. They are merged by their keys without the
	// first Skip bytes; if these are equal, the entry of the earlier range comes first. A loop may end early, may
	// contain other loops, and may write in a Tx. It then yields an entry as it was when the loop began, or as it is
	// when the loop reaches it. After an error it yields no more.
	Scan(ctx context.Context, ranges ...Range) iter.Seq2[Entry, error]

	// Estimate returns roughly how many entries a range has, for choosing the shorter one of two. It is cheaper than
	// counting. It returns 0 only for a range without entries, and at most the Limit of the range.
	Estimate(ctx context.Context, r Range) (int, error)

	// Spaces yields the names of the spaces that begin with prefix and have entries, in the order of their keys.
	Spaces(ctx context.Context, prefix string) iter.Seq2[string, error]
}

// Tx is a transaction. It reads what it has written. A write that fails may return its error at a later call, or at the
// commit.
type Tx interface {
	Reader
	// Put adds entries, or replaces those with the same keys. A nil value is an empty one.
	Put(ctx context.Context, entries ...Entry) error
	// Delete deletes the entries of keys. It ignores keys without an entry.
	Delete(ctx context.Context, keys ...string) error
	// DeleteRange deletes the entries of a range without Limit and Skip.
	DeleteRange(ctx context.Context, r Range) error
}

// Entry is a key with its value.
type Entry struct {
	Key   string
	Value []byte
}

// Range is the keys k with From <= k < To. If To is "", it has no upper bound.
type Range struct {
	From, To string
	Reverse  bool // begin with the last
	Limit    int  // how many entries are wanted at most; 0 for all
	Skip     int  // how many bytes of each key Scan ignores when it compares the keys of several ranges
	Expect   int  // how many entries the loop will probably read, so that these are read at once; 0 if that is unknown
}

// Prefix returns the range of the keys that begin with prefix.
func Prefix(prefix string) Range { return Range{From: prefix, To: after(prefix)} }

// after returns the smallest string that is greater than every string with this prefix, or "" if there is none.
func after(prefix string) string {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			return prefix[:i] + string([]byte{prefix[i] + 1})
		}
	}
	return ""
}

// SpaceOf returns the space of a key, "" if the key belongs to none.
func SpaceOf(key string) string {
	space, _, ok := strings.Cut(key, " ")
	if !ok {
		return ""
	}
	return space
}

// Errors of drivers, which wrap them with the cause.
var (
	// ErrBusy says that nothing was done because of others who had a lock for too long, or because the store accepts no
	// updates for now. A retry may succeed.
	ErrBusy = errors.New("the store is busy")
	// ErrFull says that nothing was committed because the store has no room left.
	ErrFull = errors.New("the store is full")
	// ErrUnknown says that it is not known whether an update was committed.
	ErrUnknown = errors.New("the outcome of the commit is unknown")
	// ErrClosed says that the store was closed.
	ErrClosed = errors.New("the store is closed")
)
