package record

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine/storage"
)

// Map yields what fn makes of the values of list. It ends after the first error.
func Map[A, B any](list iter.Seq2[A, error], fn func(A) (B, error)) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) {
		for a, err := range list {
			var b B
			if err == nil {
				b, err = fn(a)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// Load yields the entries of keys, in their order, without those that do not exist. It reads atOnce entries in one trip.
func Load(ctx context.Context, r storage.Reader, keys iter.Seq2[string, error], atOnce int) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		var next []string
		flush := func() bool {
			values, err := r.Get(ctx, next...)
			if err != nil {
				yield(storage.Entry{}, err)
				return false
			}
			for i, value := range values {
				if value != nil && !yield(storage.Entry{Key: next[i], Value: value}, nil) {
					return false
				}
			}
			next = nil
			return true
		}
		for key, err := range keys {
			if err != nil {
				yield(storage.Entry{}, err)
				return
			}
			if next = append(next, key); len(next) == atOnce && !flush() {
				return
			}
		}
		if len(next) > 0 {
			flush()
		}
	}
}
