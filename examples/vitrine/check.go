package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/vitrine-go/vitrine/storage"
)

// checkStore is the command check: it reads all records of a store, and reports where they contradict each other. With -rebuild it first
// rebuilds the records that are derived from others.
func checkStore(f *flag.FlagSet) action {
	db := dbFlag(f)
	rebuild := f.Bool("rebuild", false, "first build the search indices anew; a store may be served meanwhile, and searching a library, and adding to it, is 503 until it is done")
	return func(ctx context.Context, p *program) error {
		faults := 0
		err := inStore(ctx, *db, func(s storage.Store) error {
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
			for fault, err := range audit(ctx, s) {
				if err == nil {
					faults++
					_, err = fmt.Fprintln(p.stdout, fault)
				}
				if err != nil {
					return err
				}
			}
			return nil
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
