package httpapi

import (
	"net/http"
	"runtime/debug"
	"sync"
)

// handler answers every request; its methods are the way of a request, in order.
type handler struct {
	Config
	site        *site
	description description
	compression compression
	calls       sync.Pool // of *call
}

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
	c.send()
}

// serve does what was asked and leaves the answer in c.
func (h *handler) serve(c *call) error {
	h.site.find(c)
	if c.resource == nil || !c.resource.open() {
		if err := h.authenticate(c); err != nil {
			return err
		}
	}
	if c.resource == nil {
		return errNoResource
	}
	rt := c.resource.route(c.r.Method)
	if rt == nil {
		c.header()["Allow"] = []string{c.resource.allow}
		return errNoMethod
	}
	c.route = rt
	if rt.admit != nil {
		if err := rt.admit(c); err != nil {
			return err
		}
	}
	if err := c.read(); err != nil {
		return err
	}
	c.status = rt.status
	return rt.call(c)
}

// end answers a panic with 500 and keeps it from ending the process. A panic with
// http.ErrAbortHandler is a wish to drop the connection, and once an answer has begun dropping it
// is all that is left.
func (h *handler) end(c *call) {
	defer h.recycle(c)
	defer h.observe(c)
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
	c.refuse(http.StatusInternalServerError, internalError)
	c.send()
}
