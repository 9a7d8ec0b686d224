package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// applicationID marks the file as a Vitrine store: "Vitr".
const applicationID = 0x56697472

// Build creates a store at path and calls fill to write its content. The file gets its name when fill has returned nil and
// everything is on the disk, so a process that is killed, or an error, leaves no file at path. The DB is closed when fill
// returns. If there is a file at path already, Build does not change it and returns an error that wraps fs.ErrExist.
func Build(path string, fill func(*DB) error) error {
	err := putWhole(path, func(tmp string) error {
		if err := makeEmpty(tmp); err != nil {
			return err
		}
		return within(tmp, fill)
	})
	if err != nil {
		return fmt.Errorf("sqlite: build %s: %w", path, err)
	}
	return nil
}

// within calls fn with the open store at path, and closes it.
func within(path string, fn func(*DB) error) error {
	db, err := Open(path, nil)
	if err != nil {
		return err
	}
	return errors.Join(fn(db), db.Close())
}

// makeEmpty turns an empty file into an empty store.
func makeEmpty(path string) error {
	// A body of an app fits into a page of 8 KiB, with half as many writes to the log as two of SQLite's default have.
	c, err := dial(path, "mode=rwc", "page_size=8192", "synchronous=FULL", fmt.Sprintf("application_id=%d", applicationID))
	if err != nil {
		return err
	}
	err = c.script(schema)
	if err == nil {
		err = c.script(fmt.Sprintf("PRAGMA user_version=%d", format))
	}
	if err == nil {
		// When the last connection closes, SQLite copies the log into the file and removes it. Then the file itself has
		// application_id and user_version in its header, which inspect reads.
		err = c.wal()
	}
	return errors.Join(err, c.close())
}

// wal switches the file to write-ahead logging.
func (c *conn) wal() error {
	r := c.query("PRAGMA journal_mode=WAL")
	defer r.close()
	if !r.next() {
		return r.err
	}
	mode := r.text(0)
	for r.next() { // the switch is committed when the statement ends, and may fail there
	}
	if r.err != nil {
		return r.err
	}
	if mode != "wal" {
		return fmt.Errorf("journal_mode is %q after asking for wal: the file system must allow shared memory", mode)
	}
	return nil
}

// refuseStrayLog returns an error if there is a write-ahead log without its store. SQLite would apply such a log to
// a new store of this name.
func refuseStrayLog(path string) error {
	if _, err := os.Lstat(path + "-wal"); err != nil {
		return nil
	}
	if _, err := os.Lstat(path); err == nil {
		return nil // another process has just put both there
	}
	return fmt.Errorf("%s-wal is the log of a store that is gone: move it away, or put its store back", path)
}

// putWhole calls build with the name of an empty file in the directory of path, for build to write. When the file is on the
// disk, it gets the name path. If there is a file at path, before or by then, putWhole does not change it and returns an error that
// wraps fs.ErrExist. At last it syncs the directory; if that fails, it returns the error, and the complete file stays at path.
// Whatever happens, the other name and the lock file (see claim) are removed. If a process is killed meanwhile, there is no file at path.
func putWhole(path string, build func(tmp string) error) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if err := refuseStrayLog(path); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fs.ErrExist
	}
	claim, err := newClaim(path)
	if err != nil {
		return err
	}
	defer claim.drop()
	tmp := claim.file()
	if err := makeFile(tmp); err != nil {
		return err
	}
	if err := build(tmp); err != nil {
		return err
	}
	if err := syncFile(tmp); err != nil {
		return err
	}
	if err := os.Link(tmp, path); err != nil { // unlike a rename it never replaces a file
		return err
	}
	return syncFile(filepath.Dir(path))
}

// makeFile creates an empty file that only its owner can read and write.
func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// syncFile waits until the content of a file, or of a directory, is on the disk.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
