package assets

import (
	"context"
	"sync"
)

// turns lets each caller make one heavy change at a time. A caller who sends many at once makes them
// one after the other, so a change of somebody else waits for one of them, and not for all. The zero
// value is ready for use.
type turns struct {
	mu    sync.Mutex
	taken map[string]chan struct{} // the heavy changes under way, by the URN of the caller; closed at their end
}

// take waits until the caller has no heavy change under way, and begins one that ends when end is
// called. It returns the error of ctx if that is done before.
func (t *turns) take(ctx context.Context, caller string) (end func(), err error) {
	for {
		t.mu.Lock()
		other := t.taken[caller]
		if other == nil {
			mine := make(chan struct{})
			if t.taken == nil {
				t.taken = map[string]chan struct{}{}
			}
			t.taken[caller] = mine
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				delete(t.taken, caller)
				t.mu.Unlock()
				close(mine)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
