package webhook

import (
	"net/http"
	"time"
)

// When a failed delivery is tried again, and when a change is given up.
const (
	firstWait      = 5 * time.Second
	longestWait    = 8 * time.Hour
	jitter         = 0.2                // each wait is longer or shorter by up to this part of it
	keepTrying     = 3 * 24 * time.Hour // from the change on
	mostRejections = 5                  // attempts at one change that the receiver rejects, see rejects
)

// wait returns the time between a failed attempt and the next, without the jitter. It begins with firstWait and doubles with
// each failure, up to longestWait. failed is how many attempts at the endpoint have failed since one was accepted, a change was
// rejected too often, or the receiver changed. It counts attempts at all changes, so an endpoint that is down is not asked more
// often because many changes wait for it.
func wait(failed int) time.Duration {
	d := firstWait
	for range failed - 1 {
		if d = 2 * d; d >= longestWait {
			return longestWait
		}
	}
	return d
}

// rejects reports whether a status says that the receiver does not want this change, rather than that it has a problem: 400,
// 413 and 422. The same change would be rejected again, so it is given up after few attempts.
func rejects(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || status == http.StatusUnprocessableEntity
}
