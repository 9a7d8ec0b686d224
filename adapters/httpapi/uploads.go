package httpapi

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/vitrine-go/vitrine/internal/gunzip"
)

// uploads are the imports of reviews that are under way. They may be of any size and take any time, so they have slots of
// their own: Limits says how many in all, for a network and of a caller. When all slots are taken, the upload of the
// slowest client is ended for a new one.
type uploads struct {
	limits Limits
	now    func() time.Time // the clock; tests replace it

	mu     sync.Mutex
	active map[*upload]struct{} // those that have a slot
	left   chan struct{}        // closed and replaced when a slot becomes free
}

// slotPatience is how long an upload or an export waits for a slot.
const slotPatience = time.Second

// newUploads returns uploads with the slots that l allows.
func newUploads(l Limits) *uploads {
	return &uploads{limits: l, now: time.Now, active: map[*upload]struct{}{}, left: make(chan struct{})}
}

// errEnded is the error that ends the body of a client that is too slow, or the slowest when another upload needs its slot.
// The import stores what came before, and load answers 200 with the report of it.
var errEnded = errors.New("the upload was too slow and was ended")

// upload is the body of an import: a reader of the plain text of a file of any size. Its pace counts only the time in
// which the server waits for the client, and not the time in which the import works.
type upload struct {
	io.Reader
	all             *uploads
	caller, network string
	body            io.Reader
	control         *http.ResponseController
	server          *http.Server // nil where the handler is not called by one
	failed          error        // of the body; it stays
	whole           bool         // the body was read to its end

	// Under the lock of all:
	waits  bool          // for the client
	since  time.Time     // since when it waits
	waited time.Duration // how long it has waited before that
	pace   pace          // on a clock that shows for how long the client was waited for
	ended  bool          // because it is too slow, or the slowest when another needs its slot
}

// enter takes a slot. It waits a second at most, and then returns a 429 that names the limit.
func (a *uploads) enter(u *upload) error {
	timeout := time.NewTimer(slotPatience)
	defer timeout.Stop()
	for {
		left, err := a.tryEnter(u)
		if left == nil {
			return err
		}
		select {
		case <-left:
		case <-timeout.C:
			return err
		}
	}
}

// tryEnter takes a slot. If all are taken, it ends the slowest upload, and returns a channel that is closed when a slot
// becomes free and the error to return if none does in time. A caller or a network that has all of its own slots is refused
// at once, without a channel: it displaces nobody, and its uploads may take hours.
func (a *uploads) tryEnter(u *upload) (left chan struct{}, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ofCaller, ofNetwork := 0, 0
	for other := range a.active {
		if other.caller == u.caller {
			ofCaller++
		}
		if other.network == u.network {
			ofNetwork++
		}
	}
	switch {
	case ofCaller >= a.limits.UploadsOfCaller:
		return nil, refuse(http.StatusTooManyRequests, "%d uploads of this caller are under way, as many as may be: wait until one of them has ended", ofCaller)
	case ofNetwork >= a.limits.UploadsOfNetwork:
		return nil, refuse(http.StatusTooManyRequests, "%d uploads for this network are under way, as many as may be: wait until one of them has ended", ofNetwork)
	case len(a.active) < a.limits.Uploads:
		a.active[u] = struct{}{}
		u.pace = newPace(a.limits.Pause, time.Time{})
		return nil, nil
	}
	if slowest := a.slowest(); slowest != nil {
		slowest.end()
	}
	return a.left, refuse(http.StatusTooManyRequests, "%d uploads are under way, as many as may be: try again when one of them has ended", len(a.active))
}

// slowest returns the upload with the lowest recent rate, nil if none is below uploadSafe. An upload counts when the server
// has waited for its client during a tenth of the period.
func (a *uploads) slowest() (slowest *upload) {
	least := float64(uploadSafe)
	for u := range a.active {
		now := u.clock()
		if u.ended || now.Sub(u.pace.begun) < u.pace.period/10 {
			continue
		}
		if rate := u.pace.recent(now); rate < least {
			slowest, least = u, rate
		}
	}
	return slowest
}

// leave returns the slot and wakes all that wait for one.
func (a *uploads) leave(u *upload) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.active, u)
	close(a.left)
	a.left = make(chan struct{})
}

