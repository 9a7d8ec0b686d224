package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine/assets"
)

// checkStore is the command check: it looks at all records of a store, and says where they contradict each other. With -rebuild it
// first makes anew what is made from other records.
func checkStore(ctx context.Context, p *program, args []string) (err error) {
	f := flags("check")
	db := dbFlag(f)
	rebuild := f.Bool("rebuild", false, "first build the search indices anew; a store may be served meanwhile, and searching a library, and adding to it, is 503 until it is done")
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
	for fault, err := range audit(ctx, s.db) {
		if err == nil {
			faults++
			_, err = fmt.Fprintln(p.stdout, fault)
		}
		if err != nil {
			return exitError{fmt.Errorf("check: %w", err), exitUsage}
		}
	}
	if faults > 0 {
		return exitError{fmt.Errorf("check: faults found: %d", faults), 1}
	}
	fmt.Fprintln(p.stderr, "nothing is wrong")
	return nil
}
