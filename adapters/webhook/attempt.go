package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// Outcome is the result of an attempt to deliver a change.
type Outcome string

// The outcomes. Every attempt has one of them, and so has a change that is skipped without an attempt of its own.
const (
	Delivered Outcome = "delivered" // the receiver has accepted it
	Retried   Outcome = "retried"   // it failed and is repeated later
	Skipped   Outcome = "skipped"   // it was given up: refused too often, or too old
	Disabled  Outcome = "disabled"  // the receiver answered 410 and gets nothing more
)

// Attempt is an attempt to deliver a change to an endpoint. Options.Observer is told of each, for logs and figures. Endpoint,
// Type and Outcome take few values and can be labels of a metric.
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

// When a failed delivery is tried again, and when a change is given up.
const (
	firstWait    = 5 * time.Second
	longestWait  = 8 * time.Hour
	jitter       = 0.2                // each wait is longer or shorter by up to this part of it
	keepTrying   = 3 * 24 * time.Hour // from the change on
	mostRefusals = 5                  // attempts at one change that the receiver refuses, see refuses
)

// wait returns the time between a failed attempt and the next, without the jitter. It begins with firstWait and doubles with
// each failure, up to longestWait. failed is how many attempts at the endpoint have failed since one was accepted, a change was
// given up as refused, or the receiver changed. It counts attempts at all changes, so an endpoint that is down is not asked more often because many changes wait for it.
func wait(failed int) time.Duration {
	d := firstWait
	for range failed - 1 {
		if d = 2 * d; d >= longestWait {
			return longestWait
		}
	}
	return d
}

// judge changes the position according to the result of an attempt at the first change of a queue, and returns the outcome.
// err is the reason why there was no response; without it the status decides:
//
//   - 200 to 299: the change is delivered, and the position moves past it.
//   - 410: the endpoint is switched off. The position stays, so deliveries go on with this change once it is on again.
//   - anything else, or no response: the change is tried again after a pause. If it was refused five times, or is three
//     days old, it is given up instead, and the position moves past it.
func (w *worker) judge(q *queue, log *slog.Logger, status int, err error) Outcome {
	switch {
	case err == nil && status >= 200 && status <= 299:
		log.Debug("webhook: delivered")
		w.p.Failed, w.p.Until = 0, 0
		w.pass(q)
		return Delivered
	case err == nil && status == http.StatusGone:
		log.Warn("webhook: the receiver answered 410: nothing more is delivered until its url or its secret changes")
		w.p.Off = true
		return Disabled
	}
	w.p.Failed++
	if err == nil && refuses(status) {
		w.p.Refused++
	}
	pause := time.Duration(float64(wait(w.p.Failed)) * (1 - jitter + 2*jitter*rand.Float64()))
	w.p.Until = time.Now().Add(pause).UnixMilli()
	switch {
	case w.p.Refused >= mostRefusals:
		// The endpoint works and does not want this change, so the next one need not wait.
		w.p.Failed, w.p.Until = 0, 0
		w.skip(q, fmt.Sprintf("refused %d times", mostRefusals))
		return Skipped
	case time.Since(q.ahead[0].At) >= keepTrying:
		w.skip(q, "too old")
		return Skipped
	}
	log.Warn("webhook: not delivered, trying again", "in", pause.Round(time.Millisecond))
	return Retried
}

// refuses reports whether a status says that the receiver does not want this change, rather than that it has a problem: 400,
// 413 and 422. The same change would be refused again, so it is given up after few attempts.
func refuses(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || status == http.StatusUnprocessableEntity
}

// skip gives up the first change of a queue: it is logged as an error, and the position moves past it.
func (w *worker) skip(q *queue, why string) {
	c := q.ahead[0].change
	w.log.Error("webhook: skipped a change that could not be delivered: "+why, "id", w.p.id(q.name, c), "type", c.Type, "at", c.At.UTC())
	w.pass(q)
}

// Bounds of one attempt, from the connection to the end of the response.
const (
	answerWithin = 15 * time.Second
	answerMost   = 64 << 10 // bytes of a response's header, and of its body
)

// newTransport returns a transport that connects to allowed addresses only. It uses no proxy, since a proxy would resolve the
// name itself and connect to any address. A RoundTripper follows no redirects, so a receiver cannot send a delivery elsewhere.
func newTransport(o Options) *http.Transport {
	dialer := &net.Dialer{Timeout: answerWithin, Control: guard{o.Allow}.control}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        o.TLS.Clone(),
		TLSHandshakeTimeout:    answerWithin,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // nobody reads the body
		MaxResponseHeaderBytes: answerMost,
		MaxIdleConnsPerHost:    1, // an endpoint gets one delivery at a time
		MaxIdleConns:           MaxEndpoints,
		IdleConnTimeout:        90 * time.Second,
	}
}

// post makes one attempt to deliver and returns the status of the response. The error says why there was none. It is for the
// log: it may name the host, and has no other part of the URL.
func post(ctx context.Context, transport http.RoundTripper, e Endpoint, id string, body []byte) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(body))
	if err != nil {
		return 0, errors.New("the URL cannot be used")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "vitrine-webhook")
	sign(r.Header, e.Secrets, id, time.Now(), body)
	response, err := transport.RoundTrip(r)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && err != nil {
		return 0, errors.New("there was no response within 15 seconds")
	}
	if err != nil {
		return 0, cause(err)
	}
	// The status has decided. What is read of the body only keeps the connection for the next delivery.
	_, _ = io.CopyN(io.Discard, response.Body, answerMost)
	_ = response.Body.Close()
	return response.StatusCode, nil
}

// cause returns what the log may say about a request that failed. Errors of the connection, of the resolver and of TLS pass:
// they have nothing from the receiver that it sent after it knew the URL. Any other error may repeat a part of the response, and
// the receiver may have put the URL there, so it is replaced by a general one.
func cause(err error) error {
	for _, before := range []any{new(*net.OpError), new(*net.DNSError), new(*tls.CertificateVerificationError), new(tls.RecordHeaderError), new(tls.AlertError)} {
		if errors.As(err, before) {
			return err
		}
	}
	return errors.New("the connection broke, or the response was not HTTP")
}
