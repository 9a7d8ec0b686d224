package reviews

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine/storage"
)

// Audit looks at all records of reviews, and yields what no import can have stored, or an error as the last pair.
func Audit(ctx context.Context, db storage.Store) iter.Seq2[storage.Fault, error] {
	return func(yield func(storage.Fault, error) bool) {
		s := NewRecords(db)
		for network, err := range s.Networks(ctx) {
			keys, key := keysOf(network), ""
			var a *Auditor
			var fault error
			if err == nil {
				a, err = NewAuditor(network)
			}
			if err == nil {
				err = s.View(ctx, network, func(r Reader) error {
					for c, err := range r.Collections(ctx) {
						if err != nil {
							return err
						}
						key = keys.collection(c.Key)
						if fault = a.Collection(c); fault != nil {
							return nil
						}
						for x, err := range r.Reviews(ctx, c.Key) {
							if err != nil {
								return err
							}
							if fault = a.Review(x); fault != nil {
								return nil
							}
						}
					}
					fault = a.End()
					return nil
				})
			}
			if err != nil {
				yield(storage.Fault{}, err)
				return
			}
			if fault != nil && !yield(storage.Fault{Key: key, Wrong: fault.Error()}, nil) {
				return
			}
		}
	}
}
