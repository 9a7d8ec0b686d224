package main

import (
	"context"
	"flag"

	"github.com/vitrine-go/vitrine/storage"
)

// feedReset is the command feed reset: it gives the feeds of changes of a store another identity, so that earlier
// cursors get 410.
func feedReset(f *flag.FlagSet) action {
	db := dbFlag(f)
	return func(ctx context.Context, p *program) error {
		return inStore(ctx, *db, func(s storage.Store) error { return storage.RenewIdentity(ctx, s) })
	}
}
