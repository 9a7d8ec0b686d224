package appsvc

import (
	"context"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/memlimit"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// The rules of pages, and where each of them is:
//
//   - How many items a request may ask for: pageLimit, by the rule of package paging that all domains share.
//   - When a page ends because of its bytes: pageBuilder, by the rule of package paging, for apps, versions, tags, components,
//     and the broken elements of CheckComponent.
//   - Three lists have other bounds in place of these bytes. ListHistory bounds the bytes that it reads, since it returns few
//     (historyPage). ListTagMoves has only small items, and bounds their number alone (movePage). The feed of changes bounds
//     the entries that it looks at (walkFeed).
//   - How an iterator gets from page to page: package paging.

// Page is one page of a list. In most lists it ends when it has as many items as the request asks for, or as soon as its items
// have Limits.PageBytes, by default 4 MiB; the item that reaches this number is in the page. A page of ListComponents, and one
// of ListTags if Limit is 0, may have any number of items, so only their bytes end it. ListHistory and ListTagMoves have bounds
// of their own, which their comments state.

// pageBuilder collects the items of one page until the page is full. Callers ask the store for one item more than the limit: add
// refuses this item, and so it shows that there is a next page.
//
// It is made inside the function of a View, since a store may call this function again: then the page begins anew.
type pageBuilder[T any] struct {
	ctx   context.Context
	items []T
	more  bool // add has refused an item, so there is a next page
	room  paging.Room
}

// newPageBuilder returns the builder of a page that is full when it has limit items, 0 for any number, or this many bytes.
func newPageBuilder[T any](ctx context.Context, limit, bytes int) *pageBuilder[T] {
	return &pageBuilder[T]{ctx: ctx, room: paging.NewRoom(limit, bytes)}
}

// add appends an item of about size bytes, or returns false if the page is full; the caller then stops reading. It returns
// memlimit.ErrExceeded if the request may use no more memory.
func (p *pageBuilder[T]) add(item T, size int) (bool, error) {
	if p.room.Full() {
		p.more = true
		return false, nil
	}
	if err := memlimit.Reserve(p.ctx, size); err != nil {
		return false, err
	}
	p.items = append(p.items, item)
	p.room.Add(size)
	return true, nil
}

// page returns the page. If there is a next one, next returns the cursor after the last item.
func (p *pageBuilder[T]) page(next func(last T) string) vitrine.Page[T] {
	out := vitrine.Page[T]{Items: p.items}
	if p.more {
		out.Next = next(p.items[len(p.items)-1])
	}
	return out
}

// pageLimit returns how many items a page may have. asked is the Limit of the request. If it is 0, the result is otherwise, the
// default of the list, or Limits.Page if that is lower. A list whose default is 0 has pages of any number of items then.
// pageLimit returns ErrInvalid, for the parameter limit, if asked is negative or above Limits.Page.
func (l Limits) pageLimit(asked, otherwise int) (int, error) {
	limit, err := paging.Limit(asked, otherwise, l.Page)
	if err != nil {
		return 0, invalidParameter("limit", "%s", err)
	}
	return limit, nil
}
