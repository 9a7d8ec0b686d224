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
// within Limits.Pause, and all pieces together within Limits.Pause and the time that they take at downloadRate. A client that
// is slower is disconnected. Only the time in which the server waits for the client counts, not the time in which it works.
type download struct {
	*call
	kind    []string // the media type
	control *http.ResponseController
	left    time.Duration // how long the server may still wait for the client
	failed  bool          // a write has failed
}

// newDownload returns a download that has sent nothing yet.
func newDownload(c *call, kind []string) *download {
	return &download{call: c, kind: kind, control: http.NewResponseController(c.w)}
}

// begin sends the headers, once. There is no Content-Length, since the length is not known; over HTTP/1.1 the body is chunked,
// and the last chunk is how a client knows that the response is complete.
func (d *download) begin() {
	if d.sent {
		return
	}
	d.sent = true
	d.header()["Content-Type"] = d.kind
	d.cacheAs(noStore)
	d.left = d.h.Limits.Pause
	_ = d.control.SetWriteDeadline(time.Now().Add(d.left))
	d.w.WriteHeader(d.status)
	_ = d.control.Flush() // else net/http would add a Content-Length to a short response, also if an error ends it early
}

// Write sends p in pieces, so that the pace of the client can be measured. Memory is reserved for a p of more than
// maxKeptBuffer until it is sent. The deadline of a piece is Limits.Pause from now, or earlier if the client has less time left.
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
		d.left += time.Duration(n) * time.Second / downloadRate
		begun := time.Now()
		_ = d.control.SetWriteDeadline(begun.Add(min(d.left, d.h.Limits.Pause))) // a writer without deadlines is bounded by its server
		n, err = d.w.Write(p[sent : sent+n])
		d.left -= time.Since(begun)
		_ = d.control.SetWriteDeadline(time.Time{}) // over HTTP/2 a deadline ends the response also while nothing is written
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

// end ends the response. err is the error that keeps it from being complete, nil if it is complete. If nothing was sent yet,
// end returns err, to be answered like any other. Otherwise the status 200 has gone out, and all that is left is to drop the
// connection, with the panic that net/http has for this.
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
	_ = d.control.SetWriteDeadline(time.Now().Add(d.h.Limits.Pause)) // for what net/http still has to send
	return nil
}
