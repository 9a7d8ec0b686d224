package main

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// mostConnections is how many connections may be open at a time; connectionBound lowers it if the process may have few
// file descriptors. An idle one takes 7 to 20 KB of memory. One whose headers never end takes as much as headers may
// have, 260 KB.
const mostConnections = 1000

// spareConnections may be open beyond that while every other connection has a request under way. /healthz is answered
// on them, and other requests are told at once that the server is overloaded.
const spareConnections = 16

// connections bounds how many connections are open. When there are too many, the one that has been idle for the longest
// is closed: it has no request under way, and its client may connect again. So a flood of idle connections displaces
// only idle ones. If every connection has a request under way, a few more are accepted, on which only /healthz is
// served. Beyond these, new connections wait until a request has ended; the timeouts of the server make sure that it
// does.
type connections struct {
	net.Listener
	most   int
	spare  int
	secret bool // the connections are under TLS

	mu     sync.Mutex
	fewer  sync.Cond // a connection was closed or has become idle, or the listener is closed
	open   int
	idle   list.List // of *connection, the longest idle first
	closed bool
}

// newConnections returns a listener for at most so many connections, and the spare ones.
func newConnections(l net.Listener, most int) *connections {
	all := &connections{Listener: l, most: most, spare: spareConnections}
	all.fewer.L = &all.mu
	return all
}

// serve serves until the server is shut down.
func (l *connections) serve(s *http.Server) error {
	s.ConnState = l.state
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connectionKey{}, connectionOf(c))
	}
	s.Handler = l.unlessCrowded(s.Handler)
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

// unlessCrowded marks the requests that come over a spare connection as long as more than most are open. httpapi answers
// these with 503.
func (l *connections) unlessCrowded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := r.Context().Value(connectionKey{}).(*connection); c.extra.Load() && l.crowded(c) {
			r = r.WithContext(httpapi.Overloaded(r.Context()))
		}
		h.ServeHTTP(w, r)
	})
}

// crowded reports whether there are still more than most connections, so that a spare one must stay spare. Otherwise the
// connection becomes a usual one, for good.
func (l *connections) crowded(c *connection) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	crowded := l.open > l.most
	if !crowded {
		c.extra.Store(false)
	}
	return crowded
}

// Accept returns the next connection when there is room for it. Errors of the listener are passed on as they are: the
// server goes on after some of them, for instance when the process has no more file descriptors.
func (l *connections) Accept() (net.Conn, error) {
	raw, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	extra, open := l.admit()
	if !open {
		_ = raw.Close()
		return nil, net.ErrClosed
	}
	c := &connection{pieceConn: pieceConn{Conn: raw, whole: l.secret}, all: l}
	c.extra.Store(extra)
	return c, nil
}

// admit waits until there is room for one more connection, and makes room by closing idle ones. extra is true if it is a
// spare one, and open is false if the listener was closed.
func (l *connections) admit() (extra, open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.open >= l.most && !l.closed {
		if longest := l.idle.Front(); longest != nil {
			l.leave(longest.Value.(*connection))
		} else if l.open < l.most+l.spare {
			break
		} else {
			l.fewer.Wait()
		}
	}
	l.open++
	return l.open > l.most, !l.closed
}

// leave closes a connection that has no request under way. The read of the goroutine that serves it then fails. Callers
// hold mu.
func (l *connections) leave(c *connection) {
	l.forget(c)
	_ = c.Conn.Close()
}

// forget takes a connection out of the count. Callers hold mu.
func (l *connections) forget(c *connection) {
	l.busy(c)
	if !c.gone {
		c.gone = true
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

// state is for http.Server.ConnState. A connection counts as idle until the headers of its next request are complete.
func (l *connections) state(raw net.Conn, state http.ConnState) {
	c := connectionOf(raw)
	if state == http.StateIdle {
		_ = c.flush() // the response has ended; if the client has gone, the next read fails
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy(c)
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
	gone  bool          // closed
	extra atomic.Bool   // it is a spare one, accepted when all others had a request under way

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

func (c *connection) Close() error {
	c.all.mu.Lock()
	c.all.forget(c)
	c.all.mu.Unlock()
	return c.pieceConn.Close()
}
