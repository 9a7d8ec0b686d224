package httpapi

import (
	"net/http"
	"os"
	"time"
)

// download is a response of any size, which is sent while it is made. The headers are sent with the first bytes, so an
// error before that is answered like any other. After a later error the connection is cut, so that a client can
// tell a response that is not complete.
//
// The store is read as fast as the client reads, and a snapshot is held meanwhile. So a client must read each piece
// within Limits.Pause, and downloadRate on average after the first Limits.Pause.
type download struct {
	*call
	kind    []string // the media type
	control *http.ResponseController
	due     time.Time // when the client must have taken what was written
	failed  bool      // a write has failed
}

// downloadRate is in bytes a second.
const downloadRate = 64 << 10

func newDownload(c *call, kind []string) *download {
	return &download{call: c, kind: kind, control: http.NewResponseController(c.w)}
}

// begin sends the headers, once.
func (d *download) begin() {
	if d.sent {
		return
	}
	d.sent = true
	header := d.header()
	header["Content-Type"], header["Cache-Control"] = d.kind, noStore
	d.due = time.Now().Add(d.h.Limits.Pause)
	d.w.WriteHeader(d.status)
	_ = d.control.Flush() // an answer that is short must not look as if its length had been known
}

// Write sends p in pieces, so that the pace of the client can be measured. Memory is reserved for a long p until it is
// sent.
func (d *download) Write(p []byte) (sent int, err error) {
	if len(p) > maxKeptBuffer {
		if err := d.hold(len(p)); err != nil {
			return 0, err
		}
		defer d.room.set(d.workBytes())
	}
	d.begin()
	d.room.begin(true)
	for sent < len(p) && err == nil {
		n := min(len(p)-sent, piece)
		d.due = d.due.Add(time.Duration(n) * time.Second / downloadRate)
		due := time.Now().Add(d.h.Limits.Pause)
		if d.due.Before(due) {
			due = d.due
		}
		_ = d.control.SetWriteDeadline(due) // a writer without deadlines is bounded by its server
		n, err = d.w.Write(p[sent : sent+n])
		sent += n
		d.written += int64(n)
		d.room.moved(n)
	}
	if d.room.rest() && err == nil {
		err = os.ErrDeadlineExceeded // it was cut off for others that wait for memory
	}
	d.failed = d.failed || err != nil
	return sent, err
}

// end ends the response. err is the error that keeps it from being complete, nil if it is complete.
func (d *download) end(err error) error {
	if err != nil && !d.sent {
		return err
	}
	d.begin()
	if err != nil {
		if !d.failed && d.ctx().Err() == nil { // else the client has gone or was cut off
			d.log("the answer was cut short", err)
		}
		panic(http.ErrAbortHandler)
	}
	return nil
}
