package main

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// mostConnections is how many connections are open at a time. One that is idle costs 7 to 20 KB, one
// whose headers do not end as much as these may have, 260 KB.
const mostConnections = 1000

// connections bounds how many connections are open. When there are too many, the one that has been
// idle for the longest makes room: it has no request under way, and its client may come back. So a
// flood of idle connections displaces only what is idle. Where every connection has a request under
// way, new ones wait until one of these has ended, which the timeouts of the server see to.
type connections struct {
	net.Listener
	most int

	mu     sync.Mutex
	fewer  sync.Cond // a connection was closed or has become idle, or the listener is closed
	open   int
	idle   list.List // of *connection, the longest idle first
	closed bool
}

func newConnections(l net.Listener, most int) *connections {
	all := &connections{Listener: l, most: most}
	all.fewer.L = &all.mu
	return all
}

// serve serves until the server is shut down.
func (l *connections) serve(s *http.Server) error {
	s.ConnState = l.state
	return s.Serve(l)
}

// Accept returns the next connection when there is room for it. What the listener says is passed on
// as it is, since the server goes on after some errors, as when descriptors run out.
func (l *connections) Accept() (net.Conn, error) {
	raw, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if !l.admit() {
		_ = raw.Close()
		return nil, net.ErrClosed
	}
	return &connection{pieceConn: pieceConn{Conn: raw}, all: l}, nil
}

// admit makes room for one more connection. It reports whether the listener is still open.
func (l *connections) admit() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.open >= l.most && !l.closed {
		if longest := l.idle.Front(); longest != nil {
			l.leave(longest.Value.(*connection))
		} else {
			l.fewer.Wait()
		}
	}
	l.open++
	return !l.closed
}

// leave closes a connection that has no request under way. The goroutine that serves it finds out by
// its read.
func (l *connections) leave(c *connection) {
	l.forget(c)
	_ = c.Conn.Close()
}

// forget takes a connection out of the count. Callers hold mu.
func (l *connections) forget(c *connection) {
	l.busy(c)
	if !c.gone {
		c.gone = true
		l.open--
		l.fewer.Signal()
	}
}

// busy takes a connection out of those that are idle. Callers hold mu.
func (l *connections) busy(c *connection) {
	if c.place != nil {
		l.idle.Remove(c.place)
		c.place = nil
	}
}

// state is for http.Server.ConnState. A connection is idle until the headers of its next request
// have come, however slowly they do.
func (l *connections) state(raw net.Conn, state http.ConnState) {
	c := raw.(*connection)
	if state == http.StateIdle {
		_ = c.flush() // the answer has ended; a client that has gone is found out by the next read
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
	place *list.Element // among those that are idle; nil while it is not
	gone  bool          // closed
}

func (c *connection) Close() error {
	c.all.mu.Lock()
	c.all.forget(c)
	c.all.mu.Unlock()
	return c.pieceConn.Close()
}
