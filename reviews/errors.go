package reviews

import (
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine/reviews/reviewstore"
)

// The kinds of errors that the methods of a Service return. errors.Is finds the kind. For the first three, errors.As finds an
// *Error with the details. An error of the reader or the writer of a request, and the error of a context that is done, is
// returned as it is. If the store was closed, the error wraps appsvc.ErrClosed. Anything else is an internal error: the store is
// damaged, or its driver has a fault.
var (
	// ErrInvalid means that the request is malformed. The Error says which part of it.
	ErrInvalid = errors.New("invalid input")
	// ErrForbidden means that the caller may not do this: it does not moderate the network as a whole, or it may only read apps
	// by their tags. Service.Networks returns it to everybody but operators.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound means that the network has no such collection or review, or nothing that Delete could erase.
	ErrNotFound = reviewstore.ErrNotFound
	// ErrSpool means that the temporary files of all checks and imports with one Spool have reached its bound together. The same
	// check or import may succeed later.
	ErrSpool = errors.New("there is no room for a temporary file at the moment")
	// ErrBusy means that the store could not reach its data in time. Nothing was written by the transaction, and the same call
	// may succeed later.
	ErrBusy = reviewstore.ErrBusy
	// ErrFull means that the store has no room to write. Reads still work.
	ErrFull = reviewstore.ErrFull
	// ErrUnknown means that the store lost its connection to the data during a commit, so the writes may have been committed
	// or not. An import and a deletion can be repeated in any case.
	ErrUnknown = reviewstore.ErrUnknown
	// ErrCopies means that Delete has erased everything, but that copies of it are left in a file of the store. The error also
	// wraps the reason, such as ErrBusy. The same request removes the copies later.
	ErrCopies = errors.New("it is erased, but copies are left in the files of the store")
)

// The codes of errors. A code is a stable word for a program; over HTTP it is the member "code".
const (
	CodeInvalid   = "invalid"   // ErrInvalid
	CodeForbidden = "forbidden" // ErrForbidden
	CodeNotFound  = "not_found" // ErrNotFound
)

// Error says what is wrong with a request, where, and what would be right. Kind, Code and Reason are always set.
type Error struct {
	Kind error  // one of the sentinels of this package
	Code string // one of the codes of this package

	// Pointer is the JSON pointer (RFC 6901) of what is wrong in a request body that is one JSON value. What is wrong in a file
	// of reviews is no Error, but a Problem of the Report.
	Pointer string
	// Parameter is the name of the query parameter or header that is wrong, as it is called over HTTP.
	Parameter string
	// Reason is the sentence without Pointer and Parameter.
	Reason string
}

// Error returns one sentence that says where something is wrong, and what.
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

// invalid returns ErrInvalid with a sentence. parameter is the name of what is wrong, as it is called over HTTP; "" for the
// request as a whole.
func invalid(parameter, format string, args ...any) error {
	return &Error{Kind: ErrInvalid, Code: CodeInvalid, Parameter: parameter, Reason: fmt.Sprintf(format, args...)}
}

// forbidden returns ErrForbidden with a sentence.
func forbidden(format string, args ...any) error {
	return &Error{Kind: ErrForbidden, Code: CodeForbidden, Reason: fmt.Sprintf(format, args...)}
}

// notFound returns ErrNotFound with a sentence.
func notFound(format string, args ...any) error {
	return &Error{Kind: ErrNotFound, Code: CodeNotFound, Reason: fmt.Sprintf(format, args...)}
}
