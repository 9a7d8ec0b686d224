// Package paging has what all lists that come in pages share: how many items a request may ask for, when a page ends,
// and the walk through the pages.
package paging

import (
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// Limit returns how many items a page may have. asked is the limit of the request. If it is 0, the request names none,
// and the result is otherwise, the default of the list, or most if that is lower. A list whose default is 0 has pages
// of any number of items then. Limit returns ErrInvalid, for the parameter limit, if asked is negative or above most.
func Limit(asked, otherwise, most int) (int, error) {
	if asked == 0 {
		return min(otherwise, most), nil
	}
	if asked < 0 || asked > most {
		return 0, fault.Invalid("limit", "want 1 to %d", most)
	}
	return asked, nil
}

// Room is what is left of a page. The page ends before the item that it has no room for: when it has as many items as
// it may have, or when the item would bring it above a number of bytes. The first item always fits, so that a list
// comes to its end even if each item is larger than a page.
type Room struct {
	limit, most  int
	items, bytes int // that the page has
}

// NewRoom returns the Room of a page without items, which may have limit items, 0 for any number, of most bytes
// together.
func NewRoom(limit, most int) Room { return Room{limit: limit, most: most} }

// Takes reports whether the page has room for an item of this size, and counts the item if it has. If it has none, the
// item is the first one of the next page.
func (r *Room) Takes(size int) bool {
	if r.items > 0 && (r.Full() || r.bytes+size > r.most) {
		return false
	}
	r.items++
	r.bytes += size
	return true
}

// Full reports whether the page has as many items as it may have.
func (r *Room) Full() bool { return r.limit > 0 && r.items >= r.limit }

// All yields the items of all pages, from the one at the cursor of a request on: after is its place in the request, and
// page asks for the page there. A page may be empty though more follow. An error is yielded once, as the last pair.
func All[T any](after *string, page func() (vitrine.Page[T], error)) iter.Seq2[T, error] {
	begin := *after
	return func(yield func(T, error) bool) {
		for *after = begin; ; {
			p, err := page()
			for _, item := range p.Items {
				if !yield(item, nil) {
					return
				}
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			if p.Next == "" {
				return
			}
			*after = p.Next
		}
	}
}
