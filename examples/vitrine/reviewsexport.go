package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/reviews"
)

// exportReviews is the command reviews export: it writes all stored reviews of one network in the format of the import.
func exportReviews(ctx context.Context, p *program, args []string) (err error) {
	f := flags("reviews export")
	db := dbFlag(f)
	network := f.String("network", "", "`name` of the network whose reviews are written (default: the only one of the store)")
	if err := p.parse(f, args); err != nil {
		return err
	}
	if err := reviews.CheckNetwork(*network); *network != "" && err != nil {
		return usageError{fmt.Errorf("reviews export: -%w", err)} // the sentence begins with "network: "
	}
	s, err := openThere(ctx, *db)
	if err != nil {
		return fmt.Errorf("reviews export: %w", err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	svc := reviews.New(s.Reviews, nil)
	named, err := chooseNetwork(ctx, p, svc, f.Name(), *network)
	if err != nil || named == "" {
		return err
	}
	return svc.Export(ctx, operator, reviews.ExportRequest{Network: named, To: p.stdout})
}

// chooseNetwork returns the network that a command reads: named or, if that is "", the only network of the store. It
// returns "" if the store has no reviews, and a usageError if it has several networks and named is "". If named has no
// reviews, it says so on standard error, since the name may be misspelt.
func chooseNetwork(ctx context.Context, p *program, svc *reviews.Service, command, named string) (string, error) {
	names, err := svc.Networks(ctx, operator)
	if err != nil {
		return "", err
	}
	switch {
	case named == "" && len(names) > 1:
		return "", usageError{fmt.Errorf("%s: the store has reviews of %d networks: name one with -network: %s", command, len(names), listed(names))}
	case named == "" && len(names) == 0:
		return "", nil
	case named == "":
		return names[0], nil
	}
	if len(names) > 0 && !slices.Contains(names, named) {
		p.complain(fmt.Errorf("%s: the network %s has no reviews; the store has those of %s", command, named, listed(names)))
	}
	return named, nil
}

// mostListed is how many networks a sentence names.
const mostListed = 10

// listed returns names for a sentence, at most mostListed of them.
func listed(names []string) string {
	more := len(names) - mostListed
	if more <= 0 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostListed], ", "), more)
}
