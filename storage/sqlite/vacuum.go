package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Vacuum writes the file anew, and empties its log. Afterwards neither of them has anything that was deleted, not even the parts
// of rows that SQLite leaves behind when it moves rows from one page to another. Backups that were made before still have it.
//
// While Vacuum runs, it takes as much free space as the store for a temporary file, and the log grows by as much. Reads continue.
// Updates wait, and return ErrBusy if that takes longer than Options.Busy. ctx does not interrupt the writing. The new content is
// first in the log, which cannot be copied completely and emptied while somebody reads from it. If there is always a View, of
// this process or of another one, Vacuum tries until ctx ends and returns the error of ctx. Then what was deleted may still be in
// the file or in the log.
func (db *DB) Vacuum(ctx context.Context) error {
	if err := db.enter(); err != nil {
		return err
	}
	defer db.users.Done()
	c, err := dial(db.path, "mode=rw", busyPragma(db.writer.busy), "synchronous=FULL", "checkpoint_fullfsync=1", "trusted_schema=0", "temp_store=FILE")
	if err == nil {
		err = errors.Join(c.vacuum(ctx), c.close())
	}
	if err != nil {
		return fmt.Errorf("sqlite: vacuum: %w", err)
	}
	return nil
}

// vacuum does the work of Vacuum on a connection that nobody else uses.
func (c *conn) vacuum(ctx context.Context) error {
	if err := c.script("VACUUM"); err != nil {
		return err
	}
	for {
		done, _, err := c.checkpoint("TRUNCATE")
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the log is in use, and was not emptied: %w", ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}
