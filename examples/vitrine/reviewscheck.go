package main

import (
	"context"
	"errors"
	"flag"
	"strconv"

	"github.com/vitrine-go/vitrine/reviews"
)

// shownFlags are the flags of commands that check or import files. They choose how problems are shown and kept.
type shownFlags struct {
	asJSON, all *bool
	rejects     *string
}

// maxLineFlag adds the flag -max-line to f. It returns the maximum length of a line in MiB.
func maxLineFlag(f *flag.FlagSet) *int {
	n := 32
	f.Func("max-line",
		"how many `MIB` a line may have, 1 to 1024: an import takes six times that of memory (default 32)",
		func(text string) (err error) {
			if n, err = strconv.Atoi(text); err != nil || n < 1 || n > 1024 {
				return errors.New("want 1 to 1024")
			}
			return nil
		})
	return &n
}

// newShownFlags adds the flags to f.
func newShownFlags(f *flag.FlagSet) shownFlags {
	return shownFlags{
		asJSON:  f.Bool("json", false, "print each problem as a line of JSON, and the counts as the last line"),
		all:     f.Bool("all", false, "print every problem, in the order of the file"),
		rejects: f.String("rejects", "", rejectsUsage),
	}
}

// checkReviews is the command reviews check: it reports the problems in files of reviews. It needs no store.
func checkReviews(f *flag.FlagSet) action {
	shown, maxLine := newShownFlags(f), maxLineFlag(f)
	return func(ctx context.Context, p *program) (err error) {
		in, err := openInputs(ctx, p, f.Args(), shown, false)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, in.close()) }()
		out := newFindings(p.stdout, shown)
		counts, err := in.each(ctx, out, func(in *input, problem func(reviews.Problem)) (reviews.Report, error) {
			options := in.options(*maxLine)
			checker := reviews.Check(in, &options)
			for found, err := range checker.Problems() {
				if err != nil {
					return checker.Report(), err
				}
				problem(found)
			}
			return checker.Report(), nil
		})
		p.hintAtConvert(counts)
		counts.DryRun = true
		return out.reviewsOutcome(counts, "checked", err)
	}
}

// hintAtConvert says what to do with lines that are rows of another system, and no collections.
func (p *program) hintAtConvert(c reviews.Counts) {
	if c.Collections > 0 && c.CollectionsRejected == c.Collections && c.Reviews == 0 {
		p.complain(errors.New("no line has reviews: if another system wrote them, vitrine reviews convert makes the " +
			"import format of them"))
	}
}