// newUpload takes a slot and returns the body of the request, decompressed if Content-Encoding says gzip. It returns a
// 415 for another coding, and a 429 if no slot becomes free. leave returns the slot. A file that is gzip without saying
// so is recognised by the import itself.
func newUpload(c *call, network string) (*upload, error) {
	coding := strings.ToLower(strings.TrimSpace(strings.Join(c.r.Header["Content-Encoding"], ",")))
	if coding != "" && coding != "identity" && coding != "gzip" {
		return nil, refuseHeader(http.StatusUnsupportedMediaType, "Content-Encoding", "want gzip or identity, have %q", coding)
	}
	u := &upload{all: c.h.uploads, caller: c.room.caller, network: network, body: c.r.Body, control: http.NewResponseController(c.w)}
	if err := u.all.enter(u); err != nil {
		return nil, err
	}
	u.server, _ = c.ctx().Value(http.ServerContextKey).(*http.Server)
	// HTTP/2 ends a request when the time to write is over, also where nothing is written yet. A writer
	// that knows no deadlines sets none.
	_ = u.control.SetWriteDeadline(time.Time{})
	u.Reader = readerFunc(u.readBody)
	if coding == "gzip" {
		u.Reader = &unpacked{packed: u.Reader}
	}
	return u, nil
}

// unpacked is the plain text of a body that is gzip. The header of the gzip file is read by the first Read and not before,
// so that a bad header is an error of the import, like all other damage.
type unpacked struct {
	packed io.Reader
	plain  io.Reader
}

// codingError is a fault of a body whose Content-Encoding says that it is gzip.
type codingError struct{ error }

// Unwrap returns the error of the decoder.
func (e codingError) Unwrap() error { return e.error }

// Read reads the plain text.
func (u *unpacked) Read(p []byte) (int, error) {
	if u.plain == nil {
		plain, err := gunzip.NewReader(u.packed)
		if err != nil {
			return 0, codingError{err}
		}
		u.plain = plain
	}
	return u.plain.Read(p)
}

// readerFunc is a function as an io.Reader.
type readerFunc func([]byte) (int, error)

// Read calls f.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// readBody reads from the client and measures how long that takes. The first error of the body stays: a reader that
// asks again gets the same one, and no further time.
func (u *upload) readBody(p []byte) (int, error) {
	if u.failed == nil {
		u.failed = u.begin()
	}
	if u.failed != nil { // a reader that asks again must not get another pause
		return 0, u.failed
	}
	n, err := u.body.Read(p)
	if slow := u.took(n, err); slow != nil {
		err = slow
	}
	u.whole = err == io.EOF
	if !u.whole {
		u.failed = err
	}
	return n, err
}

// begin notes that the server waits for the client from now on, and bounds the wait to one period.
func (u *upload) begin() error {
	u.all.mu.Lock()
	defer u.all.mu.Unlock()
	if u.ended {
		return errEnded
	}
	u.waits, u.since = true, u.all.now()
	_ = u.control.SetReadDeadline(time.Now().Add(u.pace.period))
	return nil
}

// took counts bytes that the client has given. The error is errEnded for a client that is too slow, and for one that has lost
// its slot to a new upload meanwhile. The end of the body is never too slow.
func (u *upload) took(n int, err error) error {
	u.all.mu.Lock()
	defer u.all.mu.Unlock()
	now := u.clock()
	u.waited, u.waits = now.Sub(time.Time{}), false
	u.pace.add(now, n)
	if err == io.EOF {
		return nil
	}
	// The deadline of begin is over if the client gave nothing for a whole period.
	u.ended = u.ended || errors.Is(err, os.ErrDeadlineExceeded) || u.pace.below(uploadRate, now)
	if u.ended {
		return errEnded
	}
	return nil
}

// clock returns the zero time plus the time for which the server has waited for the client. It is called with the lock held.
func (u *upload) clock() time.Time {
	shows := time.Time{}.Add(u.waited)
	if u.waits {
		shows = shows.Add(u.all.now().Sub(u.since))
	}
	return shows
}

// end ends the body with errEnded. It is called with the lock held.
func (u *upload) end() {
	u.ended = true
	_ = u.control.SetReadDeadline(time.Now())
}

// fault returns what was wrong with the body, as the sentence of a 400, "" if err is nil or an error of the store. An error of
// the connection comes first: a gzip file that did not arrive whole looks damaged too, and the file is not to blame.
func (u *upload) fault(err error) string {
	var damaged *gunzip.Error
	var coding codingError
	switch {
	case err == nil:
		return ""
	case u.failed != nil:
		return "the body did not arrive whole"
	case errors.As(err, &coding):
		return "header Content-Encoding: " + coding.Error()
	case errors.As(err, &damaged):
		return damaged.Error()
	}
	return ""
}

// leave returns the slot, and sets the deadline for the response that the server has for all responses.
func (u *upload) leave() {
	u.all.leave(u)
	if u.server != nil && u.server.WriteTimeout > 0 {
		_ = u.control.SetWriteDeadline(time.Now().Add(u.server.WriteTimeout))
	}
}
