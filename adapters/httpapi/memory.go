package httpapi

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/vitrine-go/vitrine/internal/memlimit"
)

// errNoRoom is the response to a request for which not enough memory became free in time.
var errNoRoom = &refusal{status: http.StatusServiceUnavailable, text: "too many large requests are under way: there is no memory for this one at the moment, try again"}

// workFactor times the size of its body is counted for a request while the endpoint works on it.
const workFactor = 4

// holderName returns the name that the memory of a request is counted for: the URN of the caller, or the address of a
// client that is not authenticated or has a delivery token, which may be public.
func (c *call) holderName() string {
	if c.by.URN != "" && !c.by.TagsOnly {
		return c.by.URN
	}
	return c.address()
}

// hold reserves memory until the request has n bytes in all. It returns errNoRoom if it waited too long.
func (c *call) hold(n int) error {
	if !c.room.take(c.ctx(), int64(n), c.h.memory.patience) {
		return errNoRoom
	}
	return nil
}

// expect reserves memory for a response of about size bytes. The response to a write is sent even if no memory is left,
// since the write is done.
func (c *call) expect(size int) error {
	more := c.workBytes() + int64(size) - c.room.planned
	if size > maxKeptBuffer && more > 0 && !c.route.writes() && !c.room.plan(more) {
		return memlimit.ErrExceeded
	}
	c.out = slices.Grow(c.out[:0], size)
	return nil
}

// workBytes is the memory that is counted for a request while the endpoint works on it, without the response.
func (c *call) workBytes() int64 { return int64(workFactor * len(c.body)) }

// work calls the endpoint. An endpoint that returns memlimit.ErrExceeded has changed and sent nothing. It is called again
// when twice the memory that it asked for is free, until the time for waiting is over.
func (c *call) work() error {
	base := c.workBytes()
	if err := c.hold(int(base)); err != nil {
		return err
	}
	if c.route.reserves {
		c.context = memlimit.With(c.r.Context(), func(n int) bool { return c.room.plan(int64(n)) })
	}
	patience, begun := c.h.memory.patience, time.Time{}
	for {
		c.room.planned = base
		c.status = c.route.status
		err := c.route.call(c)
		if !errors.Is(err, memlimit.ErrExceeded) {
			return err
		}
		if begun.IsZero() {
			begun = time.Now()
		}
		c.room.set(base)
		wanted := c.room.wanted
		if !c.room.take(c.ctx(), max(wanted, min(2*wanted, c.h.memory.share())), patience-time.Since(begun)) {
			return errNoRoom
		}
	}
}

// piece is how many bytes of a response are written at a time, so that the pace of the client can be measured.
const piece = 32 << 10

// write writes the body of a response, or a part of it, and reports whether all of it was written. A small body is written
// at once, since the buffers of the operating system take it.
func (c *call) write(body []byte) bool {
	c.room.begin(true)
	for len(body) > 0 {
		n := len(body)
		if c.room.place != nil {
			n = min(n, piece)
		}
		n, err := c.w.Write(body[:n])
		c.written += int64(n)
		if err != nil {
			return false // the client has disconnected or was disconnected
		}
		c.room.moved(n)
		body = body[n:]
	}
	return !c.room.rest()
}
