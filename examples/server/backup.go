package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// backup copies a store, which others may be using, into a new file. The key stays where it is.
func backup(ctx context.Context, p *program, args []string) error {
	f := flags("backup")
	db := dbFlag(f)
	if err := parse(f, args, "OUT"); err != nil {
		return err
	}
	if err := checkReached(*db); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	switch {
	case inPostgres(*db):
		return errors.New("backup: copies a SQLite file: for PostgreSQL use its own tools, or export, which makes an archive of a store of any kind")
	case absent(*db):
		return fmt.Errorf("backup: there is no store at %s", *db)
	}
	s, err := sqlite.Open(*db, nil)
	if err != nil {
		return err
	}
	return errors.Join(s.Backup(ctx, f.Arg(0)), s.Close())
}
