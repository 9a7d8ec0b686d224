package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/adapters/webhook"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/gunzip"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/archive"
	"github.com/vitrine-go/vitrine/storage/postgres"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// maintenance is how the records of each package are checked and archived. Archives have people and keys only if access
// is true. files are where the bytes of files are, nil = in the store.
func maintenance(access bool, files assets.Files) []storage.Maintenance {
	return []storage.Maintenance{
		appsvc.Maintenance(appsvc.Limits{}), assets.Maintenance(assets.Limits{}, files), reviews.Maintenance(),
		webhook.Maintenance(), signin.Maintenance(access), {NotArchived: []string{roomSpace + " "}},
	}
}

// notArchived returns the entries that archives leave out.
func notArchived(access bool) (out archive.Without) {
	for _, m := range maintenance(access, nil) {
		out = append(out, m.NotArchived...)
	}
	return out
}

// audit yields the faults in the records of a store, whose files have their bytes in files (see maintenance), or an
// error as the last pair.
func audit(ctx context.Context, db storage.Store, files assets.Files) iter.Seq2[storage.Fault, error] {
	return func(yield func(storage.Fault, error) bool) {
		for _, m := range maintenance(true, files) {
			if m.Audit == nil {
				continue
			}
			for fault, err := range m.Audit(ctx, db) {
				if !yield(fault, err) || err != nil {
					return
				}
			}
		}
	}
}

// exportStore is the command export: it writes the records of a store as an archive.
func exportStore(f *flag.FlagSet) action {
	db, out := dbFlag(f), outFlag(f)
	access := f.Bool("with-access", false,
		"with people and keys: who has the archive has what may be done with them, as far as the SHA-256 of a "+
			"secret and the public half of a passkey allow")
	bare := f.Bool("without-files", false, "without the bytes of files, which another backup has; those "+
		"that serve -files keeps in a bucket are in no archive")
	return func(ctx context.Context, p *program) error {
		if err := checkOutput(*db, "-out", *out); err != nil {
			return err
		}
		var n, people, keys int64
		var own []string
		err := readStore(ctx, *db, func(s storage.Store) (err error) {
			err = p.writeOut(*out, func(to io.Writer) (err error) {
				without := notArchived(*access)
				if *bare {
					without = append(without, assets.FileBytes...)
				}
				n, err = archive.Export(ctx, s, to, without)
				return err
			})
			if made, ok := s.(interface {
				OwnTables(context.Context) ([]string, error)
			}); ok && err == nil {
				own, err = made.OwnTables(ctx)
			}
			if err == nil && !*access {
				people, keys, err = signin.Count(ctx, s)
			}
			return err
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stderr, "exported %s\n", count(n, "entry"))
		if people+keys > 0 {
			fmt.Fprintf(p.stderr, "without people (%d) and keys (%d): see -with-access\n", people, keys)
		}
		if len(own) > 0 {
			fmt.Fprintf(p.stderr, "without the tables that another program has in the store: %s\n",
				strings.Join(own, ", "))
		}
		return nil
	}
}

// importStore is the command import: it builds a new store from an archive, and audits it before it can be opened.
func importStore(f *flag.FlagSet) action {
	db := f.String("db", "", dbUsage)
	return func(ctx context.Context, p *program) (err error) {
		if err := checkReached(*db); err != nil {
			return err
		}
		if inFile(*db) && !absent(*db) {
			return fmt.Errorf("%s: the file exists already: want the path of a new store", *db)
		}
		file, err := openArchive(ctx, p, f.Arg(0))
		if err != nil {
			return err
		}
		defer file.Close()
		in, err := gunzip.Unpacked(bufio.NewReaderSize(file, 256<<10))
		if err != nil {
			return fmt.Errorf("%s: %w", f.Arg(0), err)
		}
		if head, _ := in.Peek(16); string(head) == "SQLite format 3\x00" {
			return fmt.Errorf("%s is a store or a copy of one, and no archive: vitrine restore puts it in the place "+
				"of a SQLite store, and vitrine export makes an archive of it", f.Arg(0))
		}
		var n, bare int64
		fill := func(s storage.Store) (err error) {
			n, bare, err = fillStore(ctx, s, in)
			if err != nil {
				err = fmt.Errorf("%s: %w", f.Arg(0), err)
			}
			return err
		}
		made := p.keyMaker(*db, p.getenv(variable("key-file")),
			": tokens of the store that the archive is from are not valid here, unless you copy its key file over "+
				"this one\n")
		// If the process is killed, no incomplete store can be opened: a SQLite file gets its name when it is complete,
		// and in PostgreSQL the store stays marked as unfinished until the next import begins anew.
		if inFile(*db) {
			err = sqlite.Build(*db, func(s *sqlite.DB) error {
				if err := fill(s); err != nil {
					return err
				}
				return made()
			})
		} else {
			err = postgres.Build(ctx, *db, nil, func(s *postgres.DB) error { return fill(s) })
		}
		if err == nil {
			fmt.Fprintf(p.stderr, "imported %s\n", count(n, "entry"))
		}
		if err == nil && bare > 0 {
			fmt.Fprintf(p.stderr,
				"bytes of files that the archive does not have: %d; vitrine check lists them, and with "+
					"-files those that a bucket does not have either\n", bare)
		}
		return err
	}
}

// fillStore puts an archive into an empty store and audits it. bare is how many times bytes of files are missing, as
// in an archive without them.
func fillStore(ctx context.Context, s storage.Store, in *bufio.Reader) (n, bare int64, err error) {
	if n, err = archive.Import(ctx, s, in, notArchived(true)); err != nil {
		return 0, 0, err
	}
	for fault, err := range audit(ctx, s, nil) {
		if err != nil {
			return 0, 0, err
		}
		if ofFileBytes(fault) {
			bare++
			continue
		}
		line, err := archive.Line(ctx, s, fault.Key, notArchived(true))
		return 0, 0, errors.Join(err, fmt.Errorf("%w: line %d: %s", archive.ErrDamaged, line, fault))
	}
	return n, bare, nil
}

// ofFileBytes reports whether a fault is that bytes of a file are missing, or have no file.
func ofFileBytes(f storage.Fault) bool { return archive.Without(assets.FileBytes).Has(f.Key) }

// openArchive opens FILE, or standard input for "-".
func openArchive(ctx context.Context, p *program, name string) (io.ReadCloser, error) {
	if name != "-" {
		return os.Open(name)
	}
	return io.NopCloser(untilDone{ctx, p.stdin}), nil
}
