package main

import (
	"context"
	"errors"
	"flag"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
)

// importReviews is the command reviews import: it stores the valid records in files of reviews, in one network. With
// -dry-run it compares them with the store and changes nothing. An interrupted import keeps the records that it has
// stored, and importing the same files again completes it.
func importReviews(f *flag.FlagSet) action {
	of, maxLine := newImportFlags(f, ofReviews, false), maxLineFlag(f)
	return func(ctx context.Context, p *program) error {
		return of.run(ctx, p, func(s storage.Store, in *inputs, out *findings, done string) error {
			svc := reviews.New(s, nil)
			counts, err := in.each(ctx, out, func(in *input, problem func(reviews.Problem)) (reviews.Report, error) {
				return svc.As(operator).Import(context.WithoutCancel(ctx), reviews.ImportRequest{Network: *of.network,
					File: in, DryRun: *of.dryRun, Problem: problem, ReadOptions: in.options(*maxLine)})
			})
			p.hintAtConvert(counts)
			counts.DryRun = *of.dryRun
			if counts.Namesakes > 0 {
				p.complain(errors.New("new collections have the ids of others, from another source: if they are the " +
					"same, erase the new ones with reviews delete -source, and give convert the other -source"))
			}
			return out.reviewsOutcome(counts, done, of.unfinished(err))
		})
	}
}
