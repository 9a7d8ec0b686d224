package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/archive"
)

// checkStore is the command check: it looks at all records of a store, and says where they contradict each other. With -rebuild it
// first makes anew what is made from other records.
func checkStore(ctx context.Context, p *program, args []string) (err error) {
	f := flags("check")
	db := dbFlag(f)
	rebuild := f.Bool("rebuild", false, "first build the search indices anew; a store may be served meanwhile, and searches of a library are 503 until it is done")
	if err := p.parse(f, args); err != nil {
		return err
	}
	s, err := openThere(ctx, *db)
	if err != nil {
		return exitError{fmt.Errorf("check: %w", err), exitUsage}
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if *rebuild {
		if err := assets.Rebuild(ctx, s.db); err != nil {
			return exitError{fmt.Errorf("check: %w", err), exitUsage}
		}
	}
	faults := 0
	found := func(fault any) error {
		faults++
		_, err := fmt.Fprintln(p.stdout, fault)
		return err
	}
	for fault, err := range assets.Audit(ctx, s.db) {
		if err == nil {
			err = found(fault)
		}
		if err != nil {
			return exitError{fmt.Errorf("check: %w", err), exitUsage}
		}
	}
	counts, err := auditStore(ctx, s.Stores)
	if errors.Is(err, archive.ErrDamaged) {
		err = found(err)
	}
	if err != nil {
		return exitError{fmt.Errorf("check: %w", err), exitUsage}
	}
	if faults > 0 {
		return exitError{fmt.Errorf("check: faults found: %d", faults), 1}
	}
	fmt.Fprintf(p.stderr, "nothing is wrong with %s\n", counts)
	return nil
}

// auditStore holds everything in a store against the rules of an archive. It returns archive.ErrDamaged for the first that is broken.
func auditStore(ctx context.Context, s archive.Stores) (archive.Counts, error) {
	in, out := io.Pipe()
	go func() {
		_, err := archive.Export(ctx, s, out)
		out.CloseWithError(err)
	}()
	n, err := archive.Check(ctx, in, nil)
	in.CloseWithError(err)
	return n, err
}
