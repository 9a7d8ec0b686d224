package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// healthPath is at the root, wherever the app service is.
const healthPath = "/healthz"

// healthPatience is how long Config.Ready may take before /healthz says that the store does not answer.
const healthPatience = 800 * time.Millisecond

// health serves GET /healthz without a token. 200 with {"status":"ok"} if Config.Ready returns nil within 800
// milliseconds, else 503. It asks for no memory and waits for no lock of the domains, so it answers whatever else the
// process does. However many clients ask, one call of Ready is under way at a time, and all of them get its result.
func (h *handler) health(c *call) (err error) {
	if h.Ready != nil {
		timer := time.NewTimer(healthPatience)
		defer timer.Stop()
		select {
		case result := <-h.asked.DoChan("", h.ready):
			err = result.Err
		case <-timer.C:
			err = fmt.Errorf("no answer within %s", healthPatience)
		}
	}
	if err != nil {
		c.log("not ready", err)
		return refuse(http.StatusServiceUnavailable, "the store does not answer")
	}
	c.out = append(c.out, `{"status":"ok"}`...)
	return nil
}

// ready calls Config.Ready. A panic counts as an error.
func (h *handler) ready() (_ any, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), healthPatience)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return nil, h.Ready(ctx)
}

// overloadedKey is the key of the mark in a context.
type overloadedKey struct{}

// Overloaded marks the requests of a context as more than the server can take: each is answered with 503 and
// Retry-After at once, and its connection closed. Requests for /healthz and OPTIONS are answered as always. A server
// that bounds its connections or requests uses it, so that a full one is not mistaken for a dead one.
func Overloaded(ctx context.Context) context.Context {
	return context.WithValue(ctx, overloadedKey{}, true)
}

// errOverloaded is the response to a request that Overloaded marks.
var errOverloaded = refuse(http.StatusServiceUnavailable, "the server has as many requests under way as it takes: try again")

// overloaded reports whether a request is one too many.
func (c *call) overloaded() bool {
	return c.ctx().Value(overloadedKey{}) != nil && escapedPath(c.r.URL) != healthPath
}
