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

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

const inMemory = "memory:"

// dbUsage says what -db wants.
const dbUsage = "`path` of a SQLite file, or memory:"

// dbFlag adds -db to the flags of a command.
func dbFlag(f *flag.FlagSet) *string { return f.String("db", "vitrine.db", dbUsage) }

// store is what -db names, open.
type store struct {
	apps    appsvc.Store
	assets  assets.Store
	reviews reviews.Store
	ping    func(context.Context) error
	close   func() error
}

func openStore(db string) (*store, error) {
	if err := checkDB(db); err != nil {
		return nil, err
	}
	if db == inMemory {
		return &store{
			apps:    memory.NewApps(),
			assets:  memory.NewAssets(),
			reviews: memory.NewReviews(),
			ping:    func(context.Context) error { return nil },
			close:   func() error { return nil },
		}, nil
	}
	s, err := sqlite.Open(db, nil)
	if err != nil {
		return nil, err
	}
	return &store{apps: s.Apps(), assets: s.Assets(), reviews: s.Reviews(), ping: s.Ping, close: s.Close}, nil
}

// openToCompare opens a store that is not to be changed. One that is not there is an empty one in memory.
func openToCompare(db string) (*store, error) {
	if err := checkDB(db); err != nil {
		return nil, err
	}
	if _, err := os.Stat(db); errors.Is(err, fs.ErrNotExist) {
		db = inMemory
	}
	return openStore(db)
}

// checkDB refuses what names no store that this program can open or build.
func checkDB(db string) error {
	switch scheme, _, isURL := strings.Cut(db, "://"); {
	case db == "":
		return usageError{errors.New("-db: must not be empty: want " + inMemory + " or the path of a file")}
	case db == inMemory:
		return nil
	case isURL && (scheme == "postgres" || scheme == "postgresql"):
		return errors.New("-db: this build has no PostgreSQL driver: use " + inMemory + " or the path of a SQLite file")
	case isURL && !strings.ContainsRune(scheme, filepath.Separator):
		return fmt.Errorf("-db: a store is not kept at %s:// addresses: use %s or the path of a SQLite file", scheme, inMemory)
	}
	if _, err := os.Stat(filepath.Dir(db)); err != nil {
		return fmt.Errorf("-db %s: its directory: %w", db, err)
	}
	return nil
}

// checkStore refuses also a file that is there and is no store. One that is not there may come later.
func checkStore(db string) error {
	if err := checkDB(db); err != nil || db == inMemory {
		return err
	}
	if _, err := os.Stat(db); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	s, err := openStore(db)
	if err != nil {
		return err
	}
	return s.close()
}
