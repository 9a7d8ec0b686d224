package httpapi

import (
	"container/list"
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A budget bounds the bytes that the bodies being read and the answers being written take together. A
// request is a holder of some of them. One that needs more than is left waits for room; while somebody
// waits, holders whose clients are slow are cut off, and clients that have stopped are cut off anyway.
//
// Most requests are small and pass by one atomic counter: they are counted and not on record. A holder
// that needs more goes on record, with its caller and the pace of its client.
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
	armed   bool // a sweep will come by itself
}

const (
	defaultMemory = 256 << 20
	// smallHold is what the system's buffers take off a client's hands, so that it is never held for long.
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

func newBudget(total int64) *budget {
	return &budget{total: total, patience: roomPatience, now: time.Now, shares: map[string]int64{}}
}

// share is an eighth of the budget. So much may one caller take, so much is kept free for requests of up to modestHold,
// and up to so much in use, small requests are not on record.
func (b *budget) share() int64 { return b.total / 8 }

// holder is a request's part of the budget. Its zero value, with all set, holds nothing.
type holder struct {
	all     *budget
	w       http.ResponseWriter
	caller  string
	bytes   int64 // that it holds
	planned int64 // of these, what it has asked for; see plan
	wanted  int64 // the most that it was refused

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

// plan counts bytes that the request is about to take, without waiting. It reports whether there is room.
func (h *holder) plan(n int64) bool {
	more := h.planned + n - h.bytes
	if more > 0 && !h.passes(more) {
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

// passes takes bytes for a small request, which is not put on record for it while there is much room.
func (h *holder) passes(more int64) bool {
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

// take has the holder hold n bytes in all, and waits for them as long as its patience lasts. It reports
// whether it has them.
func (h *holder) take(ctx context.Context, n int64, patience time.Duration) bool {
	more := n - h.bytes
	if more <= 0 || h.passes(more) {
		return true
	}
	b := h.all
	b.mu.Lock()
	if b.fits(h, more) {
		b.give(h, more)
		b.mu.Unlock()
		return true
	}
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

// set makes what the holder holds what it has in fact come to, also where that is more than there is
// room for: it is there already.
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

// release gives everything back.
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

// begin says that from now on the client is waited for, to give a body or to take an answer.
func (h *holder) begin(writing bool) {
	if h.place == nil || h.waits {
		return
	}
	b := h.all
	b.mu.Lock()
	defer b.mu.Unlock()
	h.waits, h.writing, h.pace = true, writing, newPace(slowPeriod, b.now())
}

// moved says that the client gave or took bytes.
func (h *holder) moved(n int) {
	if h.place == nil {
		return
	}
	b := h.all
	b.mu.Lock()
	defer b.mu.Unlock()
	h.pace.add(b.now(), n)
}

// rest says that the client is not waited for any more. It reports whether it was cut off.
func (h *holder) rest() bool {
	if h.place == nil {
		return false
	}
	h.all.mu.Lock()
	defer h.all.mu.Unlock()
	h.waits = false
	return h.cut
}

// The rest is called with mu held.

// fits reports whether there is room for more bytes of a holder. Who holds nothing beside it may exceed
// its share, and who is alone everything: an answer can be larger than these.
func (b *budget) fits(h *holder, more int64) bool { return b.fitsAll(h, more) && b.fitsShare(h, more) }

func (b *budget) fitsAll(h *holder, more int64) bool {
	used, most := b.used.Load(), b.total
	if h.bytes+more > modestHold {
		most -= b.share()
	}
	return used+more <= most || used == h.bytes
}

func (b *budget) fitsShare(h *holder, more int64) bool {
	others := b.shares[h.caller]
	if h.place != nil {
		others -= h.bytes
	}
	return others == 0 || others+h.bytes+more <= b.share()
}

// give adds to what a holder holds, and puts it on record.
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

// grant gives those who wait what there is room for now.
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

// tick sweeps as long as somebody is on record.
func (b *budget) tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.armed = b.holders.Len() > 0; b.armed {
		b.sweep(b.now())
		time.AfterFunc(sweepEvery, b.tick)
	}
}

// sweep cuts off the clients that have stopped and, as far as somebody waits for what they hold, those
// that are slow: first all that are very slow, then the oldest as long as more is needed.
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

// end cuts a client off. The goroutine that waits for it gives back what is held.
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

// needs is what is waited for: room in the budget, and in the shares of some callers.
type needs struct {
	all    int64
	shares map[string]int64
}

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

func (n *needs) left() bool { return n.all > 0 || len(n.shares) > 0 }

// from reports whether somebody waits for what h holds.
func (n *needs) from(h *holder) bool { return n.all > 0 || n.shares[h.caller] > 0 }

// met counts what h will give back.
func (n *needs) met(h *holder) {
	n.all -= h.bytes
	if needed, ok := n.shares[h.caller]; ok && needed > h.bytes {
		n.shares[h.caller] = needed - h.bytes
	} else {
		delete(n.shares, h.caller)
	}
}
