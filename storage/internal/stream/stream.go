// Package stream makes iterators from functions that call back with one value after another.
package stream

import (
	"context"
	"iter"
)

// Of returns an iterator over the values that walk passes to out. The error of walk is its last pair. out returns
// false when the loop over the iterator has ended; then walk must return, and its error is ignored.
func Of[T any](walk func(out func(T) bool) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		left := false
		err := walk(func(v T) bool {
			left = !yield(v, nil)
			return !left
		})
		if err != nil && !left {
			var none T
			yield(none, err)
		}
	}
}

// Limited is like Of, but yields at most limit values (0 = all). It calls check before each value, and ends with its
// error.
func Limited[T any](ctx context.Context, check func(context.Context) error, limit int, walk func(out func(T) bool) error) iter.Seq2[T, error] {
	return Of(func(out func(T) bool) error {
		count := 0
		var ended error
		err := walk(func(v T) bool {
			if ended = check(ctx); ended != nil {
				return false
			}
			count++
			return out(v) && count != limit
		})
		if ended != nil {
			return ended
		}
		return err
	})
}
