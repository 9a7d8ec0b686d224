package main

import (
	"context"
	"fmt"

	"github.com/vitrine-go/vitrine/storage"
)

// feedReset is the command feed reset: it gives the feeds of changes of a store another identity, so that earlier cursors get 410.
func feedReset(ctx context.Context, p *program, args []string) error {
	f := flags("feed reset")
	db := dbFlag(f)
	if err := p.parse(f, args); err != nil {
		return err
	}
	if err := inStore(ctx, *db, func(s storage.Store) error { return storage.RenewIdentity(ctx, s) }); err != nil {
		return fmt.Errorf("feed reset: %w", err)
	}
	return nil
}
