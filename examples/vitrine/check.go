package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage"
)

// checkStore is the command check: it reads all records of a store, and reports where they contradict each other. With
// -rebuild it first rebuilds the records that are derived from others.
func checkStore(f *flag.FlagSet) action {
	db := dbFlag(f)
	rebuild := f.Bool("rebuild", false,
		"first build the search indices anew; a store may be served meanwhile, and searching a library, and adding "+
			"to it, is 503 until it is done")
	address := f.String("files", "", filesUsage)
	bare := withoutFilesFlag(f)
	return func(ctx context.Context, p *program) error {
		if *bare && *address != "" {
			return usageError{errors.New("-files looks for the bytes of files, and -without-files does not: give one")}
		}
		files, err := p.openFiles(ctx, "-files", *address)
		if err != nil {
			return err
		}
		open := readStore
		if *rebuild {
			open = inStore
		}
		faults := 0
		err = open(ctx, *db, func(s storage.Store) (err error) {
			if *rebuild {
				for _, m := range maintenance(true, nil) {
					if m.Rebuild == nil {
						continue
					}
					if err := m.Rebuild(ctx, s); err != nil {
						return err
					}
				}
			}
			faults, err = p.printFaults(ctx, s, files, *bare)
			return err
		})
		if err != nil {
			return err
		}
		if faults > 0 {
			return exitError{fmt.Errorf("faults found: %d", faults), exitFailed}
		}
		fmt.Fprintln(p.stderr, "nothing is wrong")
		return nil
	}
}

// printFaults prints the faults in the records of a store, and returns how many there are. It leaves out those of the
// bytes of files if bare is true, and looks for these in files otherwise, nil = in the store.
func (p *program) printFaults(
	ctx context.Context, s storage.Store, files assets.Files, bare bool,
) (faults int, err error) {
	if bare {
		files = noFiles{}
	}
	for fault, err := range audit(ctx, s, files) {
		if err == nil {
			err = ctx.Err() // an audit that is interrupted may call that a fault
		}
		if err == nil && bare && ofFileBytes(fault) {
			continue
		}
		if err == nil {
			faults++
			_, err = fmt.Fprintln(p.stdout, fault)
		}
		if err != nil {
			return faults, err
		}
	}
	return faults, nil
}

// noFiles are Files without bytes, so that an audit reads none.
type noFiles struct{}

func (noFiles) Put(context.Context, string, int64, io.Reader) error { return errors.ErrUnsupported }

func (noFiles) Open(context.Context, string, int64, int64) (io.ReadCloser, error) {
	return nil, fs.ErrNotExist
}

func (noFiles) Delete(context.Context, ...string) error { return nil }

func (noFiles) List(context.Context) iter.Seq2[assets.StoredFile, error] {
	return func(func(assets.StoredFile, error) bool) {}
}
