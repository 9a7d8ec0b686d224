package httpapi

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// body is what an endpoint takes: its media types, and whether it is read before the endpoint is
// called. The zero value takes none; one that is sent is not looked at.
type body struct {
	types  []string
	stream bool // the endpoint reads it, of any size
}

var (
	jsonBody  = body{types: []string{"application/json"}}
	patchBody = body{types: []string{"application/json", "application/json-patch+json"}}
)

// read takes in what the request holds beside its path and token, and refuses what is not well
// formed, before a domain is asked.
func (c *call) read() error {
	if err := c.query.check(c.route); err != nil {
		return err
	}
	if c.route.keyed {
		if err := c.readKey(); err != nil {
			return err
		}
	}
	if c.route.body.types == nil {
		return nil
	}
	if err := checkType(c.r.Header, c.route.body.types); err != nil {
		return err
	}
	if c.route.body.stream {
		return nil
	}
	if err := checkEncoding(c.r.Header); err != nil {
		return err
	}
	return c.readBody()
}

// readKey reads the header Idempotency-Key. Which characters it may have is the domain's to know,
// but for none at all, which would look like no key.
func (c *call) readKey() error {
	keys := c.r.Header["Idempotency-Key"]
	if len(keys) == 0 {
		return nil
	}
	if len(keys) > 1 || keys[0] == "" {
		return refuse(http.StatusBadRequest, "header Idempotency-Key: want it once, with 1 to 255 visible ASCII characters")
	}
	c.key = keys[0]
	return nil
}

func checkType(header http.Header, types []string) error {
	want := strings.Join(types, " or ")
	sent := header["Content-Type"]
	if len(sent) != 1 {
		return refuse(http.StatusUnsupportedMediaType, "header Content-Type: want it once, with %s", want)
	}
	name, params, err := mime.ParseMediaType(sent[0])
	if err != nil || !slices.Contains(types, name) {
		return refuse(http.StatusUnsupportedMediaType, "header Content-Type: want %s, have %q", want, sent[0])
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return refuse(http.StatusUnsupportedMediaType, "header Content-Type: want charset=utf-8, have %q", charset)
	}
	return nil
}

func checkEncoding(header http.Header) error {
	for _, coding := range header["Content-Encoding"] {
		if !strings.EqualFold(strings.TrimSpace(coding), "identity") {
			return refuse(http.StatusUnsupportedMediaType, "header Content-Encoding: %q is not taken here: send the body as it is", coding)
		}
	}
	return nil
}

// readBody reads the body up to the limit. The buffer grows with what arrives, not with what
// Content-Length promises.
func (c *call) readBody() error {
	limit := c.h.Limits.Body
	tooLarge := refuse(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", limit)
	if c.r.ContentLength > limit {
		return tooLarge
	}
	var buf bytes.Buffer
	buf.Grow(int(min(max(c.r.ContentLength, 0), 64<<10)) + bytes.MinRead)
	_, err := buf.ReadFrom(http.MaxBytesReader(c.ResponseWriter, c.r.Body, limit))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return tooLarge
	case err != nil && err != io.EOF:
		return refuse(http.StatusBadRequest, "the body did not arrive whole")
	}
	c.body = buf.Bytes()
	return nil
}

// Bounds of what is read of a request after it has been refused.
const (
	drainedBodies = 4               // bytes, in multiples of Limits.Body
	drainedFor    = 3 * time.Second // however slowly they come
)

// drain reads what a client that was refused is still sending: many clients look at the answer only
// when they have sent everything, and find a broken connection if nobody reads it. One that sends
// too much or too slowly is cut off. A client that waits to be told to go on sends nothing, and
// one that speaks HTTP/2 can be answered while it sends.
func (c *call) drain() {
	most := drainedBodies * c.h.Limits.Body
	switch {
	case c.r.Body == nil || c.r.Body == http.NoBody || c.r.ContentLength > most:
		return
	case c.r.ProtoMajor != 1 || c.r.Header["Expect"] != nil:
		return
	}
	if http.NewResponseController(c.ResponseWriter).SetReadDeadline(time.Now().Add(drainedFor)) != nil {
		return // nothing would bound the time
	}
	_, _ = io.CopyN(io.Discard, c.r.Body, most)
}

// decode reads the body as strict JSON into v.
func (c *call) decode(v any) error { return strictjson.Decode(c.body, v) }
