package client

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
)

// ErrToken: the service does not take the token.
var ErrToken = errors.New("no valid token")

// Error is an answer that is not a success. errors.Is finds the kind of the domain in it, or ErrToken,
// and errors.As the error of the domain, *appsvc.Error, *assets.Error or *reviews.Error, as the embedded service gives it.
type Error struct {
	Method    string
	Path      string // as it was sent, without the query
	Status    int
	Message   string // the sentence of the service; "" where somebody else has answered
	RequestID string // names the request in the log of the service

	kind error
}

// Error says what was asked and what is wrong with it.
func (e *Error) Error() string {
	message := e.Message
	if message == "" {
		message = http.StatusText(e.Status) + ", and nothing that this service would say"
	}
	return fmt.Sprintf("%s %s: %d: %s", e.Method, e.Path, e.Status, message)
}

// Unwrap returns the error of the domain, or its kind alone, and nil where there is none.
func (e *Error) Unwrap() error { return e.kind }

// kinds are the sentinels of a domain: by status, and the one for changes of which
// nobody knows whether they were made.
type kinds struct {
	by      map[int]error
	unknown error
	detail  func(kind error, told told) error
}

// told is the body of an answer that is not a success.
type told struct {
	Error      string             `json:"error"`
	Code       string             `json:"code"`
	Pointer    string             `json:"pointer"`
	Parameter  string             `json:"parameter"`
	Version    *appsvc.Version    `json:"version"`
	PointsTo   *appsvc.Version    `json:"pointsTo"`
	Violations []appsvc.Violation `json:"violations"`
	ID         string             `json:"id"`
}

// reason is the sentence without the place that it begins with.
func (t told) reason() string {
	for _, place := range []string{"header " + t.Parameter, t.Parameter, t.Pointer} {
		if rest, ok := strings.CutPrefix(t.Error, place+": "); ok && place != "" {
			return rest
		}
	}
	return t.Error
}

func appError(kind error, t told) error {
	e := &appsvc.Error{Kind: kind, Code: t.Code, Pointer: t.Pointer, Parameter: t.Parameter, Reason: t.reason(), Violations: t.Violations}
	if t.Version != nil {
		e.Version = *t.Version
	}
	if t.PointsTo != nil {
		e.PointsTo = *t.PointsTo
	}
	return e
}

func assetError(kind error, t told) error {
	return &assets.Error{Kind: kind, Code: t.Code, Pointer: t.Pointer, Parameter: t.Parameter, Reason: t.reason(), ID: t.ID}
}

func reviewError(kind error, t told) error {
	return &reviews.Error{Kind: kind, Code: t.Code, Pointer: t.Pointer, Parameter: t.Parameter, Reason: t.reason()}
}

var (
	appErrors = kinds{map[int]error{
		http.StatusBadRequest: appsvc.ErrInvalid, http.StatusUnauthorized: ErrToken, http.StatusForbidden: appsvc.ErrForbidden,
		http.StatusNotFound: appsvc.ErrNotFound, http.StatusConflict: appsvc.ErrConflict, http.StatusGone: appsvc.ErrGone,
		http.StatusRequestEntityTooLarge: appsvc.ErrTooLarge, http.StatusUnprocessableEntity: appsvc.ErrUnprocessable,
		http.StatusServiceUnavailable: appsvc.ErrBusy, http.StatusInsufficientStorage: appsvc.ErrFull,
	}, appsvc.ErrUnknown, appError}
	assetErrors = kinds{map[int]error{
		http.StatusBadRequest: assets.ErrInvalid, http.StatusUnauthorized: ErrToken, http.StatusForbidden: assets.ErrForbidden,
		http.StatusNotFound: assets.ErrNotFound, http.StatusConflict: assets.ErrConflict, http.StatusGone: assets.ErrGone,
		http.StatusRequestEntityTooLarge: assets.ErrTooLarge,
		http.StatusServiceUnavailable:    assets.ErrBusy, http.StatusInsufficientStorage: assets.ErrFull,
	}, assets.ErrUnknown, assetError}
	reviewErrors = kinds{map[int]error{
		http.StatusBadRequest: reviews.ErrInvalid, http.StatusUnauthorized: ErrToken, http.StatusForbidden: reviews.ErrForbidden, http.StatusNotFound: reviews.ErrNotFound,
		http.StatusServiceUnavailable: reviews.ErrBusy, http.StatusInsufficientStorage: reviews.ErrFull,
	}, reviews.ErrUnknown, reviewError}
)

// of returns the kind of an answer. Busy and unknown share a status and differ in their codes.
func (k kinds) of(status int, code string) error {
	if code == "unknown_outcome" {
		return k.unknown
	}
	return k.by[status]
}

// here is the error of a request that is not sent, as the service would answer it with this status.
func (k kinds) here(status int, t told) error {
	return k.detail(k.by[status], t)
}

// refusal makes the error of an answer. One without a sentence comes from somebody on the way, so its
// status says nothing of the service.
func (k kinds) refusal(r request, a answer) *Error {
	e := &Error{Method: r.method, Path: r.path(), Status: a.status, RequestID: a.header.Get("X-Request-Id")}
	var body told
	if json.Unmarshal(a.body, &body) != nil || body.Error == "" {
		return e
	}
	e.Message, e.kind = body.Error, k.of(a.status, body.Code)
	if e.kind != nil && e.kind != ErrToken && a.status < 500 { // what a store answers is a kind alone, near and far
		e.kind = k.detail(e.kind, body)
	}
	return e
}

// doubtful reports whether a change may have been made that was not answered by the service. One for which
// there was no connection was not.
func (k kinds) doubtful(r request, a answer, err error) bool {
	var gone *lost
	var op *net.OpError
	switch {
	case r.method == http.MethodGet:
		return false
	case err != nil:
		return errors.As(err, &gone) && !(errors.As(err, &op) && op.Op == "dial")
	case a.status == http.StatusServiceUnavailable:
		return errors.Is(k.refusal(r, a), k.unknown)
	}
	return a.status == http.StatusBadGateway || a.status == http.StatusGatewayTimeout
}
