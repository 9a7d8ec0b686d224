// Package storage says what a driver must do: it keeps one ordered map from keys to values, with snapshots and durable transactions.
// Records, indices, feeds and rules can be made of that once for all drivers.
//
// Package storetest is the suite that every driver passes, with rules for what is said here, and has a driver on bbolt as an example.
// To write another one, implement [Store] and return it through [Checked].
//
// # Keys, values and spaces
//
// Keys are compared byte by byte. A key has 1 to [MaxKey] bytes and belongs to the space that it begins with, up to its first
// blank: "apps tag/42 production" is a key of the space "apps". Values have up to [MaxValue] bytes; an empty value is not an absent one.
// Neither side changes the bytes of a value, or of an entry, once it was handed in or out, and each may keep it.
//
// A space is what is serialized. An update names its space and writes keys of that space alone. There it reads exactly what every
// earlier update of the space has written; elsewhere it reads what was committed at that moment, which may change while it runs, so no
// rule may rest on it. Updates of different spaces do not wait for each other where a driver can help it. A space comes into being with
// its first update.
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

// Store is an ordered map of keys and values. All methods may be called at the same time, and end when their context does.
//
// A function that is handed to View or Update uses what it gets only until it returns, in one goroutine, and may be called again: its
// effects outside of the store must not add up. A panic in it ends the transaction as an error does, and is passed on. It starts no
// update and waits for nothing that the function of another one does: the two may share a transaction, and then they take turns.
type Store interface {
	// View calls fn with a Reader of one snapshot, which has everything that was acknowledged before View was called. It
	// returns the error of fn.
	View(ctx context.Context, fn func(Reader) error) error

	// Update calls fn with a transaction in a space. If fn returns nil, all that it has written is committed at once, and is durable when
	// Update returns nil. If fn returns an error, nothing is, and Update returns that error. Other errors are ErrBusy, ErrFull,
	// ErrUnknown, ErrClosed and those of ctx.
	Update(ctx context.Context, space string, o UpdateOptions, fn func(Tx) error) error

	// Changed returns a channel that is closed when an update of a space that begins with prefix may have been committed since, by
	// any process, or when the store is closed. Whoever takes the channel and then calls View misses nothing: the channel is closed for
	// whatever that View does not see. It may be closed without a change.
	Changed(prefix string) <-chan struct{}

	// Close waits for the calls that run and ends the store. Later ones return ErrClosed.
	Close() error
}

// UpdateOptions says what a driver cannot know of an update beforehand.
type UpdateOptions struct {
	// Large is for updates that write more than about 1 MiB. Such an update shares its commit with no other.
	Large bool
	// Erase is for updates after which nothing may be found in any file of the store that they, or updates before them, have deleted
	// or replaced. Update returns when that is so; ErrBusy says that the update is committed and that a reader has stood in the way
	// of erasing for too long. Drivers of servers leave it to what the server does.
	Erase bool
	// Exclusive lets no other update of the store run at the same time, in any space or process.
	Exclusive bool
}

// Reader reads a snapshot.
type Reader interface {
	// Get returns the values of keys, in their order, and nil for those that are not there. It takes one trip to where the
	// data is, however many keys there are.
	Get(ctx context.Context, keys ...string) ([][]byte, error)

	// Scan yields the entries of ranges, which all go in the same direction, merged by what follows Skip bytes of each key; among
	// equals those of an earlier range come first. A loop may be left early, may hold other loops, and may write in a Tx: it yields what was
	// there when it began, or what is there when it comes to it. After an error it yields no more.
	Scan(ctx context.Context, ranges ...Range) iter.Seq2[Entry, error]

	// Estimate returns roughly how many entries a range has, for choosing the shorter one of two. It is cheaper than counting, 0 only for
	// a range without entries, and the Limit of the range bounds it.
	Estimate(ctx context.Context, r Range) (int, error)

	// Spaces yields the names of the spaces that begin with prefix and have entries, in the order of their keys.
	Spaces(ctx context.Context, prefix string) iter.Seq2[string, error]
}

// Tx is a transaction. It reads what it has written. An error of a write may come up at a later call, or at the commit.
type Tx interface {
	Reader
	// Put puts entries in the place of those that have their keys. A nil value is an empty one.
	Put(ctx context.Context, entries ...Entry) error
	// Delete deletes the entries of keys, as far as there are any.
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
	Skip     int  // how many bytes of each key Scan leaves out when it compares the keys of several ranges
	Expect   int  // how many entries the loop will probably take, so that these are read at once; 0 if nobody knows
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

// Errors of drivers, which wrap them with what was wrong.
var (
	// ErrBusy says that nothing was done because others stood in the way for too long, or that a store takes no updates for now: a
	// later try may succeed.
	ErrBusy = errors.New("the store is busy")
	// ErrFull says that nothing was committed because the store has no more room.
	ErrFull = errors.New("the store is full")
	// ErrUnknown says that it is not known whether an update was committed.
	ErrUnknown = errors.New("the outcome of the commit is unknown")
	// ErrClosed says that the store was closed.
	ErrClosed = errors.New("the store is closed")
)
