package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine"
)

// exitUnable is the exit status of a reviews command that could not do its work. If it did and some record had an
// error, the status is exitFailed. So a script can tell a bad file from a store that cannot be reached.
const exitUnable = 2

// operator is the caller of every command of reviews: whoever may open the store may do everything.
var operator = vitrine.Caller{Operator: true}

// reviewCommand carries out the command whose name follows the word reviews.
func reviewCommand(ctx context.Context, p *program, args []string) error {
	if len(args) == 0 {
		return usageError{errors.New("reviews: the command is missing: want one such as vitrine reviews check")}
	}
	if isHelp(args[0]) {
		p.usage(p.stdout, "reviews ")
		return nil
	}
	run := map[string]func(ctx context.Context, p *program, args []string) error{
		"check": checkReviews, "import": importReviews, "export": exportReviews, "collections": listCollections, "delete": deleteReviews,
		"rules": printRules, "schema": printSchema,
	}[args[0]]
	if run == nil {
		return usageError{fmt.Errorf("reviews: there is no command %q: want one such as check or import", args[0])}
	}
	err := run(ctx, p, args[1:])
	var exit exitError
	var usage usageError
	var help helpError
	if err == nil || errors.As(err, &exit) || errors.As(err, &usage) || errors.As(err, &help) {
		return err
	}
	return exitError{err, exitUnable}
}
