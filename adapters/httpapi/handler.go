package httpapi

import (
	"errors"
	"math"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/lru"
)

// handler serves every request. Its methods are in the order in which they are called for a request. Its fields do not
// change after New; shared state, such as the slots, has locks of its own.
//
// A request goes through these functions, each in the file that has its rules:
//
//	begin          makes the call and sets the headers of every response   call.go, headers.go
//	find           finds the routes of the path                            router.go, routes.go
//	authenticate   sets the caller                                         authenticate.go, jwt.go
//	authorize      checks the rights that depend on the address alone      assets.go, reviews.go, deliver.go
//	head           checks the query and the headers of the body            body.go, query.go
//	work           waits for a slot, calls the endpoint, counts memory     handler.go, slots.go
//	the endpoint   calls its domain and puts the response into the call    apps.go, assets.go, reviews.go and others
//	fail           makes an error the response                             errors.go
//	send           compresses and writes the response                      response.go
//	end            gives the slots back and tells the Observer             observer.go
type handler struct {
	Config
	router      *router
	description description        // openapi.json
	gzips       sync.Pool          // of *gzip.Writer
	copies      sync.Pool          // of buffers for files
	asked       singleflight.Group // calls of Ready
	denials     *denialLog         // the lines about 401 and 403
	crossOrigin *http.CrossOriginProtection
	filesBelow  string // what addresses of files begin with: BasePath, after what http.StripPrefix takes away

	// The limits that requests share:
	large, uploads, exports, erasures, streams, searches, reads *slots

	calls      sync.Pool // of *call
	deliveries *lru.Cache[deliveryKey, cachedDelivery]
}

// ServeHTTP serves one request: OPTIONS at once, any other by serve. An error of serve becomes the response. Event
// streams and exports have sent theirs before serve returns, and return no error once they have begun.
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

// serve serves a request and leaves the response in c, or has sent it. The order of the checks decides what a caller
// can learn:
//
//  1. Overload is 503.
//  2. Without a valid token every path but the public ones is 401, whether it exists or not, and 503 if Authenticate
//     cannot tell who asks.
//  3. A path that does not exist is 404, and a method that it does not have is 405.
//  4. A write that another site may have made up is 403.
//  5. A delivery token is 403, except where it may read, and so is a write that no agent may make.
//  6. The endpoint checks the rights that depend on the path and the parameters alone (authorize).
//  7. The query, the idempotency key and the headers of the body are checked: 400 and 415.
//  8. The endpoint checks the rights that need no body, then reads the body, or lets its domain read it: 413.
//  9. It checks the rest.
//
// So a caller without a token learns nothing about what exists, and no body is read for a caller who can be denied
// without it.
func (h *handler) serve(c *call) error {
	if c.overload {
		c.w.Header()["Connection"] = closeConnection
		return errOverloaded
	}
	c.routes, c.params = h.router.find(c.asked)
	// Whether a token is needed is the same for all methods of a path, since the method is looked at later.
	if routes := c.routes; routes == nil || !routes[0].is(public) {
		if err := h.authenticate(c); err != nil {
			return err
		}
	}
	if c.routes == nil {
		return errNoResource
	}
	method := c.r.Method
	if method == http.MethodHead { // a GET whose body the server drops
		method = http.MethodGet
	}
	i := slices.IndexFunc(c.routes, func(rt *route) bool { return rt.method == method })
	if i < 0 {
		c.w.Header()["Allow"] = []string{allow(c.routes)}
		return errNoMethod
	}
	rt := c.routes[i]
	c.route = rt
	// A browser may have added the identity to a request that another site made up. Reads are allowed: a page of
	// another site may cause one, and cannot see the response, since no response allows credentials.
	if c.ambient || rt.is(rpc) || rt.is(public) && rt.writes() {
		if err := h.crossOrigin.Check(c.r); err != nil {
			c.reason = err.Error()
			return errCrossOrigin
		}
	}
	// A delivery token may use only the endpoints that are marked byTag. The domains deny it too, for programs that
	// call them without this handler. Here it is denied before anything else is checked, and also at the endpoints of
	// the handler itself, such as GET /x/me.
	if c.by.TagsOnly && !rt.is(byTag|public) {
		return errTagsOnly
	}
	// The domains refuse agents too. Here that is done before the body is read, and at the endpoints of Extras.
	if c.by.Agent != "" && rt.writes() && !rt.is(agents) {
		if err := c.by.CheckMethod(""); err != nil {
			return err
		}
	}
	if rt.authorize != nil {
		if err := rt.authorize(c); err != nil {
			return err
		}
	}
	if err := c.head(); err != nil {
		return err
	}
	return c.work()
}

// end ends a request: it releases the slots, calls the Observer, and puts the call back into the pool. A panic becomes
// a 500. After a panic with http.ErrAbortHandler, or once a response has begun, the connection is dropped instead, so
// that the client does not mistake a part for the whole.
func (h *handler) end(c *call) {
	defer func() { // large buffers are counted only while their request lasts, so none is kept
		if cap(c.out) <= notLarge {
			*c = call{out: c.out[:0]}
			h.calls.Put(c)
		}
	}()
	if h.Observer != nil {
		defer h.observe(c)
	}
	defer c.slot.keep(0)
	defer c.large.keep(0)
	defer c.turn.keep(0) // after a panic
	cause := recover()
	if cause == nil {
		return
	}
	if cause == http.ErrAbortHandler {
		panic(cause)
	}
	c.log("panic", cause, "stack", c.withoutSecrets(string(debug.Stack())))
	if c.sent {
		panic(http.ErrAbortHandler)
	}
	c.setError(&httpError{status: http.StatusInternalServerError, Text: internalError})
	c.send()
}

// work calls the endpoint. What a call of a domain may take is bounded beforehand: a page of a list by its bytes, and
// anything else by c.within. An endpoint that returns an *appsvc.MemoryError has changed and sent nothing. It is called
// again when there are slots for what it takes, until slotPatience is over; then the response is 503. A response for
// which there are no slots is made again in the same way, except after a write, since the write is done.
func (c *call) work() error {
	var begun time.Time
	for c.within = notLarge; ; {
		c.status = c.route.status
		var err error
		if (!c.route.writes() || c.route.is(rpc)) && c.route.path != healthPath { // it is a read, or may be
			c.turn = slot{all: c.h.reads, caller: c.counted()}
			err = c.turn.acquire(c.r.Context(), 1, math.MaxInt64)
		}
		if err == nil {
			err = c.route.call(c)
		}
		c.turn.keep(0)
		if err == nil && len(c.out) > notLarge && c.enlarge(c.uses(len(c.out)), 0) != nil && !c.route.writes() {
			err = &appsvc.MemoryError{Bytes: len(c.out)}
		}
		short, ok := errors.AsType[*appsvc.MemoryError](err)
		if !ok {
			return err
		}
		if begun.IsZero() {
			begun = time.Now()
		}
		for _, name := range []string{"Etag", "Link", "Location", "Vary"} { // the next call may set others
			delete(c.w.Header(), name)
		}
		c.out = nil
		c.within = max(c.within, short.Bytes)
		if err := c.enlarge(c.uses(c.within), slotPatience-time.Since(begun)); err != nil {
			return err
		}
	}
}
