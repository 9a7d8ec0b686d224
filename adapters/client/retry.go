package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// passing are the statuses of failures that may be over soon: a request that gets one may be sent again.
var passing = []int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

// send sends a request, and again as often as Config allows. It returns the answer to the last attempt, which may be no
// success, or an error if that attempt had no response. doubt reports whether one of the attempts may have changed something
// without an answer that says so.
func (s *sender) send(ctx context.Context, r request) (a response, doubt bool, err error) {
	for attempt := 1; ; attempt++ {
		a, err = s.once(ctx, r)
		// An attempt without an answer may have been carried out, so doubt stays whatever later attempts answer.
		doubt = doubt || doubtful(r, a, err)
		if ctx.Err() != nil && err != nil {
			return response{}, doubt, fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		wait, useful := s.pause(attempt, r, a, err)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
			useful = false // ctx would be done before the next attempt
		}
		if !useful || !sleep(ctx, wait) {
			return a, doubt, err
		}
	}
}

// pause returns how long to wait before a request is sent again. It returns false if the request must not be sent again.
func (s *sender) pause(attempt int, r request, a response, err error) (time.Duration, bool) {
	var gone *lost
	if !r.again || attempt >= s.Attempts || err != nil && !errors.As(err, &gone) || err == nil && !slices.Contains(passing, a.status) {
		return 0, false
	}
	// The wait doubles each time. A random part of up to half of it is added, so that clients that failed at the same time
	// do not come back at the same time.
	wait := min(s.MaxWait, 100*time.Millisecond<<min(attempt-1, 20))
	wait += rand.N(wait/2 + 1)
	asked := time.Duration(0)
	if err == nil {
		asked = retryAfter(a.header, time.Now())
	}
	return max(min(wait, s.MaxWait), asked), asked <= s.MaxWait
}

// retryAfter returns the time in the header Retry-After, which is a number of seconds or a date. It returns 0 if there is
// none.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// sleep waits for d. It returns false if the context ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
