package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/vitrine-go/vitrine/storage/archive"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/postgres"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

const inMemory = "memory:"

// dbUsage says what -db wants.
const dbUsage = "`store`: the path of a SQLite file, " + inMemory + ", or a postgres:// URL"

// dbFlag adds -db to the flags of a command.
func dbFlag(f *flag.FlagSet) *string { return f.String("db", "vitrine.db", dbUsage) }

// inPostgres reports that -db names a PostgreSQL database. Its URL may hold a password: it is not to
// be shown.
func inPostgres(db string) bool {
	return strings.HasPrefix(db, "postgres://") || strings.HasPrefix(db, "postgresql://")
}

// inFile reports that -db names a SQLite file.
func inFile(db string) bool { return db != inMemory && !inPostgres(db) }

// absent reports that -db names a file that is not there.
func absent(db string) bool {
	_, err := os.Stat(db)
	return inFile(db) && errors.Is(err, fs.ErrNotExist)
}

// store is what -db names, open.
type store struct {
	archive.Stores
	ping  func(context.Context) error
	close func() error
}

// newMemory returns an empty store in memory.
func newMemory() *store {
	return &store{
		Stores: archive.Stores{Apps: memory.NewApps(), Assets: memory.NewAssets(), Reviews: memory.NewReviews()},
		ping:   func(context.Context) error { return nil },
		close:  func() error { return nil },
	}
}

// openStore opens the store, and builds it where there is none.
func openStore(ctx context.Context, db string) (*store, error) {
	if err := checkDB(db); err != nil {
		return nil, err
	}
	switch {
	case db == inMemory:
		return newMemory(), nil
	case inPostgres(db):
		return openPostgres(ctx, db, nil)
	}
	return openSQLite(db)
}

func openPostgres(ctx context.Context, db string, o *postgres.Options) (*store, error) {
	s, err := postgres.Open(ctx, db, o)
	if err != nil {
		return nil, err
	}
	return &store{archive.Stores{Apps: s.Apps(), Assets: s.Assets(), Reviews: s.Reviews()}, s.Ping, s.Close}, nil
}

func openSQLite(db string) (*store, error) {
	s, err := sqlite.Open(db, nil)
	if err != nil {
		return nil, err
	}
	return &store{archive.Stores{Apps: s.Apps(), Assets: s.Assets(), Reviews: s.Reviews()}, s.Ping, s.Close}, nil
}

// errNoStore: the command has nothing to do where there is no store.
var errNoStore = errors.New("there is no store")

// openThere opens a store for a command that has nothing to do where there is none, and builds none.
func openThere(ctx context.Context, db string) (*store, error) {
	if err := checkReached(db); err != nil {
		return nil, err
	}
	if absent(db) {
		return nil, fmt.Errorf("%w at %s", errNoStore, db)
	}
	if inFile(db) {
		return openSQLite(db)
	}
	s, err := openPostgres(ctx, db, &postgres.Options{Existing: true})
	if errors.Is(err, postgres.ErrAbsent) {
		return nil, fmt.Errorf("%w in the database that -db names", errNoStore)
	}
	return s, err
}

// openToCompare opens a store that is not to be changed. One that is not there is an empty one.
func openToCompare(ctx context.Context, db string) (*store, error) {
	s, err := openThere(ctx, db)
	if errors.Is(err, errNoStore) {
		return newMemory(), nil
	}
	return s, err
}

// openToFill opens a store for what is to stay in it, and builds it where there is none.
func openToFill(ctx context.Context, db string) (*store, error) {
	if err := checkReached(db); err != nil {
		return nil, err
	}
	return openStore(ctx, db)
}

// checkReached refuses also a store in memory, which only the process that serves it can reach.
func checkReached(db string) error {
	if db == inMemory {
		return errors.New("-db names a store in memory, which is that of the process that serves it: no other command can reach it")
	}
	return checkDB(db)
}

// checkDB refuses what names no store that this program can open or build.
func checkDB(db string) error {
	const want = "want the path of a SQLite file, " + inMemory + " or a postgres:// URL"
	switch scheme, _, isURL := strings.Cut(db, "://"); {
	case db == "":
		return usageError{errors.New("-db: must not be empty: " + want)}
	case !inFile(db):
		return nil
	case isURL && !strings.ContainsRune(scheme, filepath.Separator):
		return fmt.Errorf("-db: a store is not kept at %s:// addresses: %s", scheme, want)
	}
	if _, err := os.Stat(filepath.Dir(db)); err != nil {
		return fmt.Errorf("-db %s: its directory: %w", db, err)
	}
	return nil
}

// checkFile refuses also a file that is there and is no store. One that is not there may come later.
func checkFile(db string) error {
	if err := checkDB(db); err != nil || !inFile(db) || absent(db) {
		return err
	}
	s, err := sqlite.Open(db, nil)
	if err != nil {
		return err
	}
	return s.Close()
}
