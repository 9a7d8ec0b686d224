package httpapi

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/julienschmidt/httprouter"
)

// call is one request on its way to a domain and its answer on the way back. Calls are used
// again: nothing may hold on to one, or to its out, after ServeHTTP.
type call struct {
	http.ResponseWriter
	h  *handler
	r  *http.Request
	id string // X-Request-Id

	resource *resource
	params   httprouter.Params // unescaped, in the order of the pattern
	route    *route
	token    string // as sent; only to keep it out of the log
	by       Principal
	query    query
	body     []byte
	key      string // Idempotency-Key

	status  int
	out     []byte    // body of the answer
	sent    bool      // the answer has begun
	written int64     // bytes of the body that went out
	begun   time.Time // only with an Observer
}

// maxKeptBuffer is the largest buffer that a call keeps for the next request.
const maxKeptBuffer = 64 << 10

func (h *handler) begin(w http.ResponseWriter, r *http.Request) *call {
	c, _ := h.calls.Get().(*call)
	if c == nil {
		c = new(call)
	}
	*c = call{ResponseWriter: w, h: h, r: r, id: newRequestID(), out: c.out}
	if h.Observer != nil {
		c.begun = time.Now()
	}
	header := c.header()
	for name, value := range everyAnswer {
		header[name] = value
	}
	header["X-Request-Id"] = []string{c.id}
	c.query = parseQuery(r.URL.RawQuery)
	if c.query.has(tokenParameter) {
		header["Cache-Control"] = noStore
	}
	return c
}

func (h *handler) recycle(c *call) {
	if cap(c.out) <= maxKeptBuffer {
		*c = call{out: c.out[:0]}
		h.calls.Put(c)
	}
}

// newRequestID returns 16 hexadecimal digits. They only need to tell requests in a log apart.
func newRequestID() string {
	s := strconv.FormatUint(rand.Uint64(), 16)
	return "0000000000000000"[len(s):] + s
}

func (c *call) ctx() context.Context { return c.r.Context() }
func (c *call) header() http.Header  { return c.ResponseWriter.Header() }

// param returns the i-th parameter of the path.
func (c *call) param(i int) string { return c.params[i].Value }

// log writes what is behind an answer that does not say it. The token is cut out, whatever
// brought it there.
func (c *call) log(what string, cause any, more ...any) {
	text := fmt.Sprint(cause)
	if c.token != "" {
		text = strings.ReplaceAll(text, c.token, "[token]")
	}
	args := append([]any{"request", c.id, "method", c.r.Method, "path", c.path(), "cause", text}, more...)
	c.h.Log.ErrorContext(c.ctx(), what, args...)
}
