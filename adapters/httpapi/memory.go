package httpapi

import (
	"net/http"
	"slices"

	"github.com/vitrine-go/vitrine/internal/memlimit"
)

// This file reserves memory for the parts of a request: its body, the work of the endpoint and the response. The budget that
// all requests share is in memorybudget.go, and what slow clients may hold of it in slowclients.go.
//
// A request asks for memory before it allocates, with hold or expect, or through the context that (*call).work gives to
// its domain. Responses that are made without expect are counted by countResponse before they are sent. Afterwards
// (*call).choose corrects the number to what the buffers really take. end returns everything.

// errNoRoom is the response to a request for which not enough memory became free in time.
var errNoRoom = &refusal{status: http.StatusServiceUnavailable, text: "too many large requests are under way: there is no memory for this one at the moment, try again"}

// workFactor times the size of its body is counted for a request while the endpoint works on it: for the bytes as they were
// sent, for what they decode to, and for what is stored.
const workFactor = 4

// holderName returns the name that the memory of a request is counted for: the URN of the caller, or the address of a
// client that is not authenticated or has a delivery token. A delivery token stands in public pages: counted by its URN, all
// visitors of such a page together would have the share of one caller.
func (c *call) holderName() string {
	if c.by.URN != "" && !c.by.TagsOnly {
		return c.by.URN
	}
	return c.address()
}

// hold reserves memory until the request has n bytes in all. It waits for them if need be, and returns errNoRoom if they
// do not become free in time or the client goes away.
func (c *call) hold(n int) error {
	if !c.room.take(c.ctx(), int64(n), c.h.memory.patience) {
		return errNoRoom
	}
	return nil
}

// expect reserves memory for a response of about size bytes, as reserveResponse does, and makes room for it in out. If there
// is not enough, it returns memlimit.ErrExceeded, upon which work waits and calls the endpoint again.
func (c *call) expect(size int) error {
	if err := c.reserveResponse(size); err != nil {
		return err
	}
	c.out = slices.Grow(c.out[:0], size)
	return nil
}

// countResponse is expect for the response that the endpoint has put into out, as far as that was not done before. If there is not
// enough memory, it drops the response. So no response to a read, whatever its endpoint, is kept for a slow client without room
// for it. Responses to writes are sent in any case. Patch, PutTag and Restore reserve memory before they write; other responses to
// writes are counted by choose, once they exist.
func (c *call) countResponse() error {
	err := c.reserveResponse(len(c.out))
	if err != nil {
		c.out = nil
	}
	return err
}

// reserveResponse reserves memory for a response of this size in bytes, less what is reserved for the request already. It
// returns memlimit.ErrExceeded if there is not enough. Nothing is reserved for a response of up to maxKeptBuffer, nor for the
// response to a write, which is sent even if no memory is left, since the write is done.
func (c *call) reserveResponse(size int) error {
	more := c.workBytes() + int64(size) - c.room.planned
	if size > maxKeptBuffer && more > 0 && !c.route.writes() && !c.room.plan(more) {
		return memlimit.ErrExceeded
	}
	return nil
}

// workBytes is the memory that is counted for a request while the endpoint works on it, without the response.
func (c *call) workBytes() int64 { return int64(workFactor * len(c.body)) }
