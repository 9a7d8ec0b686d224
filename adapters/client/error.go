package client

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
)

// ErrToken is the kind of an error for a token that the service does not accept (401).
var ErrToken = errors.New("no valid token")

// Error is a response that is no success. errors.Is finds its kind in it, such as vitrine.ErrConflict,
// or ErrToken. errors.As finds a *vitrine.Error with the fields that the embedded service sets. A response without the JSON of this service comes from a proxy, for instance, and has
// neither.
type Error struct {
	Method    string
	Path      string // as it was sent, without the query
	Status    int
	Message   string // the sentence of the service; "" if the response is not from the service
	RequestID string // names the request in the log of the service

	kind error
}

// Error returns a sentence with the request, the status and the message.
func (e *Error) Error() string {
	message := e.Message
	if message == "" {
		message = cmp.Or(http.StatusText(e.Status), "a status without a name") + ", in a response that is not from this service"
	}
	return fmt.Sprintf("%s %s: %d: %s", e.Method, e.Path, e.Status, message)
}

// Unwrap returns a *vitrine.Error, or only a kind from status 500 on, and nil if there is none.
func (e *Error) Unwrap() error { return e.kind }

// told is the body of a response that is no success, as README.md of package httpapi describes it.
type told struct {
	Error      string              `json:"error"`
	Code       string              `json:"code"`
	Pointer    string              `json:"pointer"`
	Parameter  string              `json:"parameter"`
	Version    *vitrine.Version    `json:"version"`
	PointsTo   *vitrine.Version    `json:"pointsTo"`
	Violations []vitrine.Violation `json:"violations"`
	ID         string              `json:"id"`
}

// reason is the sentence of the error without the place that it begins with, as the Reason of a
// *vitrine.Error.
func (t told) reason() string {
	for _, place := range []string{"header " + t.Parameter, t.Parameter, t.Pointer} {
		if rest, ok := strings.CutPrefix(t.Error, place+": "); ok && place != "" {
			return rest
		}
	}
	return t.Error
}

// detail returns what the service has told as the error that a Service in this process would return.
func (t told) detail(kind error) error {
	e := &vitrine.Error{Kind: kind, Code: t.Code, Pointer: t.Pointer, Parameter: t.Parameter, Reason: t.reason(), Violations: t.Violations, ID: t.ID}
	if t.Version != nil {
		e.Version = *t.Version
	}
	if t.PointsTo != nil {
		e.PointsTo = *t.PointsTo
	}
	return e
}

// kinds are the kinds of errors by status, the reverse of the table statuses of package httpapi. A status that is not listed
// gives an Error without a kind.
var kinds = map[int]error{
	http.StatusBadRequest:            vitrine.ErrInvalid,
	http.StatusUnauthorized:          ErrToken,
	http.StatusForbidden:             vitrine.ErrForbidden,
	http.StatusNotFound:              vitrine.ErrNotFound,
	http.StatusConflict:              vitrine.ErrConflict,
	http.StatusGone:                  vitrine.ErrGone,
	http.StatusRequestEntityTooLarge: vitrine.ErrTooLarge,
	http.StatusUnprocessableEntity:   vitrine.ErrUnprocessable,
	http.StatusServiceUnavailable:    vitrine.ErrBusy,
	http.StatusInsufficientStorage:   vitrine.ErrFull,
}

// here is the error of a request that is refused without being sent, in the form that the service would give it.
func here(status int, t told) error { return t.detail(kinds[status]) }

// refusal makes the error for a response. A response without a sentence comes from a proxy or another program between client
// and service, so its status says nothing about the service, and the error wraps no sentinel. From 500 on the error wraps only
// the sentinel and has no fields: a Service in this process returns no more for an error of its store.
func refusal(r request, a response) *Error {
	e := &Error{Method: r.method, Path: r.path(), Status: a.status, RequestID: a.header.Get("X-Request-Id")}
	var body told
	if json.Unmarshal(a.body, &body) != nil || body.Error == "" {
		return e
	}
	e.Message, e.kind = body.Error, kinds[a.status]
	switch {
	case body.Code == "unknown_outcome": // it has the same status as what is busy
		e.kind = vitrine.ErrUnknown
	case e.kind != nil && e.kind != ErrToken && a.status < 500:
		e.kind = body.detail(e.kind)
	}
	return e
}

// settles reports whether a response tells that earlier attempts at the same request, which had no response, changed nothing.
// A refusal by the service with a status of 400 to 499, or 507, does, with the exceptions below: the service looks for an
// earlier attempt by its key first, and repeats its response if it was carried out. This does not cover an attempt that is
// still under way when the refusal is made, and is carried out afterwards.
//
// The exceptions are refusals that the service may make before it looks: 401, 429, and those for the rights of the caller,
// 403 and 404. The earlier attempt itself, or a change by somebody else, may have taken these rights away. A 500, and a
// response that is not from the service, tell nothing either.
func (e *Error) settles() bool {
	if e.Message == "" {
		return false
	}
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests:
		return false
	case http.StatusInsufficientStorage:
		return true
	}
	return e.Status >= 400 && e.Status < 500
}

// doubtful reports whether a request may have changed something although the service has not said so: the connection was
// lost, the response was too long to be read, the service does not know it itself, or a status from 500 on is not from the
// service, so that it may come from a proxy that has lost the response. A read changes nothing, and a request for which there
// was no connection was never sent. The service's own 500 is not doubtful: if it does not know whether its store has kept a
// change, it says so with a 503.
func doubtful(r request, a response, err error) bool {
	var gone *lost
	var long tooLong
	var op *net.OpError
	switch {
	case !r.changes():
		return false
	case errors.As(err, &long):
		return true
	case err != nil:
		return errors.As(err, &gone) && !(errors.As(err, &op) && op.Op == "dial")
	}
	switch a.status {
	case http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusInsufficientStorage:
		refused := refusal(r, a)
		return refused.Message == "" || errors.Is(refused, vitrine.ErrUnknown)
	}
	return a.status > 500 // the service has no other status from 500 on
}
