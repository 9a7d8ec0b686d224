package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

var errClosed = errors.New("sqlite: the store is closed")

// code returns SQLite's extended result code of err, 0 when it has none.
func code(err error) int {
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// domainError tells err with the sentinels that a domain has for a store that could not get to
// its data in time and for one without room.
func domainError(err, busy, full error) error {
	if isBusy(err) {
		return fmt.Errorf("%w: another process keeps the file locked: %w", busy, err)
	}
	if isFull(err) {
		return fmt.Errorf("%w: %w", full, err)
	}
	return err
}

// isBusy also knows the error of a reader that has looked for a free place among the others in vain.
func isBusy(err error) bool {
	c := code(err) & 0xff
	return c == lib.SQLITE_BUSY || c == lib.SQLITE_PROTOCOL
}

// isFull also knows the shared-memory file, which says in its own way that it cannot grow.
func isFull(err error) bool {
	c := code(err)
	return c&0xff == lib.SQLITE_FULL || c == lib.SQLITE_IOERR_SHMSIZE
}

// isUnwritable reports that the file, or one beside it, cannot be opened for writing.
func isUnwritable(err error) bool {
	c := code(err) & 0xff
	return c == lib.SQLITE_CANTOPEN || c == lib.SQLITE_READONLY
}

// isTaken reports that a row with the same key is there.
func isTaken(err error) bool {
	c := code(err)
	return c == lib.SQLITE_CONSTRAINT_PRIMARYKEY || c == lib.SQLITE_CONSTRAINT_UNIQUE
}

// endsTransaction reports an error at which SQLite may roll back the whole transaction.
func endsTransaction(err error) bool {
	switch code(err) & 0xff {
	case lib.SQLITE_FULL, lib.SQLITE_IOERR, lib.SQLITE_NOMEM, lib.SQLITE_CORRUPT, lib.SQLITE_INTERRUPT:
		return true
	}
	return false
}
