package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
)

// Backup writes a snapshot of the store to a new file at path. Reads and updates continue meanwhile, and the log grows until
// the end. The feeds of changes of the copy have another identity, so that the copy refuses cursors of this store. The file gets
// its name when it is complete. If writing it fails, or if ctx ends before, there is no file at path. Backup returns an error
// that wraps fs.ErrExist if there is a file at path already, and leaves that file as it is.
func (db *DB) Backup(ctx context.Context, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("sqlite: backup: %w", err)
	}
	if _, err := os.Lstat(path); err == nil {
		return taken(path)
	}
	err = db.view(ctx, func(c *conn) error {
		return putWhole(path, func(tmp string) error { // all pages are of the snapshot that view has taken
			if err := c.copyTo(ctx, tmp); err != nil {
				return err
			}
			return makeOther(tmp)
		})
	})
	if errors.Is(err, fs.ErrExist) {
		return taken(path)
	}
	if err != nil {
		return fmt.Errorf("sqlite: backup: %w", err)
	}
	return nil
}

// taken returns the error of a Backup to a path that has a file.
func taken(path string) error {
	return fmt.Errorf("sqlite: backup: %s: %w: give a name that is not taken", path, fs.ErrExist)
}

// makeOther gives the feeds of the copy at path another identity.
func makeOther(path string) error {
	c, err := dial(path, "mode=rw", "synchronous=FULL")
	if err != nil {
		return err
	}
	return errors.Join(c.newIdentity(), c.close())
}

// copyTo copies every page, as it is in the snapshot of c, into the empty file at path. Between steps it looks whether ctx has
// ended.
func (c *conn) copyTo(ctx context.Context, path string) error {
	source, ok := c.raw.(interface {
		NewBackup(uri string) (*sqlite.Backup, error)
	})
	if !ok {
		return fmt.Errorf("the driver's connection %T cannot copy itself", c.raw)
	}
	to := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	b, err := source.NewBackup(to.String())
	if err != nil {
		return err
	}
	const pages = 1024 // between two checks of the context
	for more := true; more && err == nil; {
		if more, err = b.Step(pages); err == nil {
			err = ctx.Err()
		}
	}
	finished := b.Finish() // repeats the error of a step
	if err == nil {
		err = finished
	}
	return err
}
