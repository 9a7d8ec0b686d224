package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"
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
	if c.match.routes != nil { // all of them have the same path
		e.Route = c.match.routes[0].at(h.BasePath, h.AssetPrefix)
	}
	if c.sent {
		e.Status, e.Code, e.Stream = c.status, c.code, c.streamed
	}
	h.Observer(c.ctx(), e)
}

// path is the path of the request as it may be logged. Whatever looks like a token in it is replaced.
func (c *call) path() string { return c.briefly(escapedPath(c.r.URL)) }

// mostRefusals is how many refused requests are logged in a second. It is enough to see who is refused and why; how many there
// are is a figure of the Observer.
const mostRefusals = 10

// refusalLog logs the requests that are answered with 401 or 403: who sent them, and why they were refused. It
// writes at most mostRefusals lines a second and then one that counts the others, so that a client with bad tokens
// cannot fill a disk.
type refusalLog struct {
	log *slog.Logger

	mu      sync.Mutex
	ends    time.Time // end of the current second
	written int       // lines in this second
	more    int       // refused requests without a line, since the last count
}

// refused logs a request that is answered with this refusal, if it is a 401 or a 403. The reason is c.reason where the client
// is told less, as for a token that is not signed well. No token is in the line, wherever the client has put it.
func (l *refusalLog) refused(c *call, r *refusal) {
	if r.status != http.StatusUnauthorized && r.status != http.StatusForbidden || !l.mayWrite() {
		return
	}
	l.log.LogAttrs(c.ctx(), slog.LevelInfo, "refused", slog.String("request", c.id), slog.String("method", c.method()),
		slog.String("path", c.path()), slog.Int("status", r.status), slog.String("address", c.address()),
		slog.String("caller", c.caller()), slog.String("reason", c.briefly(cmp.Or(c.reason, r.Text))))
}

// mayWrite reports whether another line may be written now. The first request that gets none starts a timer, which
// logs their number at the end of the second.
func (l *refusalLog) mayWrite() bool {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !now.Before(l.ends) {
		l.ends, l.written = now.Add(time.Second), 0
	}
	if l.written < mostRefusals {
		l.written++
		return true
	}
	if l.more == 0 {
		time.AfterFunc(l.ends.Sub(now), l.count)
	}
	l.more++
	return false
}

// count logs how many refused requests got no line. The timer of mayWrite calls it at the end of their second.
func (l *refusalLog) count() {
	l.mu.Lock()
	more := l.more
	l.more = 0
	l.mu.Unlock()
	l.log.Info("more requests were refused", "count", more)
}
