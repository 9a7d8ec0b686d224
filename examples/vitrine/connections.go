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

// mostConnections is how many connections may be open at a time; connectionBound lowers it if the process may have few
// file descriptors. An idle one takes 7 to 20 KB of memory. One whose headers never end takes as much as headers may
// have, 260 KB.
const mostConnections = 1000

// spareConnections may be open beyond that while every other connection has a request under way. /healthz is answered
// on them, and other requests are told at once that the server is overloaded.
const spareConnections = 16

// stalledAfter is how long the server waits for the client of a request before the connection can be closed for a new one.
const stalledAfter = time.Second

// freshFor is how long a new connection is not closed for another one, so that its first request can arrive and be read.
const freshFor = stalledAfter / 4

// connections bounds how many connections are open. When there are too many, one is closed for each new one:
//
//  1. one whose request is as good as answered, and whose client has not sent the body that it has announced;
//  2. else the one that has been idle for the longest: it has no request under way, and its client may connect again. A
//     new one has freshFor to send its first request;
//  3. else the one whose client has kept the server waiting for the longest, if that is more than stalledAfter: it does
//     not send the body that an endpoint reads, or does not read the response.
//
// So a flood of connections displaces only those that nothing is done for. If the server works on a request of every
// connection, a few more are accepted, on which only /healthz is served. Beyond these, new connections wait.
type connections struct {
	net.Listener
	most   int
	spare  int
	secret bool // the connections are under TLS

	mu     sync.Mutex
	fewer  sync.Cond // there may be room for one more, or the listener is closed
	open   int
	each   map[*connection]struct{}
	idle   list.List // of *connection: those of 1, the latest first, and then those of 2, the longest idle first
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

// connectionOf returns the connection inside one that the server has wrapped, for TLS or for its refusals.
func connectionOf(c net.Conn) *connection {
	return c.(interface{ NetConn() net.Conn }).NetConn().(*connection)
}

// connectionKey is the key of the *connection in the context of a request.
type connectionKey struct{}

// watch notes when the server waits for the client of a request. It also marks the requests that come over a spare
// connection, as long as more than most are open and none of them can be closed. httpapi answers these with 503.
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

// crowded reports whether there are more than most connections and too few of the others can be closed, so that a spare one must
// stay spare. Otherwise the connection becomes a usual one, for good. It waits for up to freshFor first, since one that is new can
// be closed when it is older.
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

// Accept returns the next connection when there is room for it, and makes room by closing others. Errors of the listener are passed on as
// they are: the server goes on after some of them, for instance when the process has no more file descriptors.
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

// victim returns the connection that is closed for a new one, nil if there is none. Callers hold mu.
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

// leave closes a connection. The read or write of the goroutine that serves it then fails. Callers hold mu.
func (l *connections) leave(c *connection) {
	l.forget(c)
	_ = c.Conn.Close()
}

// forget takes a connection out of the count. Callers hold mu.
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

// busy takes a connection out of those that are idle. Callers hold mu.
func (l *connections) busy(c *connection) {
	if c.place != nil {
		l.idle.Remove(c.place)
		c.place = nil
	}
}

// state is for http.Server.ConnState. A connection counts as idle until the headers of its next request are complete. While it is
// active and no handler runs for it, net/http waits for its client.
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

// connection is one of connections.
type connection struct {
	pieceConn
	all   *connections
	place *list.Element // among the idle ones; nil while it is not idle
	fresh bool          // no request has come yet
	gone  bool          // closed
	extra atomic.Bool   // it is a spare one, accepted when all others had a request under way
	waits waits
	write atomic.Int64 // since when a write waits, in nanoseconds since the epoch; 0 = none does

	open int // event streams that are open on it; while there are some, it is not counted in connections.open
}

// streamBegan takes the connection of an event stream out of the count: it stays open for long and costs little, and
// the number of streams has a limit of its own. What the stream sends is not delayed by pieceConn.
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

// draining notes that a request of the connection is as good as answered, and whether it still waits for the rest of its
// body, which is not needed. See httpapi.Draining.
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
