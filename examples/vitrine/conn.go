package main

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// net/http writes a response to its connection in pieces, as large as its buffer of 4 KB. Each piece is a system call
// and wakes the client. A response of 5 KB, the usual size of an app, costs a quarter less if its two pieces are sent
// together. So the server delays a full piece until the next one comes or the response ends.

// piece is the size of the buffer. If net/http changes it, no piece is delayed.
const piece = 4 << 10

// pieceConn delays at most one full piece. It hides all other methods of a TCP connection, such as ReadFrom, since
// these would write before the delayed piece.
type pieceConn struct {
	net.Conn
	whole   bool // nothing is delayed; set under TLS, where what is written here are records and not pieces
	mu      sync.Mutex
	delayed *[2 * piece]byte // begins with the delayed piece, in a buffer from pieces; nil without one

	streams atomic.Bool // nothing is delayed as long as it sends an event stream
}

// pieces are buffers for a delayed piece and what follows it, used again.
var pieces = sync.Pool{New: func() any { return new([2 * piece]byte) }}

// Write sends p, after the delayed piece if there is one, or delays p if it is a full piece. A full piece is followed
// by another write of the same response, or by its end, at which the connection is flushed.
func (c *pieceConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.delayed != nil:
		if err := c.release(p); err != nil {
			return 0, err
		}
		return len(p), nil
	case len(p) == piece && !c.whole && !c.streams.Load():
		c.delayed = pieces.Get().(*[2 * piece]byte)
		return copy(c.delayed[:], p), nil
	}
	return c.Conn.Write(p)
}

// release sends the delayed piece, and then p.
func (c *pieceConn) release(p []byte) error {
	// One write of a copy costs less than net.Buffers, which write both from where they are.
	both := append(c.delayed[:piece], p[:min(len(p), piece)]...)
	_, err := c.Conn.Write(both)
	if err == nil && len(p) > piece {
		_, err = c.Conn.Write(p[piece:])
	}
	pieces.Put(c.delayed)
	c.delayed = nil
	return err
}

// flushedFor is how long the client may take to receive a delayed piece. No timeout of the server bounds it, since the
// response has ended for net/http.
const flushedFor = 10 * time.Second

// flush sends the delayed piece, unless a write is running, which sends it.
func (c *pieceConn) flush() error {
	if !c.mu.TryLock() {
		return nil
	}
	defer c.mu.Unlock()
	if c.delayed == nil {
		return nil
	}
	_ = c.Conn.SetWriteDeadline(time.Now().Add(flushedFor))
	defer func() { _ = c.Conn.SetWriteDeadline(time.Time{}) }()
	return c.release(nil)
}

// Close sends the delayed piece and closes the connection. It ends a write that is blocked.
func (c *pieceConn) Close() error { return errors.Join(c.flush(), c.Conn.Close()) }

// CloseWrite tells the client that nothing more comes, while it is still sending.
func (c *pieceConn) CloseWrite() error {
	err := c.flush()
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return errors.Join(err, half.CloseWrite())
	}
	return err
}
