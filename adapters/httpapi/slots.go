package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"time"
)

// slots limit how many requests of a kind are under way, in all and of a caller. A request that finds no free slot
// waits, for slotPatience at most if it is no read. A slot that becomes free goes to the request whose caller has got
// one the longest ago, first of all to callers who have got none since they have requests here. So a caller with a
// thousand requests delays each of the others by one request and not by a thousand. While a request waits, the slowest
// request that has such a slot is cut off: the one whose client has sent or read the fewest bytes a second, if the
// server has waited for that client for more than slowAfter.
type slots struct {
	what             string // "uploads", for sentences
	status           int    // of the error when no slot becomes free
	total, perCaller int
	perNetwork       int // 0 if the kind has no limit for networks

	mu      sync.Mutex
	used    int                // slots that are taken
	given   int                // how often slots were given, which numbers these times
	callers map[string]*share  // the callers that have requests here
	clients map[*slot]struct{} // the requests that have slots and may be cut off
	waiting []*slot            // in the order of their coming
}

// share is what one caller has of a kind of slots.
type share struct {
	requests int // that have slots or wait
	used     int
	last     int // the number of the time when it got slots last; 0 = never
}

const (
	slotPatience = time.Second
	slowAfter    = 10 * time.Second
	// A client that sends or reads this many bytes a second on average is never cut off to make room.
	slowRate = 64 << 10
)

func newSlots(what string, status, total, perCaller, perNetwork int) *slots {
	return &slots{what: what, status: status, total: total, perCaller: perCaller, perNetwork: perNetwork,
		callers: map[string]*share{}, clients: map[*slot]struct{}{}}
}

// slot counts the slots of a kind that one request has: 0 at first, usually 1, more if it needs a lot of memory. It
// belongs to the goroutine of the request, its second part to the lock of all.
type slot struct {
	all             *slots
	caller, network string  // network may be ""
	client          *client // nil if the request is never cut off

	own   *share // nil without slots, unless it waits
	count int
	want  int           // how many slots it will have, if it waits
	ready chan struct{} // closed when it gets them
}

// acquireSlot takes a slot of a kind other than memory, for as long as the request lasts. network may be "".
func (c *call) acquireSlot(s *slots, network string) error {
	c.slot = c.newSlot(s, network)
	return c.slot.acquire(c.r.Context(), 1, slotPatience)
}

// newSlot returns the slot of a request, with a count of 0. network may be "".
func (c *call) newSlot(s *slots, network string) *slot {
	if c.client == nil {
		c.client = &client{control: http.NewResponseController(c.w)}
	}
	return &slot{all: s, caller: c.counted(), network: network, client: c.client}
}

// counted returns the name that slots are counted for: the URN of the caller, or the address of the client without one.
// A delivery token is public, so its requests are counted by address. An IPv6 address counts as its network of 64 bits.
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

// acquire raises the slots of a request to count. It returns an error with the status of the kind if they do not become
// free in time. Without patience it does not wait, and cuts no request off. The only request of a caller may have more
// than the caller's share.
func (x *slot) acquire(ctx context.Context, count int, patience time.Duration) error {
	s := x.all
	s.mu.Lock()
	defer s.mu.Unlock()
	if count <= x.count {
		return nil
	}
	if x.own == nil {
		if x.own = s.callers[x.caller]; x.own == nil {
			x.own = &share{}
			s.callers[x.caller] = x.own
		}
		x.own.requests++
	}
	defer s.forget(x)
	x.want = count
	n, whose := s.full(x)
	if n == 0 {
		s.give(x)
		return nil
	}
	err := errorf(s.status, "%d %s%s are under way, as many as may be: wait until one of them has ended", n, s.what,
		whose)
	if patience <= 0 {
		return err
	}
	x.ready = make(chan struct{})
	s.waiting = append(s.waiting, x)
	if patience <= slotPatience || whose != ofCaller { // one that waits for longer cuts off none of its own caller
		s.cutSlowest(x)
	}
	s.mu.Unlock()
	select {
	case <-x.ready:
	case <-time.After(patience):
	case <-ctx.Done():
	}
	s.mu.Lock()
	if i := slices.Index(s.waiting, x); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
		return err
	}
	return nil
}

// Whose slots are all in use.
const (
	ofCaller  = " of this caller"
	ofNetwork = " for this network"
	ofAll     = ""
)

