package keyval

import (
	"context"
	"iter"
	"slices"

	"github.com/vitrine-go/vitrine/storage"
)

// Map yields the results of fn for the values of list. It ends after the first error.
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

// Chunks yields the values of list in slices of n values; the last one may have fewer. It ends after the first error,
// and then leaves out the values before it that did not fill a slice.
func Chunks[T any](list iter.Seq2[T, error], n int) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		var part []T
		for v, err := range list {
			if err != nil {
				yield(nil, err)
				return
			}
			if part = append(part, v); len(part) == n {
				if !yield(part, nil) {
					return
				}
				part = nil
			}
		}
		if len(part) > 0 {
			yield(part, nil)
		}
	}
}

// Load yields the entries of keys, in their order, without those that do not exist. It reads atOnce entries in one
// round trip.
func Load(
	ctx context.Context, r storage.Reader, keys iter.Seq2[string, error], atOnce int,
) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		for part, err := range Chunks(keys, atOnce) {
			var values [][]byte
			if err == nil {
				values, err = r.Get(ctx, part...)
			}
			if err != nil {
				yield(storage.Entry{}, err)
				return
			}
			for i, value := range values {
				if value != nil && !yield(storage.Entry{Key: part[i], Value: value}, nil) {
					return
				}
			}
		}
	}
}

// Without returns the texts of a list that are not in others.
func Without(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(others, s) })
}
