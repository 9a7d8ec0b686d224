package appsvc

import (
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// The kinds of errors that a Service method or a Store returns. errors.Is finds the kind, and
// errors.As finds an *Error with the details.
var (
	// ErrInvalid means that the input is malformed or breaks a limit.
	ErrInvalid = errors.New("invalid input")
	// ErrForbidden means that the caller may see the thing, but may not do this with it.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound means that there is no such thing, or that the caller may not see it. The two errors are equal.
	ErrNotFound = errors.New("not found")
	// ErrConflict means that the app has changed since the caller read it, or that a test of a patch failed.
	ErrConflict = errors.New("conflict")
	// ErrTooLarge means that the input or the result has more bytes or operations than a limit allows.
	ErrTooLarge = errors.New("too large")
	// ErrUnprocessable means that the request is well-formed, but cannot be applied to the stored data.
	ErrUnprocessable = errors.New("cannot be applied")
	// ErrGone means that the feed of changes does not go back to a cursor: entries after it were removed, or the feed
	// has another identity now, as in a copy of the store.
	ErrGone = errors.New("gone")
	// ErrExists means that a Store already has a row with this key.
	ErrExists = errors.New("already exists")
	// ErrBusy means that a Store could not reach its data in time. The same call may succeed later.
	ErrBusy = errors.New("the store is not available at the moment")
	// ErrFull means that a Store has no room to write. Reads still work.
	ErrFull = errors.New("storage is full")
	// ErrUnknown means that a Store lost its connection to the data during a commit, so the write may have been
	// committed or not. The service does not retry it. Read the data to find out, or retry with the same idempotency key.
	ErrUnknown = errors.New("it is not known whether the write was kept")
	// ErrClosed means that a Store was closed. Nothing succeeds any more. Who waits for changes of the feed is woken, reads the
	// feed, and gets this error.
	ErrClosed = errors.New("the store is closed")
)

// The codes of errors. A code is a stable word for a program; over HTTP it is the member "code".
const (
	CodeInvalid          = "invalid"           // ErrInvalid
	CodeForbidden        = "forbidden"         // ErrForbidden
	CodeNotFound         = "not_found"         // ErrNotFound
	CodeStaleVersion     = "stale_version"     // ErrConflict: the app, or a component, changed meanwhile; read it and try again
	CodeTestFailed       = "test_failed"       // ErrConflict: a test operation of a patch failed
	CodeMoved            = "moved"             // ErrConflict: a tag points elsewhere than the request says; see PointsTo
	CodeGone             = "gone"              // ErrGone
	CodeTooLarge         = "too_large"         // ErrTooLarge
	CodeNotApplicable    = "not_applicable"    // ErrUnprocessable: an operation does not apply, or the result of the patch is not an app
	CodeReadOnly         = "read_only"         // ErrUnprocessable: a patch changes a member that only the service writes
	CodeUnknownComponent = "unknown_component" // ErrUnprocessable: there is no such component
	CodeSchema           = "schema"            // ErrUnprocessable: a config breaks its schema; see Violations
	CodeCost             = "cost"              // ErrUnprocessable: validating a config would take too long
	CodeLimit            = "limit"             // ErrUnprocessable: a count or a length over a limit
	CodeKeyReused        = "key_reused"        // ErrUnprocessable: the idempotency key was used for another request
)

// Error says what is wrong, where, and what would be right. Kind, Code and Reason are always set; the other fields are set
// where they apply. The client of a remote service returns the same values, so a program handles both alike:
//
//	if e, ok := errors.AsType[*appsvc.Error](err); ok && e.Code == appsvc.CodeStaleVersion {
//		… // read the app again: it is at e.Version
//	}
type Error struct {
	Kind error  // one of the sentinels of this package
	Code string // one of the codes of this package

	// Pointer is the JSON pointer (RFC 6901) of the wrong value. It points into the request body as it is over
	// HTTP. If the result of a patch breaks a rule, it points into the patched document; if an operation of
	// a patch does not apply, it points to the operation.
	Pointer string
	// Parameter is the name of the wrong query parameter or header, as it is over HTTP.
	Parameter string
	// Reason is the sentence without Pointer and Parameter.
	Reason string
	// Violations are the values in a config that break its schema, 100 at most. Their pointers begin at the
	// config, to which Pointer points.
	Violations []Violation
	// Version is the latest version of the app, for CodeStaleVersion, CodeTestFailed and CodeMoved.
	Version Version
	// PointsTo is where the tag points, for CodeMoved; zero if the app has no such tag.
	PointsTo Version
}

// Error returns one sentence: Parameter or Pointer, and then Reason.
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

// The functions from here to unprocessable make an *Error. The pointer is a JSON pointer into the body of the request, "" if the
// whole of it is wrong, or if the value is not in the body. format and args are the Reason.

// invalid is the error of a value in the body of a request.
func invalid(pointer, format string, args ...any) *Error {
	return &Error{Kind: ErrInvalid, Code: CodeInvalid, Pointer: pointer, Reason: fmt.Sprintf(format, args...)}
}

// invalidParameter is the error of a value that is a query parameter or a header over HTTP. In Go it is a field of a request.
func invalidParameter(name, format string, args ...any) *Error {
	return &Error{Kind: ErrInvalid, Code: CodeInvalid, Parameter: name, Reason: fmt.Sprintf(format, args...)}
}

// forbidden is the error of a caller that may know of the thing, but may not do this with it.
func forbidden(format string, args ...any) *Error {
	return &Error{Kind: ErrForbidden, Code: CodeForbidden, Reason: fmt.Sprintf(format, args...)}
}

// notFound is the error of a thing that does not exist, or that the caller may not know of. In the latter case the text must not
// depend on whether it exists.
func notFound(format string, args ...any) *Error {
	return &Error{Kind: ErrNotFound, Code: CodeNotFound, Reason: fmt.Sprintf(format, args...)}
}

// tooLarge is the error of too many bytes or operations.
func tooLarge(format string, args ...any) *Error {
	return &Error{Kind: ErrTooLarge, Code: CodeTooLarge, Reason: fmt.Sprintf(format, args...)}
}

// conflict is the error of a write to an app that is now at the version current.
func conflict(code string, current Version, format string, args ...any) *Error {
	return &Error{Kind: ErrConflict, Code: code, Version: current, Reason: fmt.Sprintf(format, args...)}
}

// unprocessable is the error of a request that cannot be applied; code says why.
func unprocessable(code, pointer, format string, args ...any) *Error {
	return &Error{Kind: ErrUnprocessable, Code: code, Pointer: pointer, Reason: fmt.Sprintf(format, args...)}
}

// below returns the error of a part as an error of the whole document, in which the part is at this pointer. For example,
// with the pointer "/elements/2" an error at "/config" becomes one at "/elements/2/config". Errors without an *Error in
// them are returned unchanged.
func below(pointer string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		moved := *e
		moved.Pointer = pointer + e.Pointer
		return &moved
	}
	return err
}

// malformed returns an error of package strictjson as ErrInvalid, with its pointer into the text.
func malformed(err error) error {
	if e, ok := errors.AsType[*strictjson.Error](err); ok {
		return invalid(e.Pointer, "%s", e.Sentence())
	}
	return invalid("", "%s", err)
}

// misshapen returns an error of package strictjson as ErrUnprocessable. pointer is where the text stands in the patched
// document.
func misshapen(pointer string, err error) error {
	e, _ := errors.AsType[*Error](malformed(strictjson.Within(pointer, err)))
	e.Kind, e.Code = ErrUnprocessable, CodeNotApplicable
	return e
}
