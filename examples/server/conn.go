package main

import (
	"errors"
	"net"
	"sync"
)

// net/http hands an answer to its connection in pieces of its buffer of 4 KB, each a system call
// that wakes the client. An answer of 5 KB, the usual size of an app, costs a quarter less when
// its two pieces go out together, so the server holds a full piece back until the next one comes
// or the answer ends.

// piece is the size of the buffer. Should it change, nothing is held back.
const piece = 4 << 10

// pieceConn holds one full piece back at most. It hides all other methods of a TCP connection, as
// those would write past the piece.
type pieceConn struct {
	net.Conn
	mu   sync.Mutex
	held *[piece]byte // from pieces; nil while nothing is held
}

var pieces = sync.Pool{New: func() any { return new([piece]byte) }}

func (c *pieceConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.held != nil:
		if err := c.release(p); err != nil {
			return 0, err
		}
		return len(p), nil
	case len(p) == piece:
		c.held = pieces.Get().(*[piece]byte)
		return copy(c.held[:], p), nil
	}
	if own := refused(p); own != nil {
		_, err := c.Conn.Write(own)
		return len(p), err
	}
	return c.Conn.Write(p)
}

// release sends what is held, and p after it.
func (c *pieceConn) release(p []byte) error {
	both := net.Buffers{c.held[:], p}
	_, err := both.WriteTo(c.Conn)
	pieces.Put(c.held)
	c.held = nil
	return err
}

// flush sends what is held, unless a write is under way, which does so itself.
func (c *pieceConn) flush() error {
	if !c.mu.TryLock() {
		return nil
	}
	defer c.mu.Unlock()
	if c.held == nil {
		return nil
	}
	return c.release(nil)
}

// Close sends what is held and closes the connection. It ends a write that cannot go on.
func (c *pieceConn) Close() error { return errors.Join(c.flush(), c.Conn.Close()) }

// CloseWrite tells the client that nothing more comes, while it is still sending.
func (c *pieceConn) CloseWrite() error {
	err := c.flush()
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return errors.Join(err, half.CloseWrite())
	}
	return err
}
