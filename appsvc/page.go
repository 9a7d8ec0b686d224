package appsvc

import (
	"context"

	"github.com/vitrine-go/vitrine/internal/memlimit"
)

// Page is one page of a list. A page may have fewer items than the request allows, since it also ends when its items have
// enough bytes: only Next says whether there are more. Each page is as of the time of its call. An item that is added
// or changes its place between two calls may be missed, or listed twice.
type Page[T any] struct {
	Items []T
	Next  string // goes into After of the request for the next page; "" on the last page
}

// gathering collects the items of a page up to a number of items and of bytes. The first item always fits, so that a list
// comes to its end even if each item is larger than a page. Callers ask the store for one item more than the limit;
// this item is not in the page, and shows that there is another one.
type gathering[T any] struct {
	ctx   context.Context
	items []T
	more  bool // an item came that had no more room
	limit int  // items; 0 = any number
	room  int  // bytes that are left
}

func newGathering[T any](ctx context.Context, limit, bytes int) *gathering[T] {
	return &gathering[T]{ctx: ctx, limit: limit, room: bytes}
}

// add appends an item of about size bytes, or returns false if the page is full. It returns memlimit.ErrExceeded if
// the request may use no more memory.
func (p *gathering[T]) add(item T, size int) (bool, error) {
	full := p.limit > 0 && len(p.items) == p.limit || len(p.items) > 0 && p.room <= 0
	if full {
		p.more = true
		return false, nil
	}
	if err := memlimit.Reserve(p.ctx, size); err != nil {
		return false, err
	}
	p.items = append(p.items, item)
	p.room -= size
	return true, nil
}

// pageLimit returns the number of items that a request asks for, or the default if it names none. It returns
// ErrInvalid if the number is negative or above the limit.
func (l Limits) pageLimit(asked, otherwise int) (int, error) {
	return pageLimit(asked, otherwise, l.Page)
}

// pageLimit is Limits.pageLimit for a list of which a page has at most so many items.
func pageLimit(asked, otherwise, most int) (int, error) {
	if asked == 0 {
		return otherwise, nil
	}
	if asked < 1 || asked > most {
		return 0, invalidParameter("limit", "want 1 to %d", most)
	}
	return asked, nil
}
