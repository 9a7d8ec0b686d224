package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// backup is the command backup: it copies a SQLite store, which others may be using, into a new file. The key file is
// not copied, and a line on standard error says so.
func backup(f *flag.FlagSet) action {
	db := f.String("db", "vitrine.db", "`store`: the path of a SQLite file")
	return func(ctx context.Context, p *program) error {
		if err := checkFile(*db); err != nil {
			return err
		}
		err := readStore(ctx, *db, func(s storage.Store) error { return s.(*sqlite.DB).Backup(ctx, f.Arg(0)) })
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stderr, "vitrine: %s\n", printable(withoutKeys(f.Arg(0), *db+".key")))
		return nil
	}
}

// checkFile returns an error if -db does not name a SQLite file, for the commands backup and restore.
func checkFile(db string) error {
	if inPostgres(db) {
		return usageError{
			errors.New("-db: want the path of a SQLite file: for PostgreSQL use its own tools, or export, which " +
				"makes an archive of a store of any kind")}
	}
	return checkReached(db)
}

// restore is the command restore: it puts a copy of a store, which backup has made, in the place of a store, and that
// one aside.
func restore(f *flag.FlagSet) action {
	db := f.String("db", "vitrine.db",
		"`store`: the path of a SQLite file, which need not exist; the server must be stopped")
	bare := withoutFilesFlag(f)
	return func(ctx context.Context, p *program) error {
		if err := checkFile(*db); err != nil {
			return err
		}
		aside, err := sqlite.Restore(ctx, *db, f.Arg(0), func(s *sqlite.DB) error {
			faults, err := p.printFaults(ctx, s, nil, *bare)
			if faults > 0 {
				err = errors.Join(err, fmt.Errorf("%s: faults found: %d: it is no whole copy", f.Arg(0), faults))
			}
			return err
		})
		if err != nil {
			return err
		}
		said := fmt.Sprintf("%s has what %s has; followers of its feeds of changes begin anew", *db, f.Arg(0))
		if aside != "" {
			said += fmt.Sprintf(". The store that was there is %s now. To go back, stop the server, and: vitrine "+
				"restore -db %s %s",
				aside, *db, aside)
		}
		fmt.Fprintf(p.stderr, "vitrine: restore: %s\n", printable(said))
		return nil
	}
}

// withoutKeys returns a sentence: the keys are not in the copy of a store, and where they are. beside is the key file
// beside the store, which does not exist if the keys come from elsewhere.
func withoutKeys(copied, beside string) string {
	where := "what -key-file or " + keyVariable + " gives the server"
	if _, err := os.Lstat(beside); err == nil {
		where = beside
	}
	return fmt.Sprintf("backup: the keys that sign tokens are not in %s: keep a copy of %s as well", copied, where)
}
