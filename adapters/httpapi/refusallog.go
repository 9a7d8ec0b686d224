package httpapi

import (
	"cmp"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

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
