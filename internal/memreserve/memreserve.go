// Package memreserve lets a server bound the memory that a domain takes while it works on a request. The server puts a
// function into the context that counts bytes. The domain calls Reserve before it adds to a response, or begins work that
// takes much memory, and returns the error when there is not enough. It does so only before it has written anything, so
// the server may repeat the call when there is memory.
package memreserve

import (
	"context"
	"errors"
)

// ErrExceeded means that there is not enough memory at the moment, and that nothing was written.
var ErrExceeded = errors.New("there is no memory for this at the moment")

type key struct{}

// With returns a context in which reserve counts the bytes of Reserve, and reports whether there is enough memory.
func With(ctx context.Context, reserve func(bytes int) bool) context.Context {
	return context.WithValue(ctx, key{}, reserve)
}

// Reserve counts so many bytes for the request of ctx, or returns ErrExceeded if there are not enough. It always returns nil
// for a ctx that does not come from With, as in a program that embeds a domain.
func Reserve(ctx context.Context, bytes int) error {
	if reserve, ok := ctx.Value(key{}).(func(int) bool); ok && !reserve(bytes) {
		return ErrExceeded
	}
	return nil
}
