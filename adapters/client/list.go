package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// get reads an address. It may be sent again, as it changes nothing.
func get[T any](ctx context.Context, s remote, path string, query values, t target) (T, error) {
	return send[T](ctx, s, request{method: http.MethodGet, path: path, query: query, reads: true}, t)
}

// send sends a request, and decodes its answer.
func send[T any](ctx context.Context, s remote, r request, t target) (out T, err error) {
	_, err = s.call(ctx, r, t, &out)
	return out, err
}

// list reads a page of a list: the items are the value of a member, and cursor is the parameter with which the next page is asked for.
func list[T any](ctx context.Context, s remote, path string, query values, member, cursor string) (page vitrine.Page[T], err error) {
	header, err := s.call(ctx, request{method: http.MethodGet, path: path, query: query, reads: true}, value(member), &page.Items)
	page.Next = next(header, cursor)
	return page, err
}

// all walks through the pages of a list from the cursor of a request on. after returns the place of the cursor in the request.
func all[In, T any](ctx context.Context, in In, list func(context.Context, In) (vitrine.Page[T], error), after func(*In) *string) iter.Seq2[T, error] {
	return paging.All(*after(&in), func(cursor string) ([]T, string, error) {
		in := in
		*after(&in) = cursor
		page, err := list(ctx, in)
		return page.Items, page.Next, err
	})
}
