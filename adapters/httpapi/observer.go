package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// Observer is told of every request once it is answered, for a log or for figures: also of those that were refused, of
// OPTIONS, and of those whose connection was dropped. It runs in the goroutine of the request, many at a time, and the next
// request of that connection waits for it. ctx is the request's, and may be done. A panic of an Observer drops the
// connection.
type Observer func(ctx context.Context, e Exchange)

// Exchange is a request and what became of it. It holds no token and nothing of the query, where a
// token may be. Route, Method, Status and Code take few values and can be labels of a metric; the others
// cannot.
type Exchange struct {
	ID       string        // X-Request-Id of the answer
	Method   string        // "GET"; "other" for a method that HTTP does not define
	Route    string        // pattern of the path, "/apps/{id}"; "" for OPTIONS, unknown paths and overload
	Path     string        // as it was sent, escaped; at most 1,000 bytes; "[token]" for what looks like a token
	Address  string        // of the client, without its port: the host of http.Request.RemoteAddr
	Caller   string        // URN; "" if the endpoint needs no token, or if it is not known
	Status   int           // 0 when the connection was dropped without an answer
	Code     string        // of an error: the stable word in its body; "" for any other response
	Bytes    int64         // of the answer's body, as they went out
	Duration time.Duration // from the request's headers to the end of the answer
	Stream   bool          // an event stream was sent, and Duration is how long it was open
}

// AccessLog returns an Observer that writes a line for each request at the level Info: the message "answered", the id
// of the request as "request", and method, path, route, address, caller, status, bytes and duration.
func AccessLog(log *slog.Logger) Observer {
	return func(ctx context.Context, e Exchange) {
		log.LogAttrs(ctx, slog.LevelInfo, "answered", slog.String("request", e.ID), slog.String("method", e.Method),
			slog.String("path", e.Path), slog.String("route", e.Route), slog.String("address", e.Address), slog.String("caller", e.Caller),
			slog.Int("status", e.Status), slog.Int64("bytes", e.Bytes), slog.Duration("duration", e.Duration))
	}
}

// methods is what HTTP defines (RFC 9110 and 5789).
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions, http.MethodConnect, http.MethodTrace}

// observe tells the Observer of a call that has ended. The route is known once find has run, and the caller once authenticate
// has; they are "" for a request that was refused before. Status is 0 if the connection was dropped before a response.
func (h *handler) observe(c *call) {
	if h.Observer == nil {
		return
	}
	e := Exchange{ID: c.id, Method: c.method(), Path: c.path(), Address: c.address(), Caller: c.caller(), Bytes: c.written, Duration: time.Since(c.begun)}
	if c.match.resource != nil { // all routes of a resource have its path
		rt := (*c.match.resource)[0]
		if e.Route = rt.path; !rt.atRoot() {
			e.Route = c.h.BasePath + rt.path
		}
	}
	if c.sent {
		e.Status, e.Code, e.Stream = c.status, c.code, c.streamed
	}
	h.Observer(c.ctx(), e)
}

// path is the path of the request as it may be logged. Whatever looks like a token in it is replaced.
func (c *call) path() string { return c.briefly(escapedPath(c.r.URL)) }
