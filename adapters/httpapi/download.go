package httpapi

import (
	"net/http"
	"time"
)

// download is a response of any size, which is sent while it is made. The headers are sent with the first bytes, so an
// error before that is answered like any other. After a later error the connection is cut, so that a client can
// tell a response that is not complete.
//
// The store is read as fast as the client reads, and a snapshot is held meanwhile. The client has the time of any other large response,
// and only the time in which the server waits for it counts, not the time in which it works.
type download struct {
	*call
	kind    []string // the media type
	control *http.ResponseController
	failed  bool // a write has failed
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
	d.left = d.patience(true)
	_ = d.control.SetWriteDeadline(time.Now().Add(d.left))
	d.w.WriteHeader(d.status)
	_ = d.control.Flush() // else net/http would add a Content-Length to a short response, also if an error ends it early
}

// Write sends p.
func (d *download) Write(p []byte) (sent int, err error) {
	d.begin()
	before := d.written
	err = d.write(p)
	_ = d.control.SetWriteDeadline(time.Time{}) // over HTTP/2 a deadline ends the response also while nothing is written
	d.failed = d.failed || err != nil
	return int(d.written - before), err
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
	_ = d.control.SetWriteDeadline(time.Now().Add(d.left)) // for what net/http still has to send
	return nil
}
