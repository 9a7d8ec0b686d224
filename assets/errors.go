package assets

import "errors"

// What a Service method or a Store answers when it does not do what was asked. Each comes wrapped
// in a sentence that says what is wrong and where; test with errors.Is (contract, section 7).
var (
	// ErrInvalid: the input is malformed or breaks a limit.
	ErrInvalid = errors.New("invalid input")
	// ErrForbidden: the caller is known and may see the thing, but may not do this.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound: there is no such thing, or the caller may not see it; the two read the same.
	ErrNotFound = errors.New("not found")
	// ErrBusy: a Store could not get to its data in time; the same call may succeed later.
	ErrBusy = errors.New("the store is not available at the moment")
	// ErrFull: a Store has no room to write; reads go on.
	ErrFull = errors.New("storage is full")
	// ErrUnknown: a Store lost sight of its data while it committed. The write may have been kept or not:
	// nothing repeats it, so look, or repeat what may be repeated.
	ErrUnknown = errors.New("it is not known whether the write was kept")
)
