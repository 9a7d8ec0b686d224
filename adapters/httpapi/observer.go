package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Observer is told of every request once it is answered, for a log or for figures. It runs in the
// goroutine of the request, many at a time, and the next request of that connection waits for it.
// ctx is the request's.
type Observer func(ctx context.Context, e Exchange)

// Exchange is a request and what became of it. It holds no token and nothing of the query, where a
// token may be. Route, Method and Status take few values and can stand beside a figure; ID and Path
// cannot.
type Exchange struct {
	ID       string        // X-Request-Id of the answer
	Method   string        // "GET"; "other" for a method that HTTP does not define
	Route    string        // pattern of the path, "/apps/{id}"; "" for OPTIONS and where nothing is
	Path     string        // as it was sent, escaped; at most 1,000 bytes
	Status   int           // 0 when the connection was dropped without an answer
	Bytes    int64         // of the answer's body, as they went out
	Duration time.Duration // from the request's headers to the end of the answer
}

// AccessLog is an Observer that writes a line for each request.
func AccessLog(log *slog.Logger) Observer {
	return func(ctx context.Context, e Exchange) {
		log.LogAttrs(ctx, slog.LevelInfo, "answered", slog.String("request", e.ID), slog.String("method", e.Method),
			slog.String("path", e.Path), slog.String("route", e.Route), slog.Int("status", e.Status),
			slog.Int64("bytes", e.Bytes), slog.Duration("duration", e.Duration))
	}
}

// methods is what HTTP defines (RFC 9110 and 5789).
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions, http.MethodConnect, http.MethodTrace}

// observe tells the Observer of a call that has ended.
func (h *handler) observe(c *call) {
	if h.Observer == nil {
		return
	}
	e := Exchange{ID: c.id, Method: "other", Path: c.path(), Bytes: c.written, Duration: time.Since(c.begun)}
	if slices.Contains(methods, c.r.Method) {
		e.Method = c.r.Method
	}
	if c.resource != nil {
		e.Route = c.resource.routes[0].pattern
	}
	if c.sent {
		e.Status = c.status
	}
	h.Observer(c.ctx(), e)
}

// path is the path of the request as it may be logged: a token that a client put there by mistake
// is taken out, and replaced by less than itself, before the rest is cut short.
func (c *call) path() string {
	path := escapedPath(c.r.URL)
	if c.token != "" {
		path = strings.ReplaceAll(path, c.token, "*")
	}
	return bounded(path)
}
