package httpapi

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vitrine-go/vitrine/internal/memlimit"
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

	mu     sync.Mutex
	open   map[*stream]struct{}
	closed chan struct{} // closed by Close
	again  chan struct{} // closed by the next Recheck
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

// Lag returns for how long the stream that is furthest behind has had something to send: 0 when every client was sent all
// that there is. It grows while a client does not read, and while the store does not answer.
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

// Close ends all streams, each after the events that it is sending, which are one page at most. A stream that begins later
// sends one page of the events that are there and ends; its client goes on from the last of them when it connects again.
// Close may be called more than once.
func (s *Streams) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.closed:
	default:
		close(s.closed)
	}
}

// Recheck makes the handler call Config.Authenticate again for every stream, at once instead of within a minute. A stream
// whose caller is refused or is another one now ends.
func (s *Streams) Recheck() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.again)
	s.again = make(chan struct{})
}

// rechecked returns a channel that the next Recheck closes.
func (s *Streams) rechecked() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.again
}

// add and remove keep the list of the streams that are open.
func (s *Streams) add(one *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[one] = struct{}{}
}

func (s *Streams) remove(one *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, one)
}

// feedEvent is an entry of a feed as an event stream sends it.
type feedEvent struct {
	cursor, kind string
	data         []byte // JSON in one line
}

// feedPage reads a page of a feed: the events after a cursor, the cursor to read on from, and whether there is more to
// read at once.
type feedPage func(after string) (events []feedEvent, next string, more bool, err error)

// The sizes and times of a stream.
const (
	// streamPage is how many events are read at a time. A page ends at notLarge bytes, too, unless its first event is larger. A
	// stream has one page in memory while its client does not read.
	streamPage = 50
	// A comment goes out when nothing else does for so long, so that both sides notice a connection that is gone.
	commentEvery = 15 * time.Second
	// authenticateEvery is how often Authenticate is asked about a stream. A caller whose rights are taken away keeps an open
	// stream for so long at most.
	authenticateEvery = time.Minute
	// streamPatience is how long a client may take for a page, and a second more for each clientRate bytes.
	streamPatience = 30 * time.Second
)

// stream sends a feed as server-sent events, from a cursor on. Nothing is buffered between the feed and the client:
// each page is read just before it is sent. An error in the first page is answered like any other. A later error
// ends the stream, and the client goes on from its last id. A stream ends between two events,
// unless its connection breaks or the server closes the connection of a client that reads too slowly.
//
// changed is called before each read. It returns the cursor to read from, which is after or a later one, and a channel
// that is closed when there may be more.
func (c *call) stream(after string, changed func(after string) (from string, wake <-chan struct{}), page feedPage) error {
	if !c.drain() {
		return errBodyMissing
	}
	all := c.h.Streams
	c.slot = c.h.streams.newSlot(c, "")
	if err := c.slot.enter(c.ctx(), 1, slotPatience); err != nil {
		return err
	}
	s := &stream{call: c, control: c.slot.control, next: after, sentID: after}
	s.fallBehind()
	all.add(s)
	defer all.remove(s)
	c.context = memlimit.With(c.r.Context(), s.take)
	wake := s.begins(changed)
	more, err := s.read(page)
	if err != nil {
		return err
	}
	if all.Began != nil {
		if ended := all.Began(c.r.Context()); ended != nil {
			defer ended()
		}
	}
	s.begin()
	defer s.timers()()
	// Each round sends what was read, waits if there is no more, and reads. Memory that is short is waited for once; then
	// the stream ends, and its client connects again.
	for s.send() && !s.over() {
		if !more && !s.wait(changed, wake) {
			break
		}
		wake = s.begins(changed)
		if more, err = s.read(page); errors.Is(err, memlimit.ErrExceeded) && s.enlarge(s.used, slotPatience) == nil {
			more, err = s.read(page)
		}
		if err != nil {
			if c.r.Context().Err() == nil {
				c.log("an event stream was ended", err)
			}
			break
		}
	}
	return nil
}

// stream is one event stream. Its out has the events that are to be sent.
type stream struct {
	*call
	control *http.ResponseController
	next    string // the cursor up to which the feed was read
	sentID  string // the last cursor that was sent; next is later if the feed went on with entries that the client may not see

	// behind is since when the feed has had more than was sent, in nanoseconds since the epoch; 0 = it has no more.
	behind atomic.Int64

	comment *time.Timer  // a comment is due: nothing was sent for commentEvery
	expiry  *time.Timer  // the caller's identity has expired
	recheck *time.Ticker // Authenticate is to be asked again, every authenticateEvery
}

// fallBehind notes that the feed may have more than was sent.
func (s *stream) fallBehind() {
	s.behind.Store(time.Now().UnixNano())
}

// take counts bytes of the page that is being read, and reports whether it may have them. A page of several events needs no slot for its
// memory.
func (s *stream) take(n int) bool {
	return (s.used == 0 || s.used+n <= notLarge) && s.reserve(n)
}

