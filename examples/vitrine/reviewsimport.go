package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/reviews"
)

// importReviews is the command reviews import: it stores the valid records in files of reviews, in one network. With
// -dry-run it compares them with the store and changes nothing. An interrupted import keeps the records that it has
// stored, and importing the same files again completes it.
func importReviews(f *flag.FlagSet) action {
	db, dryRun, shown := dbFlag(f), f.Bool("dry-run", false, "compare with the store and report, but store nothing"),
		newShownFlags(f)
	maxLine := maxLineFlag(f)
	network := f.String("network", "default", "`name` of the network that the reviews belong to")
	return func(ctx context.Context, p *program) (err error) {
		if err := urn.CheckNetwork(*network); err != nil {
			return usageError{fmt.Errorf("-network: %w", err)}
		}
		if err := checkReached(*db); err != nil {
			return err
		}
		if err := checkOutput(*db, "-rejects", *shown.rejects); err != nil {
			return err
		}
		in, err := openInputs(ctx, p, f.Args(), shown, false)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, in.close()) }()
		open, done := p.openToFill, "imported"
		if absent(*db) {
			done = "imported into the new store " + printable(*db)
		}
		if *dryRun {
			open, done = openToCompare, "compared, nothing stored"
		}
		s, err := open(ctx, *db)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		out, svc := newFindings(p.stdout, shown), reviews.New(s, nil)
		names, err := svc.Networks(ctx)
		if err == nil {
			_, err = chooseNetwork(p, names, "reviews", *network)
		}
		if err != nil {
			return err
		}
		counts, err := in.each(ctx, out, func(in *input, problem func(reviews.Problem)) (reviews.Report, error) {
			return svc.As(operator).Import(context.WithoutCancel(ctx), reviews.ImportRequest{
				Network: *network, File: in, DryRun: *dryRun, Problem: problem, ReadOptions: in.options(*maxLine),
			})
		})
		counts.DryRun = *dryRun
		if counts.Namesakes > 0 {
			p.complain(errors.New("new collections have the ids of others, from another source: if they are the " +
				"same, erase the new ones with reviews delete -source, and give convert the other -source"))
		}
		if err != nil && !*dryRun {
			err = fmt.Errorf("%w; what came before is imported, and importing all of it again is safe", err)
		}
		return out.reviewsOutcome(counts, done, err)
	}
}
