package main

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// mostConnections is how many connections may be open at a time, fewer if the process may have few file descriptors. An
// idle connection takes 7 to 20 KB of memory, and one whose headers never end takes the limit of headers, 260 KB.
const mostConnections = 1000

// spareConnections is how many more may be open while every other connection has a request under way. They serve
// /healthz, and other requests get 503 at once.
const spareConnections = 16

// stalledAfter is how long the server waits for the client of a request before the connection can be closed for a new
// one.
const stalledAfter = time.Second

// freshFor is how long a new connection is safe from being closed for another one, so that its first request can
// arrive.
const freshFor = stalledAfter / 4

// connections limits how many connections are open. When there are too many, one is closed for each new one:
//
//  1. one whose response is complete, but whose client has not sent the rest of the body that it has announced;
//  2. else the one that has been idle for the longest: it has no request under way, and its client may connect again. A
//     new one has freshFor to send its first request;
//  3. else the one whose client has kept the server waiting for the longest, if that is more than stalledAfter: it does
//     not send the body that an endpoint reads, or does not read the response.
//
// So a flood of connections displaces only those for which the server does no work. If it works on a request of every
// connection, a few more are accepted, on which only /healthz is served. Beyond these, new connections wait.
type connections struct {
	net.Listener
	most   int
	spare  int
	secret bool // the connections are under TLS

	mu    sync.Mutex
	fewer sync.Cond // there may be room for one more, or the listener is closed
	open  int
	each  map[*connection]struct{}
	// of *connection: those of case 1, the latest first, and then those of case 2, the longest idle first
	idle   list.List
	closed bool
}

// newConnections returns a listener for at most so many connections, and the spare ones.
func newConnections(l net.Listener, most int) *connections {
	all := &connections{Listener: l, most: most, spare: spareConnections, each: map[*connection]struct{}{}}
	all.fewer.L = &all.mu
	return all
}

// serve serves until the server is shut down.
func (l *connections) serve(s *http.Server) error {
	s.ConnState = l.state
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		of := connectionOf(c)
		return httpapi.Draining(context.WithValue(ctx, connectionKey{}, of), of.draining)
	}
	s.Handler = l.watch(s.Handler)
	if s.TLSConfig != nil {
		l.secret = true
		return s.ServeTLS(l, "", "")
	}
	return s.Serve(httpapi.NewListener(l))
}

// connectionOf returns the connection inside one that the server has wrapped.
func connectionOf(c net.Conn) *connection {
	return c.(interface{ NetConn() net.Conn }).NetConn().(*connection)
}

// connectionKey is the key of the *connection in the context of a request.
type connectionKey struct{}

// watch notes when the server waits for the client of a request. It also marks the requests that come over a spare
// connection, as long as more than most are open and none of them can be closed. httpapi responds to these with 503.
func (l *connections) watch(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := r.Context().Value(connectionKey{}).(*connection)
		if c.extra.Load() && l.crowded(c) {
			r = r.WithContext(httpapi.Overloaded(r.Context()))
		}
		c.waits.add(1, 0)
		defer c.waits.add(-1, 0)
		if r.Body != http.NoBody {
			r = r.WithContext(r.Context()) // a copy, since net/http looks at the body of its own
			r.Body = watchedBody{r.Body, c}
		}
		if r.ProtoMajor > 1 { // over HTTP/1 a write waits in (*connection).Write
			w = watchedWriter{w, c}
		}
		h.ServeHTTP(w, r)
	})
}

// crowded reports whether c must stay a spare connection: more than most are open, and too few of the others can be
// closed. Otherwise c becomes a usual one, for good. Before it returns true it waits for up to freshFor, since a new
// connection can be closed later.
func (l *connections) crowded(c *connection) bool {
	for end := time.Now().Add(freshFor); l.full(c); time.Sleep(freshFor / 10) {
		if time.Now().After(end) {
			return true
		}
	}
	return false
}

// full is crowded at this moment.
func (l *connections) full(c *connection) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.open > l.most {
		victim := l.victim(time.Now())
		if victim == nil {
			return true
		}
		l.leave(victim)
	}
	c.extra.Store(false)
	return false
}

