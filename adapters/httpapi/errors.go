package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/strictjson"
	"github.com/vitrine-go/vitrine/reviews"
)

// statuses says which status the sentinels of the domains are answered with (contract, section 7).
var statuses = []struct {
	status    int
	sentinels []error
}{
	{http.StatusBadRequest, []error{appsvc.ErrInvalid, assets.ErrInvalid}},
	{http.StatusForbidden, []error{appsvc.ErrForbidden, assets.ErrForbidden, reviews.ErrForbidden}},
	{http.StatusNotFound, []error{appsvc.ErrNotFound, assets.ErrNotFound, reviews.ErrNotFound}},
	{http.StatusConflict, []error{appsvc.ErrConflict}},
	{http.StatusRequestEntityTooLarge, []error{appsvc.ErrTooLarge}},
	{http.StatusUnprocessableEntity, []error{appsvc.ErrUnprocessable}},
	{http.StatusServiceUnavailable, []error{appsvc.ErrBusy, assets.ErrBusy, reviews.ErrBusy, context.Canceled, context.DeadlineExceeded}},
	{http.StatusServiceUnavailable, unknown},
	{http.StatusInsufficientStorage, []error{appsvc.ErrFull, assets.ErrFull, reviews.ErrFull}},
}

// unknown are the errors of a write of which nobody knows whether it was kept.
var unknown = []error{appsvc.ErrUnknown, assets.ErrUnknown, reviews.ErrUnknown}

// unknownOutcome is what they are answered with.
const unknownOutcome = "it is not known whether the write was kept: look at what is stored, or repeat the request if it carries an Idempotency-Key or a version test"

// closedEarly is what a client is told that has gone, or has closed its side of the connection: that ends
// its request, as net/http cannot tell the one from the other.
const closedEarly = "the connection was closed before the answer was ready: keep it open until the answer has come"

// What the statuses from 500 on say. Their causes speak of the store, so they go to the log.
const internalError = "internal error"

var opaque = map[int]string{
	http.StatusInternalServerError: internalError,
	http.StatusServiceUnavailable:  "the store is not available at the moment: try again",
	http.StatusInsufficientStorage: "the storage is full: reading goes on, writing works again when there is room",
}

// refusal is an error of the HTTP side itself.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

var (
	errNoResource = &refusal{http.StatusNotFound, "nothing is at this path"}
	errNoMethod   = &refusal{http.StatusMethodNotAllowed, "this path does not know the method: see the header Allow"}
	errNoToken    = &refusal{http.StatusUnauthorized, "one valid token is required, in the header Authorization: svctoken <token> or in the query parameter svctoken"}
)

// statusOf returns the status of an error: of ours, of a domain, of the strict reader, else 500. The
// domains come before the reader, as they read stored and patched text with it too, and know what
// its errors mean there.
func statusOf(err error) int {
	var own *refusal
	if errors.As(err, &own) {
		return own.status
	}
	for _, row := range statuses {
		if isOneOf(err, row.sentinels) {
			return row.status
		}
	}
	var syntax *strictjson.Error
	if errors.As(err, &syntax) {
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

func isOneOf(err error, sentinels []error) bool {
	return slices.ContainsFunc(sentinels, func(s error) bool { return errors.Is(err, s) })
}

// fail turns an error into the answer.
func (c *call) fail(err error) {
	status := statusOf(err)
	text, isOpaque := opaque[status]
	switch {
	case !isOpaque:
		c.refuse(status, sentence(err))
		return
	case isOneOf(err, unknown):
		text = unknownOutcome
	case errors.Is(err, context.Canceled) && c.ctx().Err() != nil: // nothing is wrong here
		c.refuse(status, closedEarly)
		return
	}
	c.log(text, err)
	if part := (*inPart)(nil); errors.As(err, &part) {
		text += "; " + part.kept
	}
	c.refuse(status, text)
}

// sentence is what an error says but for its kind, which the status says: so it begins with the pointer
// or the name of what is wrong, whoever has found it.
func sentence(err error) string {
	text := err.Error()
	for _, row := range statuses {
		for _, sentinel := range row.sentinels {
			if rest, ok := strings.CutPrefix(text, sentinel.Error()+": "); ok {
				return rest
			}
		}
	}
	return text
}

// refuse makes {"error": text} the answer.
func (c *call) refuse(status int, text string) {
	header := c.header()
	for _, name := range []string{"Etag", "Location", "Link", "Vary"} {
		delete(header, name)
	}
	if !c.query.has(tokenParameter) {
		header["Cache-Control"] = everyAnswer["Cache-Control"]
	}
	switch status {
	case http.StatusUnauthorized:
		header["Www-Authenticate"] = []string{tokenScheme}
	case http.StatusServiceUnavailable:
		header["Retry-After"] = []string{"1"}
	}
	c.status = status
	c.out = append(c.out[:0], `{"error":`...)
	c.out, _ = jsontext.AppendQuote(c.out, strings.ToValidUTF8(bounded(text), "\uFFFD"))
	c.out = append(c.out, '}')
}

// maxSentence is the length of what an error says, in bytes: sentences repeat what was sent.
const maxSentence = 1000

// bounded cuts a text that is too long, between two characters.
func bounded(text string) string {
	if len(text) <= maxSentence {
		return text
	}
	end := maxSentence
	for end > maxSentence-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
