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
		names, err := svc.Networks(ctx)
		network := ""
		if err == nil {
			network, err = chooseNetwork(p, names, "reviews", named)
		}
		if err != nil || network == "" {
			return err
		}
		return fn(svc, network)
	})
}

// chooseNetwork returns the network that a command reads: named or, if that is "", the only network of the store. names
// are those of the networks that have the things, such as reviews. chooseNetwork returns "" if there is none, and a
// usageError if there are several and named is "". If named has none of the things, it says so on standard error, since
// the name may be misspelt.
func chooseNetwork(p *program, names []string, things, named string) (string, error) {
	switch {
	case named == "" && len(names) > 1:
		return "", usageError{fmt.Errorf("the store has %s of %d networks: name one with -network: %s", things,
			len(names), listed(names))}
	case named == "" && len(names) == 0:
		return "", nil
	case named == "":
		return names[0], nil
	}
	if len(names) > 0 && !slices.Contains(names, named) {
		p.complain(fmt.Errorf("the network %s has no %s; the store has those of %s", named, things, listed(names)))
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
