package httpapi

import (
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/vitrine-go/vitrine/reviews"
)

// handler answers every request. Its methods stand in the order in which a request passes them.
type handler struct {
	Config
	router      *router
	description description
	compression compression
	readiness   readiness
	memory      *budget
	refusals    *refusalLog
	crossOrigin http.CrossOriginProtection
	uploads     *uploads
	exports     *exports
	spool       *reviews.Spool
	calls       sync.Pool // of *call
}

// ServeHTTP answers one request: OPTIONS at once, any other by serve. An error of serve becomes the response, unless a
// response has begun.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := h.begin(w, r)
	defer h.end(c)
	if r.Method == http.MethodOptions {
		c.preflight()
		return
	}
	if err := h.serve(c); err != nil {
		c.fail(err)
	}
	if !c.sent {
		c.send()
	}
}

// serve carries a request out and leaves the response in c, or has sent it. The order of the checks decides what a
// caller learns. First comes overload (503). Then, without a valid token, every path but the public ones is 401, whether
// it exists or not. After that come the path, the method, the origin, the refusal of delivery tokens, the right to the
// whole endpoint (admit), the head of the request, the rights that need the head (admitBody), the body, and last the
// endpoint.
func (h *handler) serve(c *call) error {
	if c.overloaded() {
		c.header()["Connection"] = closeConnection
		return errOverloaded
	}
	h.router.find(c.r.URL, &c.match)
	if c.match.resource == nil || !c.match.resource.public() {
		if err := h.authenticate(c); err != nil {
			return err
		}
	}
	c.room.caller = c.holderName()
	if c.match.resource == nil {
		return errNoResource
	}
	rt := c.match.resource.route(c.r.Method)
	if rt == nil {
		c.header()["Allow"] = []string{c.match.resource.allowHeader}
		return errNoMethod
	}
	c.route = rt
	if err := h.checkOrigin(c); err != nil {
		return err
	}
	if c.by.TagsOnly && !rt.byTag && !rt.public {
		return errTagsOnly
	}
	if rt.admit != nil {
		if err := rt.admit(c); err != nil {
			return err
		}
	}
	if err := c.read(); err != nil {
		return err
	}
	return c.work()
}

// end answers a panic with 500 and keeps it from ending the process. A panic with
// http.ErrAbortHandler is a wish to drop the connection, and once an answer has begun dropping it
// is all that is left.
func (h *handler) end(c *call) {
	defer h.recycle(c)
	defer h.observe(c)
	defer c.room.release()
	cause := recover()
	if cause == nil {
		return
	}
	if cause == http.ErrAbortHandler {
		panic(cause)
	}
	c.log("panic", cause, "stack", string(debug.Stack()))
	if c.sent {
		panic(http.ErrAbortHandler)
	}
	c.refuse(&refusal{status: http.StatusInternalServerError, text: internalError})
	c.send()
}
