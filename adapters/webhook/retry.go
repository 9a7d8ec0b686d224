package webhook

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
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

// Attempt is an attempt to deliver a change to an endpoint. Options.Observer is called for each, for logs and metrics.
// Endpoint, Type and Outcome take few values and can be labels of a metric.
type Attempt struct {
	Endpoint string    // its name
	Type     string    // of the change, such as "tag.set"
	At       time.Time // of the change, not of the attempt
	Status   int       // of the response; 0 = there was none
	Outcome  Outcome
}

// observe reports an attempt to the observer of the options.
func (w *worker) observe(c change, status int, o Outcome) {
	if w.d.observer != nil {
		w.d.observer(Attempt{Endpoint: w.e.Name, Type: c.Type, At: c.At, Status: status, Outcome: o})
	}
}

// Outcome is the result of an attempt to deliver a change.
type Outcome string

// The outcomes. Every attempt has one of them, and so has a change that is skipped without an attempt of its own.
const (
	Delivered Outcome = "delivered" // the receiver has accepted it
	Retried   Outcome = "retried"   // it failed and is repeated later
	Skipped   Outcome = "skipped"   // it was given up after five responses of 400, 413 or 422, or after three days
	Disabled  Outcome = "disabled"  // the receiver returned 410 and gets nothing more
)

// settle changes the position according to the result of an attempt at the first change of a queue, and returns the
// outcome. err is the reason why there was no response; without it the status decides:
//
//   - 200 to 299: the change is delivered, and the position advances past it.
//   - 410: the endpoint is switched off. The position stays, so deliveries go on with this change once it is on again.
//   - anything else, or no response: the change is tried again after a pause. If five attempts at it got 400, 413
//     or 422, or if it is three days old, it is given up instead, and the position advances past it.
func (w *worker) settle(q *queue, log *slog.Logger, status int, err error) Outcome {
	switch {
	case err == nil && status >= 200 && status <= 299:
		log.Debug("webhook: delivered")
		w.p.Failed, w.p.Rejected, w.p.Until = 0, 0, 0
		w.advance(q)
		return Delivered
	case err == nil && status == http.StatusGone:
		log.Warn("webhook: the receiver answered 410: nothing more is delivered until its url or its secret changes")
		w.p.Off = true
		return Disabled
	}
	w.p.Failed++
	if err == nil && rejects(status) {
		w.p.Rejected++
	}
	pause := time.Duration(float64(wait(w.p.Failed)) * (1 - jitter + 2*jitter*rand.Float64()))
	w.p.Until = time.Now().Add(pause).UnixMilli()
	switch {
	case w.p.Rejected >= mostRejections:
		// The endpoint works and does not want this change, so the next one need not wait.
		w.p.Failed, w.p.Until = 0, 0
		w.skip(q, fmt.Sprintf("rejected %d times", mostRejections))
		return Skipped
	case time.Since(q.changes[0].At) >= keepTrying:
		w.skip(q, "too old")
		return Skipped
	}
	log.Warn("webhook: not delivered, trying again", "in", pause.Round(time.Millisecond))
	return Retried
}

// skip gives up the first change of a queue: it is logged as an error, and the position advances past it.
func (w *worker) skip(q *queue, why string) {
	c := q.changes[0]
	w.log.Error("webhook: skipped a change that could not be delivered: "+why, "id", w.p.id(q.name, c), "type", c.Type,
		"at", c.At.UTC())
	w.p.Rejected = 0
	w.advance(q)
}

// wait returns the time between a failed attempt and the next, without the jitter. It begins with firstWait and doubles
// with each failure, up to longestWait. failed is how many attempts at the endpoint have failed since one was accepted,
// a change was rejected too often, or the receiver changed. It counts attempts at all changes, so an endpoint that is
// down gets no more requests because many changes wait for it.
func wait(failed int) time.Duration { return min(firstWait<<min(failed-1, 20), longestWait) }

// rejects reports whether a status says that the receiver does not want this change, rather than that it has a problem:
// 400, 413 and 422. The same change would be rejected again, so it is given up after few attempts.
func rejects(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge ||
		status == http.StatusUnprocessableEntity
}
