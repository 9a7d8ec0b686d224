package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Vacuum writes the file anew, and empties its log. What was deleted is in neither afterwards, also where SQLite had left a part
// of it when it moved rows from one page to another. It takes as much free space as the store and, while it runs, the
// log grows by as much; reads go on and updates wait, and may fail with ErrBusy. If other processes read all the
// time, the log cannot be emptied: Vacuum tries until ctx ends, and returns its error.
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