// begins moves the stream to where it reads on, and returns the channel to wait for. The channel is taken before the feed is
// read, so a change that comes between the two is not missed.
func (s *stream) begins(changed func(after string) (from string, wake <-chan struct{})) (wake <-chan struct{}) {
	s.next, wake = changed(s.next)
	return wake
}

// read reads a page of the feed into out, and reports whether there is more to read at once. Each event has its cursor as its
// id, which a client that connects again sends as Last-Event-ID.
func (s *stream) read(page feedPage) (more bool, err error) {
	s.used = 0
	events, next, more, err := page(s.next)
	if err != nil {
		return false, err
	}
	s.next = next
	for _, e := range events {
		s.sentID = e.cursor
		s.out = append(append(append(s.out, "id: "...), e.cursor...), "\nevent: "...)
		s.out = append(append(append(s.out, e.kind...), "\ndata: "...), e.data...)
		s.out = append(s.out, "\n\n"...)
	}
	return more, nil
}

// begin sends the headers. From here on no error can be answered.
func (s *stream) begin() {
	s.sent, s.streamed = true, true
	header := s.header()
	header["Content-Type"] = []string{eventStream}
	s.cacheAs(noStore)
	header["X-Accel-Buffering"] = []string{"no"} // a proxy shall pass events on at once
	_ = s.control.SetReadDeadline(time.Time{})   // the client has sent everything; a writer without deadlines has none
	_ = s.control.SetWriteDeadline(time.Now().Add(streamPatience))
	s.w.WriteHeader(s.status)
	_ = s.control.Flush()
}

// timers starts the timers of the stream, and returns the function that stops them.
func (s *stream) timers() (stop func()) {
	s.comment, s.recheck = time.NewTimer(commentEvery), time.NewTicker(authenticateEvery)
	s.expiry = time.NewTimer(0)
	s.expire()
	return func() {
		s.comment.Stop()
		s.expiry.Stop()
		s.recheck.Stop()
	}
}

// expire sets the timer for the end of the caller's identity.
func (s *stream) expire() {
	left := 1000 * time.Hour // any long time: Authenticate is asked again before that
	if !s.by.Expires.IsZero() {
		left = time.Until(s.by.Expires)
	}
	s.expiry.Reset(left)
}

// send sends out. It reports whether the stream goes on. Between two pages a stream has no large slot, so thousands
// of quiet streams cost no memory.
func (s *stream) send() bool {
	if len(s.out) == 0 {
		return true
	}
	s.left = streamPatience
	err := s.write(s.out)
	if cap(s.out) > maxKeptBuffer {
		s.out = nil
	}
	s.out = s.out[:0]
	s.large.leave()
	s.comment.Reset(commentEvery)
	return err == nil && s.control.Flush() == nil
}

// wait waits until the feed may have grown, and sends a comment now and then. It reads nothing from the store, so a quiet
// stream outlives an outage of the store. It reports false when the stream is to end.
func (s *stream) wait(changed func(after string) (from string, wake <-chan struct{}), wake <-chan struct{}) bool {
	s.behind.Store(0)
	for {
		select {
		case <-wake:
			s.fallBehind()
			return !s.over()
		case <-s.comment.C:
			before := wake
			wake = s.begins(changed)
			if wake != before { // the feed has changed meanwhile: there may be something to read
				s.fallBehind()
				return !s.over()
			}
			s.remark()
			if !s.send() {
				return false
			}
		case <-s.recheck.C:
			if !s.same() {
				return false
			}
		case <-s.again:
			if !s.same() {
				return false
			}
		case <-s.expiry.C:
			return false
		case <-s.h.Streams.closed:
			return false
		case <-s.r.Context().Done():
			return false
		}
	}
}

// remark puts a comment into out. If the feed was read further than the last event sent, since the client may not see what
// followed, an id with that cursor comes along, so that a client that connects again need not begin before those entries.
func (s *stream) remark() {
	s.out = append(s.out, ":\n\n"...)
	if s.next != s.sentID {
		s.sentID = s.next
		s.out = append(append(append(s.out, "id: "...), s.next...), "\n\n"...)
	}
}

// over reports whether the stream must end because the server stops, the client has gone, or the caller's identity has
// ended or changed. It is asked after every page, so that a client that is behind, and never waits, is checked too.
func (s *stream) over() bool {
	select {
	case <-s.h.Streams.closed:
		return true
	case <-s.r.Context().Done():
		return true
	default:
	}
	// The channels of the timers may be full although wait was never called, so they are looked at here too.
	ask := false
	select {
	case <-s.again:
		ask = true
	default:
	}
	select {
	case <-s.recheck.C:
		ask = true
	default:
	}
	if ask && !s.same() {
		return true
	}
	return !s.by.Expires.IsZero() && !time.Now().Before(s.by.Expires)
}

// same authenticates the request again, and reports whether it is still sent by the same principal. Only Expires may
// differ, as it does when a session was renewed.
func (s *stream) same() bool {
	before := s.by
	if err := s.h.authenticate(s.call); err != nil {
		return false
	}
	now := s.by
	before.Expires, now.Expires = time.Time{}, time.Time{}
	s.expire()
	return reflect.DeepEqual(before, now)
}
