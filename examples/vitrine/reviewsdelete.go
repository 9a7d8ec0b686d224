package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/vitrine-go/vitrine/reviews"
)

// deleteReviews is the command reviews delete: it erases stored reviews of one network for good. Without a flag that
// chooses some of them it erases all; a flag that is given and empty is an error, since a script that forgot a value
// would erase too much.
func deleteReviews(ctx context.Context, p *program, args []string) (err error) {
	f := flags("reviews delete")
	db := dbFlag(f)
	in := reviews.DeleteRequest{}
	f.StringVar(&in.Network, "network", "", "`name` of the network whose reviews are erased; it must be given")
	f.StringVar(&in.Source, "source", "", "`name` of the source: all that is in it, or the collection or author in it")
	f.StringVar(&in.Collection, "collection", "", "`id` of a collection; a source is needed where several have this id")
	f.StringVar(&in.Review, "review", "", "`id` of a review of the collection")
	f.StringVar(&in.Author, "author", "", "`id` of an author: the reviews with this author_id")
	vacuum := f.Bool("vacuum", false, "write the SQLite file anew afterwards, so that it holds no byte of what was erased; backups keep what they have")
	if err := p.parse(f, args); err != nil {
		return err
	}
	if *vacuum && !inFile(*db) {
		return usageError{fmt.Errorf("%s: -vacuum is for SQLite files; in PostgreSQL, run VACUUM FULL review", f.Name())}
	}
	if in.Network == "" {
		return usageError{fmt.Errorf("%s: -network is missing: want the name of the network whose reviews are erased", f.Name())}
	}
	if err := reviews.CheckNetwork(in.Network); err != nil {
		return usageError{fmt.Errorf("%s: -%w", f.Name(), err)} // the sentence begins with "network: "
	}
	in.Everything = true
	f.Visit(func(one *flag.Flag) {
		if one.Name == "network" || one.Name == "db" || one.Name == "vacuum" {
			return
		}
		in.Everything = false
		if one.Value.String() == "" {
			err = usageError{fmt.Errorf("%s: -%s is empty: it would erase more than it names", f.Name(), one.Name)}
		}
	})
	if err != nil {
		return err
	}
	s, err := openThere(ctx, *db)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	done, err := reviews.New(s.Reviews, nil).Delete(ctx, operator, in)
	if errors.Is(err, reviews.ErrInvalid) {
		return usageError{fmt.Errorf("%s: %w", f.Name(), err)}
	}
	if err == nil || done != (reviews.Deleted{}) {
		_, writing := fmt.Fprintf(p.stdout, "erased: %s, %s; %s moved up\n", count(done.Collections, "collection"), count(done.Reviews, "review"), countReplies(done.Replies))
		err = errors.Join(err, writing)
	}
	if file, ok := s.driver.(interface{ Vacuum(context.Context) error }); ok && *vacuum && err == nil {
		err = file.Vacuum(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	return nil
}

// countReplies is count for replies.
func countReplies(n int64) string {
	if n == 1 {
		return "1 reply"
	}
	return fmt.Sprintf("%d replies", n)
}
