package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
)

// Streams are the event streams of a handler. A program makes one with NewStreams and gives it to Config.Streams, to
// end the streams when its server stops, and to have their callers authenticated again when its keys have changed. It
// is safe for concurrent use.
//
//	server.RegisterOnShutdown(streams.Close)
type Streams struct {
	// Began is called when a stream begins, with the context of its request, and the function that it returns when the
	// stream has ended; nil = nothing is called.
	Began func(ctx context.Context) (ended func())

	mu      sync.Mutex
	open    map[*stream]struct{}
	again   chan struct{} // closed by the next Recheck
	closed  chan struct{} // closed by Close
	closing sync.Once
}

// NewStreams returns a Streams for Config.Streams.
func NewStreams() *Streams {
	return &Streams{open: map[*stream]struct{}{}, closed: make(chan struct{}), again: make(chan struct{})}
}

// Count returns how many streams are open.
func (s *Streams) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// Lag returns for how long the stream that is furthest behind has had something to send: 0 when every client was sent
// all that there is. It grows while a client does not read, and while the store does not respond.
func (s *Streams) Lag() (longest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range s.open {
		if since := one.behind.Load(); since != 0 {
			longest = max(longest, time.Since(time.Unix(0, since)))
		}
	}
	return longest
}

// Close ends all streams, each after the events that it is sending, which are one page at most. A stream that begins
// later sends one page of the events that are there and ends; its client goes on from the last of them when it connects
// again. Close may be called more than once.
func (s *Streams) Close() {
	s.closing.Do(func() { close(s.closed) })
}

// Recheck makes the handler call Config.Authenticate again for the streams of some users, by URN, or for every stream
// if it is called without one, at once instead of within a minute. A stream ends if its caller is no longer
// authenticated or is another one now.
func (s *Streams) Recheck(users ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.again)
	s.again = make(chan struct{})
	for one := range s.open {
		if len(users) == 0 || slices.Contains(users, one.user) {
			one.recheck()
		}
	}
}

// put adds a stream to those that are open, or removes it.
func (s *Streams) put(one *stream, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if open {
		s.open[one] = struct{}{}
	} else {
		delete(s.open, one)
	}
}

// The sizes and times of a stream.
const (
	// streamPage is how many events are read at a time, and largeStreamPage of a feed whose events may have 1,000 ids.
	// A stream has one page in memory while its client does not read, of some 50 KB.
	streamPage, largeStreamPage = 10, 1
	// commentEvery is the longest time without bytes. Then a comment is sent, so that both sides notice a lost
	// connection.
	commentEvery = 15 * time.Second
	// authenticateEvery is how often Authenticate is called for a stream. A caller who loses rights keeps an open
	// stream for this time at most.
	authenticateEvery = time.Minute
	// streamPatience is how long a client may take for a page, and a second more for each clientRate bytes.
	streamPatience = 30 * time.Second
)

// stream is one event stream. Its out has the unsent events.
type stream struct {
	*call
	// changed is called before each read of the feed. It returns the cursor to read from, which is after or a later
	// one, and a channel that is closed when there may be more. The channel is taken before the feed is read, so a
	// change between the two is not missed.
	changed func(after string) (from string, wake <-chan struct{})
	// page reads a page of the feed after next, puts its events into out, and returns the next cursor and whether there
	// is more at once.
	page func(*stream) (next string, more bool, err error)
	wake <-chan struct{}

	next string // the cursor up to which the feed was read
	// the last cursor that was sent; next is later if the feed went on with entries that the client may not see
	sentID string
	more   bool // the feed has more than was read

	user  string        // whose it is, for Recheck
	stale atomic.Bool   // the caller must be authenticated again
	ring  chan struct{} // wakes the stream when stale is set

	behind atomic.Int64 // when the feed first had unsent entries, in nanoseconds since the epoch; 0 = it has none
	sentAt time.Time    // when something was sent last
	asked  time.Time    // when Authenticate was asked last
}

// stream sends a feed as server-sent events, from a cursor on, until the connection, the server or the caller's
// identity ends. The header Last-Event-ID, which a browser sends when it connects again, overrides the cursor.
//
// Nothing is buffered between the feed and the client: each page is read just before it is sent. An error in the first
// page becomes a response like any other. A later error ends the stream, and the client goes on from its last id. A
// stream ends between two events, unless its connection breaks or the server closes the connection of a client that
// reads too slowly.
func (c *call) stream(
	after string, changed func(string) (string, <-chan struct{}),
	page func(*stream) (next string, more bool, err error),
) error {
	c.turn.keep(0)
	if !c.drain() {
		return errBodyMissing
	}
	all := c.h.Streams
	if err := c.acquireSlot(c.h.streams, ""); err != nil {
		return err
	}
	after = cmp.Or(c.r.Header.Get("Last-Event-Id"), after)
	s := &stream{call: c, changed: changed, page: page, next: after, sentID: after, asked: time.Now(),
		user: c.by.URN, ring: make(chan struct{}, 1)}
	s.behind.Store(time.Now().UnixNano())
	all.put(s, true)
	defer all.put(s, false)
	if isClosed(c.again) { // there was a Recheck, of whomever, between authentication and put
		s.recheck()
	}
	s.watch()
	if err := s.read(); err != nil {
		return err
	}
	if all.Began != nil {
		if ended := all.Began(c.r.Context()); ended != nil {
			defer ended()
		}
	}
	s.begin()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for s.send() {
		read := s.more || s.wait(timer)
		if s.over() {
			break
		}
		if !read && time.Since(s.sentAt) >= commentEvery {
			read = s.watch()
			s.comment()
		}
		if !read {
			continue
		}
		if !s.more {
			s.behind.Store(time.Now().UnixNano())
		}
		s.watch()
		if err := s.read(); err != nil {
			if c.r.Context().Err() == nil {
				c.log("an event stream was ended", err)
			}
			break
		}
	}
	return nil
}

