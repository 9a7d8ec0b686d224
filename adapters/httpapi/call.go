package httpapi

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/vitrine-go/vitrine"
)

// call is one request and its response. Its fields are filled in this order: begin reads the head of the request; find
// sets routes and params, authenticate sets by, serve sets route, head sets key, readBody body; the endpoint sets out
// and headers; send writes them.
//
// A call belongs to one goroutine. Calls are pooled: nothing may keep one, or its out, after ServeHTTP.
//
// Headers of requests and responses are read and set as map entries under their canonical names, such as "Etag" and
// "Www-Authenticate", since http.Header.Set allocates a slice for each value.
type call struct {
	w http.ResponseWriter
	h *handler
	r *http.Request
	// X-Request-Id: as the request has it, or 16 hexadecimal digits, which tell requests in a log apart
	id string

	asked    string   // the path, as it was sent
	routes   []*route // of the path, one for each method; nil if the path names nothing
	params   []string // in the path, unescaped, in the order of route.path
	route    *route
	by       Principal
	again    <-chan struct{} // of Streams; closed by a Recheck since the caller was authenticated
	ambient  bool            // a browser may have added the identity to a request of another site
	tokenURN string          // URN in an invalid token whose signature is valid
	reason   string          // why the request is denied, for the log alone; "" = as the response says
	query    query
	body     []byte
	key      string // Idempotency-Key
	network  string // of a request about reviews; set by its authorize

	overload  bool // the server has as many requests as it takes; see Overloaded
	drained   bool // nothing more is read of the body
	bodyEnded bool // it was read to its end; set with drained

	// The response:
	status   int
	code     string    // of an error
	stored   string    // says what was stored before an error, for its sentence
	out      []byte    // its body
	sent     bool      // it has begun
	streamed bool      // it is an event stream
	written  int64     // bytes of the body that went out
	begun    time.Time // only with an Observer

	// The shared resources that the request uses; see slots.go:
	within int           // bytes that a call of a domain may take
	large  *slot         // for them, if they are many
	slot   *slot         // of an upload, an export or a stream
	client *client       // nil without a slot
	left   time.Duration // the time that the client may still take for its body or the response
	slow   bool          // its body came too slowly

	turn slot // of a read, while it is at work
}

// requestID is the form of an X-Request-Id that is taken from a request, as a proxy or the embedding program gives it.
var requestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// begin takes a call from the pool and sets the common headers of its response. They are set before anything can fail,
// so that every error has them too.
func (h *handler) begin(w http.ResponseWriter, r *http.Request) *call {
	c, _ := h.calls.Get().(*call)
	if c == nil {
		c = new(call)
	}
	*c = call{w: w, h: h, r: r, id: strconv.FormatUint(rand.Uint64()|1<<63, 16), out: c.out}
	if h.Observer != nil {
		c.begun = time.Now()
	}
	c.asked, c.query = escapedPath(r.URL), parseQuery(r.URL.RawQuery)
	c.overload = r.Context().Value(overloadedKey{}) != nil && c.asked != healthPath
	header := w.Header()
	for name, value := range commonHeaders {
		header[name] = value
	}
	if given := r.Header["X-Request-Id"]; len(given) == 1 && requestID.MatchString(given[0]) {
		c.id = given[0]
	}
	header["X-Request-Id"] = []string{c.id}
	c.cacheAs(revalidate)
	return c
}

// pathVersion returns the i-th parameter of the path as a version. No resource has another name.
func (c *call) pathVersion(i int) vitrine.Version {
	v, err := vitrine.ParseVersion(c.params[i])
	if err != nil && c.query.err == nil {
		c.query.err = errNoResource
	}
	return v
}

// log writes an error line about a response whose sentence does not tell the cause. Tokens in the cause are replaced.
// The path is logged without the query, which may have a token.
func (c *call) log(what string, cause any, more ...any) {
	c.h.Log.ErrorContext(c.r.Context(), what,
		append([]any{"request", c.id, "method", c.method(), "path", c.path(), "cause",
			c.withoutSecrets(fmt.Sprint(cause))}, more...)...)
}

// address returns the address of the client, without the port. Behind a proxy it is that of the proxy, unless the
// server has set RemoteAddr. See also counted.
func (c *call) address() string {
	host, _, err := net.SplitHostPort(c.r.RemoteAddr)
	if err != nil {
		return c.r.RemoteAddr
	}
	return host
}

// caller returns the URN of the caller, for the log and the Observer. For an invalid token with a valid signature it is
// the URN in the token. "" means that neither is known.
func (c *call) caller() string { return truncated(cmp.Or(c.by.URN, c.tokenURN)) }

// method is the method of the request, "other" if HTTP does not define it. A client may send any word, and each would
// be another value of a label of a metric.
func (c *call) method() string {
	if slices.Contains(methods, c.r.Method) {
		return c.r.Method
	}
	return "other"
}
