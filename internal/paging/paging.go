// Package paging has what all lists that come in pages share: the rule of their limit, and the walk through their pages.
package paging

import (
	"fmt"
	"iter"
)

// Limit returns how many items a page may have. asked is the limit of the request; 0 means that it names none, and gives otherwise,
// or most if that is lower. otherwise may be 0, for a list whose pages have any number of items then. The error says what is wrong
// if asked is below 0 or above most; callers make it an error of their domain about the parameter limit.
func Limit(asked, otherwise, most int) (int, error) {
	if asked == 0 {
		return min(otherwise, most), nil
	}
	if asked < 0 || asked > most {
		return 0, fmt.Errorf("want 1 to %d", most)
	}
	return asked, nil
}

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
