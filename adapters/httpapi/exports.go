package httpapi

import (
	"net/http"
	"sync"
	"time"
)

// exports are the exports of reviews that are under way. Each holds a snapshot of the store, and with it one of the store's
// connections, until its client has read everything. So there are slots for them: Limits says how many in all and of a
// caller.
type exports struct {
	most, mostOfCaller int

	mu   sync.Mutex
	of   map[string]int // by caller, as room.caller names it
	all  int
	left chan struct{} // closed and replaced when a slot becomes free
}

// newExports returns exports with the slots that l allows.
func newExports(l Limits) *exports {
	return &exports{most: l.Exports, mostOfCaller: l.ExportsOfCaller, of: map[string]int{}, left: make(chan struct{})}
}

// enter takes a slot. It waits a second at most, and then returns a 429 that names the limit. Who waits has no place in a
// queue: when a slot becomes free, all that wait try again. Pair it with leave.
func (e *exports) enter(c *call) error {
	timeout := time.NewTimer(slotPatience)
	defer timeout.Stop()
	for {
		left, err := e.tryEnter(c.room.caller)
		if err == nil {
			return nil
		}
		select {
		case <-left:
		case <-timeout.C:
			return err
		case <-c.ctx().Done():
			return err
		}
	}
}

// tryEnter takes a slot. If none is free, it returns an error and a channel that is closed when one becomes free.
func (e *exports) tryEnter(caller string) (left chan struct{}, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.of[caller] >= e.mostOfCaller:
		return e.left, refuse(http.StatusTooManyRequests, "%d exports of this caller are under way, as many as may be: wait until one of them has ended", e.of[caller])
	case e.all >= e.most:
		return e.left, refuse(http.StatusTooManyRequests, "%d exports are under way, as many as may be: try again when one of them has ended", e.all)
	}
	e.of[caller]++
	e.all++
	return nil, nil
}

// leave returns the slot and wakes all that wait for one.
func (e *exports) leave(c *call) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all--
	e.of[c.room.caller]--
	if e.of[c.room.caller] == 0 {
		delete(e.of, c.room.caller)
	}
	close(e.left)
	e.left = make(chan struct{})
}
