// Package fault makes the errors of the domains and the adapters: the kind, the code and the place of each are set
// here.
//
// The argument at is the place: a JSON pointer into the body of the request, which begins with a slash, or the name of
// what is a query parameter or a header over HTTP. It is "" for the request as a whole. The arguments format and args
// are the Reason.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

func newError(kind error, code, at, format string, args ...any) *vitrine.Error {
	return moved(at, vitrine.Error{Kind: kind, Code: code, Reason: fmt.Sprintf(format, args...)})
}

// moved returns the error of a part as an error of the whole, in which the part is at this place.
func moved(at string, e vitrine.Error) *vitrine.Error {
	if at == "" || strings.HasPrefix(at, "/") {
		e.Pointer = at + e.Pointer
	} else {
		e.Parameter = at
	}
	return &e
}

// At returns the error of a part as an error of the whole, in which the part is at this place. For example, with the
// pointer "/elements/2" an error at "/config" becomes one at "/elements/2/config". Errors without an *Error in them are
// returned unchanged.
func At(at string, err error) error {
	if e, ok := errors.AsType[*vitrine.Error](err); ok {
		return moved(at, *e)
	}
	return err
}

// List has the faults of the items of a request, so that its sender learns all of them at once.
type List []*vitrine.Error

// maxList is the maximum number of faults in a List.
const maxList = 100

// Add keeps a fault that has a pointer, and returns nil. It returns all other errors: they end the request. A fault at
// a value that has one already, or inside of it, is left out.
func (l *List) Add(err error) error {
	e, ok := errors.AsType[*vitrine.Error](err)
	if !ok || e.Pointer == "" {
		return err
	}
	known := slices.ContainsFunc(*l, func(old *vitrine.Error) bool {
		return e.Pointer == old.Pointer || strings.HasPrefix(e.Pointer, old.Pointer+"/")
	})
	if !known && !l.Full() {
		*l = append(*l, e)
	}
	return nil
}

// Full reports whether the list has as many faults as it keeps.
func (l List) Full() bool { return len(l) == maxList }

// Err returns nil if the list is empty, and else its first fault, whose Problems are all faults of the list. Each
// pointer begins with the list of the request and the index of the item, such as /add/2.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	all := *l[0]
	for _, e := range l {
		item, _, _ := strings.Cut(e.Pointer[strings.IndexByte(e.Pointer[1:], '/')+2:], "/")
		all.Problems = append(all.Problems,
			vitrine.Problem{Item: jsonpointer.Index(item), Pointer: e.Pointer, Message: e.Reason})
	}
	return &all
}

// Invalid is the error of a value that is malformed or breaks a limit.
func Invalid(at, format string, args ...any) *vitrine.Error {
	return newError(vitrine.ErrInvalid, vitrine.CodeInvalid, at, format, args...)
}

// Malformed is Invalid for an error of package strictjson, with its pointer into the text.
func Malformed(err error) *vitrine.Error {
	if e, ok := errors.AsType[*strictjson.Error](err); ok {
		return Invalid(e.Pointer, "%s", e.Sentence())
	}
	return Invalid("", "%s", err)
}

// Forbidden is the error of a caller that may know of an object, but may not do this with it.
func Forbidden(format string, args ...any) *vitrine.Error {
	return newError(vitrine.ErrForbidden, vitrine.CodeForbidden, "", format, args...)
}

// NotFound is the error of an object that does not exist, or that the caller may not know of. In the latter case the
// text must not depend on whether it exists.
func NotFound(format string, args ...any) *vitrine.Error {
	return newError(vitrine.ErrNotFound, vitrine.CodeNotFound, "", format, args...)
}

// TooLarge is the error of too many bytes or items.
func TooLarge(format string, args ...any) *vitrine.Error {
	return newError(vitrine.ErrTooLarge, vitrine.CodeTooLarge, "", format, args...)
}

// Conflict is the error of a write that does not fit the present state of an object; code says why. version is the
// latest version of an app or a release, and zero for other objects.
func Conflict(code string, version vitrine.Version, format string, args ...any) *vitrine.Error {
	e := newError(vitrine.ErrConflict, code, "", format, args...)
	e.Version = version
	return e
}

// Unprocessable is the error of a request that cannot be applied; code says why.
func Unprocessable(code, at, format string, args ...any) *vitrine.Error {
	return newError(vitrine.ErrUnprocessable, code, at, format, args...)
}

// NotApplicable is Unprocessable for an operation that does not apply, or whose result is not an app.
func NotApplicable(at, format string, args ...any) *vitrine.Error {
	return Unprocessable(vitrine.CodeNotApplicable, at, format, args...)
}
