package feed

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine"
)

// Shared returns the function changed of Follow for a feed whose followers all wait for the same channel.
func Shared(channel func() <-chan struct{}) func(after string) (from string, wake <-chan struct{}) {
	return func(after string) (string, <-chan struct{}) { return after, channel() }
}

// Follow yields the changes of page after page, from a cursor on. When there are no more it waits until the channel of
// changed is closed. It calls changed before each page, so that no change between the page and the wait is missed.
// changed also returns the cursor to read from, which is its argument or a later one. Follow ends with the error of
// page, or with that of ctx.
func Follow[T any](
	ctx context.Context, after string, changed func(after string) (from string, wake <-chan struct{}),
	page func(after string) (vitrine.ChangesPage[T], error),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for at := after; ; {
			from, wake := changed(at)
			p, err := page(from)
			if err != nil {
				yield(none, err)
				return
			}
			for _, change := range p.Changes {
				if !yield(change, nil) {
					return
				}
			}
			at = p.Next
			if p.More {
				continue
			}
			select {
			case <-wake:
			case <-ctx.Done():
				yield(none, ctx.Err())
				return
			}
		}
	}
}
