package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine"
)

// errorTable maps each kind of error to its status and code. The first row of a kind applies, unless another one of it
// has the code of the error. An error of the handler itself has no kind, so the first row with its status applies.
// Codes are a part of the contract and never change; README.md lists them. A row with a sentence hides the cause, which
// is only logged. A context that is done is 503: the client has disconnected, or the server has exceeded its own limit.
var errorTable = []errorRow{
	{vitrine.ErrInvalid, http.StatusBadRequest, vitrine.CodeInvalid, ""},
	{vitrine.ErrInvalid, http.StatusPreconditionRequired, vitrine.CodePrecondition, ""},
	{nil, http.StatusUnauthorized, "unauthorized", ""},
	{vitrine.ErrForbidden, http.StatusForbidden, vitrine.CodeForbidden, ""},
	{vitrine.ErrNotFound, http.StatusNotFound, vitrine.CodeNotFound, ""},
	{nil, http.StatusMethodNotAllowed, "method_not_allowed", ""},
	{vitrine.ErrConflict, http.StatusConflict, vitrine.CodeMoved, ""},
	{vitrine.ErrConflict, http.StatusPreconditionFailed, vitrine.CodeChanged, ""},
	{vitrine.ErrGone, http.StatusGone, "gone", ""},
	{vitrine.ErrTooLarge, http.StatusRequestEntityTooLarge, vitrine.CodeTooLarge, ""},
	{vitrine.ErrUnprocessable, http.StatusUnprocessableEntity, "", ""}, // the domains give each a code of its own
	{vitrine.ErrUnprocessable, http.StatusUnsupportedMediaType, vitrine.CodeMediaType, ""},
	{ErrTooMany, http.StatusTooManyRequests, "too_many", ""},
	{vitrine.ErrBusy, http.StatusServiceUnavailable, "unavailable", unavailable},
	{vitrine.ErrUnknown, http.StatusServiceUnavailable, "unknown_outcome", unknownOutcome},
	{vitrine.ErrFull, http.StatusInsufficientStorage, "full",
		"the storage is full: reading goes on, writing works again when there is room"},
	{context.Canceled, http.StatusServiceUnavailable, "unavailable", unavailable},
	{context.DeadlineExceeded, http.StatusServiceUnavailable, "unavailable", unavailable},
	{nil, http.StatusInternalServerError, "internal", internalError},
}

const (
	unavailable = "the store is not available at the moment: try again"
	// unknownOutcome is the sentence for a write that may have been committed or not: the connection to the database
	// broke, or the disk failed, while the commit was under way.
	unknownOutcome = "it is not known whether the write was kept: look at what is stored, or repeat the request if " +
		"it carries an Idempotency-Key or a version test"
)

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
const closedEarly = "the connection was closed before the response was ready: keep it open until the response has come"

// internalError is the sentence of every 500. The cause is only logged.
const internalError = "internal error"

// httpError is an error as clients see it: its fields are the members of the body that README.md describes. httpErrorOf
// makes one of any other error.
type httpError struct {
	status int
	Text   string `json:"error"` // the sentence
	details
	// with the code moved: a *vitrine.Version where the tag points, nil if it does not exist
	PointsTo any `json:"pointsTo,omitzero"`
}

// details are the members beside the sentence.
type details = vitrine.Error

// Error returns the sentence, which a client gets as the member error.
func (r *httpError) Error() string { return r.Text }

// errorf returns an error of the whole request, for which package fault has no kind. The format is that of package fmt,
// here and below.
func errorf(status int, format string, args ...any) error {
	return &httpError{status: status, Text: fmt.Sprintf(format, args...)}
}

// headerErrorf returns an error of a header of the request.
func headerErrorf(status int, name, format string, args ...any) error {
	return &httpError{status: status, details: details{Parameter: name},
		Text: "header " + name + ": " + fmt.Sprintf(format, args...)}
}

// The errors that the handler itself returns in more than one place, or that have nothing to add to their sentence.
var (
	errTagsOnly    = errorf(http.StatusForbidden, "this token may read apps by some of their tags, and do nothing else")
	errNoResource  = errorf(http.StatusNotFound, "nothing is at this path")
	errNoMethod    = errorf(http.StatusMethodNotAllowed, "this path does not know the method: see the header Allow")
	errNoIdentity  = errorf(http.StatusServiceUnavailable, "it cannot be found out at the moment who asks: try again")
	errCrossOrigin = errorf(http.StatusForbidden,
		"a page of another site may not send this request in the name of its visitor: send a token in the header "+
			"Authorization")
	errBodyMissing = errorf(http.StatusBadRequest, "the body did not arrive whole, and this request needs none")
	errNoToken     = errorf(http.StatusUnauthorized,
		"one valid token is required, in the header Authorization: Bearer <token> or in the query parameter svctoken")
	errNobody = errorf(http.StatusUnauthorized,
		"it is not known who sends this request: the service found no user with valid URNs for it")
	errNoKey = errorf(http.StatusUnauthorized,
		"one valid public key or delivery token is required, in the query parameter key")
)