// Accept returns the next connection when there is room for it, and makes room by closing others. It returns errors of
// the listener as they are: the server continues after some of them, for instance when the process has no more file
// descriptors.
func (l *connections) Accept() (net.Conn, error) {
	raw, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{pieceConn: pieceConn{Conn: raw, whole: l.secret}, all: l}
	c.waits.add(0, 0) // begins now
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.open >= l.most && !l.closed {
		if victim := l.victim(time.Now()); victim != nil {
			l.leave(victim)
		} else if l.open < l.most+l.spare {
			break
		} else {
			again := time.AfterFunc(stalledAfter/10, l.fewer.Signal) // one may be stalled by then
			l.fewer.Wait()
			again.Stop()
		}
	}
	if l.closed {
		_ = raw.Close()
		return nil, net.ErrClosed
	}
	l.open++
	l.each[c] = struct{}{}
	c.extra.Store(l.open > l.most)
	return c, nil
}

// victim returns the connection that is closed for a new one, nil if there is none. The caller has locked mu.
func (l *connections) victim(now time.Time) *connection {
	for at := l.idle.Front(); at != nil; at = at.Next() {
		c := at.Value.(*connection)
		if since, _ := c.stalled(); !c.fresh || now.Sub(since) >= freshFor {
			return c
		}
	}
	var longest *connection
	since := now.Add(-stalledAfter)
	for c := range l.each {
		if c.open > 0 {
			continue // it is not counted: closing it makes no room
		}
		if at, waits := c.stalled(); waits && at.Before(since) {
			longest, since = c, at
		}
	}
	return longest
}

// leave closes a connection. The read or write of the goroutine that serves it then fails. The caller has locked mu.
func (l *connections) leave(c *connection) {
	l.forget(c)
	_ = c.Conn.Close()
}

// forget removes a connection from the count. The caller has locked mu.
func (l *connections) forget(c *connection) {
	l.busy(c)
	if !c.gone {
		c.gone = true
		delete(l.each, c)
		if c.open == 0 {
			l.open--
		}
		l.fewer.Signal()
	}
}

// count returns how many connections are open, and how many of them have no request under way.
func (l *connections) count() (open, idle int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open, l.idle.Len()
}

// busy removes a connection from the idle ones. The caller has locked mu.
func (l *connections) busy(c *connection) {
	if c.place != nil {
		l.idle.Remove(c.place)
		c.place = nil
	}
}

// state is for http.Server.ConnState. A connection counts as idle until the headers of its next request are complete.
// While it is active and no handler runs for it, net/http waits for its client.
func (l *connections) state(raw net.Conn, state http.ConnState) {
	c := connectionOf(raw)
	c.waits.add(0, 0)
	if state == http.StateIdle {
		_ = c.flush() // the response has ended; if the client has gone, the next read fails
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy(c)
	c.fresh = state == http.StateNew
	if !c.gone && (state == http.StateNew || state == http.StateIdle) {
		c.place = l.idle.PushBack(c)
		l.fewer.Signal()
	}
}

// Close also ends an Accept that waits for room.
func (l *connections) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.fewer.Broadcast()
	return l.Listener.Close()
}

// connection is a connection with the state that connections needs.
type connection struct {
	pieceConn
	all   *connections
	place *list.Element // among the idle ones; nil while it is not idle
	fresh bool          // no request has come yet
	gone  bool          // it is closed
	extra atomic.Bool   // it is a spare one, accepted when all others had a request under way
	waits waits
	write atomic.Int64 // since when a write waits, in nanoseconds since the epoch; 0 = none does

	open int // event streams that are open on it; while there are some, it is not counted in connections.open
}

// streamBegan removes the connection of an event stream from the count: it stays open for long and costs little, and
// the number of streams has a limit of its own. pieceConn does not delay the events.
func streamBegan(ctx context.Context) (ended func()) {
	c, ok := ctx.Value(connectionKey{}).(*connection)
	if !ok {
		return nil
	}
	c.addStreams(1)
	return func() { c.addStreams(-1) }
}

// addStreams changes the number of event streams on a connection; over HTTP/2 there may be several.
func (c *connection) addStreams(n int) {
	l := c.all
	l.mu.Lock()
	defer l.mu.Unlock()
	before := c.open
	c.open += n
	c.streams.Store(c.open > 0)
	switch {
	case c.gone:
	case before == 0:
		l.open--
		l.fewer.Signal()
	case c.open == 0:
		l.open++
	}
}

// draining notes that the response to a request of the connection is complete, and whether the server still waits for
// the rest of the body, which it does not need. See httpapi.Draining.
func (c *connection) draining(waits bool) {
	l := c.all
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy(c)
	if waits && !c.gone {
		c.place = l.idle.PushFront(c)
		l.fewer.Signal()
	}
}

func (c *connection) Close() error {
	c.all.mu.Lock()
	c.all.forget(c)
	c.all.mu.Unlock()
	return c.pieceConn.Close()
}
