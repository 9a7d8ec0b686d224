package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Observer is called for every request after its response, for a log or for metrics: also for rejected requests, for
// OPTIONS, and for requests whose connection was dropped. It runs in the goroutine of the request, many at a time, and
// the next request of that connection waits for it. ctx is the request's, and may be done. A panic of an Observer drops
// the connection.
type Observer func(ctx context.Context, e Exchange)

// Exchange is a request and its result. It contains no token and nothing of the query, which may have a token. Route,
// Method, Status and Code take few values and can be labels of a metric; the others cannot.
type Exchange struct {
	ID     string // X-Request-Id of the response
	Method string // "GET"; "other" for a method that HTTP does not define
	Route  string // pattern of the path, "/apps/{id}"; "" for OPTIONS, unknown paths and overload
	// as it was sent, escaped; at most 1,000 bytes; with "[token]" for text that looks like a token
	Path     string
	Address  string        // of the client, without its port: the host of http.Request.RemoteAddr
	Caller   string        // URN; "" if the endpoint needs no token, or if it is not known
	Status   int           // 0 if the connection was dropped before a response
	Code     string        // of an error: the stable word in its body; "" for any other response
	Bytes    int64         // of the response's body, as they were sent
	Duration time.Duration // from the request's headers to the end of the response
	Stream   bool          // an event stream was sent, and Duration is how long it was open
}

// AccessLog returns an Observer that writes a line for each request at the level Info: the message "answered", the id
// of the request as "request", and method, path, route, address, caller, status, bytes and duration.
func AccessLog(log *slog.Logger) Observer {
	return func(ctx context.Context, e Exchange) {
		log.LogAttrs(ctx, slog.LevelInfo, "answered", slog.String("request", e.ID), slog.String("method", e.Method),
			slog.String("path", e.Path), slog.String("route", e.Route), slog.String("address", e.Address),
			slog.String("caller", e.Caller),
			slog.Int("status", e.Status), slog.Int64("bytes", e.Bytes), slog.Duration("duration", e.Duration))
	}
}

// methods are the methods of HTTP (RFC 9110 and 5789).
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
	http.MethodDelete,
	http.MethodOptions, http.MethodConnect, http.MethodTrace}

// observe calls the Observer for a call that has ended. Route and Caller are "" for a request that was rejected before
// they were known.
func (h *handler) observe(c *call) {
	e := Exchange{ID: c.id, Method: c.method(), Path: c.path(), Address: c.address(), Caller: c.caller(),
		Bytes: c.written, Duration: time.Since(c.begun)}
	if c.routes != nil { // all of them have the same path
		e.Route = c.routes[0].at(h.BasePath, h.AssetPrefix)
	}
	if c.sent {
		e.Status, e.Code, e.Stream = c.status, c.code, c.streamed
	}
	h.Observer(c.r.Context(), e)
}

// path is the path of the request as it may be logged. Whatever looks like a token in it is replaced.
func (c *call) path() string { return c.briefly(c.asked) }

// mostDenials is how many denied requests are logged in a second. That is enough to see who is denied and why; the
// Observer counts them all.
const mostDenials = 10

// denialLog logs the requests that get a 401 or 403: who sent them, and why they were denied. It writes at most
// mostDenials lines a second and then one that counts the others, so that a client with bad tokens cannot fill a disk.
type denialLog struct {
	log *slog.Logger

	mu      sync.Mutex
	ends    time.Time // end of the current second
	written int       // lines in this second
	more    int       // denied requests without a line, since the last count
}

// denied logs a request that gets a 401 or a 403. The reason is c.reason where the client is told less, as for a token
// with an invalid signature. Tokens in the line are replaced.
func (l *denialLog) denied(c *call, r *httpError) {
	if r.status != http.StatusUnauthorized && r.status != http.StatusForbidden || !l.mayWrite() {
		return
	}
	l.log.LogAttrs(c.r.Context(), slog.LevelInfo, "refused", slog.String("request", c.id),
		slog.String("method", c.method()),
		slog.String("path", c.path()), slog.Int("status", r.status), slog.String("address", c.address()),
		slog.String("caller", c.caller()), slog.String("reason", c.briefly(cmp.Or(c.reason, r.Text))))
}

// mayWrite reports whether another line may be written now. The first request that gets none starts a timer, which
// logs their number at the end of the second.
func (l *denialLog) mayWrite() bool {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !now.Before(l.ends) {
		l.ends, l.written = now.Add(time.Second), 0
	}
	if l.written < mostDenials {
		l.written++
		return true
	}
	if l.more == 0 {
		time.AfterFunc(l.ends.Sub(now), l.count)
	}
	l.more++
	return false
}

// count logs how many denied requests got no line. The timer of mayWrite calls it at the end of their second.
func (l *denialLog) count() {
	l.mu.Lock()
	more := l.more
	l.more = 0
	l.mu.Unlock()
	l.log.Info("more requests were refused", "count", more)
}
