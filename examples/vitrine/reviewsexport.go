package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine/reviews"
)

// exportReviews is the command reviews export: it writes all stored reviews of one network in the format of the import.
func exportReviews(ctx context.Context, p *program, args []string) (err error) {
	f := flags("reviews export")
	db := dbFlag(f)
	network := f.String("network", "", "`name` of the network whose reviews are written (default: the only one of the store)")
	if err := p.parse(f, args); err != nil {
		return err
	}
	if err := reviews.CheckNetwork(*network); *network != "" && err != nil {
		return usageError{fmt.Errorf("reviews export: -%w", err)} // the sentence begins with "network: "
	}
	s, err := openThere(ctx, *db)
	if err != nil {
		return fmt.Errorf("reviews export: %w", err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	svc := reviews.New(s.db, nil)
	named, err := chooseNetwork(ctx, p, svc, f.Name(), *network)
	if err != nil || named == "" {
		return err
	}
	return svc.Export(ctx, operator, reviews.ExportRequest{Network: named, To: p.stdout})
}
