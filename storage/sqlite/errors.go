package sqlite

import (
	"errors"
	"fmt"
	"io/fs"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/vitrine-go/vitrine/storage"
)

// errNewer says that another process has migrated the file to a newer format.
var errNewer = errors.New("the file has a newer format now: restart this process with the newer release")

// errDamaged is the error of a damaged file where SQLite has none.
var errDamaged = errors.New("is damaged")

// IsDamaged reports whether an error says that the file is damaged, or no SQLite file at all. [Restore] puts a copy in
// its place.
func IsDamaged(err error) bool {
	c := code(err) & 0xff
	return c == lib.SQLITE_CORRUPT || c == lib.SQLITE_NOTADB || errors.Is(err, errDamaged)
}

// code returns SQLite's extended result code of err, 0 when it has none.
func code(err error) int {
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// wrap adds ErrFull or ErrBusy to an error that means one of them. A newer format counts as busy: the same update
// succeeds when the process was restarted with the newer release. Other errors, such as those of an update's function,
// stay as they are.
func wrap(err error) error {
	switch {
	case err == nil, errors.Is(err, storage.ErrUnknown): // which may be caused by a full disk
		return err
	case errors.Is(err, errNewer):
		return fmt.Errorf("sqlite: %w: %w", storage.ErrBusy, err)
	case isBusy(err):
		return fmt.Errorf("sqlite: %w: another process, or another connection of this one, keeps the file "+
			"locked: %w", storage.ErrBusy, err)
	case isFull(err):
		return fmt.Errorf("sqlite: %w: %w", storage.ErrFull, err)
	}
	return err
}

// undone reports whether it is certain that a COMMIT that failed with err left no commit in the log. SQLite detects a
// lack of room, a missing lock and a broken foreign key before it writes the last frame of a commit. After any other
// error the last frame may be in the log, where the next process that opens the file finds it.
func undone(err error) bool {
	c := code(err) & 0xff
	return c == lib.SQLITE_FULL || c == lib.SQLITE_BUSY || c == lib.SQLITE_CONSTRAINT
}

// isBusy reports whether err says that a lock was not free in time. A View gets SQLITE_PROTOCOL if all slots for
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

// withRights adds who owns the file at path and its directory, and who this process is, to an error that may be one of
// rights: SQLite says no more than that it cannot open a file.
func withRights(path string, err error) error {
	if !isUnwritable(err) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if said := rights(path); said != "" {
		return fmt.Errorf("%w: %s", err, said)
	}
	return err
}

// endsTransaction reports whether SQLite may have rolled back the whole transaction, and not only the statement,
// because of err.
func endsTransaction(err error) bool {
	switch code(err) & 0xff {
	case lib.SQLITE_FULL, lib.SQLITE_IOERR, lib.SQLITE_NOMEM, lib.SQLITE_CORRUPT, lib.SQLITE_INTERRUPT:
		return true
	}
	return false
}
