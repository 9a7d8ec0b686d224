package records

import (
	"context"
	"slices"

	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// Reader reads records.
type Reader struct{ Snapshot }

// Snapshot is a reader of a store that can read ahead, in a View or an Update.
type Snapshot interface {
	storage.Reader
	Ahead(ctx context.Context, keys ...string) error
}

// Writer writes records in a transaction. Rows has them as the transaction sees them.
type Writer struct {
	Rows Reader
	Tx   *keyval.Tx
}

// Value returns the value of a key, or nil if there is none.
func (r Reader) Value(ctx context.Context, key string) ([]byte, error) {
	values, err := r.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	return values[0], nil
}

// NumbersOf returns the numbers of lists, or 0 for a list that never had an app.
func (r Reader) NumbersOf(ctx context.Context, lists []string) ([]int64, error) {
	out := make([]int64, len(lists))
	if len(lists) == 0 {
		return out, nil
	}
	values, err := r.Get(ctx, lists...)
	if err != nil {
		return nil, err
	}
	for i, value := range values {
		if value != nil {
			if out[i], err = ParseDecimal(lists[i], value); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// Replace stores records, and the index records now in place of those in was. An index record that is in both is not
// written again: its value must follow from its key.
func (t Writer) Replace(ctx context.Context, was, now []storage.Entry, puts ...storage.Entry) error {
	before := keyval.Keys(was)
	for _, e := range now {
		if i := slices.Index(before, e.Key); i >= 0 {
			before = slices.Delete(before, i, i+1)
		} else {
			puts = append(puts, e)
		}
	}
	if err := t.Tx.Delete(ctx, before...); err != nil {
		return err
	}
	return t.Tx.Put(ctx, puts...)
}

// giveNumbers returns the numbers of lists. It assigns one to each list that has none yet.
func (t Writer) giveNumbers(ctx context.Context, lists []string) ([]int64, error) {
	out, err := t.Rows.NumbersOf(ctx, lists)
	for i, n := range out {
		if n == 0 && err == nil {
			if out[i], err = t.GiveNumber(ctx); err == nil {
				err = t.Tx.Put(ctx, storage.Entry{Key: lists[i], Value: decimal(out[i])})
			}
		}
	}
	return out, err
}

// GiveNumber assigns a new number.
func (t Writer) GiveNumber(ctx context.Context) (n int64, err error) {
	value, err := t.Rows.Value(ctx, CounterKey)
	if err == nil && value != nil {
		n, err = ParseDecimal(CounterKey, value)
	}
	if err != nil {
		return 0, err
	}
	return n + 1, t.Tx.Put(ctx, storage.Entry{Key: CounterKey, Value: decimal(n + 1)})
}
