package storage

import (
	"context"
	"errors"
)

// Observed returns a store that tells of each View and Update of s, for traces and metrics. begin is called before it,
// with the space of an Update and "" for a View, and returns the context in which it goes on, and a function that is
// called with its error at the end. A driver may call the function of a View or an Update again in between.
func Observed(s Store, begin func(ctx context.Context, space string) (context.Context, func(err error))) Store {
	return &observed{s, begin}
}

var errThrown = errors.New("storage: the function did not return")

type observed struct {
	Store
	begin func(ctx context.Context, space string) (context.Context, func(err error))
}

func (o *observed) View(ctx context.Context, fn func(Reader) error) (err error) {
	ctx, end := o.begin(ctx, "")
	err = errThrown
	defer func() { end(err) }()
	return o.Store.View(ctx, fn)
}

func (o *observed) Update(ctx context.Context, space string, u UpdateOptions, fn func(Tx) error) (err error) {
	ctx, end := o.begin(ctx, space)
	err = errThrown
	defer func() { end(err) }()
	return o.Store.Update(ctx, space, u, fn)
}

// Defaults returns those of the store.
func (o *observed) Defaults() Defaults { return DefaultsOf(o.Store) }
