package httpapi

import (
	"context"
	"net/http"
)

// The functions below give a program's own routes the same callers and the same errors as those of the handler.

// callerKey is the key of the Principal in a context.
type callerKey struct{}

// Known returns a middleware for routes of the program's own. It authenticates the caller with c.Authenticate as the
// handler does: with the same 401 and 503, and with the same 403 for a request that a page of another site may have
// made up. A caller with TagsOnly is 403, and so is a write of an agent. CallerOf returns the caller. Of c it uses
// Authenticate, Challenge, TrustedOrigins, Log, Limits.Token and Streams.
//
//	known, err := httpapi.Known(config)
//	mux.Handle("GET /orders", known(orders))
func Known(c Config) (func(http.Handler) http.Handler, error) {
	c.Apps, c.Assets, c.Reviews, c.Observer, c.CompressFrom = nil, nil, nil, nil, -1
	own, err := New(c)
	if err != nil {
		return nil, err
	}
	h := own.(*handler)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if by, ok := h.identify(w, r); ok {
				next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, by)))
			}
		})
	}, nil
}

// identify returns the caller of a route of the program's own, or writes an error as the response.
func (h *handler) identify(w http.ResponseWriter, r *http.Request) (by Principal, ok bool) {
	before := w.Header().Clone()
	c := h.begin(w, r)
	defer h.end(c)
	err := h.authenticate(c)
	if err == nil && c.ambient {
		if err = h.crossOrigin.Check(r); err != nil {
			c.reason, err = err.Error(), errCrossOrigin
		}
	}
	if err == nil && c.by.TagsOnly {
		err = errTagsOnly
	}
	if err == nil && r.Method != http.MethodGet && r.Method != http.MethodHead {
		err = c.by.CheckMethod("")
	}
	if err != nil {
		c.fail(err)
		c.send()
		return by, false
	}
	for name := range w.Header() { // the route sets headers of its own
		if name != "X-Request-Id" {
			w.Header().Del(name)
		}
	}
	for name, values := range before {
		w.Header()[name] = values
	}
	return c.by, true
}

// CallerOf returns who sends a request to a route behind Known, and the zero Principal elsewhere, which
// every method of a Service refuses.
func CallerOf(ctx context.Context) Principal {
	by, _ := ctx.Value(callerKey{}).(Principal)
	return by
}

// WriteError writes an error as the response of a route of the program's own, with the status and the JSON that the
// handler gives to errors of the domains. Any other error is 500, and only the default log gets its text. Nothing may
// be written before it.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	h := &handler{Config: Config{CompressFrom: -1}}
	_ = h.Config.normalise() // there is no path in it that could be wrong
	h.denials = &denialLog{log: h.Log}
	call := h.begin(w, r)
	defer h.end(call)
	call.by = CallerOf(r.Context())
	call.fail(err)
	call.send()
}
