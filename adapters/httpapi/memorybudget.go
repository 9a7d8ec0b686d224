package httpapi

import (
	"container/list"
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A budget bounds the memory that the bodies being read and the responses being written take together. Each request has a
// holder, which counts its bytes. A holder that needs more than is left waits. While one waits, holders whose clients are
// slow are disconnected; clients that move no bytes at all are disconnected in any case.
//
// Most requests are small: they only add to an atomic counter. A holder that needs more is recorded in a list, with its
// caller and the pace of its client, which takes the mutex.
type budget struct {
	total    int64
	patience time.Duration // how long a request waits for room
	now      func() time.Time

	used atomic.Int64 // by all, on record or not

	mu      sync.Mutex
	shares  map[string]int64 // bytes on record, by caller
	holders list.List        // of *holder, those on record, the oldest first
	waiting list.List        // of *waiter, the one who came first first
	swept   time.Time
	armed   bool // a timer for the next sweep is set
}

// The sizes are in bytes. smallHold, modestHold and share decide who waits; the others decide who is disconnected, see
// sweep.
const (
	defaultMemory = 256 << 20
	// smallHold is a size that fits into the buffers of the operating system, so that no client holds it for long.
	smallHold  = 16 << 10
	modestHold = 64 << 10

	roomPatience = time.Second
	slowPeriod   = 10 * time.Second
	slowRate     = 4 << 10 // bytes a second
	mostIdle     = 20 * time.Second
	oldHolder    = 30 * time.Second
	oldRate      = 256 << 10 // bytes a second
	sweepEvery   = time.Second
	sweepAtOnce  = 100 * time.Millisecond // at most so often for those who begin to wait
)

// newBudget returns a budget of total bytes.
func newBudget(total int64) *budget {
	return &budget{total: total, patience: roomPatience, now: time.Now, shares: map[string]int64{}}
}

// share is an eighth of the budget. So much may one caller take, so much is kept free for requests of up to modestHold,
// and up to so much in use, small requests are not on record.
func (b *budget) share() int64 { return b.total / 8 }

// holder counts the bytes of the budget that one request has. It has none at first; only all, w and caller need be set.
// Its methods are called by the goroutine of the request alone.
type holder struct {
	all     *budget
	w       http.ResponseWriter
	caller  string
	bytes   int64 // that the request has of the budget
	planned int64 // of these, the bytes that plan has counted
	wanted  int64 // the bytes that it would have had, when plan refused last

	place *list.Element // among the holders; nil while it is not on record
	// While the client is being waited for:
	waits   bool
	writing bool
	pace    pace
	control *http.ResponseController // cuts the client off
	cut     bool                     // the client was cut off
}

// waiter is a holder that waits for more.
type waiter struct {
	h     *holder
	bytes int64
	ready chan struct{} // closed when it has them
}

// plan counts n bytes that the request is about to use. It does not wait, and reports whether they fit.
func (h *holder) plan(n int64) bool {
	more := h.planned + n - h.bytes
	if more > 0 && !h.takeSmall(more) {
		b := h.all
		b.mu.Lock()
		defer b.mu.Unlock()
		if !b.fits(h, more) {
			h.wanted = h.planned + n
			return false
		}
		b.give(h, more)
	}
	h.planned += n
	return true
}

// takeSmall takes bytes for a small request without recording it. It reports false if the request is recorded or not
// small, or if more than a share of the budget is in use.
func (h *holder) takeSmall(more int64) bool {
	b := h.all
	if h.place != nil || h.bytes+more > smallHold {
		return false
	}
	if b.used.Add(more) > b.share() {
		b.used.Add(-more)
		return false
	}
	h.bytes += more
	return true
}

// take raises the bytes of the holder to n. If they do not fit, it waits for at most patience. It reports whether the
// holder has them.
func (h *holder) take(ctx context.Context, n int64, patience time.Duration) bool {
	more := n - h.bytes
	if more <= 0 || h.takeSmall(more) {
		return true
	}
	b := h.all
	b.mu.Lock()
	if b.fits(h, more) {
		b.give(h, more)
		b.mu.Unlock()
		return true
	}
	// There is not enough: wait, and see to it that slow clients make room.
	w := &waiter{h, more, make(chan struct{})}
	place := b.waiting.PushBack(w)
	if now := b.now(); now.Sub(b.swept) >= sweepAtOnce {
		b.sweep(now)
	}
	b.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-w.ready:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	// The bytes may have been given between the end of the wait and the lock.
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-w.ready:
		return true
	default:
		b.waiting.Remove(place)
		return false
	}
}

// set corrects the bytes of the holder to n, the size that its buffers really have. It may exceed the budget, since the
// memory is in use already.
func (h *holder) set(n int64) {
	h.planned = n
	b := h.all
	if h.place == nil && n <= smallHold {
		b.used.Add(n - h.bytes)
		h.bytes = n
		return
	}
	if n == h.bytes {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.give(h, n-h.bytes)
	b.grant()
}

// release returns all bytes to the budget.
func (h *holder) release() {
	b := h.all
	if h.place == nil {
		if h.bytes != 0 {
			b.used.Add(-h.bytes)
		}
		h.bytes, h.planned = 0, 0
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.give(h, -h.bytes)
	b.holders.Remove(h.place)
	if b.shares[h.caller] == 0 {
		delete(b.shares, h.caller)
	}
	h.place, h.planned, h.waits = nil, 0, false
	b.grant()
}

// begin notes that the server now waits for the client: to read the response if writing is true, else to send the body.
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

// The functions from here on are called with mu held.

// fits reports whether a holder may have more bytes: whether the budget has them and whether the share of the caller
// has them. The only holder of a caller may exceed the share, and the only holder of all may exceed the budget, since a
// single response can be larger than either and would never be answered.
func (b *budget) fits(h *holder, more int64) bool { return b.fitsAll(h, more) && b.fitsShare(h, more) }

// fitsAll reports whether the budget has the bytes. A share of it is kept free of holders above modestHold.
func (b *budget) fitsAll(h *holder, more int64) bool {
	used, most := b.used.Load(), b.total
	if h.bytes+more > modestHold {
		most -= b.share()
	}
	return used+more <= most || used == h.bytes
}

// fitsShare reports whether the share of the holder's caller has the bytes.
func (b *budget) fitsShare(h *holder, more int64) bool {
	others := b.shares[h.caller]
	if h.place != nil {
		others -= h.bytes
	}
	return others == 0 || others+h.bytes+more <= b.share()
}

// give adds bytes to a holder and records it.
func (b *budget) give(h *holder, more int64) {
	b.used.Add(more)
	if h.place == nil {
		h.place, h.control = b.holders.PushBack(h), http.NewResponseController(h.w)
		b.shares[h.caller] += h.bytes
		if !b.armed {
			b.armed = true
			time.AfterFunc(sweepEvery, b.tick)
		}
	}
	h.bytes += more
	b.shares[h.caller] += more
}

// grant gives bytes to the waiting holders whose request fits now.
func (b *budget) grant() {
	var next *list.Element
	for e := b.waiting.Front(); e != nil; e = next {
		next = e.Next()
		if w := e.Value.(*waiter); b.fits(w.h, w.bytes) {
			b.give(w.h, w.bytes)
			b.waiting.Remove(e)
			close(w.ready)
		}
	}
}

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
		case !h.waits || h.cut:
		case h.pace.idle(now) >= mostIdle:
			need.met(b.end(h))
		case need.from(h) && h.pace.below(slowRate, now):
			need.met(b.end(h))
		}
	}
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
