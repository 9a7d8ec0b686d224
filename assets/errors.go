package assets

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// The kinds of errors that a Service method or a Store returns. errors.Is finds the kind, and
// errors.As finds an *Error with the details.
var (
	// ErrInvalid: the input is malformed or breaks a limit.
	ErrInvalid = errors.New("invalid input")
	// ErrTooLarge: the content of an asset is longer than Limits.Content.
	ErrTooLarge = errors.New("too large")
	// ErrConflict: the asset to add is there already, in other folders than those that the request names.
	ErrConflict = errors.New("conflict")
	// ErrGone: the feed of changes does not go back to a cursor. Entries after it were removed, or the feed has another
	// identity now, as in a copy of the store.
	ErrGone = errors.New("gone")
	// ErrForbidden: the caller is known and may see the thing, but may not do this.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound: there is no such thing, or the caller may not see it; the two read the same.
	ErrNotFound = assetstore.ErrNotFound
	// ErrBusy: a Store could not get to its data in time; the same call may succeed later.
	ErrBusy = assetstore.ErrBusy
	// ErrFull: a Store has no room to write; reads go on.
	ErrFull = assetstore.ErrFull
	// ErrUnknown: a Store lost its connection while it committed. The write may have been kept or not:
	// nothing repeats it, so look at the library, or repeat what may be repeated.
	ErrUnknown = assetstore.ErrUnknown
)

// The codes of errors. A code is a stable word for a program; over HTTP it is the member "code".
const (
	CodeInvalid   = "invalid"   // ErrInvalid
	CodeForbidden = "forbidden" // ErrForbidden
	CodeNotFound  = "not_found" // ErrNotFound
	CodeMoved     = "moved"     // ErrConflict: the asset is in other folders by now; see ID
	CodeTooLarge  = "too_large" // ErrTooLarge
	CodeGone      = "gone"      // ErrGone
	// CodeUnavailable is the code of ErrBusy where it is said of a search that it takes too long.
	CodeUnavailable = "unavailable"
)

// Error says what is wrong, where, and what would be right. Only Kind, Code and Reason are always
// there.
type Error struct {
	Kind error  // one of the sentinels of this package
	Code string // one of the codes of this package

	// Pointer is the JSON pointer (RFC 6901) of what is wrong in the request body as it is over HTTP,
	// of a missing member too.
	Pointer string
	// Parameter names the query parameter or header that is wrong, as it is called over HTTP.
	Parameter string
	// Reason is the sentence without the place.
	Reason string
	// ID is the id of the asset that is there already, with CodeMoved. It is empty where the same
	// request added the asset.
	ID string
}

// Error returns one sentence: where, and what is wrong there.
func (e *Error) Error() string {
	where := e.Pointer
	if e.Parameter != "" {
		where = e.Parameter
	}
	if where == "" {
		return e.Reason
	}
	return where + ": " + e.Reason
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// newError makes an error at a place of the request: a JSON pointer into the body, which begins with
// a slash, or the name of a query parameter. The place is "" for the path and for the request as a whole.
func newError(kind error, code, at, format string, args ...any) *Error {
	e := &Error{Kind: kind, Code: code, Reason: fmt.Sprintf(format, args...)}
	if strings.HasPrefix(at, "/") {
		e.Pointer = at
	} else {
		e.Parameter = at
	}
	return e
}

func invalid(at, format string, args ...any) error {
	return newError(ErrInvalid, CodeInvalid, at, format, args...)
}

func forbidden(at, format string, args ...any) error {
	return newError(ErrForbidden, CodeForbidden, at, format, args...)
}

func notFound(at, format string, args ...any) error {
	return newError(ErrNotFound, CodeNotFound, at, format, args...)
}

func noFolder(at string) error { return notFound(at, "there is no such folder") }

func noAsset(at string) error { return notFound(at, "there is no such asset") }

// malformed is the error of JSON text that the strict reader refuses, which stands at the pointer at.
func malformed(at string, err error) error {
	if e, ok := errors.AsType[*strictjson.Error](strictjson.Within(at, err)); ok {
		return invalid(e.Pointer, "%s", e.Sentence())
	}
	return invalid(at, "%s", err)
}

func isNotFound(err error) bool { return errors.Is(err, ErrNotFound) }
