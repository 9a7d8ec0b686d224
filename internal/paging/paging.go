// Package paging has what all lists that come in pages share: how many items a request may ask for, when a page is full, and the
// walk through the pages.
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

// Room says when a page is full: when it has as many items as it may have, or as soon as its items have reached a number of
// bytes. The item that reaches it is in the page. So the first item always fits, and a list comes to its end even if each item is
// larger than a page. A caller asks Full before each item. An item that comes when the page is full shows that there is another page.
type Room struct {
	limit, most  int
	items, bytes int // that the page has
}

// NewRoom returns the Room of a page without items, which may have limit items, 0 for any number, and is full with most bytes.
func NewRoom(limit, most int) Room { return Room{limit: limit, most: most} }

// Full reports whether the page has no room for another item.
func (r *Room) Full() bool {
	return r.limit > 0 && r.items == r.limit || r.items > 0 && r.bytes >= r.most
}

// Add counts an item of this size, which the page has got.
func (r *Room) Add(size int) {
	r.items++
	r.bytes += size
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
