package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/vitrine-go/vitrine/reviews"
)

// exportReviews writes all stored reviews in the format that they are imported in.
func exportReviews(ctx context.Context, p *program, args []string) (err error) {
	f := flags("reviews export")
	db := dbFlag(f)
	if err := parse(f, args); err != nil {
		return err
	}
	if _, err := os.Stat(*db); checkDB(*db) == nil && *db != inMemory && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reviews export: there is no store at %s", *db)
	}
	s, err := openStore(*db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return reviews.New(s.reviews).Export(ctx, reviews.Caller{Operator: true}, p.stdout)
}
