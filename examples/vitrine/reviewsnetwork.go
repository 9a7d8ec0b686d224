package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
)

// inNetwork calls fn with the reviews of a store and the network that chooseNetwork returns. If that is "", it does not
// call fn.
func inNetwork(
	ctx context.Context, p *program, db, named string, fn func(svc *reviews.Service, network string) error,
) error {
	if err := urn.CheckNetwork(named); named != "" && err != nil {
		return usageError{fmt.Errorf("-network: %w", err)}
	}
	return readStore(ctx, db, func(s storage.Store) error {
		svc := reviews.New(s, nil)
		network, err := chooseNetwork(ctx, p, svc, named)
		if err != nil || network == "" {
			return err
		}
		return fn(svc, network)
	})
}

// chooseNetwork returns the network that a command reads: named or, if that is "", the only network of the store. It
// returns "" if the store has no reviews, and a usageError if it has several networks and named is "". If named has no
// reviews, it says so on standard error, since the name may be misspelt.
func chooseNetwork(ctx context.Context, p *program, svc *reviews.Service, named string) (string, error) {
	names, err := svc.Networks(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case named == "" && len(names) > 1:
		return "", usageError{fmt.Errorf("the store has reviews of %d networks: name one with -network: %s", len(names),
			listed(names))}
	case named == "" && len(names) == 0:
		return "", nil
	case named == "":
		return names[0], nil
	}
	if len(names) > 0 && !slices.Contains(names, named) {
		p.complain(fmt.Errorf("the network %s has no reviews; the store has those of %s", named, listed(names)))
	}
	return named, nil
}

// listed returns names for a sentence, at most ten of them.
func listed(names []string) string {
	if len(names) > 10 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:10], ", "), len(names)-10)
	}
	return strings.Join(names, ", ")
}
