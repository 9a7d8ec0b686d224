package reviewstore

import "github.com/vitrine-go/vitrine"

// The errors of a Store. A driver wraps them in a sentence that says what is wrong and where. They are also the errors of
// package reviews.
var (
	// ErrNotFound means that there is no row with this key.
	ErrNotFound = vitrine.ErrNotFound
	// ErrBusy means that the store could not reach its data in time. Nothing was written, and the same call may succeed
	// later.
	ErrBusy = vitrine.ErrBusy
	// ErrFull means that the store has no room to write. Nothing was written, and reads still work.
	ErrFull = vitrine.ErrFull
	// ErrUnknown means that the store lost its connection to the data during a commit, so the writes may have been
	// committed or not.
	ErrUnknown = vitrine.ErrUnknown
)
