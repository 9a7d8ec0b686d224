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

// Error is an answer that is no success. errors.Is finds the sentinel of the domain in it, or ErrToken.
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

// Unwrap returns the sentinel, nil where there is none.
func (e *Error) Unwrap() error { return e.kind }

// kinds are the sentinels of a domain: by status (contract, section 7), and the one for changes of which
// nobody knows whether they were made.
type kinds struct {
	by      map[int]error
	unknown error
}

var (
	appErrors = kinds{map[int]error{
		http.StatusBadRequest: appsvc.ErrInvalid, http.StatusUnauthorized: ErrToken, http.StatusForbidden: appsvc.ErrForbidden,
		http.StatusNotFound: appsvc.ErrNotFound, http.StatusConflict: appsvc.ErrConflict,
		http.StatusRequestEntityTooLarge: appsvc.ErrTooLarge, http.StatusUnprocessableEntity: appsvc.ErrUnprocessable,
		http.StatusServiceUnavailable: appsvc.ErrBusy, http.StatusInsufficientStorage: appsvc.ErrFull,
	}, appsvc.ErrUnknown}
	assetErrors = kinds{map[int]error{
		http.StatusBadRequest: assets.ErrInvalid, http.StatusUnauthorized: ErrToken, http.StatusForbidden: assets.ErrForbidden,
		http.StatusNotFound: assets.ErrNotFound, http.StatusRequestEntityTooLarge: assets.ErrInvalid,
		http.StatusServiceUnavailable: assets.ErrBusy, http.StatusInsufficientStorage: assets.ErrFull,
	}, assets.ErrUnknown}
	reviewErrors = kinds{map[int]error{
		http.StatusUnauthorized: ErrToken, http.StatusForbidden: reviews.ErrForbidden, http.StatusNotFound: reviews.ErrNotFound,
		http.StatusServiceUnavailable: reviews.ErrBusy, http.StatusInsufficientStorage: reviews.ErrFull,
	}, reviews.ErrUnknown}
)

// of returns the sentinel of an answer. Busy and unknown have one status, and their own sentences.
func (k kinds) of(status int, message string) error {
	if status == http.StatusServiceUnavailable && strings.HasPrefix(message, k.unknown.Error()) {
		return k.unknown
	}
	return k.by[status]
}

// refusal makes the error of an answer. One without a sentence comes from somebody on the way, so its
// status says nothing of the service.
func (k kinds) refusal(r request, a answer) *Error {
	e := &Error{Method: r.method, Path: r.path(), Status: a.status, RequestID: a.header.Get("X-Request-Id")}
	var body struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(a.body, &body) == nil && body.Error != "" {
		e.Message, e.kind = body.Error, k.of(a.status, body.Error)
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
		return k.refusal(r, a).kind == k.unknown
	}
	return a.status == http.StatusBadGateway || a.status == http.StatusGatewayTimeout
}
