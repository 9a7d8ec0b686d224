// Package webhookstore is what package webhook needs from a storage driver: a place for small values that several
// processes change. Authors of drivers begin here; who uses webhook does not need it.
package webhookstore

import (
	"context"

	"github.com/vitrine-go/vitrine/storage"
)

// The errors of a Store. A driver wraps them in a sentence that says what is wrong.
var (
	// ErrBusy: the data could not be reached in time. Nothing was changed, and the same call may succeed later.
	ErrBusy = storage.ErrBusy
	// ErrFull: there is no room to write. Nothing was changed.
	ErrFull = storage.ErrFull
	// ErrUnknown: the outcome of the commit is not known. The value may be the old one or the new one.
	ErrUnknown = storage.ErrUnknown
)

// Store keeps values under names: the positions of endpoints and the lease of the process that delivers. Names and
// values are any bytes; a name has up to a few hundred of them, a value up to a few megabytes. It is implemented by
// storage drivers and used by any number of processes at a time. The suite storage/storagetest.Webhooks tests the
// rules of this file.
//
// Get and Swap are linearizable: each takes effect at one moment between its call and its return, for all processes.
// Both return the error of ctx when ctx is done. Any error but those of this package and of ctx is internal.
type Store interface {
	// Get returns the value of a name, which the caller may change. It returns nil if the name has none.
	Get(ctx context.Context, name string) ([]byte, error)
	// Swap replaces the value of a name by next if the value is still prev, and reports whether it was. Otherwise it
	// changes nothing. An empty prev stands for no value, and an empty next removes the value. The store copies next.
	// When Swap returns true, the value is as durable as the store can make it.
	Swap(ctx context.Context, name string, prev, next []byte) (swapped bool, err error)
}
