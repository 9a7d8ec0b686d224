package proof

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine/storage"
)

// LateReads returns a store whose updates read each entry of a range when the loop reaches it, as drivers of databases
// may. The store in memory reads it as it was when the loop began. Domains must be right with both.
func LateReads(s storage.Store) storage.Store { return lateStore{s} }

type lateStore struct{ storage.Store }

func (s lateStore) Update(ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	return s.Store.Update(ctx, space, o, func(tx storage.Tx) error { return fn(lateTx{tx}) })
}

type lateTx struct{ storage.Tx }

func (t lateTx) Scan(ctx context.Context, ranges ...storage.Range) iter.Seq2[storage.Entry, error] {
	return storage.Merge(ranges, func(in storage.Range) iter.Seq2[storage.Entry, error] {
		return storage.Portions(in, 1, 1,
			func(in storage.Range, n int) (list []storage.Entry, rest storage.Range, more bool, err error) {
				in.Limit, in.Expect = n, n
				for e, err := range t.Tx.Scan(ctx, in) {
					if err != nil {
						return nil, in, false, err
					}
					list = append(list, e)
				}
				if len(list) == 0 {
					return nil, in, false, nil
				}
				if last := list[len(list)-1].Key; in.Reverse {
					in.To = last
				} else {
					in.From = last + "\x00"
				}
				return list, in, true, nil
			})
	})
}
