package reviews

import (
	"context"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine/storage"
)

// Audit looks at all records of reviews, and yields what no import can have stored, or an error as the last pair.
func Audit(ctx context.Context, db storage.Store) iter.Seq2[storage.Fault, error] {
	return func(yield func(storage.Fault, error) bool) {
		names, err := networks(ctx, db)
		for _, network := range names {
			key := ""
			var fault error
			err = view(ctx, db, network, func(s *rows) error {
				key, fault, err = s.audit(ctx)
				return err
			})
			if err != nil {
				break
			}
			if fault != nil && !yield(storage.Fault{Key: key, Wrong: fault.Error()}, nil) {
				return
			}
		}
		if err != nil {
			yield(storage.Fault{}, err)
		}
	}
}

// audit returns the first fault of a network, with the key of the collection that has it. err is that of the store.
func (s *rows) audit(ctx context.Context) (key string, fault, err error) {
	a, fault := newAuditor(s.network)
	if fault != nil {
		return s.keys.space, fault, nil
	}
	for c, err := range s.all(ctx) {
		if err != nil {
			return "", nil, err
		}
		key = s.keys.collection(c.Key)
		if fault = a.collection(c.Collection); fault != nil {
			return key, fault, nil
		}
		n := 0
		for r, err := range s.reviews(ctx, c) {
			if err != nil {
				return "", nil, err
			}
			if fault = a.review(r.Review); fault != nil {
				return key, fault, nil
			}
			n++
		}
		stored, err := s.count(ctx, s.keys.reviews(c.number))
		listed := stored
		if err == nil && c.indexed {
			listed, err = s.count(ctx, s.keys.times(c.number))
		}
		if err != nil {
			return "", nil, err
		}
		if stored != n || listed != n {
			return key, fmt.Errorf("collection %q of %q: %d reviews are stored, %d are listed in their order and %d by time", c.ID, c.Source, stored, n, listed), nil
		}
	}
	return key, a.end(), nil
}

// count returns how many records begin with a prefix.
func (s *rows) count(ctx context.Context, prefix string) (n int, err error) {
	for _, err := range s.r.Scan(ctx, storage.Prefix(prefix)) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}
