package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine/internal/drain"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// body says which request bodies an endpoint accepts. The zero value means none; a body that is sent all the same is
// ignored, since some clients send one with DELETE.
type body struct {
	types []string // media types; anyType if the Content-Type is not looked at
	// media types, if the identity of the caller is ambient (see Config.Authenticate); nil = types
	ambientTypes []string
	stream       bool // the endpoint reads it, of any size
}

// The bodies of the writing endpoints but the import, whose body is recordsBody.
var (
	noBody    body
	jsonBody  = body{types: []string{"application/json"}}
	patchBody = body{types: []string{"application/json", "application/json-patch+json"}}
)

// head checks the query, the idempotency key and the headers of the body. The endpoint reads the body, or its domain
// does when it has checked the rights of the caller, so a rejected request costs no memory.
func (c *call) head() error {
	if err := c.query.check(c.route); err != nil {
		return err
	}
	if keys := c.r.Header["Idempotency-Key"]; len(keys) > 0 && c.route.writes() {
		if !c.route.is(keyed) { // a client that sends a key relies on it, and may repeat the request
			return headerErrorf(http.StatusBadRequest, "Idempotency-Key",
				"this operation takes none: a repeat would be done again")
		}
		if len(keys) > 1 || keys[0] == "" { // to the domain an empty key is no key; it checks all others
			return headerErrorf(http.StatusBadRequest, "Idempotency-Key",
				"want it once, with 1 to 255 visible ASCII characters")
		}
		c.key = keys[0]
	}
	body := c.route.body
	types := body.types
	if types == nil {
		return nil
	}
	if c.ambient && body.ambientTypes != nil {
		types = body.ambientTypes
	}
	if types[0] != anyType {
		if err := checkType(c.r.Header, types); err != nil || body.stream {
			return err
		}
	}
	// Limits.Body limits the bytes that are sent, and a compressed body of that size could unpack to far more. Only the
	// import takes gzip, since it reads its body as a stream.
	for _, coding := range c.r.Header["Content-Encoding"] {
		if !strings.EqualFold(strings.TrimSpace(coding), "identity") {
			return headerErrorf(http.StatusUnsupportedMediaType, "Content-Encoding",
				"%q is not taken here: send the body as it is", coding)
		}
	}
	return nil
}

// checkType returns a 415 unless there is one Content-Type and it is one of types, in UTF-8 if it names a charset. A
// request without the header is rejected too: a page of another site can send one without a preflight request.
func checkType(header http.Header, types []string) error {
	want := strings.Join(types, " or ")
	sent := header["Content-Type"]
	if len(sent) != 1 {
		return headerErrorf(http.StatusUnsupportedMediaType, "Content-Type", "want it once, with %s", want)
	}
	name, params, err := mime.ParseMediaType(sent[0])
	if err != nil || !slices.Contains(types, name) {
		return headerErrorf(http.StatusUnsupportedMediaType, "Content-Type", "want %s, have %q", want, sent[0])
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return headerErrorf(http.StatusUnsupportedMediaType, "Content-Type", "want charset=utf-8, have %q", charset)
	}
	return nil
}

// readBody reads the body up to the limit, once. The memory for a body of more than notLarge bytes is reserved when
// that many bytes have arrived, so a client that sends nothing reserves no more. readBody returns a 413 for a body over
// the limit, a 400 for one that ends early or comes too slowly, and a 503 if there is no memory for it.
func (c *call) readBody() error {
	if c.body != nil {
		return nil
	}
	limit, size := c.h.Limits.Body, c.r.ContentLength
	if size > limit {
		return bodyTooLarge(limit)
	}
	control, mayBeLarge := http.NewResponseController(c.w), size < 0 || size > notLarge
	in := io.Reader(http.MaxBytesReader(c.w, c.r.Body, limit))
	if mayBeLarge {
		c.left = c.patience(false)
		_ = control.SetReadDeadline(time.Now().Add(c.left))
		in = sentBody{c, in}
	}
	var body bytes.Buffer
	// else the read that finds the end of the body would need a larger buffer
	body.Grow(int(min(max(size, 0), notLarge)) + bytes.MinRead)
	_, err := io.CopyN(&body, in, notLarge+1)
	if err == nil {
		if size < 0 {
			size = limit
		}
		if err := c.enlarge(workFactor*int(size), slotPatience); err != nil {
			return err
		}
		body.Grow(int(size) - body.Len() + bytes.MinRead)
		_, err = body.ReadFrom(in)
	}
	_, over := errors.AsType[*http.MaxBytesError](err)
	switch {
	case err == nil || err == io.EOF:
		if mayBeLarge {
			_ = control.SetReadDeadline(time.Time{})
		}
		c.body, c.drained, c.bodyEnded = body.Bytes(), true, true
		return nil
	case over:
		return bodyTooLarge(limit)
	}
	return c.incomplete(err)
}

// incomplete returns the 400 for a body whose reading ended with err.
func (c *call) incomplete(err error) error {
	if c.slow = errors.Is(err, errCut) || errors.Is(err, os.ErrDeadlineExceeded); c.slow {
		return errorf(http.StatusBadRequest, "the body did not arrive whole: it came too slowly")
	}
	return errorf(http.StatusBadRequest, "the body did not arrive whole")
}

func bodyTooLarge(limit int64) error {
	return errorf(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", limit)
}

// sentBody is a body that is read in the time that its client may take.
type sentBody struct {
	call *call
	body io.Reader
}

// Read reads from the client.
func (b sentBody) Read(p []byte) (int, error) {
	return b.call.exchange(false, func() (int, error) { return b.body.Read(p) })
}

// drainedBodies times Limits.Body is how many bytes are read of a body that is not used.
const drainedBodies = 4

// drain reads the rest of the body before the response, once, and reports whether nothing is left of it: see package
// drain. Nothing is read from a client that was too slow or came to an overloaded server.
func (c *call) drain() (ended bool) {
	if c.drained {
		return c.bodyEnded
	}
	most := drainedBodies * c.h.Limits.Body
	if c.slow || c.overload {
		most = 0
	}
	c.drained, c.bodyEnded = true, drain.Body(c.w, c.r, most)
	return c.bodyEnded
}

// Draining returns a context for the requests of a connection. The handlers of this package and of package console call
// waits(true) when their response waits only for a body that they do not need and that the client has not sent. They
// call waits(false) if the body arrives within a second. Otherwise the connection is closed after the response. A
// server at its limit of connections can close such a one at any time after waits(true).
func Draining(ctx context.Context, waits func(bool)) context.Context { return drain.Notify(ctx, waits) }

// requestBody is the body of a request for a domain, which reads it when it has checked the rights of the caller.
type requestBody struct {
	c    *call
	text *bytes.Reader
}

// Read reads the body whole at first.
func (b *requestBody) Read(p []byte) (int, error) {
	if b.text == nil {
		if err := b.c.readBody(); err != nil {
			return 0, err
		}
		b.text = bytes.NewReader(b.c.body)
	}
	return b.text.Read(p)
}

// decode reads the body into v. It must be one value of strict JSON: valid UTF-8 without U+0000, at most 64 levels
// deep, only with members that v knows, and with none of them twice. It must also obey the rules. Otherwise decode
// returns a 400 with the pointer to the fault.
func (c *call) decode(v any, rules ...member) error {
	if err := c.readBody(); err != nil {
		return err
	}
	if err := strictjson.Decode(c.body, v); err != nil {
		return fault.Malformed(err)
	}
	if len(rules) > 0 {
		return checkMembers(rules, c.body, "")
	}
	return nil
}
