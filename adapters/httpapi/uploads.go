package httpapi

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine/internal/gunzip"
)

// errEnded is the error that ends the body of a client that gives nothing for Limits.Pause, or that was cut off for another upload.
// The import stores what came before, and load answers 200 with the report of it.
var errEnded = errors.New("the upload was too slow and was ended")

// upload is the body of an import: a reader of a file of any size, which has a slot of its own.
type upload struct {
	*call
	packed bool  // Content-Encoding says that it is gzip
	failed error // of the body; it stays
	whole  bool  // the body was read to its end
}

// newUpload takes a slot and returns the body of the request. It returns a 415 for an unknown Content-Encoding, and a 429 if no slot
// becomes free.
func newUpload(c *call) (*upload, error) {
	coding := strings.ToLower(strings.TrimSpace(strings.Join(c.r.Header["Content-Encoding"], ",")))
	if coding != "" && coding != "identity" && coding != "gzip" {
		return nil, refuseHeader(http.StatusUnsupportedMediaType, "Content-Encoding", "want gzip or identity, have %q", coding)
	}
	c.slot = c.newSlot(c.h.uploads, c.network)
	if err := c.slot.enter(c.ctx(), 1, slotPatience); err != nil {
		return nil, err
	}
	// HTTP/2 ends a request when the time to write is over, also where nothing is written yet. A writer
	// that knows no deadlines sets none.
	_ = c.client.control.SetWriteDeadline(time.Time{})
	return &upload{call: c, packed: coding == "gzip"}, nil
}

// plain returns a reader of the plain text. A file that is gzip without saying so is recognised by the import itself.
func (u *upload) plain() (io.Reader, error) {
	if u.packed {
		return gunzip.NewReader(u)
	}
	return u, nil
}

// Read reads from the client, which may pause for Limits.Pause at most. The first error of the body stays: a reader that
// asks again gets the same one, and no further time.
func (u *upload) Read(p []byte) (n int, err error) {
	if u.failed != nil {
		return 0, u.failed
	}
	u.left = u.h.Limits.Pause
	n, err = u.exchange(false, func() (int, error) { return u.r.Body.Read(p) })
	if errors.Is(err, errCut) || errors.Is(err, os.ErrDeadlineExceeded) {
		err = errEnded
	}
	u.failed, u.whole = err, err == io.EOF
	return n, err
}

// fault returns what was wrong with the body, as the sentence of a 400, "" if err is nil or an error of the store. An error of
// the connection comes first: a gzip file that did not arrive whole looks damaged too, and the file is not to blame.
func (u *upload) fault(err error) string {
	var damaged *gunzip.Error
	switch {
	case err == nil:
		return ""
	case u.failed != nil && !u.whole:
		return "the body did not arrive whole"
	case errors.As(err, &damaged) && u.packed:
		return "header Content-Encoding: " + damaged.Error()
	case errors.As(err, &damaged):
		return damaged.Error()
	}
	return ""
}

// leave returns the slot, and sets the deadline for the response that the server has for all responses.
func (u *upload) leave() {
	u.slot.leave()
	if server, ok := u.r.Context().Value(http.ServerContextKey).(*http.Server); ok && server.WriteTimeout > 0 {
		_ = u.client.control.SetWriteDeadline(time.Now().Add(server.WriteTimeout))
	}
}
