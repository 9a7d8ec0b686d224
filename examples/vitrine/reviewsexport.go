package main

import (
	"context"

	"github.com/vitrine-go/vitrine/reviews"
)

// exportReviews is the command reviews export: it writes all stored reviews of one network in the format of the import.
func exportReviews(ctx context.Context, p *program, args []string) error {
	f := flags("reviews export")
	db := dbFlag(f)
	network := f.String("network", "", "`name` of the network whose reviews are written (default: the only one of the store)")
	if err := p.parse(f, args); err != nil {
		return err
	}
	return inNetwork(ctx, p, f.Name(), *db, *network, func(svc *reviews.Service, network string) error {
		return svc.Export(ctx, operator, reviews.ExportRequest{Network: network, To: p.stdout})
	})
}
