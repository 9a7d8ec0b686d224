package records

import (
	"context"
	"fmt"

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

// Damaged returns the error of a record that this package has not written.
func Damaged(key string, err error) error {
	return fmt.Errorf("the record %q is damaged: %w", key, err)
}
