package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// queue lets as many goroutines through at a time as it has room for, first come first served.
type queue chan struct{}

func (q queue) enter(ctx context.Context, busy time.Duration) error {
	select {
	case q <- struct{}{}:
		return nil
	default:
	}
	patience := time.NewTimer(busy)
	defer patience.Stop()
	select {
	case q <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-patience.C:
		return fmt.Errorf("%w: other updates took longer than %s", errBusy, busy)
	}
}

func (q queue) leave() { <-q }

// queues have the updates of one thing wait for each other before they take a connection. Without that,
// updates that wait for a lock would hold the connections that reads need.
type queues struct {
	mu   sync.Mutex
	open map[string]*keyQueue // of things that are updated now
}

type keyQueue struct {
	queue
	users int // in the queue or through it
}

// enter returns when it is the caller's turn to update the thing with this key. Pair it with leave.
func (t *queues) enter(ctx context.Context, key string, busy time.Duration) (leave func(), err error) {
	t.mu.Lock()
	own := t.open[key]
	if own == nil {
		if t.open == nil {
			t.open = map[string]*keyQueue{}
		}
		own = &keyQueue{queue: make(queue, 1)}
		t.open[key] = own
	}
	own.users++
	t.mu.Unlock()
	forget := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(t.open, key)
		}
	}
	if err := own.enter(ctx, busy); err != nil {
		forget()
		return nil, err
	}
	return func() {
		own.leave()
		forget()
	}, nil
}
