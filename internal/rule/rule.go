// Package rule is what the domains share to ask Options.Check, the rule of the embedding program, about a change.
package rule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// Rows returns the rows that a rule keeps in a space under a name.
func Rows(t storage.Tx, space, name string) storage.Tx {
	return storage.Sub(t, keyval.Prefix(space, "x/"+strings.ReplaceAll(keyval.Escape(name), "/", "!o")+"/"))
}

// asking marks the context of a rule.
type asking struct{}

// patience is how long a rule may take before the log has a warning. It is shorter than updates wait in PostgreSQL.
const patience = 3 * time.Second

// Ask asks Options.Check about a change, and returns its error as one of the domain. The default log gets a warning if
// the rule does not return: nothing else tells of one that waits for itself.
func Ask[C any](
	ctx context.Context, check func(context.Context, vitrine.Caller, C) error, by vitrine.Caller, c C,
) error {
	late := time.AfterFunc(patience, func() {
		slog.Warn("Options.Check has not returned, and other changes wait for it: want a rule that asks nothing over "+
			"a network and calls no Service, since with another context than its own that waits for itself",
			"change", fmt.Sprintf("%T", c), "after", patience)
	})
	defer late.Stop()
	return rejection(check(context.WithValue(ctx, asking{}, true), by, c))
}

// Outside returns an error if ctx is that of a rule. Every update of a domain begins with it: in a rule it would wait
// for the update that the rule is asked in.
func Outside(ctx context.Context) error {
	if ctx.Value(asking{}) == nil {
		return nil
	}
	return errors.New("a rule writes through a Service, which would wait for the change that the rule is asked " +
		"about: write rows by Change.Rows and tables by Change.Tx, and do what comes after it in vitrine.Follow")
}

type checkKind struct {
	kind error
	code string
}

// checkKinds are the kinds that an error of Options.Check may have. If the error wraps one of them and no *Error, it
// becomes an *Error with the code beside the kind.
var checkKinds = []checkKind{
	{vitrine.ErrInvalid, vitrine.CodeRule}, {vitrine.ErrForbidden, vitrine.CodeRule},
	{vitrine.ErrNotFound, vitrine.CodeNotFound}, {vitrine.ErrConflict, vitrine.CodeRule},
	{vitrine.ErrTooLarge, vitrine.CodeTooLarge}, {vitrine.ErrUnprocessable, vitrine.CodeRule},
}

// undecided are the errors by which Options.Check says that it could not decide. They are returned unchanged, whatever
// else they wrap, so a caller retries as it does when the store is busy.
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

// rejection returns an error of Options.Check as an error of the domain. An error that wraps an *Error or one of
// checkKinds, and none of undecided, becomes a *Rejected. Those of undecided are returned unchanged. Any other error
// says nothing about the change: the rule has failed.
func rejection(err error) error {
	is := func(target error) bool { return errors.Is(err, target) }
	known := slices.IndexFunc(checkKinds, func(k checkKind) bool { return is(k.kind) })
	told, ok := errors.AsType[*vitrine.Error](err)
	if err == nil || slices.ContainsFunc(undecided, is) {
		return err
	}
	if known < 0 && !ok {
		return fmt.Errorf("Options.Check has failed: %w", err)
	}
	own, kind := vitrine.Error{Reason: err.Error()}, checkKind{vitrine.ErrForbidden, vitrine.CodeRule}
	if known >= 0 {
		kind = checkKinds[known]
	}
	if ok {
		own = *told
	}
	own.Kind, own.Code = cmp.Or(own.Kind, kind.kind), cmp.Or(own.Code, kind.code)
	own.Reason = cmp.Or(own.Reason, "a rule of this service rejects the change")
	return &Rejected{&own, err}
}

// Within returns an error of a domain as one of a request in which the app is at a place. It moves the Pointer of a
// *Rejected there, unless the rule has given it so, and nothing else.
func Within(at string, err error) error {
	r, ok := errors.AsType[*Rejected](err)
	if ok && r.as.Pointer != "" && !strings.HasPrefix(r.as.Pointer+"/", at+"/") {
		r.as.Pointer = at + r.as.Pointer
	}
	return err
}
