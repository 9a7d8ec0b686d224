package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/vitrine-go/vitrine/storage"
)

// checkStore is the command check: it reads all records of a store, and reports where they contradict each other. With
// -rebuild it first rebuilds the records that are derived from others.
func checkStore(f *flag.FlagSet) action {
	db := dbFlag(f)
	rebuild := f.Bool("rebuild", false,
		"first build the search indices anew; a store may be served meanwhile, and searching a library, and adding "+
			"to it, is 503 until it is done")
	return func(ctx context.Context, p *program) error {
		open := readStore
		if *rebuild {
			open = inStore
		}
		faults := 0
		err := open(ctx, *db, func(s storage.Store) (err error) {
			if *rebuild {
				for _, m := range maintenance(true) {
					if m.Rebuild == nil {
						continue
					}
					if err := m.Rebuild(ctx, s); err != nil {
						return err
					}
				}
			}
			faults, err = p.printFaults(ctx, s)
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

// printFaults prints the faults in the records of a store, and returns how many there are.
func (p *program) printFaults(ctx context.Context, s storage.Store) (faults int, err error) {
	for fault, err := range audit(ctx, s) {
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
