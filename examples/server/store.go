package main

import (
	"context"
	"errors"
	"flag"
	"strings"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

const inMemory = "memory:"

// dbFlag adds -db to the flags of a command.
func dbFlag(f *flag.FlagSet) *string { return f.String("db", "vitrine.db", "") }

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

// checkDB refuses what names no store that this program can open.
func checkDB(db string) error {
	switch {
	case db == "":
		return usageError{errors.New("-db: must not be empty: want " + inMemory + " or the path of a file")}
	case strings.HasPrefix(db, "postgres://") || strings.HasPrefix(db, "postgresql://"):
		return errors.New("-db: this build has no PostgreSQL driver: use " + inMemory + " or the path of a SQLite file")
	}
	return nil
}
