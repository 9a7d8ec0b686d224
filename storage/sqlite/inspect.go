package sqlite

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	lib "modernc.org/sqlite/lib"
)

// checkedWhole is the size up to which a file is read through before it is used. A larger one is
// held against its header and its own size.
const checkedWhole = 16 << 20

// inspect reports what keeps the file at path from being used as a store. It changes nothing.
//
// It reads through SQLite, since closing any other descriptor of the file would drop the locks
// that this process may have on it.
func inspect(path string, busy time.Duration) error {
	const attempts = 20 // a file that another process writes to may look torn: look again
	var err error
	for range attempts {
		before, statErr := os.Stat(path)
		if statErr != nil {
			return statErr
		}
		if err = refuseByNature(path, before); err != nil {
			return err
		}
		logged := hasLog(path)
		if err = inspectOnce(path, before.Size(), logged, busy); err == nil {
			return nil
		}
		after, statErr := os.Stat(path)
		if statErr == nil && logged == hasLog(path) &&
			after.Size() == before.Size() && after.ModTime().Equal(before.ModTime()) {
			return err
		}
	}
	return err
}

// refuseByNature looks at the file from outside.
func refuseByNature(path string, info os.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", path)
	case info.Size() == 0:
		return fmt.Errorf("%s is empty: remove it to have a new store built there", path)
	case info.Mode().Perm()&0o222 == 0:
		return fmt.Errorf("%s is read-only: a store must be writable", path)
	}
	return nil
}

// hasLog reports whether a write-ahead log may hold what the file does not have yet.
func hasLog(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// inspectOnce looks at the file alone first, which takes no lock and leaves nothing beside it, and
// then, when there is a log, at the two together.
func inspectOnce(path string, size int64, logged bool, busy time.Duration) error {
	err := examine(path, "mode=ro&immutable=1", busy, !logged, size <= checkedWhole && !logged)
	if logged && (err == nil || code(err)&0xff == lib.SQLITE_CORRUPT) { // the log may hold what is missing
		err = examine(path, "mode=ro", busy, false, size <= checkedWhole)
	}
	return err
}

// examine opens the file and looks at its marks; at its size when no log has a say in it; and at
// the whole of it.
func examine(path, mode string, busy time.Duration, alone, whole bool) (err error) {
	c, err := dial(path, mode, busyPragma(busy))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.checkMarks(path); err != nil {
		return err
	}
	if alone {
		if err := c.checkSize(path); err != nil {
			return err
		}
	}
	if !whole {
		return nil
	}
	return c.checkPages(path)
}

// checkSize holds the size of the file against its pages. SQLite itself would fill the rest of a
// page that was cut with zeros.
func (c *conn) checkSize(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	page, err := c.value("PRAGMA page_size")
	if err != nil {
		return err
	}
	count, err := c.value("PRAGMA page_count")
	if err != nil {
		return err
	}
	if info.Size()%page != 0 || info.Size() < count*page {
		return fmt.Errorf("%s is damaged: it has %d bytes, want %d pages of %d: its end was cut off", path, info.Size(), count, page)
	}
	return nil
}

// checkMarks holds the header against what this package writes.
func (c *conn) checkMarks(path string) error {
	known, err := newest()
	if err != nil {
		return err
	}
	id, err := c.value("PRAGMA application_id")
	if err != nil {
		return fmt.Errorf("%s is not a Vitrine store, or a damaged one: %w", path, err)
	}
	if id != applicationID {
		return fmt.Errorf("%s is not a Vitrine store: its application_id is %#x, want %#x", path, id, applicationID)
	}
	version, err := c.value("PRAGMA user_version")
	if err != nil {
		return fmt.Errorf("%s is damaged: %w", path, err)
	}
	if version > known {
		return fmt.Errorf("%s is of a newer version: its schema is %d, this program knows up to %d", path, version, known)
	}
	if version < 1 {
		return fmt.Errorf("%s is damaged: its schema is %d, want 1 or more", path, version)
	}
	if _, err := c.value("SELECT count(*) FROM sqlite_schema"); err != nil {
		return fmt.Errorf("%s is damaged: %w", path, err)
	}
	return nil
}

// checkPages reads every page.
func (c *conn) checkPages(path string) error {
	r := c.query("PRAGMA quick_check(1)")
	defer r.close()
	if !r.next() {
		return fmt.Errorf("%s is damaged: %w", path, r.err)
	}
	if finding := r.text(0); finding != "ok" {
		return fmt.Errorf("%s is damaged: %s", path, strings.ReplaceAll(finding, "\n", ": "))
	}
	return nil
}