// full returns whose slots a request has to wait for, and how many these are: 0 if the slots that it wants are free. It
// is called with the lock held, as are the functions after it.
func (s *slots) full(x *slot) (n int, whose string) {
	over := func(n, most int) bool { return n > x.count && n+x.want-x.count > most }
	if over(x.own.used, s.perCaller) {
		return x.own.used, ofCaller
	}
	if x.network != "" {
		for o := range s.clients {
			if o.network == x.network {
				n += o.count
			}
		}
		if over(n, s.perNetwork) {
			return n, ofNetwork
		}
	}
	if over(s.used, s.total) {
		return s.used, ofAll
	}
	return 0, ofAll
}

// give gives a request the slots that it wants.
func (s *slots) give(x *slot) {
	s.given++
	x.own.last = s.given
	x.own.used += x.want - x.count
	s.used += x.want - x.count
	x.count = x.want
	if x.client != nil {
		s.clients[x] = struct{}{}
	}
}

// cutSlowest cuts off the slowest of the other requests whose slots a request waits for, if one is slow.
func (s *slots) cutSlowest(x *slot) {
	_, whose := s.full(x)
	var slowest *client
	least := float64(slowRate)
	for o := range s.clients {
		if o == x || whose == ofCaller && o.own != x.own || whose == ofNetwork && o.network != x.network {
			continue
		}
		if rate := o.client.rate(); rate < least {
			slowest, least = o.client, rate
		}
	}
	if slowest != nil {
		slowest.cutOff()
	}
}

// keep releases the slots of the request beyond count; 0 releases all of them. It may be called on nil.
func (x *slot) keep(count int) {
	if x == nil || x.count <= count {
		return
	}
	s := x.all
	s.mu.Lock()
	defer s.mu.Unlock()
	x.own.used -= x.count - count
	s.used -= x.count - count
	if x.count = count; count == 0 {
		delete(s.clients, x)
		s.forget(x)
	}
	if len(s.waiting) == 0 {
		return
	}
	for next := s.next(); next >= 0; next = s.next() {
		x := s.waiting[next]
		s.waiting = slices.Delete(s.waiting, next, next+1)
		s.give(x)
		close(x.ready)
	}
	for _, x := range s.waiting {
		s.cutSlowest(x)
	}
}

// next returns which of the waiting requests gets slots, -1 if there are too few for each of them.
func (s *slots) next() int {
	next := -1
	for i, x := range s.waiting {
		if next >= 0 && x.own.last >= s.waiting[next].own.last {
			continue
		}
		if n, _ := s.full(x); n == 0 {
			next = i
		}
	}
	return next
}

// forget removes the caller of a request without slots, if it has no others.
func (s *slots) forget(x *slot) {
	if x.own == nil || x.count > 0 {
		return
	}
	if x.own.requests--; x.own.requests == 0 {
		delete(s.callers, x.caller)
	}
	x.own = nil
}

// inUse returns how many slots are taken.
func (s *slots) inUse() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// Reads have slots while they are at work in the domains, so that some connections to the store and some of the
// processor are always left for /healthz, for writes and for callers who read little. A read waits for its slot as long
// as its client does, and has it only until its response is known: sending it takes none.

// readsAtATime is less than the number of connections that drivers have for reads.
func readsAtATime() int { return max(16, 4*runtime.GOMAXPROCS(0)) }

// readsOfCaller is how many reads keep all processors at work, also while half of them wait for the store. With more of
// them a read of another caller would wait longer for a processor than for its slot.
func readsOfCaller() int { return max(4, 2*runtime.GOMAXPROCS(0)) }

// client is how fast the client of a request with slots sends its body or reads the response. Only the time in which
// the server waits for it counts.
type client struct {
	control *http.ResponseController

	mu      sync.Mutex
	waits   bool          // the server waits for the client
	writing bool          // it waits for the client to read the response, not to send the body
	since   time.Time     // when this wait began
	waited  time.Duration // how long the earlier waits took together
	bytes   int64         // how many bytes the client has sent or read in them
	cut     bool          // the client was cut off
}

// errCut says that the client of a request was cut off, because it was slow and others waited.
var errCut = errors.New("the client was too slow while others waited")

// begin notes that the server waits for the client until a deadline. It returns errCut if the client was cut off.
func (c *client) begin(writing bool, deadline time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut {
		return errCut
	}
	c.waits, c.writing, c.since = true, writing, time.Now()
	c.setDeadline(deadline)
	return nil
}

