package httpapi

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/vitrine-go/vitrine/internal/memlimit"
)

// errNoRoom is the answer to a request for which no memory came free in time.
var errNoRoom = &refusal{status: http.StatusServiceUnavailable, text: "too many large requests are under way: there is no memory for this one at the moment, try again"}

// workFactor is how many times the size of a body its request is counted while it is worked on.
const workFactor = 4

// holderName is who the memory of a request is counted for: the caller, or the address of a client
// that is nobody or has a token that anybody may have.
func (c *call) holderName() string {
	if c.by.URN != "" && !c.by.TagsOnly {
		return c.by.URN
	}
	return c.address()
}

// hold has the request hold n bytes in all.
func (c *call) hold(n int) error {
	if !c.room.take(c.ctx(), int64(n), c.h.memory.patience) {
		return errNoRoom
	}
	return nil
}

// expect makes room for an answer of about so many bytes. One that tells of a write needs none to be
// left: it must be given.
func (c *call) expect(size int) error {
	more := c.workBytes() + int64(size) - c.room.planned
	if size > maxKeptBuffer && more > 0 && !c.route.writes() && !c.room.plan(more) {
		return memlimit.ErrExceeded
	}
	c.out = slices.Grow(c.out[:0], size)
	return nil
}

// workBytes is what a request is counted for while it is worked on, beside its answer.
func (c *call) workBytes() int64 { return int64(workFactor * len(c.body)) }

// work calls the endpoint. One that finds no room for its answer has written nothing: it is called again
// when there is room for twice as much as it asked for, as long as patience lasts.
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

// piece is how much of an answer is written at a time, so that the pace of the client shows.
const piece = 32 << 10

// write writes the body of an answer, or a part of it, and reports whether it could. A small one, which the system takes off
// our hands, goes out at once.
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
			return false // the client has gone or was cut off, and there is nobody else to tell
		}
		c.room.moved(n)
		body = body[n:]
	}
	return !c.room.rest()
}
