// Package top keeps the first few of many items.
package top

import "slices"

// List holds the first items, in an order, of all that were added to it. It takes memory for these alone.
type List[T any] struct {
	limit   int
	compare func(a, b T) int
	items   []T // in order
}

// New returns a list of at most limit items, in the order of compare. With a limit of 0 it keeps none.
func New[T any](limit int, compare func(a, b T) int) *List[T] {
	return &List[T]{limit: limit, compare: compare}
}

// Add adds an item. If the list is full, its last item is dropped, or the new one if it does not come before the last.
func (l *List[T]) Add(item T) {
	if last, full := l.Last(); l.limit == 0 || full && l.compare(item, last) >= 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(l.items, item, l.compare)
	if len(l.items) == l.limit {
		l.items = l.items[:l.limit-1]
	}
	l.items = slices.Insert(l.items, i, item)
}

// Last returns the last item of a full list. full is false while the list has fewer items than its limit, or if its
// limit is 0.
func (l *List[T]) Last() (last T, full bool) {
	if len(l.items) < l.limit || l.limit == 0 {
		return last, false
	}
	return l.items[len(l.items)-1], true
}

// Items returns the items in order.
func (l *List[T]) Items() []T { return l.items }
