package httpapi

import "time"

// A client that is slow holds the memory of its request for long. This file disconnects it when others wait for memory, and in
// any case when it moves no bytes at all. Three other rules bound slow clients without looking at memory: uploadRate of
// imports, downloadRate of downloads, and streamPatience of event streams.

const (
	// When others wait, a client is too slow if it has moved less than slowRate in the last slowPeriod. If disconnecting those is
	// not enough, one is too slow if the server has waited for it for oldHolder or longer and it has moved less than oldRate on
	// average meanwhile.
	slowPeriod = 10 * time.Second
	slowRate   = 4 << 10 // bytes a second
	oldHolder  = 30 * time.Second
	oldRate    = 256 << 10 // bytes a second

	// A client that has moved no byte for so long is disconnected whether or not others wait.
	mostIdle = 20 * time.Second

	sweepEvery  = time.Second
	sweepAtOnce = 100 * time.Millisecond // at most so often for those who begin to wait
)

// begin notes that the server now waits for the client: to read the response if writing is true, else to send the body. Only
// this time counts for the pace of the client; the time in which the server works does not. A request that is not on record
// is small, and nobody is disconnected for its sake.
func (h *holder) begin(writing bool) {
	if h.place == nil || h.waits {
		return
	}
	b := h.all
	b.mu.Lock()
	defer b.mu.Unlock()
	h.waits, h.writing, h.pace = true, writing, newPace(slowPeriod, b.now())
}

// moved notes that the client has sent or read n bytes.
func (h *holder) moved(n int) {
	if h.place == nil {
		return
	}
	b := h.all
	b.mu.Lock()
	defer b.mu.Unlock()
	h.pace.add(b.now(), n)
}

// rest notes that the server no longer waits for the client. It reports whether the client was disconnected.
func (h *holder) rest() bool {
	if h.place == nil {
		return false
	}
	h.all.mu.Lock()
	defer h.all.mu.Unlock()
	h.waits = false
	return h.cut
}

// The functions from here on are called with the mutex of the budget held.

// tick sweeps every second, as long as a holder is recorded.
func (b *budget) tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.armed = b.holders.Len() > 0
	if b.armed {
		b.sweep(b.now())
		time.AfterFunc(sweepEvery, b.tick)
	}
}

// sweep disconnects the clients that move no bytes. If holders wait for memory, it also disconnects slow clients that have
// what they need: first all that are very slow, then the oldest, until enough will be returned.
func (b *budget) sweep(now time.Time) {
	b.swept = now
	need := b.needs()
	for e := b.holders.Front(); e != nil; e = e.Next() {
		h := e.Value.(*holder)
		switch {
		case !h.waits || h.cut: // the server works on it, or its client was disconnected already
		case h.pace.idle(now) >= mostIdle:
			need.met(b.end(h))
		case need.from(h) && h.pace.below(slowRate, now):
			need.met(b.end(h))
		}
	}
	// If holders still lack bytes: the clients that have been slow for long, the oldest first.
	for e := b.holders.Front(); e != nil && need.left(); e = e.Next() {
		h := e.Value.(*holder)
		if h.waits && !h.cut && need.from(h) && now.Sub(h.pace.begun) >= oldHolder && h.pace.average(now) < oldRate {
			need.met(b.end(h))
		}
	}
}

// end disconnects a client. The goroutine that waits for the client then returns the bytes.
func (b *budget) end(h *holder) *holder {
	h.cut = true
	now := time.Now()
	if h.writing {
		_ = h.control.SetWriteDeadline(now) // a writer without deadlines is bounded by its server
	} else {
		_ = h.control.SetReadDeadline(now)
	}
	return h
}

// needs is how many bytes the waiting holders lack: in the budget, and in the shares of their callers.
type needs struct {
	all    int64
	shares map[string]int64
}

// needs adds up what the waiting holders lack.
func (b *budget) needs() needs {
	n := needs{shares: map[string]int64{}}
	for e := b.waiting.Front(); e != nil; e = e.Next() {
		w := e.Value.(*waiter)
		if !b.fitsAll(w.h, w.bytes) {
			n.all += w.bytes
		}
		if !b.fitsShare(w.h, w.bytes) {
			n.shares[w.h.caller] += w.bytes
		}
	}
	return n
}

// left reports whether some holder still lacks bytes.
func (n *needs) left() bool { return n.all > 0 || len(n.shares) > 0 }

// from reports whether a holder waits for bytes that h has.
func (n *needs) from(h *holder) bool { return n.all > 0 || n.shares[h.caller] > 0 }

// met subtracts the bytes that h will return.
func (n *needs) met(h *holder) {
	n.all -= h.bytes
	if needed, ok := n.shares[h.caller]; ok && needed > h.bytes {
		n.shares[h.caller] = needed - h.bytes
	} else {
		delete(n.shares, h.caller)
	}
}
