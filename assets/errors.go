package assets

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// The kinds of errors that a Service method returns. errors.Is finds the kind of an error.
// errors.As finds an *Error with the details, unless the error comes from the Store.
var (
	// ErrInvalid means that the request is malformed or breaks a limit. The same request fails
	// again.
	ErrInvalid = errors.New("invalid input")
	// ErrTooLarge means that the content of an asset is longer than Limits.Content, or that the folders
	// of a library would have more permissions than Limits.AllPermissions.
	ErrTooLarge = errors.New("too large")
	// ErrConflict means that the asset to add exists, or is added by an earlier item of the request.
	// It is in a folder that the item leaves out, and the item names one that it is not in.
	ErrConflict = errors.New("conflict")
	// ErrGone means that the feed of changes does not go back to a cursor. Entries after it were
	// removed, or the feed has another identity than the cursor, as in a copy of the store.
	ErrGone = errors.New("gone")
	// ErrForbidden means that the caller does not belong to the network or may only read apps by
	// their tags; or sees the asset or folder and may not do this with it; or asks for something that
	// is for moderators.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound means that there is no such asset, folder or library, or that the caller may not
	// see it. The two cannot be told apart.
	ErrNotFound = assetstore.ErrNotFound
	// ErrBusy means that the Store could not reach its data in time, or that a search took too
	// long. Nothing was written, and the same call may succeed later.
	ErrBusy = assetstore.ErrBusy
	// ErrFull means that the Store has no room to write. Nothing was written, and reads still work.
	ErrFull = assetstore.ErrFull
	// ErrUnknown means that the Store lost its connection to the data during a commit. The change
	// may have been committed or not, and the Service does not retry it. Read the library to see,
	// or repeat the call if doing it twice does no harm.
	ErrUnknown = assetstore.ErrUnknown
)

// The codes of errors, Error.Code. A code is a stable word for programs; over HTTP it is the member
// "code".
const (
	CodeInvalid   = "invalid"   // of ErrInvalid
	CodeForbidden = "forbidden" // of ErrForbidden
	CodeNotFound  = "not_found" // of ErrNotFound
	CodeMoved     = "moved"     // of ErrConflict: the asset with Error.ID is in other folders
	CodeTooLarge  = "too_large" // of ErrTooLarge
	CodeGone      = "gone"      // of ErrGone
	// CodeUnavailable is the code of ErrBusy for a search that took longer than Limits.SearchTime.
	CodeUnavailable = "unavailable"
)

// Error says what is wrong with a request, where, and what would be right. Only Kind, Code and
// Reason are always set. At most one of Pointer and Parameter is; neither is if the error is about
// the path or about the request as a whole.
//
// For example, a request that adds an asset without a foreign id has the error with
//
//	Kind: ErrInvalid, Code: "invalid", Pointer: "/add/0/id", Reason: "must not be empty"
type Error struct {
	Kind error  // one of the sentinels of this package
	Code string // one of the codes of this package

	// Pointer is the JSON pointer (RFC 6901) to what is wrong in the request body, as the body is
	// over HTTP. It may point to a member that is missing.
	Pointer string
	// Parameter names the query parameter or the header that is wrong, as it is called over HTTP.
	Parameter string
	// Reason says what is wrong and what would be right, without the place.
	Reason string
	// ID is the id of the asset that is there already, with CodeMoved. It is empty if the same
	// request added the asset.
	ID string
}

// Error returns the place, if there is one, and the Reason: "/add/0/id: must not be empty".
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

// Unwrap returns the kind, so that errors.Is finds it.
func (e *Error) Unwrap() error { return e.Kind }

// newError returns an error at a place of the request. The place is a JSON pointer into the body,
// which begins with a slash, or the name of a query parameter. It is "" for the path and for the
// request as a whole.
func newError(kind error, code, at, format string, args ...any) *Error {
	e := &Error{Kind: kind, Code: code, Reason: fmt.Sprintf(format, args...)}
	if strings.HasPrefix(at, "/") {
		e.Pointer = at
	} else {
		e.Parameter = at
	}
	return e
}

// invalid returns ErrInvalid at a place of the request; see newError.
func invalid(at, format string, args ...any) error {
	return newError(ErrInvalid, CodeInvalid, at, format, args...)
}

// forbidden returns ErrForbidden at a place of the request; see newError.
func forbidden(at, format string, args ...any) error {
	return newError(ErrForbidden, CodeForbidden, at, format, args...)
}

// notFound returns ErrNotFound at a place of the request; see newError.
func notFound(at, format string, args ...any) error {
	return newError(ErrNotFound, CodeNotFound, at, format, args...)
}

// noFolder and noAsset are the errors for a folder or an asset that does not exist, and for one that
// the caller may not see. Both have the same sentence, so that the two cannot be told apart.
func noFolder(at string) error { return notFound(at, "there is no such folder") }

func noAsset(at string) error { return notFound(at, "there is no such asset") }

// malformed returns ErrInvalid for the error err of package strictjson. at is the pointer to the
// JSON text that err is about; the result points to the place within it.
func malformed(at string, err error) error {
	if e, ok := errors.AsType[*strictjson.Error](strictjson.Within(at, err)); ok {
		return invalid(e.Pointer, "%s", e.Sentence())
	}
	return invalid(at, "%s", err)
}

func isNotFound(err error) bool { return errors.Is(err, ErrNotFound) }
