package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine/reviews"
)

// exportReviews writes all stored reviews in the format that they are imported in.
func exportReviews(ctx context.Context, p *program, args []string) (err error) {
	f := flags("reviews export")
	db := dbFlag(f)
	if err := parse(f, args); err != nil {
		return err
	}
	s, err := openThere(ctx, *db)
	if err != nil {
		return fmt.Errorf("reviews export: %w", err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return reviews.New(s.Reviews).Export(ctx, reviews.Caller{Operator: true}, p.stdout)
}
