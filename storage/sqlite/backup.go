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

// Backup writes a copy of the store, as it is at one moment, to a new file at path, while others
// read and write. The file gets its name when it is whole; one that is there is not replaced.
func (db *DB) Backup(ctx context.Context, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("sqlite: backup: %w", err)
	}
	if _, err := os.Lstat(path); err == nil {
		return taken(path)
	}
	err = db.view(ctx, func(c *conn) error {
		// The snapshot of this transaction stays while the pages are copied.
		if _, err := c.value("SELECT count(*) FROM sqlite_schema"); err != nil {
			return err
		}
		return putWhole(path, func(tmp string) error { return c.copyTo(ctx, tmp) })
	})
	if errors.Is(err, fs.ErrExist) {
		return taken(path)
	}
	if err != nil {
		return fmt.Errorf("sqlite: backup: %w", err)
	}
	return nil
}

func taken(path string) error {
	return fmt.Errorf("sqlite: backup: %s: %w: give a name that is not taken", path, fs.ErrExist)
}

// copyTo copies every page into the file at path.
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
	const pages = 1024 // between two looks at the context
	for more := true; more && err == nil; {
		if more, err = b.Step(pages); err == nil {
			err = ctx.Err()
		}
	}
	finished := b.Finish() // tells again what a step has told
	if err == nil {
		err = finished
	}
	return err
}
