package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine/reviews"
)

// importReviews stores what is right in a file of reviews.
func importReviews(ctx context.Context, p *program, args []string) (err error) {
	f := flags("reviews import")
	db, dryRun, asJSON := dbFlag(f), f.Bool("dry-run", false, "compare with the store and report, but store nothing"), f.Bool("json", false, jsonUsage)
	if err := parse(f, args, "FILE (or - for standard input)"); err != nil {
		return err
	}
	in, err := openRecords(ctx, p, f.Arg(0))
	if err != nil {
		return err
	}
	open := openToFill
	if *dryRun {
		open = openToCompare
	}
	s, err := open(ctx, *db)
	if err != nil {
		in.close()
		return fmt.Errorf("reviews import: %w", err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	out := newFindings(p.stdout, *asJSON)
	report, err := reviews.New(s.Reviews).Import(context.WithoutCancel(ctx), reviews.Caller{Operator: true}, in,
		&reviews.ImportOptions{Options: in.options(), DryRun: *dryRun, Problem: out.add})
	in.close()
	done := "imported"
	if *dryRun {
		done = "compared, nothing stored"
	}
	if err != nil {
		done = stopped
	}
	writing := out.end(report, done)
	if err != nil && !*dryRun {
		err = fmt.Errorf("%w; what came before is imported, and importing all of it again is safe", err)
	}
	if err == nil {
		err = writing
	}
	return outcomeOf(f.Arg(0), report, err)
}
