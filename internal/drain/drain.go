// Package drain reads the rest of a request's body before the response.
//
// net/http does so by itself, since many clients look at the response only when they have sent everything. But it waits
// for the body as long as the server's ReadTimeout allows, and sends the response only then. A client that announces a
// body and sends none would keep its connection for that long.
package drain

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Patience is how long a response waits for the rest of the body, however slowly it comes.
const Patience = time.Second

// notifyKey is the key of the function of Notify in a context.
type notifyKey struct{}

// Notify returns a context for requests. Body calls waits with true before it reads, and with false if the body has
// come to its end. Otherwise net/http closes the connection after the response, and waits is not called again.
func Notify(ctx context.Context, waits func(bool)) context.Context {
	return context.WithValue(ctx, notifyKey{}, waits)
}

// Body reads and drops the rest of the body of r, up to most bytes and for Patience. It reports whether there is
// nothing left of the body. If something is left, net/http does not wait for it either, and closes the connection after
// the response.
//
// Nothing is read if Content-Length is more than most, so most may be 0 for a client that is not to be waited for.
// Nothing is read either from a client that waits for "100 Continue", since reading would tell it to send the body, and
// over HTTP/2, where a response does not wait for the body.
func Body(w http.ResponseWriter, r *http.Request, most int64) (ended bool) {
	if r.Body == nil || r.Body == http.NoBody || r.ProtoMajor != 1 {
		return true
	}
	var patience time.Duration
	if most > 0 && r.ContentLength <= most && r.Header["Expect"] == nil {
		patience = Patience
	}
	// If something is left, the deadline stays, so it also limits what net/http reads when the handler has returned.
	control := http.NewResponseController(w)
	if control.SetReadDeadline(time.Now().Add(patience)) != nil {
		return true // w is no connection: nothing can be waited for
	}
	waits, _ := r.Context().Value(notifyKey{}).(func(bool))
	if waits == nil {
		waits = func(bool) {}
	}
	waits(true)
	if patience == 0 {
		// net/http closes by itself if something is left. If nothing is, it waits for the next request already, and the
		// deadline has ended the context of all that follow.
		w.Header()["Connection"] = []string{"close"}
		return false
	}
	if _, err := io.CopyN(io.Discard, r.Body, most+1); err != io.EOF && err != http.ErrBodyReadAfterClose {
		return false
	}
	// If the handler has read the body before, net/http reads already, to see whether the client leaves: without a
	// deadline.
	_ = control.SetReadDeadline(time.Time{})
	waits(false)
	return true
}
