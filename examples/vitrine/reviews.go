package main

import (
	"context"
	"errors"

	"github.com/vitrine-go/vitrine"
)

// exitUnable is the exit status of a reviews command that failed. If the command succeeded and some record had an error, the status is
// exitFailed. So a script can tell a bad file from a store that cannot be reached.
const exitUnable = 2

// operator is the caller of every command of reviews: a person who can open the store has all rights.
var operator = vitrine.Caller{Operator: true}

// ofReviews wraps the function of a command of reviews: an error without a status of its own gets exitUnable.
func ofReviews(run func(context.Context, *program, []string) error) func(context.Context, *program, []string) error {
	return func(ctx context.Context, p *program, args []string) error {
		err := run(ctx, p, args)
		var exit exitError
		var usage usageError
		var help helpError
		if err == nil || errors.As(err, &exit) || errors.As(err, &usage) || errors.As(err, &help) {
			return err
		}
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = errors.New("interrupted; run it again")
		}
		return exitError{err, exitUnable}
	}
}
