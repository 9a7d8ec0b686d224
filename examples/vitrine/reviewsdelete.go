package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
)

// deleteReviews is the command reviews delete: it erases stored reviews of one network for good. It wants a flag that
// says which, or -everything. A flag that is given and empty is an error, since a script that forgot a value would
// erase too much.
func deleteReviews(f *flag.FlagSet) action {
	db := dbFlag(f)
	in := reviews.DeleteRequest{}
	f.StringVar(&in.Network, "network", "", "`name` of the network whose reviews are erased; it must be given")
	f.StringVar(&in.Source, "source", "", "`name` of the source: all that is in it, or the collection or author in it")
	f.StringVar(&in.Collection, "collection", "", "`id` of a collection; a source is needed where several have this id")
	f.StringVar(&in.Review, "review", "", "`id` of a review of the collection")
	f.StringVar(&in.Author, "author", "", "`id` of an author: the reviews with this author_id")
	f.StringVar(&in.Email, "email", "", "`address`: the reviews with this e-mail address, in upper or lower case")
	f.BoolVar(&in.Everything, "everything", false, "erase all reviews of the network")
	f.BoolVar(&in.DryRun, "dry-run", false, "say what would be erased, but erase nothing")
	return func(ctx context.Context, p *program) (err error) {
		if in.Network == "" {
			return usageError{errors.New("-network is missing: want the name of the network whose reviews are erased")}
		}
		if err := checkNetwork(in.Network); err != nil {
			return err
		}
		f.Visit(func(one *flag.Flag) {
			if one.Value.String() == "" {
				err = usageError{fmt.Errorf("-%s is empty: it would erase more than it names", one.Name)}
			}
		})
		if err != nil {
			return err
		}
		if in.Source+in.Collection+in.Review+in.Author+in.Email == "" && !in.Everything {
			return usageError{
				errors.New("say what to erase: want one of -source, -collection, -review, -author and -email, or " +
					"-everything for the whole network")}
		}
		var done reviews.Deleted
		err = inStore(ctx, *db, func(s storage.Store) (err error) {
			done, err = reviews.New(s, nil).As(operator).Delete(ctx, in)
			return err
		})
		if errors.Is(err, vitrine.ErrInvalid) {
			return usageError{err}
		}
		if done != (reviews.Deleted{}) {
			erased := "erased: %s, %s; %s moved up\n"
			if in.DryRun {
				erased = "would be erased: %s, %s; %s would move up\n"
			}
			_, writing := fmt.Fprintf(p.stdout, erased, count(done.Collections, "collection"),
				count(done.Reviews, "review"), count(done.Replies, "reply"))
			err = errors.Join(err, writing)
		}
		if errors.Is(err, reviews.ErrCopies) {
			err = fmt.Errorf("%w: run it again, even though there will be nothing more to erase", err)
		}
		return err
	}
}
