package appsvc

import (
	"context"

	"github.com/vitrine-go/vitrine/internal/memlimit"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// Page is one page of a list. A page may have fewer items than the request allows, since it also ends when its items have
// enough bytes: only Next says whether there are more. Each page is as of the time of its call. An item that is added
// or changes its place between two calls may be missed, or listed twice.
type Page[T any] struct {
	Items []T
	Next  string // goes into After of the request for the next page; "" on the last page
}

// pageBuilder collects the items of a page up to a number of items and of bytes. The first item always fits, so that a list
// comes to its end even if each item is larger than a page. Callers ask the store for one item more than the limit;
// this item is not in the page, and shows that there is another one.
type pageBuilder[T any] struct {
	ctx   context.Context
	items []T
	more  bool // an item came that had no more room
	limit int  // items; 0 = any number
	room  int  // bytes that are left
}

// newPageBuilder returns the builder of a page of at most limit items, 0 for any number, that ends at so many bytes.
func newPageBuilder[T any](ctx context.Context, limit, bytes int) *pageBuilder[T] {
	return &pageBuilder[T]{ctx: ctx, limit: limit, room: bytes}
}

// add appends an item of about size bytes, or returns false if the page is full; the caller then stops reading. A page is full
// when it has limit items, or when an item has brought it to its number of bytes. So it may exceed these by one item. add returns
// memlimit.ErrExceeded if the request may use no more memory.
func (p *pageBuilder[T]) add(item T, size int) (bool, error) {
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

// pageLimit returns the number of items that a request asks for. If it asks for 0, it is otherwise, the default of the list,
// but no more than Limits.Page. A default of 0 means any number of items. It returns ErrInvalid if the number is negative or above Limits.Page.
func (l Limits) pageLimit(asked, otherwise int) (int, error) {
	limit, err := paging.Limit(asked, otherwise, l.Page)
	if err != nil {
		return 0, invalidParameter("limit", "%s", err)
	}
	return limit, nil
}
