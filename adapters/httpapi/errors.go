package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine"
)

// errorTable has the status and the code of each kind of error. The first row of the kind counts, and for an error of the handler itself,
// which has no kind, the first row of its status. Codes are a part of the contract: programs compare them, so a code is never changed, and
// README.md lists them all. A row with a sentence hides the cause, which may tell about the store and is only logged. A context that is
// done is 503: either the client has gone, or the server is too slow for its own limit.
var errorTable = []errorRow{
	{vitrine.ErrInvalid, http.StatusBadRequest, vitrine.CodeInvalid, ""},
	{nil, http.StatusUnauthorized, "unauthorized", ""},
	{vitrine.ErrForbidden, http.StatusForbidden, vitrine.CodeForbidden, ""},
	{vitrine.ErrNotFound, http.StatusNotFound, vitrine.CodeNotFound, ""},
	{nil, http.StatusMethodNotAllowed, "method_not_allowed", ""},
	{vitrine.ErrConflict, http.StatusConflict, vitrine.CodeMoved, ""},
	{vitrine.ErrGone, http.StatusGone, "gone", ""},
	{vitrine.ErrTooLarge, http.StatusRequestEntityTooLarge, vitrine.CodeTooLarge, ""},
	{nil, http.StatusUnsupportedMediaType, "media_type", ""},
	{vitrine.ErrUnprocessable, http.StatusUnprocessableEntity, "", ""}, // the domains give each a code of its own
	{ErrTooMany, http.StatusTooManyRequests, "too_many", ""},
	{vitrine.ErrBusy, http.StatusServiceUnavailable, "unavailable", unavailable},
	{vitrine.ErrUnknown, http.StatusServiceUnavailable, "unknown_outcome", unknownOutcome},
	{vitrine.ErrFull, http.StatusInsufficientStorage, "full", "the storage is full: reading goes on, writing works again when there is room"},
	{context.Canceled, http.StatusServiceUnavailable, "unavailable", unavailable},
	{context.DeadlineExceeded, http.StatusServiceUnavailable, "unavailable", unavailable},
	{nil, http.StatusInternalServerError, "internal", internalError},
}

const (
	unavailable = "the store is not available at the moment: try again"
	// unknownOutcome is the sentence for a write that may have been committed or not: the connection to the database broke, or the disk
	// failed, while the commit was under way.
	unknownOutcome = "it is not known whether the write was kept: look at what is stored, or repeat the request if it carries an Idempotency-Key or a version test"
)

// errorRow is a row of errorTable.
type errorRow struct {
	kind       error
	status     int
	code, text string
}

// codeOf returns the code of an error with this status that has no code of its own.
func codeOf(status int) string {
	for _, row := range errorTable {
		if row.status == status {
			return row.code
		}
	}
	return ""
}

// closedEarly is the sentence for a client that has closed its side of the connection before the response. Its request
// ends then, since net/http cannot distinguish this from a client that has disconnected.
const closedEarly = "the connection was closed before the answer was ready: keep it open until the answer has come"

// internalError is the sentence of every 500. The cause is only logged.
const internalError = "internal error"

// refusal is an error as it is answered: its fields are the members of the body that README.md describes. A refusal is
// an error of its own, and the errors of the services become one in refusalOf.
type refusal struct {
	status int
	Text   string `json:"error"` // the sentence
	details
	PointsTo any `json:"pointsTo,omitzero"` // with the code moved: a *vitrine.Version where the tag points, nil if it does not exist
}

// details are the members beside the sentence.
type details = vitrine.Error

// Error returns the sentence, which a client gets as the member error.
func (r *refusal) Error() string { return r.Text }

// refuse returns an error that concerns the whole request. The format is that of package fmt, here and below.
func refuse(status int, format string, args ...any) error {
	return &refusal{status: status, Text: fmt.Sprintf(format, args...)}
}

// refusePointer returns an error of the part of the body that pointer names.
func refusePointer(status int, pointer, format string, args ...any) error {
	return &refusal{status: status, details: details{Pointer: pointer}, Text: pointer + ": " + fmt.Sprintf(format, args...)}
}

// refuseParameter returns a 400 for a query parameter. The sentence never has the value of an unknown parameter, which may be
// a token under a wrong name.
func refuseParameter(name, format string, args ...any) error {
	return &refusal{status: http.StatusBadRequest, details: details{Parameter: name}, Text: name + ": " + fmt.Sprintf(format, args...)}
}

// refuseHeader returns an error of a header of the request.
func refuseHeader(status int, name, format string, args ...any) error {
	return &refusal{status: status, details: details{Parameter: name}, Text: "header " + name + ": " + fmt.Sprintf(format, args...)}
}