// end notes that the client has sent or read n bytes and that the server no longer waits for it. It returns errCut as
// begin does.
func (c *client) end(n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits, c.bytes = false, c.bytes+int64(n)
	c.waited += time.Since(c.since)
	if c.cut {
		return errCut
	}
	return nil
}

// rate returns how many bytes the client sends or reads per second of waiting for it. It returns slowRate, which counts
// as fast enough, for a client that was cut off already or was waited for only briefly.
func (c *client) rate() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	waited := c.waited
	if c.waits {
		waited += time.Since(c.since)
	}
	if c.cut || waited <= slowAfter {
		return slowRate
	}
	return float64(c.bytes) / waited.Seconds()
}

// cutOff ends the server's wait for the client. If the server does not wait at the moment, its next wait fails.
func (c *client) cutOff() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
	if c.waits {
		c.setDeadline(time.Now())
	}
}

// setDeadline limits how long the server waits for the client, if the connection has deadlines.
func (c *client) setDeadline(at time.Time) {
	if c.writing {
		_ = c.control.SetWriteDeadline(at)
	} else {
		_ = c.control.SetReadDeadline(at)
	}
}

// The memory of bodies and responses is limited by slots. A request whose body, work and response take up to notLarge
// bytes needs none. Any other takes a slot for each slotBytes, at most a quarter of all slots, so that a request that
// needs more can be served too. It takes them before it uses the memory. A page of a list and what its response is made
// of take up to twice 4 MiB before they are counted, in as many requests as have a slot of reads.
const (
	notLarge      = 64 << 10
	slotBytes     = 1 << 20
	defaultMemory = 256 << 20

	// workFactor times the size of its body is the memory of a request while the endpoint works on it: for the bytes as
	// they were sent, for the decoded value, and for the stored one.
	workFactor = 4
)

// errNoRoom is the response to a request for which no slot became free in time.
var errNoRoom = errorf(http.StatusServiceUnavailable,
	"too many large requests are under way: there is no memory for this one at the moment, try again")

// enlarge takes slots for so many bytes in all. It returns errNoRoom if they do not become free in time.
func (c *call) enlarge(bytes int, patience time.Duration) error {
	if bytes <= notLarge {
		return nil
	}
	if c.large == nil {
		c.large = c.newSlot(c.h.large, "")
	}
	count := max(1, min((bytes+slotBytes-1)/slotBytes, c.h.large.total/4))
	if c.large.acquire(c.r.Context(), count, patience) != nil {
		return errNoRoom
	}
	return nil
}

// erasePatience is how long an erasure waits for its slot. Those that have one wait for the same pass over the store,
// so it is soon free.
const erasePatience = 10 * time.Second

// mostErasures is how many erasures may wait, or be carried out, at a time; a caller has half of them.
const mostErasures = 128

// erases takes a slot for a request that erases: the store reads all of its files, and changes wait meanwhile.
func (c *call) erases() error {
	if c.slot != nil { // it is called again
		return nil
	}
	c.slot = c.newSlot(c.h.erasures, "")
	return c.slot.acquire(c.r.Context(), 1, erasePatience)
}

// mostSearches is how many searches in content may be under way, so that most of the slots of reads are left for
// others.
const mostSearches = 8

// uses returns how much memory the request uses with so many bytes of work or response.
func (c *call) uses(bytes int) int { return workFactor*len(c.body) + bytes }

// A client has clientPatience for a large body or response, or the timeout of the server if that is shorter, and a
// second more for each clientRate bytes. Only the timeouts of the server limit small ones.
const (
	clientPatience = time.Minute
	clientRate     = 64 << 10
)

// patience returns how long the client may take for a large body or response, without the time that its bytes add.
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

// exchange calls fn, which sends to the client or reads from it, for as long as the client may still take. With a slot
// that is the time left, to which each byte adds; it returns errCut if the client was cut off.
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

// overloadedKey is the key of the mark in a context.
type overloadedKey struct{}

// Overloaded marks the requests of a context as more than the server can handle: each gets 503 and Retry-After at once,
// and its connection is closed. Requests for /healthz and OPTIONS are served as always. A server that limits its
// connections or requests uses it, so that a full one is not mistaken for a dead one.
func Overloaded(ctx context.Context) context.Context {
	return context.WithValue(ctx, overloadedKey{}, true)
}

// errOverloaded is the response to a request that Overloaded marks.
var errOverloaded = errorf(http.StatusServiceUnavailable,
	"the server has as many requests under way as it takes: try again")
