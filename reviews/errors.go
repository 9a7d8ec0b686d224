package reviews

import (
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine/reviews/reviewstore"
)

// The kinds of errors that a Service method or a Store returns, where they are not the reader's or the
// writer's own. errors.Is finds the kind, and errors.As finds an *Error with the details.
var (
	// ErrInvalid: the request is malformed: its caller, or the network that it names or leaves out.
	ErrInvalid = errors.New("invalid input")
	// ErrForbidden: the caller may not do this.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound: there is no such collection.
	ErrNotFound = reviewstore.ErrNotFound
	// ErrSpool: the temporary files of all imports together have reached the bound of their Spool; the same
	// import may succeed later.
	ErrSpool = errors.New("there is no room for a temporary file at the moment")
	// ErrBusy: a Store could not get to its data in time; the same call may succeed later.
	ErrBusy = reviewstore.ErrBusy
	// ErrFull: a Store has no room to write; reads go on.
	ErrFull = reviewstore.ErrFull
	// ErrUnknown: a Store lost sight of its data while it committed. The write may have been kept or not:
	// nothing repeats it, so look, or repeat what may be repeated.
	ErrUnknown = reviewstore.ErrUnknown
)

// The codes of errors. A code is a stable word for a program; over HTTP it is the member "code".
const (
	CodeInvalid   = "invalid"   // ErrInvalid
	CodeForbidden = "forbidden" // ErrForbidden
	CodeNotFound  = "not_found" // ErrNotFound
)

// Error says what is wrong, where, and what would be right. Only Kind, Code and Reason are always
// there.
type Error struct {
	Kind error  // one of the sentinels of this package
	Code string // one of the codes of this package

	// Pointer is the JSON pointer (RFC 6901) of what is wrong in a request body that is one JSON value. The
	// faults of a file of reviews are no errors but the Problems of its Report.
	Pointer string
	// Parameter names the query parameter or header that is wrong, as it is called over HTTP.
	Parameter string
	// Reason is the sentence without the place.
	Reason string
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

func invalid(parameter, format string, args ...any) error {
	return &Error{Kind: ErrInvalid, Code: CodeInvalid, Parameter: parameter, Reason: fmt.Sprintf(format, args...)}
}

func forbidden(format string, args ...any) error {
	return &Error{Kind: ErrForbidden, Code: CodeForbidden, Reason: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &Error{Kind: ErrNotFound, Code: CodeNotFound, Reason: fmt.Sprintf(format, args...)}
}
