package main

import (
	"context"

	"github.com/vitrine-go/vitrine/reviews"
)

// checkReviews says what is wrong with a file of reviews. It needs no store.
func checkReviews(ctx context.Context, p *program, args []string) error {
	f := flags("reviews check")
	asJSON := f.Bool("json", false, jsonUsage)
	if err := parse(f, args, "FILE (or - for standard input)"); err != nil {
		return err
	}
	in, err := openRecords(ctx, p, f.Arg(0))
	if err != nil {
		return err
	}
	out := newFindings(p.stdout, *asJSON)
	options := in.options()
	checker := reviews.Check(in, &options)
	for problem, failed := range checker.Problems() {
		if failed != nil {
			err = failed
			break
		}
		out.add(problem)
	}
	in.close()
	report := checker.Report()
	done := "checked"
	if err != nil {
		done = stopped
	}
	if writing := out.end(report, done); err == nil {
		err = writing
	}
	return outcomeOf(f.Arg(0), report, err)
}
