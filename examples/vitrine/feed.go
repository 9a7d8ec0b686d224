package main

import (
	"context"
	"errors"
	"fmt"
)

// feedCommand carries out the command whose name follows the word feed. There is one, reset.
func feedCommand(ctx context.Context, p *program, args []string) error {
	switch {
	case len(args) == 0:
		return usageError{errors.New("feed: the command is missing: want vitrine feed reset")}
	case isHelp(args[0]):
		p.usage(p.stdout, "feed ")
		return nil
	case args[0] != "reset":
		return usageError{fmt.Errorf("feed: there is no command %q: want reset", args[0])}
	}
	return feedReset(ctx, p, args[1:])
}

// feedReset is the command feed reset: it gives the feeds of changes of a store another identity, so that cursors from
// before are answered with 410.
func feedReset(ctx context.Context, p *program, args []string) (err error) {
	f := flags("feed reset")
	db := dbFlag(f)
	if err := p.parse(f, args); err != nil {
		return err
	}
	s, err := openThere(ctx, *db)
	if err != nil {
		return fmt.Errorf("feed reset: %w", err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return s.reset(ctx)
}
