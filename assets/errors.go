package assets

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// newError returns an error at a place of the request. The place is a JSON pointer into the body,
// which begins with a slash, or the name of a query parameter. It is "" for the path and for the
// request as a whole.
func newError(kind error, code, at, format string, args ...any) *vitrine.Error {
	e := &vitrine.Error{Kind: kind, Code: code, Reason: fmt.Sprintf(format, args...)}
	if strings.HasPrefix(at, "/") {
		e.Pointer = at
	} else {
		e.Parameter = at
	}
	return e
}

// invalid returns ErrInvalid at a place of the request; see newError.
func invalid(at, format string, args ...any) error {
	return newError(vitrine.ErrInvalid, vitrine.CodeInvalid, at, format, args...)
}

// forbidden returns ErrForbidden at a place of the request; see newError.
func forbidden(at, format string, args ...any) error {
	return newError(vitrine.ErrForbidden, vitrine.CodeForbidden, at, format, args...)
}

// notFound returns ErrNotFound at a place of the request; see newError.
func notFound(at, format string, args ...any) error {
	return newError(vitrine.ErrNotFound, vitrine.CodeNotFound, at, format, args...)
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
