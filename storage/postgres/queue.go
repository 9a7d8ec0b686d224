package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// queue is a semaphore: it lets as many goroutines through at a time as it has room for, in the order in which they came.
type queue chan struct{}

// enter waits until there is room, for busy at most. It returns the error of ctx if ctx is done, and an error that wraps errBusy
// if there is no room in time. others names what takes the room, such as "other updates", for the text of this error. The caller
// calls leave afterwards.
func (q queue) enter(ctx context.Context, busy time.Duration, others string) error {
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
		return fmt.Errorf("%w: %s did not end within %s", errBusy, others, busy)
	}
}

func (q queue) leave() { <-q }

// lineup is a queue of waiters that are served in batches. It counts the batches that are under way. A View that reads alone
// counts as a batch too.
type lineup[T comparable] struct {
	mu      sync.Mutex
	waiting []T // in the order in which they came
	running int // batches under way
}

// leave removes one waiter. It reports false, and does nothing, if the batch of this waiter has begun.
func (l *lineup[T]) leave(one T) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, one)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	return i >= 0
}

// next removes the first waiters, up to most of them, and returns them: they are the next batch of the caller. If nobody waits,
// it returns none and decrements running.
func (l *lineup[T]) next(most int) []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.waiting), most)
	if n == 0 {
		l.running--
		return nil
	}
	next := slices.Clone(l.waiting[:n])
	l.waiting = slices.Delete(l.waiting, 0, n)
	return next
}

// queues let one update at a time through for each key. Updates of one library wait here, before they take a connection;
// otherwise updates that wait for a lock would hold the connections that reads need.
type queues struct {
	mu   sync.Mutex
	used map[string]*keyQueue // those that have users
}

// keyQueue is the queue of one key. It is removed when it has no users, so memory does not grow with the keys that were
// ever used.
type keyQueue struct {
	queue
	users int // goroutines that wait or were let through
}

// enter waits until the caller may update the thing with this key. The parameters and the errors are those of queue.enter. The
// caller calls leave afterwards.
func (t *queues) enter(ctx context.Context, key string, busy time.Duration, others string) (leave func(), err error) {
	t.mu.Lock()
	own := t.used[key]
	if own == nil {
		if t.used == nil {
			t.used = map[string]*keyQueue{}
		}
		own = &keyQueue{queue: make(queue, 1)}
		t.used[key] = own
	}
	own.users++
	t.mu.Unlock()
	forget := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		own.users--
		if own.users == 0 {
			delete(t.used, key)
		}
	}
	if err := own.enter(ctx, busy, others); err != nil {
		forget()
		return nil, err
	}
	return func() {
		own.leave()
		forget()
	}, nil
}
