package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/storage/internal/migration"
)

var (
	errClosed = fmt.Errorf("sqlite: %w", vitrine.ErrClosed)
	// errUnknown wraps the error of a COMMIT after which the log may or may not hold the commit.
	errUnknown = errors.New("the commit failed, and it is not known whether it was kept")
	// errLogInUse is the error of Scrub if the log could not be emptied.
	errLogInUse = errors.New("the log could not be emptied, since others read from it or write to it")
)

// sentinels are the errors of a domain: busy if a store cannot reach its data in time, full if it has no room,
// unknown if the outcome of a commit is not known. Every store of this package has its own.
type sentinels struct{ busy, full, unknown error }

// code returns SQLite's extended result code of err, 0 when it has none.
func code(err error) int {
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// wrap adds the domain's sentinel to an error that has one: an unknown outcome, a full disk, or a store that is busy. A newer
// schema counts as busy: the same update succeeds when the process was restarted with the newer release. Other errors, such
// as those of fn, stay as they are.
func (s sentinels) wrap(err error) error {
	switch {
	case errors.Is(err, errUnknown): // comes first: its cause may be a lack of room
		return fmt.Errorf("%w: %w", s.unknown, err)
	case errors.Is(err, migration.ErrNewer):
		return fmt.Errorf("%w: %w", s.busy, err)
	case isBusy(err):
		return fmt.Errorf("%w: another process keeps the file locked: %w", s.busy, err)
	case errors.Is(err, errLogInUse):
		return fmt.Errorf("%w: %w", s.busy, err)
	case isFull(err):
		return fmt.Errorf("%w: %w", s.full, err)
	}
	return err
}

// undone reports whether it is certain that a COMMIT that failed with err left no commit in the log. SQLite detects a
// lack of room and a missing lock before it writes the last frame of a commit. After any other error the last
// frame may be in the log, where the next process that opens the file finds it.
func undone(err error) bool {
	c := code(err) & 0xff
	return c == lib.SQLITE_FULL || c == lib.SQLITE_BUSY || c == lib.SQLITE_CONSTRAINT
}

// isBusy reports whether err says that a lock was not free in time. A reader gets SQLITE_PROTOCOL if all slots for
// readers are in use.
func isBusy(err error) bool {
	c := code(err) & 0xff
	return c == lib.SQLITE_BUSY || c == lib.SQLITE_PROTOCOL
}

// isFull reports whether err says that there is no room. SQLite returns SQLITE_IOERR_SHMSIZE if the shared-memory
// file cannot grow.
func isFull(err error) bool {
	c := code(err)
	return c&0xff == lib.SQLITE_FULL || c == lib.SQLITE_IOERR_SHMSIZE
}

// isUnwritable reports whether err says that the file, or one of its log files, cannot be opened for writing.
func isUnwritable(err error) bool {
	c := code(err) & 0xff
	return c == lib.SQLITE_CANTOPEN || c == lib.SQLITE_READONLY
}

// isTaken reports whether err says that a row with the same key exists.
func isTaken(err error) bool {
	c := code(err)
	return c == lib.SQLITE_CONSTRAINT_PRIMARYKEY || c == lib.SQLITE_CONSTRAINT_UNIQUE
}

// endsTransaction reports whether SQLite may have rolled back the whole transaction, and not only the statement, because of err.
func endsTransaction(err error) bool {
	switch code(err) & 0xff {
	case lib.SQLITE_FULL, lib.SQLITE_IOERR, lib.SQLITE_NOMEM, lib.SQLITE_CORRUPT, lib.SQLITE_INTERRUPT:
		return true
	}
	return false
}
