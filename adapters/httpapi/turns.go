package httpapi

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
)

// turns limit how many reads are at work in the domains at a time, so that some connections to the store and some of
// the processor are always left for /healthz, for writes and for who reads little. The other reads wait. The next turn
// is of the caller who has had one the longest ago, first of all of callers who have had none since they have reads
// here. So a caller with a thousand requests delays each of the others by one request and not by a thousand. A read has
// its turn only until its response is known: sending it takes none.
type turns struct {
	mu      sync.Mutex
	free    int
	number  int // of callers that have come and of turns, in their order
	callers map[string]*callerTurns
}

// callerTurns are the reads of one caller, as long as there are any.
type callerTurns struct {
	came    int // the number of the caller's coming
	last    int // the number of its last turn; 0 before the first one
	running int
	waiting []chan struct{} // each is closed when its read has a turn; the longest waiting first
}

// readsAtATime is less than the number of connections that drivers have for reads.
func readsAtATime() int { return max(16, 4*runtime.GOMAXPROCS(0)) }

func newTurns(most int) *turns { return &turns{free: most, callers: map[string]*callerTurns{}} }

// begin waits for a turn of a caller. It returns the error of ctx if ctx ends before. Else the caller of begin calls
// end later.
func (t *turns) begin(ctx context.Context, caller string) error {
	t.mu.Lock()
	c := t.callers[caller]
	if c == nil {
		t.number++
		c = &callerTurns{came: t.number}
		t.callers[caller] = c
	}
	if t.free > 0 {
		t.free--
		t.take(c)
		t.mu.Unlock()
		return nil
	}
	ready := make(chan struct{})
	c.waiting = append(c.waiting, ready)
	t.mu.Unlock()
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	at := slices.Index(c.waiting, ready)
	if at >= 0 {
		c.waiting = slices.Delete(c.waiting, at, at+1)
		t.forget(caller, c)
	}
	t.mu.Unlock()
	if at < 0 { // it has a turn meanwhile
		t.end(caller)
	}
	return ctx.Err()
}

// take counts a turn of a caller. It is called with the lock held.
func (t *turns) take(c *callerTurns) {
	t.number++
	c.running++
	c.last = t.number
}

// end ends a turn of a caller and gives it to the next one.
func (t *turns) end(caller string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.callers[caller]
	c.running--
	t.forget(caller, c)
	var next *callerTurns
	for _, c := range t.callers {
		if len(c.waiting) > 0 && (next == nil || cmp.Or(c.last-next.last, c.came-next.came) < 0) {
			next = c
		}
	}
	if next == nil {
		t.free++
		return
	}
	close(next.waiting[0])
	next.waiting = next.waiting[1:]
	t.take(next)
}

// forget removes a caller without reads. It is called with the lock held.
func (t *turns) forget(caller string, c *callerTurns) {
	if c.running == 0 && len(c.waiting) == 0 {
		delete(t.callers, caller)
	}
}

// takeTurn waits for the turn of a read, if the request is one.
func (c *call) takeTurn() error {
	if c.route.writes() || c.route.path == healthPath {
		return nil
	}
	caller := c.counted()
	if err := c.h.reads.begin(c.r.Context(), caller); err != nil {
		return err
	}
	c.turnOf, c.hasTurn = caller, true
	return nil
}

// endTurn ends the turn that the request has, if it has one.
func (c *call) endTurn() {
	if c.hasTurn {
		c.hasTurn = false
		c.h.reads.end(c.turnOf)
	}
}
