package client

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
)

// ErrToken is the kind of an error for a token that the service does not accept (401).
var ErrToken = errors.New("no valid token")

// Error is a response that is no success. errors.Is finds its kind in it, such as vitrine.ErrConflict, or ErrToken.
// errors.As finds a *vitrine.Error with the fields that the embedded service sets. A response without the JSON of this
// service comes from a proxy, for instance, and has neither.
type Error struct {
	Method    string
	Path      string // as it was sent, without the query
	Status    int
	Message   string // the sentence of the service; "" if the response is not from the service
	RequestID string // names the request in the log of the service

	kind       error
	code       string        // of the service; "" if the response is not from the service
	retryAfter time.Duration // the header Retry-After
}

// Error returns a sentence with the request, the status and the message.
func (e *Error) Error() string {
	message := e.Message
	if message == "" {
		message = cmp.Or(http.StatusText(e.Status), "a status without a name") +
			", in a response that is not from this service"
	}
	return fmt.Sprintf("%s %s: %d: %s", e.Method, e.Path, e.Status, message)
}

// Unwrap returns a *vitrine.Error, for a status from 500 on only a kind, or nil.
func (e *Error) Unwrap() error { return e.kind }

// errorBody is the body of a response that is no success, as README.md of package httpapi describes it.
type errorBody struct {
	Error string `json:"error"`
	details
}

// details are the members beside the sentence.
type details = vitrine.Error

// reason returns the sentence without the place at its beginning, as the Reason of a *vitrine.Error.
func (t errorBody) reason() string {
	for _, place := range []string{"header " + t.Parameter, t.Parameter, t.Pointer} {
		if rest, ok := strings.CutPrefix(t.Error, place+": "); ok && place != "" {
			return rest
		}
	}
	return t.Error
}

// kinds are the kinds of errors by status, the reverse of errorTable of package httpapi. A status that is not listed
// gives an Error without a kind.
var kinds = map[int]error{
	http.StatusBadRequest:            vitrine.ErrInvalid,
	http.StatusUnauthorized:          ErrToken,
	http.StatusForbidden:             vitrine.ErrForbidden,
	http.StatusNotFound:              vitrine.ErrNotFound,
	http.StatusConflict:              vitrine.ErrConflict,
	http.StatusGone:                  vitrine.ErrGone,
	http.StatusRequestEntityTooLarge: vitrine.ErrTooLarge,
	http.StatusPreconditionFailed:    vitrine.ErrConflict,
	http.StatusUnsupportedMediaType:  vitrine.ErrUnprocessable,
	http.StatusUnprocessableEntity:   vitrine.ErrUnprocessable,
	http.StatusPreconditionRequired:  vitrine.ErrInvalid,
	http.StatusServiceUnavailable:    vitrine.ErrBusy,
	http.StatusInsufficientStorage:   vitrine.ErrFull,
}

// errorOf makes the error for a response. A response without a sentence comes from a proxy or another program between
// client and service, so the error wraps no sentinel. From 500 on the error wraps only the sentinel and has no fields:
// a Service in this process returns no more for an error of its store.
func errorOf(method, path string, in *http.Response, body []byte) *Error {
	e := &Error{Method: method, Path: path, Status: in.StatusCode, RequestID: in.Header.Get("X-Request-Id"),
		retryAfter: retryAfter(in.Header)}
	var t errorBody
	if json.Unmarshal(body, &t) != nil || t.Error == "" {
		return e
	}
	e.Message, e.code, e.kind = t.Error, t.Code, kinds[in.StatusCode]
	switch {
	case e.code == unknownOutcome: // it has the same status as vitrine.ErrBusy
		e.kind = vitrine.ErrUnknown
	case e.kind != nil && e.kind != ErrToken && e.Status < 500:
		t.Kind, t.Reason = e.kind, t.reason()
		e.kind = &t.details
	}
	return e
}

// unknownOutcome is the code of a response that does not say whether the change was made.
const unknownOutcome = "unknown_outcome"

// doubtful reports whether a change may have been made although no response says so, after an attempt with this error
// and earlier ones that were doubtful or not.
//
// The code of an error tells that its attempt changed nothing, and, with most codes, that earlier attempts did not
// either: the service looks for them by the idempotency key first, and repeats their response. This does not cover an
// earlier attempt that is still under way. An error that the service may return before it looks tells nothing about
// earlier attempts: they, or a change by somebody else, may have taken the caller's rights away.
func doubtful(err error, before bool) bool {
	switch err := err.(type) {
	case *failure:
		return before || err.sent
	case *Error:
		switch err.code {
		case unknownOutcome:
			return true
		case "": // a proxy, which may have lost the response of the service
			return before || err.Status >= 500
		case "unauthorized", "too_many", "internal", vitrine.CodeForbidden, vitrine.CodeNotFound,
			vitrine.CodeUnavailable:
			return before
		}
		return false
	}
	return before // it was not sent
}
