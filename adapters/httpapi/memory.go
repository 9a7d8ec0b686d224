package httpapi

import (
	"errors"
	"net/http"
	"time"

	"github.com/vitrine-go/vitrine/internal/memlimit"
)

// The memory of bodies and responses is bounded by slots. A request whose body, work and response take up to notLarge bytes needs none.
// Any other takes a slot for each slotBytes, but never more than a quarter of all slots, so that one that needs more is carried out, too.
// It takes them before it uses the memory: with enlarge, or, where that must not wait, with reserve.
const (
	notLarge      = 64 << 10
	slotBytes     = 1 << 20
	defaultMemory = 256 << 20

	// workFactor times the size of its body is what a request takes while the endpoint works on it: for the bytes as they were
	// sent, for what they decode to, and for what is stored.
	workFactor = 4
)

// newLargeSlots returns the slots of requests that need more than notLarge bytes, of which a caller has an eighth.
func newLargeSlots(memory int64) *slots {
	n := int(max(memory/slotBytes, 1))
	return newSlots("large requests", http.StatusServiceUnavailable, n, max(n/8, 1), 0)
}

// errNoRoom is the response to a request for which no slot became free in time.
var errNoRoom = refuse(http.StatusServiceUnavailable, "too many large requests are under way: there is no memory for this one at the moment, try again")

// slotsFor returns how many slots a request of so many bytes takes.
func (s *slots) slotsFor(bytes int) int {
	return max(1, min((bytes+slotBytes-1)/slotBytes, s.total/4))
}

// largeSlot returns the slot for the memory of the request. Its count is 0 until the request is large.
func (c *call) largeSlot() *slot {
	if c.large == nil {
		c.large = c.newSlot(c.h.large, "")
	}
	return c.large
}

// enlarge takes slots for so many bytes in all. It waits for them if need be, and returns errNoRoom if they do not become free in time.
func (c *call) enlarge(bytes int, patience time.Duration) error {
	if bytes > notLarge && c.largeSlot().enter(c.r.Context(), c.h.large.slotsFor(bytes), patience) != nil {
		return errNoRoom
	}
	return nil
}

// reserve counts n more bytes, and reports whether the request may have them. It does not wait, since its callers may hold a snapshot of
// the store; work waits and calls the endpoint again.
func (c *call) reserve(n int) bool {
	c.used += n
	if c.used <= notLarge {
		return true
	}
	_, err := c.largeSlot().tryEnter(c.h.large.slotsFor(c.used), false)
	return err == nil
}

// work calls the endpoint. An endpoint that returns memlimit.ErrExceeded has changed and sent nothing. It is called again
// when there are slots for twice the memory that it asked for, until slotPatience is over; then the response is 503. So is a response
// for which there is no memory. The response to a write is sent even so, since the write is done.
func (c *call) work() error {
	if c.route.reserves {
		c.context = memlimit.With(c.ctx(), c.reserve)
	}
	var begun time.Time
	for {
		c.used, c.status = workFactor*len(c.body), c.route.status
		err := c.route.call(c)
		if more := workFactor*len(c.body) + len(c.out) - c.used; err == nil && len(c.out) > notLarge && more > 0 && !c.reserve(more) && !c.route.writes() {
			err = memlimit.ErrExceeded
		}
		if !errors.Is(err, memlimit.ErrExceeded) {
			return err
		}
		if begun.IsZero() {
			begun = time.Now()
		}
		for _, name := range []string{"Etag", "Link", "Location", "Vary"} { // the next call may set others
			delete(c.header(), name)
		}
		c.out = nil
		if err := c.enlarge(2*c.used, slotPatience-time.Since(begun)); err != nil {
			return err
		}
	}
}

// A client may take clientPatience for a large body or response, or the timeout of the server if that is shorter, and a second more for
// each clientRate bytes. Small ones are bounded by the timeouts of the server alone.
const (
	clientPatience = time.Minute
	clientRate     = 64 << 10
)

// patience returns how long the client may take for a large body or response, apart from what it gains by its bytes.
func (c *call) patience(writing bool) time.Duration {
	timeout := time.Duration(0)
	if server, ok := c.r.Context().Value(http.ServerContextKey).(*http.Server); ok && writing {
		timeout = server.WriteTimeout
	} else if ok {
		timeout = server.ReadTimeout
	}
	if timeout > 0 {
		return min(clientPatience, timeout)
	}
	return clientPatience
}

// exchange calls fn, which sends to the client or reads from it, for as long as the client may still take. With a slot that is the
// time left, to which each byte that the client moves adds; it returns errCut if others wait and the client is too slow for them.
func (c *call) exchange(writing bool, fn func() (int, error)) (n int, err error) {
	begun := time.Now()
	if c.client != nil {
		if err := c.client.begin(writing, begun.Add(c.left)); err != nil {
			return 0, err
		}
	}
	n, err = fn()
	c.left += time.Duration(n)*time.Second/clientRate - time.Since(begun)
	if c.client != nil {
		if cut := c.client.end(n); cut != nil && err == nil {
			err = cut
		}
	}
	return n, err
}
