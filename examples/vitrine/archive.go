package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/vitrine-go/vitrine/storage/archive"
	"github.com/vitrine-go/vitrine/storage/postgres"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// exportStore is the command export: it writes everything that a store holds to standard output, as an archive.
func exportStore(ctx context.Context, p *program, args []string) (err error) {
	f := flags("export")
	db := dbFlag(f)
	if err := p.parse(f, args); err != nil {
		return err
	}
	s, err := openThere(ctx, *db)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	n, err := archive.Export(ctx, s.Stores, p.stdout)
	if err == nil {
		fmt.Fprintf(p.stderr, "exported %s\n", n)
	}
	return err
}

// importStore is the command import: it builds a new store from an archive. The whole archive is checked before
// anything is written.
func importStore(ctx context.Context, p *program, args []string) (err error) {
	f := flags("import")
	db := f.String("db", "", dbUsage)
	if err := p.parse(f, args, "FILE (or - for standard input)"); err != nil {
		return err
	}
	switch err := checkReached(*db); {
	case err != nil:
		return fmt.Errorf("import: %w", err)
	case inFile(*db) && !absent(*db):
		return fmt.Errorf("import: %s: the file exists already: want the path of a new store", *db)
	}
	in, err := openArchive(ctx, p, f.Arg(0))
	if err != nil {
		return err
	}
	defer in.Close()
	a, err := archive.Open(ctx, in, nil)
	if err != nil {
		return fmt.Errorf("import: %s: %w", f.Arg(0), err)
	}
	defer a.Close()
	n, err := importArchive(ctx, *db, a, p.keyMaker(*db, p.getenv(variable("key-file")), ": tokens of the store that the archive is from are not valid here\n"))
	if err == nil {
		fmt.Fprintf(p.stderr, "imported %s\n", n)
	}
	return err
}

// importArchive builds the store. A kill leaves none that can be opened: a SQLite file gets its name when it is complete, and in
// PostgreSQL the store stays marked as unfinished until the next import begins anew.
// built is called when a SQLite store is complete, before it gets its name.
func importArchive(ctx context.Context, db string, a *archive.Archive, built func() error) (n archive.Counts, err error) {
	fill := func(s archive.Stores) error {
		var err error
		n, err = a.Import(ctx, s)
		return err
	}
	if inFile(db) {
		err = sqlite.Build(db, func(s *sqlite.DB) error {
			if err := fill(archive.StoresIn(s)); err != nil {
				return err
			}
			return built()
		})
		return n, err
	}
	err = postgres.Build(ctx, db, nil, func(s *postgres.DB) error {
		return fill(archive.StoresIn(s))
	})
	return n, err
}

// openArchive opens FILE, or standard input for "-".
func openArchive(ctx context.Context, p *program, name string) (io.ReadCloser, error) {
	if name != "-" {
		return os.Open(name)
	}
	return io.NopCloser(untilDone{ctx, p.stdin}), nil
}
