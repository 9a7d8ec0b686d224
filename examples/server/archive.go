package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/vitrine-go/vitrine/storage/archive"
	"github.com/vitrine-go/vitrine/storage/postgres"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// exportStore writes everything that a store holds to standard output.
func exportStore(ctx context.Context, p *program, args []string) (err error) {
	f := flags("export")
	db := dbFlag(f)
	if err := parse(f, args); err != nil {
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

// importStore builds a store of an archive, which is read once before anything is written.
func importStore(ctx context.Context, p *program, args []string) (err error) {
	f := flags("import")
	db := f.String("db", "", dbUsage)
	if err := parse(f, args, "FILE (or - for standard input)"); err != nil {
		return err
	}
	switch err := checkReached(*db); {
	case err != nil:
		return fmt.Errorf("import: %w", err)
	case inFile(*db) && !absent(*db):
		return fmt.Errorf("import: %s: there is a file already: name one that is not there", *db)
	}
	in, err := openArchive(ctx, p, f.Arg(0))
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := archive.Check(ctx, in); err != nil {
		return fmt.Errorf("import: %s: %w", f.Arg(0), err)
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	n, err := importArchive(ctx, *db, in)
	if err == nil {
		fmt.Fprintf(p.stderr, "imported %s\n", n)
	}
	return err
}

// importArchive builds the store: a kill leaves nothing that passes for one.
func importArchive(ctx context.Context, db string, in io.Reader) (n archive.Counts, err error) {
	fill := func(s archive.Stores) error {
		var err error
		n, err = archive.Import(ctx, s, in)
		return err
	}
	if inFile(db) {
		err = sqlite.Build(db, func(s *sqlite.DB) error {
			return fill(archive.Stores{Apps: s.Apps(), Assets: s.Assets(), Reviews: s.Reviews()})
		})
		return n, err
	}
	err = postgres.Build(ctx, db, nil, func(s *postgres.DB) error {
		return fill(archive.Stores{Apps: s.Apps(), Assets: s.Assets(), Reviews: s.Reviews()})
	})
	return n, err
}

// openArchive opens FILE, or a copy of standard input for "-", since an archive is read twice.
func openArchive(ctx context.Context, p *program, name string) (*os.File, error) {
	if name != "-" {
		return os.Open(name)
	}
	file, err := os.CreateTemp("", "vitrine-*.archive")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, file.Close())
	}
	_, err = io.Copy(file, untilDone{ctx, p.stdin})
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
