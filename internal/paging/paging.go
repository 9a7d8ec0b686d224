// Package paging walks through lists that come in pages.
package paging

import "iter"

// All yields the items of all pages, beginning with the one after the cursor after. list returns the
// items of a page and the cursor of the next one, "" if there is none. An error is yielded once, as the
// last pair.
func All[T any](after string, list func(after string) (items []T, next string, err error)) iter.Seq2[T, error] {
	return Sparse(after, func(after string) ([]T, string, error) {
		items, next, err := list(after)
		if len(items) == 0 {
			next = ""
		}
		return items, next, err
	})
}

// Sparse is All for lists of which a page may be empty though more pages follow.
func Sparse[T any](after string, list func(after string) (items []T, next string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for at := after; ; {
			items, next, err := list(at)
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			if next == "" {
				return
			}
			at = next
		}
	}
}
