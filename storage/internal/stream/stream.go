// Package stream makes iterators for drivers that hand out one value after another until they are told
// that it is enough.
package stream

import (
	"context"
	"iter"
)

// Of yields what walk hands to out, and the error of walk. out is false when no more is wanted; walk is
// to return then, and what error it returns is no longer heard.
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

// Limited is Of for limit values at most (0 = all), and ends with the error of check when that has one
// before a value.
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
