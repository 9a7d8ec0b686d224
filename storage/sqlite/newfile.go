package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/vitrine-go/vitrine/storage"
)

// Build creates a store at path and calls fill to write its content. The file gets its name when fill has returned nil
// and everything is on the disk, so a process that is killed, or an error, leaves no file at path. Until then it is
// .<name>.new-<random>, which the next Build removes if a process was killed. The DB is closed when fill returns. If
// there is a file at path already, Build does not change it and returns an error that wraps fs.ErrExist.
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

// Backup writes a snapshot of the store to a new file at path. Views and updates continue meanwhile, and the log grows
// until the end. The copy has another identity (see storage.Identity). The file gets its name when it is complete and
// every page of it was checked. If that fails, or if ctx ends before, there is no file at path. Backup returns an error
// that wraps fs.ErrExist if there is a file at path already, and leaves that file as it is.
func (db *DB) Backup(ctx context.Context, path string) error {
	err := db.View(ctx, func(storage.Reader) error { // returns ErrClosed if the store is closed
		return putWhole(path, func(tmp string) error {
			return db.store.copyTo(ctx, tmp)
		})
	})
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("sqlite: backup: %s: %w: give a name that is not taken", path, fs.ErrExist)
	case err != nil:
		return fmt.Errorf("sqlite: backup: %w", err)
	}
	return nil
}

// copyTo writes a snapshot into the empty file at path. It uses a connection of the pool, so that the checkpointer
// counts it as a long View.
func (s *store) copyTo(ctx context.Context, path string) error {
	c, err := s.readers.get(ctx)
	if err != nil {
		return err
	}
	defer s.readers.put(c, false)
	if err := c.script("PRAGMA query_only=0"); err != nil {
		return err
	}
	return c.copyTo(ctx, path)
}

// copyTo writes what the connection reads into the empty file at path, as a store of another identity, and checks each
// of its pages.
func (c *conn) copyTo(ctx context.Context, path string) error {
	_, err := c.raw.(driver.ExecerContext).ExecContext(ctx, "VACUUM INTO $1", named([]any{path}))
	if isFull(err) { // it is not the store that is full, as View would say
		err = fmt.Errorf("there is no room for a copy on the disk of %s: %v", filepath.Dir(path), err)
	}
	if err != nil {
		return errors.Join(ctx.Err(), err)
	}
	return within(path, func(copied *DB) error {
		return errors.Join(storage.RenewIdentity(ctx, copied), copied.store.writer.c.checkPages(path))
	})
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
	// The body of an app fits into one page of 8 KiB. That halves the writes to the log of two pages of SQLite's
	// default size.
	c, err := dial(path, "mode=rwc", "page_size=8192", "synchronous=FULL",
		fmt.Sprintf("application_id=%d", applicationID))
	if err != nil {
		return err
	}
	err = c.script(schema + fmt.Sprintf("PRAGMA user_version=%d", format))
	if err == nil {
		// When the last connection closes, SQLite copies the log into the file and removes it. Then the file itself has
		// application_id and user_version in its header, which inspect reads.
		err = c.wal()
	}
	return errors.Join(err, c.close())
}

// wal switches the file to write-ahead logging.
func (c *conn) wal() error {
	row, err := c.row("PRAGMA journal_mode=WAL")
	if err != nil {
		return err
	}
	if row[0] != "wal" {
		return fmt.Errorf("journal_mode is %q after asking for wal: the file system must allow shared memory", row[0])
	}
	return nil
}

// putWhole builds a file beside path and gives it the name path. If there is a file at path already, putWhole does not
// change it and returns an error that wraps fs.ErrExist.
func putWhole(path string, build func(tmp string) error) error {
	path, err := absolute(path)
	if err != nil {
		return err
	}
	if err := refuseStrayLog(path); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fs.ErrExist
	}
	return buildBeside(path, build, func(_ *os.File, tmp string) error {
		return os.Link(tmp, path) // unlike a rename it never replaces a file
	})
}

// buildBeside calls build with the name of an empty temporary file in the directory of path, an absolute one. When
// build has returned and the file is on the disk, it calls place with the open directory, and place gives the file its
// name. At last it syncs the directory; if that fails, it returns the error, and the complete file stays. The temporary
// name is always removed.
//
// If a process is killed meanwhile, its temporary file is left. Each build therefore locks the directory, and a later
// build of the same name that finds no other lock removes such files.
func buildBeside(path string, build func(tmp string) error, place func(dir *os.File, tmp string) error) error {
	name, prefix := filepath.Dir(path), "."+filepath.Base(path)+".new-"
	dir, err := os.Open(name)
	if err != nil {
		return withRights(path, err)
	}
	defer dir.Close()
	if lock(dir, true) {
		removeBuilds(name, prefix)
	}
	lock(dir, false)
	f, err := os.CreateTemp(name, prefix+"*")
	if err != nil {
		return withRights(path, err)
	}
	tmp := f.Name()
	defer removeBuilds(name, filepath.Base(tmp))
	if err := f.Close(); err != nil {
		return err
	}
	if err := build(tmp); err != nil {
		return err
	}
	if f, err = os.Open(tmp); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := place(dir, tmp); err != nil {
		return err
	}
	return dir.Sync()
}

// removeBuilds removes the files with this prefix. It ignores errors: the next build tries again.
func removeBuilds(dir, prefix string) {
	list, _ := os.ReadDir(dir)
	for _, entry := range list {
		if strings.HasPrefix(entry.Name(), prefix) {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}

// refuseStrayLog returns an error if there is a write-ahead log without its store. SQLite would apply such a log to
// a new store of this name.
func refuseStrayLog(path string) error {
	if _, err := os.Lstat(path + "-wal"); err != nil {
		return nil
	}
	if _, err := os.Lstat(path); err == nil {
		return nil // another process has just created both
	}
	return fmt.Errorf("%s-wal is the log of a store that is gone: put its store back, restore a copy, or move "+
		"the log away", path)
}
