package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
)

// domain is what chooses among the networks that have some things.
type domain struct {
	things   string
	networks func(context.Context, storage.Store) ([]string, error) // the names of those that have the things
}

var (
	ofReviews = domain{"reviews", func(ctx context.Context, s storage.Store) ([]string, error) {
		return reviews.New(s, nil).Networks(ctx)
	}}
	ofAssets = domain{"assets", func(ctx context.Context, s storage.Store) (names []string, err error) {
		for lib, err := range assets.New(s, nil).Libraries(ctx) {
			if err != nil {
				return nil, err
			}
			names = append(names, lib.Network)
		}
		return slices.Compact(names), nil
	}}
)

// checkNetwork returns a usageError for a value of -network that is no name of a network.
func checkNetwork(name string) error {
	if err := urn.CheckNetwork(name); err != nil {
		return usageError{fmt.Errorf("-network: %w", err)}
	}
	return nil
}

// inNetwork calls fn with a store and the network that choose returns. If that is "", it does not call fn.
func (d domain) inNetwork(
	ctx context.Context, p *program, db, named string, fn func(s storage.Store, network string) error,
) error {
	if named != "" {
		if err := checkNetwork(named); err != nil {
			return err
		}
	}
	return readStore(ctx, db, func(s storage.Store) error {
		network, err := d.choose(ctx, p, s, named)
		if err != nil || network == "" {
			return err
		}
		return fn(s, network)
	})
}

// choose returns the network that a command reads: named or, if that is "", the only network of the store. It returns
// "" if there is none, and a usageError if there are several and named is "". If named has none of the things, it says
// so on standard error, since the name may be misspelt.
func (d domain) choose(ctx context.Context, p *program, s storage.Store, named string) (string, error) {
	names, err := d.networks(ctx, s)
	switch {
	case err != nil:
		return "", err
	case named == "" && len(names) > 1:
		return "", usageError{fmt.Errorf("the store has %s of %d networks: name one with -network: %s", d.things,
			len(names), listed(names))}
	case named == "" && len(names) == 0:
		return "", nil
	case named == "":
		return names[0], nil
	}
	if len(names) > 0 && !slices.Contains(names, named) {
		meant := ""
		if named == defaultNetwork {
			meant = ", which is meant without -network,"
		}
		p.complain(fmt.Errorf("the network %s%s has no %s; the store has those of %s", named, meant, d.things,
			listed(names)))
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
