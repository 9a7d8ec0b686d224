// Package paging has what all lists that come in pages share: the rule of the number of items that a request may ask for, and
// the walk through the pages.
//
// It does not decide when a page is full. That a page also ends when its items have enough bytes is a rule of each domain:
// see pageBuilder in appsvc/page.go, and the functions of package assets that use Limits.PageBytes.
package paging

import (
	"fmt"
	"iter"
)

// Limit returns how many items a page may have. asked is the limit of the request. If it is 0, the request names none, and the
// result is otherwise, the default of the list, or most if that is lower. A list whose default is 0 has pages of any number of
// items then. Limit returns an error if asked is negative or above most; callers make it an error of their domain about the
// parameter limit.
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
// items of a page and the cursor of the next one, "" if there is none. A page without items ends the walk, whatever its cursor
// is. An error is yielded once, as the last pair.
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
