package httpapi

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine/internal/gunzip"
	"github.com/vitrine-go/vitrine/reviews"
)

// reviewRoutes is the import of reviews, an extension (contract, section 4.3).
type reviewRoutes struct{ svc *reviews.Service }

// recordsBody is a file of records, of any size, as it is or compressed.
var recordsBody = body{
	types:  []string{"application/x-ndjson", "application/json", "text/plain", "application/octet-stream"},
	stream: true,
}

func (v reviewRoutes) table() []route {
	return []route{
		{method: "POST", path: "/x/reviews/import", status: 200, call: v.load,
			query: []string{"dryRun"}, body: recordsBody},
	}
}

func (v reviewRoutes) load(c *call) error {
	dryRun, err := c.query.flag("dryRun")
	if err != nil {
		return err
	}
	file, err := newUpload(c)
	if err != nil {
		return err
	}
	defer file.end()
	by := reviews.Caller{URN: c.by.URN, Moderates: c.by.Moderates}
	report, err := v.svc.Import(c.ctx(), by, file, &reviews.ImportOptions{DryRun: dryRun})
	kept := "what came before is imported, and sending all of it again is safe"
	if dryRun {
		kept = "nothing is imported by a dry run"
	}
	if fault := file.fault(err); fault != "" {
		return refuse(http.StatusBadRequest, "%s; %s", fault, kept)
	}
	if err != nil {
		return &inPart{err, kept}
	}
	return c.json(report)
}

// inPart is an error in the middle of what is not done as a whole.
type inPart struct {
	error
	kept string // says what is done
}

func (p *inPart) Unwrap() error { return p.error }

// upload is a body that may be of any size and take any time, as long as it does not pause for
// longer than Limits.Pause.
type upload struct {
	io.Reader
	body    io.Reader
	control *http.ResponseController
	pause   time.Duration
	server  *http.Server // nil where the handler is not called by one
	failed  error        // of the body; it stays
}

// newUpload returns the body, decompressed if Content-Encoding says that it must be. That
// a file may be compressed without saying so is the importer's affair.
func newUpload(c *call) (*upload, error) {
	u := &upload{body: c.r.Body, control: http.NewResponseController(c.ResponseWriter), pause: c.h.Limits.Pause}
	u.server, _ = c.ctx().Value(http.ServerContextKey).(*http.Server)
	// HTTP/2 ends a request when the time to write is over, also where nothing is written yet. A writer
	// that knows no deadlines sets none.
	_ = u.control.SetWriteDeadline(time.Time{})
	u.Reader = readerFunc(u.readBody)
	coding := strings.ToLower(strings.TrimSpace(strings.Join(c.r.Header["Content-Encoding"], ",")))
	switch coding {
	case "", "identity":
	case "gzip":
		unzip, err := gunzip.NewReader(u.Reader)
		if err != nil {
			return nil, refuse(http.StatusBadRequest, "header Content-Encoding: %s", u.fault(err))
		}
		u.Reader = unzip
	default:
		return nil, refuse(http.StatusUnsupportedMediaType, "header Content-Encoding: want gzip or identity, have %q", coding)
	}
	return u, nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func (u *upload) readBody(p []byte) (int, error) {
	if u.failed != nil { // a reader that asks again must not get another pause
		return 0, u.failed
	}
	_ = u.control.SetReadDeadline(time.Now().Add(u.pause))
	n, err := u.body.Read(p)
	if err != io.EOF {
		u.failed = err
	}
	return n, err
}

// fault says what of err is about the body; "" is an error of the store, or none.
func (u *upload) fault(err error) string {
	var damaged *gunzip.Error
	switch {
	case err == nil:
		return ""
	case u.failed != nil:
		return "the body did not arrive whole"
	case errors.As(err, &damaged):
		return damaged.Error()
	}
	return ""
}

// end gives the answer the time that the server gives any answer.
func (u *upload) end() {
	if u.server != nil && u.server.WriteTimeout > 0 {
		_ = u.control.SetWriteDeadline(time.Now().Add(u.server.WriteTimeout))
	}
}
