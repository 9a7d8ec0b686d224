package appsvc

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// view returns the result of read on one snapshot, for a caller whose rights are not limited to tags.
func view[T any](ctx context.Context, s *Session, read func(*reader) (T, error)) (out T, err error) {
	if err := s.check(); err != nil {
		return out, err
	}
	err = s.service.store.view(ctx, func(r *reader) (err error) {
		out, err = read(r)
		return err
	})
	if err != nil {
		out = *new(T)
	}
	return out, err
}

// update returns the result of change in one transaction, for a caller whose rights are not limited to tags.
func update[T any](ctx context.Context, s *Session, change func(*writer) (T, error)) (out T, err error) {
	if err := s.check(); err != nil {
		return out, err
	}
	err = s.service.store.update(ctx, func(tx *writer) (err error) {
		out, err = change(tx)
		return err
	})
	if err != nil {
		out = *new(T)
	}
	return out, err
}

// list returns the page that read makes in one View, for a caller who may read lists. asked is the Limit of the
// request; if it is 0, read gets otherwise or Limits.Page, whichever is lower. 0 means any number of items.
func list[T any](
	ctx context.Context, s *Session, asked, otherwise int, read func(r *reader, limit int) (vitrine.Page[T], error),
) (page vitrine.Page[T], err error) {
	if err := s.check(); err != nil {
		return page, err
	}
	limit, err := paging.Limit(asked, otherwise, s.service.limits.Page)
	if err != nil {
		return page, err
	}
	return view(ctx, s, func(r *reader) (vitrine.Page[T], error) { return read(r, limit) })
}

// fill returns a page of the first items of a list: limit of them, or any number if limit is 0, of Limits.PageBytes
// together. If the list has more items, next returns the cursor after the last one.
func fill[T any](
	s *Service, limit int, items iter.Seq2[T, error], size func(T) int, next func(last T) string,
) (page vitrine.Page[T], err error) {
	room := paging.NewRoom(limit, s.limits.PageBytes)
	for item, err := range items {
		if err == nil && !room.Takes(size(item)) {
			page.Next = next(page.Items[len(page.Items)-1])
			break
		}
		if err != nil {
			return vitrine.Page[T]{}, err
		}
		page.Items = append(page.Items, item)
	}
	return page, nil
}
