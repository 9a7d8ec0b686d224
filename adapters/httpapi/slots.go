package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// slots bound how many requests of a kind are under way, in all and of a caller. A request that finds no free slot waits for
// slotPatience at most. While it waits, the slowest of those that keep it from one is cut off: the request whose client has moved the
// fewest bytes a second, if the server has waited for that client for more than slowAfter.
type slots struct {
	what             string // "uploads", for sentences
	status           int    // of the error when no slot becomes free
	total, perCaller int
	perNetwork       int // 0 if the kind has no limit for networks

	mu    sync.Mutex
	held  map[*slot]struct{} // the requests that have slots
	taken int                // how many slots are taken
	of    map[string]int     // how many slots a caller or a network has
	freed chan struct{}      // closed and replaced when slots become free
}

const (
	slotPatience = time.Second
	slowAfter    = 10 * time.Second
	// A client that moves this many bytes a second on average is never cut off to make room.
	slowRate = 64 << 10
)

// newSlots returns the slots of a kind.
func newSlots(what string, status, total, perCaller, perNetwork int) *slots {
	return &slots{what: what, status: status, total: total, perCaller: perCaller, perNetwork: perNetwork,
		held: map[*slot]struct{}{}, of: map[string]int{}, freed: make(chan struct{})}
}

// slot counts the slots of a kind that one request has: 0 at first, usually 1, more if it needs a lot of memory. It belongs to the
// goroutine of the request.
type slot struct {
	all             *slots
	caller, network string // network is "" if the kind has no limit for networks
	control         *http.ResponseController

	// Under the lock of all:
	count   int
	waits   bool          // the server waits for the client
	writing bool          // it waits for the client to read the response, not to send the body
	since   time.Time     // when this wait began
	waited  time.Duration // how long the earlier waits took together
	bytes   int64         // how many bytes the client has moved in them
	cut     bool          // the client was cut off
}

// newSlot returns the slot of a request, with a count of 0. network may be "".
func (s *slots) newSlot(c *call, network string) *slot {
	if network != "" {
		network = "network " + network // no caller is named so
	}
	return &slot{all: s, caller: c.counted(), network: network, control: http.NewResponseController(c.w)}
}

// counted returns the name that slots are counted for: the URN of the caller, or else where the request comes from. A token that
// reads by tags alone stands in public pages, so its requests are counted by address. An IPv6 address counts as its network of 64 bits.
func (c *call) counted() string {
	if c.by.URN != "" && !c.by.TagsOnly {
		return c.by.URN
	}
	if a, err := netip.ParseAddr(c.address()); err == nil && a.Is6() && !a.Is4In6() {
		if network, err := a.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return c.address()
}

// enter raises the slots of a request to count. If they do not become free in time, it returns an error with the status of the kind.
func (x *slot) enter(ctx context.Context, count int, patience time.Duration) error {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		freed, err := x.tryEnter(count, true)
		if err == nil {
			return nil
		}
		select {
		case <-freed:
		case <-timeout.C:
			return err
		case <-ctx.Done():
			return err
		}
	}
}

// tryEnter is enter without waiting. If there are too few slots, it returns a channel that is closed when some become free; with
// makeRoom, it also cuts off the slowest request that stands in the way.
func (x *slot) tryEnter(count int, makeRoom bool) (freed <-chan struct{}, err error) {
	s, more := x.all, count-x.count
	if more <= 0 {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stands := func(*slot) bool { return true } // whether a request stands in the way
	switch ofCaller, ofNetwork := s.of[x.caller], s.of[x.network]; {
	case ofCaller > x.count && ofCaller+more > s.perCaller: // the only request of a caller may have more than the caller's part
		err = refuse(s.status, "%d %s of this caller are under way, as many as may be: wait until one of them has ended", ofCaller, s.what)
		stands = func(o *slot) bool { return o.caller == x.caller }
	case x.network != "" && ofNetwork+more > s.perNetwork:
		err = refuse(s.status, "%d %s for this network are under way, as many as may be: wait until one of them has ended", ofNetwork, s.what)
		stands = func(o *slot) bool { return o.network == x.network }
	case s.taken+more > s.total:
		err = refuse(s.status, "%d %s are under way, as many as may be: try again when one of them has ended", s.taken, s.what)
	default:
		s.add(x, more)
		return nil, nil
	}
	if makeRoom {
		s.cutSlowest(time.Now(), x, stands)
	}
	return s.freed, err
}

// add gives slots to a request, or takes them back. It is called with the lock held.
func (s *slots) add(x *slot, more int) {
	x.count += more
	s.taken += more
	for _, name := range []string{x.caller, x.network} {
		if s.of[name] += more; s.of[name] == 0 {
			delete(s.of, name)
		}
	}
	if x.count > 0 {
		s.held[x] = struct{}{}
	} else {
		delete(s.held, x)
	}
}

// cutSlowest cuts off the slowest of the requests that stand in the way of x, if one is slow. It is called with the lock held.
func (s *slots) cutSlowest(now time.Time, x *slot, stands func(*slot) bool) {
	var slowest *slot
	least := float64(slowRate)
	for o := range s.held {
		waited := o.waited
		if o.waits {
			waited += now.Sub(o.since)
		}
		if o == x || o.cut || waited <= slowAfter || !stands(o) {
			continue
		}
		if rate := float64(o.bytes) / waited.Seconds(); rate < least {
			slowest, least = o, rate
		}
	}
	if slowest == nil {
		return
	}
	slowest.cut = true
	if slowest.waits { // else it finds out when it waits next
		slowest.setDeadline(now)
	}
}

// setDeadline bounds how long the server waits for the client. A connection without deadlines is bounded by its server alone.
func (x *slot) setDeadline(at time.Time) {
	if x.writing {
		_ = x.control.SetWriteDeadline(at)
	} else {
		_ = x.control.SetReadDeadline(at)
	}
}

// leave gives all slots of the request back. It may be called on nil.
func (x *slot) leave() {
	if x == nil || x.count == 0 {
		return
	}
	s := x.all
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(x, -x.count)
	close(s.freed)
	s.freed = make(chan struct{})
}

// inUse returns how many slots are taken.
func (s *slots) inUse() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

// errCut says that the client of a request was cut off, because it was slow and others waited.
var errCut = errors.New("the client was too slow while others waited")

// begin notes that the server waits for the client until a deadline. It returns errCut if the client was cut off.
func (x *slot) begin(writing bool, deadline time.Time) error {
	x.all.mu.Lock()
	defer x.all.mu.Unlock()
	if x.cut {
		return errCut
	}
	x.waits, x.writing, x.since = true, writing, time.Now()
	x.setDeadline(deadline)
	return nil
}

// end notes that the client has moved n bytes and that the server no longer waits for it. It returns errCut as begin does.
func (x *slot) end(n int) error {
	x.all.mu.Lock()
	defer x.all.mu.Unlock()
	x.waits, x.bytes = false, x.bytes+int64(n)
	x.waited += time.Since(x.since)
	if x.cut {
		return errCut
	}
	return nil
}
