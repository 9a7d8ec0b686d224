package reviews

import (
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine"
)

// ErrCopies means that Delete has erased everything, but that copies of it are left in a file of the store. The error also
// wraps the reason, such as ErrBusy. The same request removes the copies later.
var ErrCopies = errors.New("it is erased, but copies are left in the files of the store")

// invalid returns ErrInvalid with a sentence. parameter is the name of what is wrong, as it is called over HTTP; "" for the
// request as a whole.
func invalid(parameter, format string, args ...any) error {
	return &vitrine.Error{Kind: vitrine.ErrInvalid, Code: vitrine.CodeInvalid, Parameter: parameter, Reason: fmt.Sprintf(format, args...)}
}

// forbidden returns ErrForbidden with a sentence.
func forbidden(format string, args ...any) error {
	return &vitrine.Error{Kind: vitrine.ErrForbidden, Code: vitrine.CodeForbidden, Reason: fmt.Sprintf(format, args...)}
}

// notFound returns ErrNotFound with a sentence.
func notFound(format string, args ...any) error {
	return &vitrine.Error{Kind: vitrine.ErrNotFound, Code: vitrine.CodeNotFound, Reason: fmt.Sprintf(format, args...)}
}
