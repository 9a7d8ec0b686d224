//go:build proof

package crash

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

var (
	// ErrLost is an acknowledged write that is not there, or one that is there in part.
	ErrLost = errors.New("lost")
	// ErrUnknown is a write that may be there: the response says so.
	ErrUnknown = errors.New("the outcome is unknown")
	// ErrBusy is a request that was refused and has changed nothing.
	ErrBusy = errors.New("busy")
	// ErrCut is a request whose response did not come, or not to its end.
	ErrCut = errors.New("no response")
)

// Lost returns an error that wraps ErrLost.
func Lost(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrLost, fmt.Errorf(format, args...))
}

// Sender sends the requests of one user.
type Sender interface {
	// Write sends a request that changes something, and decodes the response into out, unless out is nil.
	Write(q Request, out any) error
	// Read reads a path and decodes the response into out. It repeats what is refused with ErrBusy.
	Read(path string, out any) (http.Header, error)
}

// Writer is a client that changes apps, assets or reviews over HTTP while a server is killed or its database is lost.
// It makes one change at a time, and knows from the responses it got what the service must hold afterwards.
type Writer interface {
	// User is the URN of the writer's caller.
	User() string
	// Owns reports whether the writer reads as the owner of its apps, and not as a moderator of the network.
	Owns() bool
	// Step makes one change.
	Step(s Sender) error
	// Settle compares the service with the responses after a step that failed, and keeps what it finds. maybe: the step
	// may have been made.
	Settle(s Sender, maybe bool) error
	// Verify compares the service with all responses. all: also with what is long done, and with the feed of changes.
	Verify(s Sender, all bool) error
}

// Request is what a writer sends. The response must have the status Want.
type Request struct {
	Method, Path string
	Key          string // Idempotency-Key
	Body         any    // bytes as they are, nil = none, else as JSON
	Want         int
}

// Send sends a request to the server at url, and returns the body of the response. The error wraps one of ErrCut,
// ErrUnknown, ErrBusy and ErrLost: a writer asks for nothing that does not follow from what it was answered before, so
// any other status is a loss.
func Send(client *http.Client, url, token string, q Request, header http.Header) ([]byte, http.Header, error) {
	body, isText := q.Body.([]byte)
	if !isText && q.Body != nil {
		var err error
		if body, err = json.Marshal(q.Body); err != nil {
			return nil, nil, err
		}
	}
	r, err := http.NewRequest(q.Method, url+q.Path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	for name, values := range header {
		r.Header[name] = values
	}
	r.Header.Set("Authorization", "svctoken "+token)
	if q.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.Key != "" {
		r.Header.Set("Idempotency-Key", q.Key)
	}
	r.GetBody = nil // the transport may not send it again by itself
	response, err := client.Do(r)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrCut, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%w: %w", ErrCut, err)
	case response.StatusCode == q.Want:
		return text, response.Header, nil
	case response.StatusCode == http.StatusServiceUnavailable &&
		strings.Contains(string(text), "not known whether the write was kept"):
		return nil, nil, ErrUnknown
	case response.StatusCode == http.StatusServiceUnavailable:
		return nil, nil, ErrBusy
	}
	return nil, nil, Lost("%s %s: status %d, want %d: %s", q.Method, q.Path, response.StatusCode, q.Want, text)
}