// The errors that the handler itself returns in more than one place, or that have nothing to add to their sentence.
var (
	errTagsOnly    = refuse(http.StatusForbidden, "this token may read apps by some of their tags, and do nothing else")
	errNoResource  = refuse(http.StatusNotFound, "nothing is at this path")
	errNoMethod    = refuse(http.StatusMethodNotAllowed, "this path does not know the method: see the header Allow")
	errNoIdentity  = refuse(http.StatusServiceUnavailable, "it cannot be found out at the moment who asks: try again")
	errCrossOrigin = refuse(http.StatusForbidden, "a page of another site may not send this request in the name of its visitor: send a token in the header Authorization")
	errBodyMissing = refuse(http.StatusBadRequest, "the body did not arrive whole, and this request needs none")
	errNoToken     = refuse(http.StatusUnauthorized, "one valid token is required, in the header Authorization: svctoken <token> or in the query parameter svctoken")
)

// refusalOf returns an error as a refusal, and reports whether its cause is hidden. It knows the refusals of this package and the errors of
// the domains. Anything else is 500. A *vitrine.Error tells its cause always: it was written for clients.
func refusalOf(err error) (r *refusal, hidden bool) {
	if own, ok := errors.AsType[*refusal](err); ok {
		answered := *own
		return &answered, false
	}
	row := errorTable[len(errorTable)-1]
	if at := slices.IndexFunc(errorTable, func(r errorRow) bool { return r.kind != nil && errors.Is(err, r.kind) }); at >= 0 {
		row = errorTable[at]
	}
	e, ok := errors.AsType[*vitrine.Error](err)
	if !ok {
		return &refusal{status: row.status, Text: cmp.Or(row.text, err.Error()), details: details{Code: row.code}}, row.text != ""
	}
	r = &refusal{status: row.status, Text: e.Error(), details: *e}
	r.Code = cmp.Or(e.Code, row.code)
	if e.Code == vitrine.CodeMoved && !e.Version.IsZero() { // a tag, not an asset
		r.PointsTo = (*vitrine.Version)(nil)
		if !e.PointsTo.IsZero() {
			r.PointsTo = &e.PointsTo
		}
	}
	return r, false
}

// fail makes an error the response. A cause that is hidden from the client is logged. If the
// request's context is cancelled, and the outcome of a write is not in doubt, nothing is logged: the error is only the end of
// the request.
func (c *call) fail(err error) {
	r, hidden := refusalOf(err)
	if hidden && errors.Is(err, context.Canceled) && !errors.Is(err, vitrine.ErrUnknown) && c.ctx().Err() != nil { // the client has gone
		r.Text, hidden = closedEarly, false
	}
	if hidden {
		c.log(r.Text, err)
		if c.kept != "" {
			r.Text += "; " + c.kept
		}
	}
	c.refuse(r)
}

// refuse makes a refusal the response. Headers that describe a success are removed, since the endpoint may have set them
// before it failed, and those that belong to the status are added: a 401 says which scheme of authentication is wanted, and
// a 503 or 429 says that the client may try again after a second.
func (c *call) refuse(r *refusal) {
	header := c.header()
	for _, name := range []string{"Etag", "Location", "Link", "Vary"} {
		delete(header, name)
	}
	c.cacheAs(revalidate)
	if c.route != nil && c.route.is(shared) {
		c.cacheAs(noStore)
		delete(header, "Cache-Tag")
	}
	switch r.status {
	case http.StatusUnauthorized:
		header["Www-Authenticate"] = []string{c.h.Challenge}
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		header["Retry-After"] = []string{"1"}
	}
	c.h.refusals.refused(c, r)
	r.Code = cmp.Or(r.Code, codeOf(r.status))
	c.status, c.code = r.status, r.Code
	c.out = append(c.out[:0], r.json()...)
}

// json returns the body of the response. Text that is not UTF-8, quoted from the request, gets replacement characters. Texts are
// cut at maxSentence, except a pointer: one that is longer is left out, since a part of it would point to another place.
func (r refusal) json() []byte {
	r.Text, r.Parameter = bounded(r.Text), bounded(r.Parameter)
	if len(r.Pointer) > maxSentence {
		r.Pointer = ""
	}
	out, _ := json.Marshal(r, jsontext.AllowInvalidUTF8(true)) // which nothing in a refusal can fail
	return out
}

// maxSentence is how many bytes of a text go into an error or a line of the log, since sentences quote the request.
const maxSentence = 1000

// bounded cuts a text that is too long, between two characters, and marks the cut. A response or a line of the log thus never
// grows with what a client has sent.
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