// httpErrorOf returns an error as an httpError, and reports whether its cause is hidden. It knows the errors of this
// package and of the domains. Any other error is 500. The cause in a *vitrine.Error is never hidden: it was written for
// clients.
func httpErrorOf(err error) (r *httpError, hidden bool) {
	if own, ok := errors.AsType[*httpError](err); ok {
		response := *own
		return &response, false
	}
	row := errorTable[len(errorTable)-1]
	if at := slices.IndexFunc(errorTable, func(r errorRow) bool {
		return r.kind != nil && errors.Is(err, r.kind)
	}); at >= 0 {
		row = errorTable[at]
	}
	e, ok := errors.AsType[*vitrine.Error](err)
	if !ok {
		return &httpError{status: row.status, Text: cmp.Or(row.text, err.Error()), details: details{Code: row.code}},
			row.text != ""
	}
	for _, own := range errorTable {
		if own.code == e.Code && own.kind != nil && errors.Is(err, own.kind) {
			row = own
		}
	}
	r = &httpError{status: row.status, Text: e.Error(), details: *e}
	r.Code = cmp.Or(e.Code, row.code)
	if e.Code == vitrine.CodeMoved && !e.Version.IsZero() { // a tag, not an asset
		r.PointsTo = (*vitrine.Version)(nil)
		if !e.PointsTo.IsZero() {
			r.PointsTo = &e.PointsTo
		}
	}
	return r, false
}

// fail makes an error the response and logs a hidden cause. Nothing is logged if the error only says that the client
// has disconnected, and the outcome of no write is in doubt.
func (c *call) fail(err error) {
	r, hidden := httpErrorOf(err)
	// the client has disconnected
	if hidden && errors.Is(err, context.Canceled) && !errors.Is(err, vitrine.ErrUnknown) && c.r.Context().Err() != nil {
		r.Text, hidden = closedEarly, false
	}
	if hidden {
		c.log(r.Text, err)
		if c.stored != "" {
			r.Text += "; " + c.stored
		}
	}
	c.setError(r)
}

// setError makes an httpError the response. It removes the headers of a success, which the endpoint may have set before
// it failed, and adds those of the status: the wanted scheme of authentication to a 401, and Retry-After to a 503 or
// 429.
func (c *call) setError(r *httpError) {
	header := c.w.Header()
	for _, name := range []string{"Etag", "Location", "Link", "Vary"} {
		delete(header, name)
	}
	c.cacheAs(revalidate)
	// Whatever the method is, and whether there is such a path.
	if path := c.r.URL.Path; strings.HasPrefix(path, c.h.BasePath+publicPath) ||
		strings.HasPrefix(path, c.h.BasePath+shownFilePath) || path == c.h.BasePath+previewPath {
		c.cacheAs(noStore)
		delete(header, "Cache-Tag")
	}
	switch r.status {
	case http.StatusUnauthorized:
		header["Www-Authenticate"] = []string{c.h.Challenge}
		if len(c.routes) > 0 && (c.routes[0].is(rpc) || c.routes[0].path == previewPath) {
			header["Www-Authenticate"] = []string{"Bearer"}
		}
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		if header.Get("Retry-After") == "" { // an Extra may know better
			header["Retry-After"] = []string{"1"}
		}
	}
	c.h.denials.denied(c, r)
	r.Code = cmp.Or(r.Code, codeOf(r.status))
	c.status, c.code = r.status, r.Code
	c.out = append(c.out[:0], r.json()...)
}

// json returns the body of the response. Text that is not UTF-8, quoted from the request, gets replacement characters.
// Texts are cut at maxSentence, except a pointer: one that is longer is left out, since a part of it would point to
// another place.
func (r httpError) json() []byte {
	r.Text, r.Parameter = truncated(r.Text), truncated(r.Parameter)
	if len(r.Pointer) > maxSentence {
		r.Pointer = ""
	}
	r.Problems = slices.Clone(r.Problems) // the error may be shared
	for i := range r.Problems {
		p := &r.Problems[i]
		if p.Message = truncated(p.Message); len(p.Pointer) > maxSentence {
			p.Pointer = ""
		}
	}
	out, _ := json.Marshal(r, jsontext.AllowInvalidUTF8(true)) // nothing in an httpError can make it fail
	return out
}

// maxSentence is how many bytes of a text go into an error or a line of the log, since sentences quote the request.
const maxSentence = 1000

// truncated cuts a text that is too long, between two characters, and marks the cut. A response or a line of the log
// thus never grows with what a client has sent.
func truncated(text string) string {
	if len(text) <= maxSentence {
		return text
	}
	end := maxSentence
	for end > maxSentence-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
