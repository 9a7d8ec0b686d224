// Package rule is what the domains share to ask Options.Check, the rule of the embedding program, about a change.
package rule

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// Rows returns the rows that a rule keeps in a space under a name.
func Rows(t storage.Tx, space, name string) storage.Tx {
	return storage.Sub(t, keyval.Prefix(space, "x/"+strings.ReplaceAll(keyval.Escape(name), "/", "!o")+"/"))
}

type checkKind struct {
	kind error
	code string
}

// checkKinds are the kinds that an error of Options.Check may have. If the error wraps one of them and no *Error, it
// becomes an *Error with the code beside the kind. Any other error without an *Error becomes ErrForbidden, except those
// in undecided and those of the store.
var checkKinds = []checkKind{
	{vitrine.ErrInvalid, vitrine.CodeRule}, {vitrine.ErrForbidden, vitrine.CodeRule},
	{vitrine.ErrNotFound, vitrine.CodeNotFound}, {vitrine.ErrConflict, vitrine.CodeRule},
	{vitrine.ErrTooLarge, vitrine.CodeTooLarge}, {vitrine.ErrUnprocessable, vitrine.CodeRule},
}

// undecided are the errors by which Options.Check says that it could not decide. They are returned unchanged, so a
// caller retries as it does when the store is busy.
var undecided = []error{vitrine.ErrBusy, vitrine.ErrFull, vitrine.ErrUnknown, context.Canceled,
	context.DeadlineExceeded}

// Rejected is the error of a change that Options.Check rejected. errors.As finds the *Error in it; errors.Is and
// errors.As also find the error of the check. Its type tells an ErrNotFound of the check from one of the store.
type Rejected struct {
	as    *vitrine.Error // what the caller gets
	cause error          // what Options.Check has returned
}

// Error returns the sentence of the *Error.
func (r *Rejected) Error() string { return r.as.Error() }

// Unwrap returns the *Error and the error of the check.
func (r *Rejected) Unwrap() []error { return []error{r.as, r.cause} }

// Rejection returns an error of Options.Check as an error of the domain. The first rule that fits applies:
//
//   - nil, and an error that wraps one of undecided, is returned unchanged.
//   - An error that wraps an *Error with a Kind becomes this *Error. It gets the code of the Kind if it has none.
//   - An error that wraps one of checkKinds becomes an *Error of this kind.
//   - An error that wraps a *storage.SubError, or an error of PostgreSQL, which has a method SQLState, is returned
//     unchanged: the store has failed, or a statement in it, and not the rule.
//   - Any other error becomes an *Error of the kind ErrForbidden.
func Rejection(err error) error {
	is := func(target error) bool { return errors.Is(err, target) }
	if err == nil || slices.ContainsFunc(undecided, is) {
		return err
	}
	kind, code := vitrine.ErrForbidden, vitrine.CodeRule
	known := slices.IndexFunc(checkKinds, func(k checkKind) bool { return is(k.kind) })
	if known >= 0 {
		kind, code = checkKinds[known].kind, checkKinds[known].code
	}
	if e, ok := errors.AsType[*vitrine.Error](err); ok && e.Kind != nil {
		own := *e
		own.Code = cmp.Or(e.Code, code)
		return &Rejected{&own, err}
	}
	var told interface{ SQLState() string }
	if _, failed := errors.AsType[*storage.SubError](err); (failed || errors.As(err, &told)) && known < 0 {
		return err
	}
	return &Rejected{&vitrine.Error{Kind: kind, Code: code, Reason: err.Error()}, err}
}
