package main

import (
	"context"
	"errors"

	"github.com/vitrine-go/vitrine"
)

// exitUnable is the exit status of a reviews command that could not do its work. If it did and some record had an
// error, the status is exitFailed. So a script can tell a bad file from a store that cannot be reached.
const exitUnable = 2

// operator is the caller of every command of reviews: whoever may open the store may do everything.
var operator = vitrine.Caller{Operator: true}

// ofReviews returns the command of reviews that run carries out: an error without a status of its own gets exitUnable.
func ofReviews(run func(context.Context, *program, []string) error) func(context.Context, *program, []string) error {
	return func(ctx context.Context, p *program, args []string) error {
		err := run(ctx, p, args)
		var exit exitError
		var usage usageError
		var help helpError
		if err == nil || errors.As(err, &exit) || errors.As(err, &usage) || errors.As(err, &help) {
			return err
		}
		return exitError{err, exitUnable}
	}
}
