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
//
// Who waits: a holder above modestHold when less than an eighth of the budget would be left, any recorded holder when nothing
// would be left, and any when its caller would have more than an eighth. But the only holder of all may exceed the budget, and the
// only one of a caller may exceed its eighth. Who is disconnected: see sweep. Nothing that a request has is ever taken from it while
// the server works on it.
type budget struct {
	total    int64         // Limits.Memory
	patience time.Duration // how long a request waits for room
	now      func() time.Time

	used atomic.Int64 // bytes of all holders, on record or not

	mu      sync.Mutex
	shares  map[string]int64 // bytes on record, by caller
	holders list.List        // of *holder, those on record, the oldest first
	waiting list.List        // of *waiter, the one who came first first
	swept   time.Time        // when sweep ran last
	armed   bool             // a timer for the next sweep is set
}

// The sizes are in bytes. Together with share they decide who waits.
const (
	defaultMemory = 256 << 20
	// smallHold is a size that fits into the buffers of the operating system, so that no client holds it for long.
	smallHold = 16 << 10
	// modestHold is the size up to which a request may use the eighth that is kept free of large ones. So reads of usual
	// apps are answered while large requests fill the rest.
	modestHold = 64 << 10

	roomPatience = time.Second // how long a request waits for memory before it is 503
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

// plan counts n bytes that the request is about to use, in addition to those it has planned before. They come out of the
// bytes that the request has already, as far as those are not planned; only the rest is taken from the budget. plan does
// not wait, since its callers may hold a snapshot of the store, and reports whether there is enough. If not, wanted says
// how many bytes the request would have needed so far.
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
// memory is in use already. If there are fewer bytes than before, waiting holders get the rest.
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

// release returns all bytes to the budget, and gives them to those that wait. It may be called more than once.
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
	onlyOne := used == h.bytes
	return used+more <= most || onlyOne
}

// fitsShare reports whether the share of the holder's caller has the bytes.
func (b *budget) fitsShare(h *holder, more int64) bool {
	others := b.shares[h.caller]
	if h.place != nil { // then its own bytes are in the share
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

// grant gives bytes to the waiting holders whose request fits now, those that came first first. One that does not fit does
// not hold up those behind it; its patience ends after a second in any case.
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
