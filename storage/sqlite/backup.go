package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"

	"github.com/vitrine-go/vitrine/storage"
)

// Backup writes a snapshot of the store to a new file at path. Views and updates continue meanwhile, and the log grows until
// the end. The copy has another identity (see storage.Identity). The file gets its name when it is complete and every page of it
// was checked. If that fails, or if ctx ends before, there is no file at path. Backup returns an error that wraps fs.ErrExist if
// there is a file at path already, and leaves that file as it is.
func (db *DB) Backup(ctx context.Context, path string) error {
	err := db.View(ctx, func(storage.Reader) error { // a store that is closed has none
		return putWhole(path, func(tmp string) error { return db.store.copyTo(ctx, tmp) })
	})
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("sqlite: backup: %s: %w: give a name that is not taken", path, fs.ErrExist)
	case err != nil:
		return fmt.Errorf("sqlite: backup: %w", err)
	}
	return nil
}

// copyTo writes a snapshot into the empty file at path. The connection is one of the pool, so that the checkpointer knows that there
// is a long View.
func (s *store) copyTo(ctx context.Context, path string) error {
	c, err := s.readers.get(ctx)
	if err != nil {
		return err
	}
	defer s.readers.put(c, false)
	if err := c.script("PRAGMA query_only=0"); err != nil {
		return err
	}
	_, err = c.raw.(driver.ExecerContext).ExecContext(ctx, "VACUUM INTO $1", named([]any{path}))
	if err != nil {
		return errors.Join(ctx.Err(), err)
	}
	return within(path, func(copied *DB) error {
		return errors.Join(storage.RenewIdentity(ctx, copied), copied.store.writer.c.checkPages(path))
	})
}
