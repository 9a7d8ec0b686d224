package appsvc

import "errors"

// What a Service method or a Store answers when it does not do what was asked. Each comes wrapped
// in a sentence that says what is wrong and where; test with errors.Is (contract, section 7).
var (
	// ErrInvalid: the input is malformed or breaks a limit on its shape.
	ErrInvalid = errors.New("invalid input")
	// ErrForbidden: the caller is known and may see the thing, but may not do this.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound: there is no such thing, or the caller may not see it; the two read the same.
	ErrNotFound = errors.New("not found")
	// ErrConflict: the app has moved on since the caller read it, or a test of a patch failed.
	ErrConflict = errors.New("conflict")
	// ErrTooLarge: more bytes or operations than a limit allows.
	ErrTooLarge = errors.New("too large")
	// ErrUnprocessable: well-formed, but it cannot be applied to what is there.
	ErrUnprocessable = errors.New("cannot be applied")
	// ErrExists: a Store already holds a row with this key.
	ErrExists = errors.New("already exists")
	// ErrBusy: a Store could not get to its data in time; the same call may succeed later.
	ErrBusy = errors.New("the store is not available at the moment")
	// ErrFull: a Store has no room to write; reads go on.
	ErrFull = errors.New("storage is full")
	// ErrUnknown: a Store lost sight of its data while it committed. The write may have been kept or not:
	// nothing repeats it, so look, or repeat what may be repeated.
	ErrUnknown = errors.New("it is not known whether the write was kept")
)
