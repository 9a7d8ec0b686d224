package sqlite

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	lib "modernc.org/sqlite/lib"
)

const (
	// applicationID marks the file as a Vitrine store: "Vitr".
	applicationID = 0x56697472
	// format is the user_version of a store: the number of its format. A later format has a greater number.
	format = 101
	// checkedWhole is the size up to which Open reads all pages of a file to check them. Of a larger file it checks
	// only the header and the size.
	checkedWhole = 16 << 20
)

// alone is the mode of a connection that reads the file and no log, takes no lock, and creates no other file.
const alone = "mode=ro&immutable=1"

// inspect returns an error if the file at path cannot be used as a store. It changes nothing. A finding counts only if
// the file and its log did not change meanwhile; otherwise it looks again, up to attempts times.
//
// It reads through SQLite, since closing any other descriptor of the file would drop the locks
// that this process may have on it. A file that is read-only passes if reading is true.
func inspect(path string, busy time.Duration, reading bool) error {
	const attempts = 20
	for attempt := 1; ; attempt++ {
		before, err := os.Stat(path)
		switch {
		case err != nil:
			return err
		case !before.Mode().IsRegular():
			return fmt.Errorf("%s is not a file", path)
		case before.Size() == 0:
			return fmt.Errorf("%s %w: it is empty; if there never was a store, remove it, and one is built", path,
				errDamaged)
		case before.Mode().Perm()&0o222 == 0 && !reading:
			return fmt.Errorf("%s is read-only: a store must be writable", path)
		}
		logged := hasLog(path)
		pages := (*conn).checkPages
		if before.Size() > checkedWhole {
			pages = (*conn).checkMarks // the file is too large to read all pages
		}
		// A file without a log is checked alone, so that SQLite creates no other file beside it.
		if !logged {
			err = examine(path, alone, busy, (*conn).checkMarks, (*conn).checkSize, pages)
		} else if err = examine(path, alone, busy, (*conn).checkMarks); err == nil ||
			code(err)&0xff == lib.SQLITE_CORRUPT {
			err = examine(path, "mode=ro", busy, (*conn).checkMarks, pages) // the log may have the missing pages
		}
		if err == nil || attempt == attempts {
			return err
		}
		after, statErr := os.Stat(path)
		if statErr == nil && logged == hasLog(path) && after.Size() == before.Size() &&
			after.ModTime().Equal(before.ModTime()) {
			return err
		}
	}
}

// hasLog reports whether there is a write-ahead log that is not empty. It may have commits that the file does not have
// yet.
func hasLog(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// examine opens the file and checks it.
func examine(path, mode string, busy time.Duration, checks ...func(*conn, string) error) error {
	c, err := dial(path, mode, busyPragma(busy))
	if err != nil {
		return withRights(path, fmt.Errorf("%s: %w", path, err))
	}
	for _, check := range checks {
		if err == nil {
			err = check(c, path)
		}
	}
	return errors.Join(err, c.close())
}

// checkSize returns an error if a part of the last page is missing. SQLite reads zeros there, and detects only that
// whole pages are missing.
func (c *conn) checkSize(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	page, err := c.value("PRAGMA page_size")
	if err == nil && info.Size()%page != 0 {
		err = fmt.Errorf("%s %w: it has %d bytes, want whole pages of %d: its end was cut off", path, errDamaged,
			info.Size(), page)
	}
	return err
}

// checkMarks checks the header, for the application_id of a store and the format that this package knows, and that the
// schema can be read.
func (c *conn) checkMarks(path string) error {
	id, err := c.value("PRAGMA application_id")
	if err == nil && id != applicationID {
		return c.foreign(path, id)
	}
	if err != nil {
		return fmt.Errorf("%s is not a Vitrine store, or a damaged one: %w", path, err)
	}
	version, err := c.value("PRAGMA user_version")
	if err == nil {
		_, err = c.value("SELECT count(*) FROM sqlite_schema")
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s is damaged: %w", path, err)
	case version < 1:
		return fmt.Errorf("%s %w: its format is %d, want %d", path, errDamaged, version, format)
	case version < format:
		return fmt.Errorf("%s is a store of v0.1.0: write an archive with v0.1.0 "+
			"(vitrine export -db %s >vitrine.archive), and make a store of it with v0.2.0 "+
			"(vitrine import -db NEW.db vitrine.archive), which this release opens", path, path)
	case version > format:
		return fmt.Errorf("%s is of a newer version: its format is %d, this program knows up to %d", path, version,
			format)
	}
	return nil
}

// foreign returns the error for a file of another program. It names some tables of the file, and says what to do.
func (c *conn) foreign(path string, id int64) error {
	row, err := c.row(`SELECT coalesce(', and it holds the tables ' || group_concat('"' || name || '"', ', '), '') FROM
		(SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'
			ORDER BY name LIMIT 3)`)
	if err != nil {
		return fmt.Errorf("%s is not a Vitrine store, or a damaged one: %w", path, err)
	}
	return fmt.Errorf("%s is not a Vitrine store: its application_id is %#x, want %#x%s. A store needs a file of "+
		"its own: "+
		"open a path where there is no file yet; to query both files together, ATTACH the store's file to a "+
		"connection of your own", path, id, applicationID, row[0])
}

// checkPages reads every page.
func (c *conn) checkPages(path string) error {
	row, err := c.row("PRAGMA quick_check(1)")
	if err != nil {
		return fmt.Errorf("%s is damaged: %w", path, err)
	}
	if row[0] != "ok" {
		return fmt.Errorf("%s %w: %s", path, errDamaged, strings.ReplaceAll(fmt.Sprint(row[0]), "\n", ": "))
	}
	return nil
}
