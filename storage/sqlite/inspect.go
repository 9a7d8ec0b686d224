package sqlite

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	lib "modernc.org/sqlite/lib"
)

// checkedWhole is the size up to which Open reads all pages of a file to check them. Of a larger file it checks
// only the header and the size.
const checkedWhole = 16 << 20

// inspect returns an error if the file at path cannot be used as a store. It changes nothing. A finding counts only if the
// file and its log did not change meanwhile; otherwise it looks again, up to attempts times.
//
// It reads through SQLite, since closing any other descriptor of the file would drop the locks
// that this process may have on it.
func inspect(path string, busy time.Duration) error {
	const attempts = 20
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

// refuseByNature checks the type, size and mode of the file.
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

// hasLog reports whether there is a write-ahead log that is not empty. It may have commits that the file does not have yet.
func hasLog(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// inspectOnce first checks the file without its log, which takes no lock and creates no other file. If there is a log,
// it then checks the two together.
func inspectOnce(path string, size int64, logged bool, busy time.Duration) error {
	err := examine(path, "mode=ro&immutable=1", busy, !logged, size <= checkedWhole && !logged)
	if logged && (err == nil || code(err)&0xff == lib.SQLITE_CORRUPT) { // the log may have the missing pages
		err = examine(path, "mode=ro", busy, false, size <= checkedWhole)
	}
	return err
}

// examine opens the file and checks the application id and the schema version in its header. alone says that the file
// has no write-ahead log; it must then have whole pages. whole says that every page is checked too.
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

// checkSize returns an error if a part of the last page is missing. SQLite reads zeros there, and detects only that whole pages are
// missing.
func (c *conn) checkSize(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	page, err := c.value("PRAGMA page_size")
	if err == nil && info.Size()%page != 0 {
		err = fmt.Errorf("%s is damaged: it has %d bytes, want whole pages of %d: its end was cut off", path, info.Size(), page)
	}
	return err
}

// format is the user_version of a store: the number of what is in it. A later format has a greater number.
const format = 101

// checkMarks checks the header, for the application_id of a store and the format that this package knows, and that the
// schema can be read.
func (c *conn) checkMarks(path string) error {
	id, err := c.value("PRAGMA application_id")
	if err != nil {
		return fmt.Errorf("%s is not a Vitrine store, or a damaged one: %w", path, err)
	}
	if id != applicationID {
		return c.foreign(path, id)
	}
	version, err := c.value("PRAGMA user_version")
	if err != nil {
		return fmt.Errorf("%s is damaged: %w", path, err)
	}
	switch {
	case version < 1:
		return fmt.Errorf("%s is damaged: its format is %d, want %d", path, version, format)
	case version < format:
		return fmt.Errorf("%s is the store of an earlier release: bring it over with that release's \"vitrine export -db %s >vitrine.archive\" "+
			"and this one's \"vitrine import -db NEW.db vitrine.archive\"", path, path)
	case version > format:
		return fmt.Errorf("%s is of a newer version: its format is %d, this program knows up to %d", path, version, format)
	}
	if _, err := c.value("SELECT count(*) FROM sqlite_schema"); err != nil {
		return fmt.Errorf("%s is damaged: %w", path, err)
	}
	return nil
}

// foreign returns the error for a file of another program. It names some tables of the file, and says what to do.
func (c *conn) foreign(path string, id int64) error {
	const shown = 3
	r := c.query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name LIMIT $1", int64(shown+1))
	defer r.close()
	var tables []string
	for r.next() {
		tables = append(tables, strconv.Quote(r.text(0)))
	}
	if r.err != nil {
		return fmt.Errorf("%s is not a Vitrine store, or a damaged one: %w", path, r.err)
	}
	if len(tables) > shown {
		tables[shown] = "others"
	}
	holds := ""
	if len(tables) > 0 {
		holds = ", and it holds the tables " + strings.Join(tables, ", ")
	}
	return fmt.Errorf("%s is not a Vitrine store: its application_id is %#x, want %#x%s. A store needs a file of its own: "+
		"open a path where there is no file yet; to query both files together, ATTACH the store's file to a connection of your own", path, id, applicationID, holds)
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
