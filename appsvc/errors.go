package appsvc

import (
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// The functions from here to unprocessable make an *Error. The pointer is a JSON pointer into the body of the request, "" if the
// whole of it is wrong, or if the value is not in the body. format and args are the Reason.

// invalid is the error of a value in the body of a request.
func invalid(pointer, format string, args ...any) *vitrine.Error {
	return &vitrine.Error{Kind: vitrine.ErrInvalid, Code: vitrine.CodeInvalid, Pointer: pointer, Reason: fmt.Sprintf(format, args...)}
}

// invalidParameter is the error of a value that is a query parameter or a header over HTTP. In Go it is a field of a request.
func invalidParameter(name, format string, args ...any) *vitrine.Error {
	return &vitrine.Error{Kind: vitrine.ErrInvalid, Code: vitrine.CodeInvalid, Parameter: name, Reason: fmt.Sprintf(format, args...)}
}

// forbidden is the error of a caller that may know of the thing, but may not do this with it.
func forbidden(format string, args ...any) *vitrine.Error {
	return &vitrine.Error{Kind: vitrine.ErrForbidden, Code: vitrine.CodeForbidden, Reason: fmt.Sprintf(format, args...)}
}

// notFound is the error of a thing that does not exist, or that the caller may not know of. In the latter case the text must not
// depend on whether it exists.
func notFound(format string, args ...any) *vitrine.Error {
	return &vitrine.Error{Kind: vitrine.ErrNotFound, Code: vitrine.CodeNotFound, Reason: fmt.Sprintf(format, args...)}
}

// tooLarge is the error of too many bytes or operations.
func tooLarge(format string, args ...any) *vitrine.Error {
	return &vitrine.Error{Kind: vitrine.ErrTooLarge, Code: vitrine.CodeTooLarge, Reason: fmt.Sprintf(format, args...)}
}

// conflict is the error of a write to an app that is now at the version current.
func conflict(code string, current vitrine.Version, format string, args ...any) *vitrine.Error {
	return &vitrine.Error{Kind: vitrine.ErrConflict, Code: code, Version: current, Reason: fmt.Sprintf(format, args...)}
}

// unprocessable is the error of a request that cannot be applied; code says why.
func unprocessable(code, pointer, format string, args ...any) *vitrine.Error {
	return &vitrine.Error{Kind: vitrine.ErrUnprocessable, Code: code, Pointer: pointer, Reason: fmt.Sprintf(format, args...)}
}

// below returns the error of a part as an error of the whole document, in which the part is at this pointer. For example,
// with the pointer "/elements/2" an error at "/config" becomes one at "/elements/2/config". Errors without an *Error in
// them are returned unchanged.
func below(pointer string, err error) error {
	if e, ok := errors.AsType[*vitrine.Error](err); ok {
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
	e, _ := errors.AsType[*vitrine.Error](malformed(strictjson.Within(pointer, err)))
	e.Kind, e.Code = vitrine.ErrUnprocessable, vitrine.CodeNotApplicable
	return e
}
