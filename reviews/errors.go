package reviews

import "errors"

// The errors of this package wrap one of these, where it is not the reader's or the writer's own.
var (
	// ErrForbidden: the caller may not do this.
	ErrForbidden = errors.New("not allowed")
	// ErrNotFound: there is no such collection.
	ErrNotFound = errors.New("not found")
	// ErrBusy: a Store could not get to its data in time; the same call may succeed later.
	ErrBusy = errors.New("the store is not available at the moment")
	// ErrFull: a Store has no room to write; reads go on.
	ErrFull = errors.New("storage is full")
	// ErrUnknown: a Store lost sight of its data while it committed. The write may have been kept or not:
	// nothing repeats it, so look, or repeat what may be repeated.
	ErrUnknown = errors.New("it is not known whether the write was kept")
)