// recheck makes the stream authenticate its caller before it reads or sends anything more.
func (s *stream) recheck() {
	s.stale.Store(true)
	select {
	case s.ring <- struct{}{}:
	default: // it has not woken yet
	}
}

// watch calls changed, and reports whether the feed has changed since it was called before.
func (s *stream) watch() bool {
	before := s.wake
	s.next, s.wake = s.changed(s.next)
	return s.wake != before
}

// read reads a page of the feed into out.
func (s *stream) read() (err error) {
	next, more, err := s.page(s)
	if err == nil {
		s.next, s.more = next, more
	}
	return err
}

// putEvents puts events into out, each with its cursor as its id, unless err is set. of returns the cursor and the type
// of an event. The JSON of an event is one line, as server-sent events need it.
func putEvents[E any](s *stream, events []E, err error, of func(E) (cursor, kind string)) error {
	for _, e := range events {
		data, marshalErr := json.Marshal(e)
		err = cmp.Or(err, marshalErr)
		cursor, kind := of(e)
		s.sentID = cursor
		s.out = fmt.Appendf(s.out, "id: %s\nevent: %s\ndata: %s\n\n", cursor, kind, data)
	}
	return err
}

// comment puts a comment into out. If the feed was read further than the last event sent, since the client may not see
// the following entries, an id with that cursor is sent too, so that a client that connects again need not begin before
// those entries.
func (s *stream) comment() {
	s.out = append(s.out, ":\n\n"...)
	if s.next != s.sentID {
		s.sentID = s.next
		s.out = fmt.Appendf(s.out, "id: %s\n\n", s.next)
	}
}

// begin sends the headers. After it no error can become the response.
func (s *stream) begin() {
	s.sent, s.streamed = true, true
	s.w.Header()["Content-Type"] = []string{eventStream}
	s.cacheAs(noStore)
	s.w.Header()["X-Accel-Buffering"] = []string{"no"} // so that a proxy forwards events at once
	// the client has sent everything; a writer without deadlines has none
	_ = s.client.control.SetReadDeadline(time.Time{})
	_ = s.client.control.SetWriteDeadline(time.Now().Add(streamPatience))
	s.w.WriteHeader(s.status)
	_ = s.client.control.Flush()
	s.sentAt = time.Now()
}

// send sends out. It reports whether the stream goes on. Between two pages a stream has no large slot, so thousands
// of quiet streams cost no memory.
func (s *stream) send() bool {
	if len(s.out) == 0 {
		return true
	}
	s.left = streamPatience
	err := s.write(s.out)
	if cap(s.out) > notLarge {
		s.out = nil
	}
	s.out = s.out[:0]
	s.large.keep(0)
	s.sentAt = time.Now()
	return err == nil && s.client.control.Flush() == nil
}

// wait waits until the feed may have grown, and then returns true, or until something else must be done. It reads
// nothing from the store, so a quiet stream outlives an outage of the store.
func (s *stream) wait(timer *time.Timer) (grown bool) {
	s.behind.Store(0)
	next := s.sentAt.Add(commentEvery)
	for _, at := range []time.Time{s.asked.Add(authenticateEvery), s.by.Expires} {
		if !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	timer.Reset(time.Until(next))
	select {
	case <-s.wake:
		return true
	case <-timer.C:
	case <-s.ring:
	case <-s.h.Streams.closed:
	case <-s.r.Context().Done():
	}
	return false
}

// over reports whether the stream must end because the server stops, the client has disconnected, or the caller's
// identity has ended or changed. It is called before every page.
func (s *stream) over() bool {
	if stale := s.stale.Swap(false); (stale || time.Since(s.asked) >= authenticateEvery) && !s.sameCaller() {
		return true
	}
	return isClosed(s.h.Streams.closed) || s.r.Context().Err() != nil || !s.by.Expires.IsZero() &&
		!time.Now().Before(s.by.Expires)
}

// isClosed reports whether a channel to which nothing is sent is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// sameCaller authenticates the request again, and reports whether it is still sent by the same principal. Only Expires
// may differ, as it does when a session was renewed.
func (s *stream) sameCaller() bool {
	before := s.by
	s.asked = time.Now()
	if err := s.h.authenticate(s.call); err != nil {
		return false
	}
	before.Expires = s.by.Expires
	return reflect.DeepEqual(before, s.by)
}
