package appsvc

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine/internal/urn"
)

// Caller is who asks. It is a value that the embedding program makes from what it knows of the
// request, and it stands right after ctx in every call (contract, section 5).
type Caller struct {
	URN              string   // of the user: urn:<vendor>:<network>:user=<id>
	Moderates        []string // URNs of networks and sites; one stands for all that it contains
	ManageComponents bool     // may create and delete components
}

// moderates reports whether group lies in something that the caller moderates.
func (c Caller) moderates(group string) bool {
	return slices.ContainsFunc(c.Moderates, func(m string) bool { return urn.Contains(m, group) })
}

// mayUse is the access rule of apps: the caller owns the app or moderates one of the groups that
// its latest version has. It holds for every operation but creating, and for every version.
func (c Caller) mayUse(h Head) bool {
	return c.URN == h.Owner || slices.ContainsFunc(h.Groups, c.moderates)
}

// mayCreateIn is the rule of creating, and of adding groups: the caller moderates each of them.
func (c Caller) mayCreateIn(groups []string) error {
	if c.URN == "" {
		return fmt.Errorf("%w: createApp needs a caller with a URN", ErrForbidden)
	}
	for _, g := range groups {
		if !c.moderates(g) {
			return fmt.Errorf("%w: createApp in %q needs a moderator of it", ErrForbidden, g)
		}
	}
	return nil
}

func (c Caller) mayManageComponents(operation string) error {
	if !c.ManageComponents {
		return fmt.Errorf("%w: %s is granted to selected users only", ErrForbidden, operation)
	}
	return nil
}

// usable returns the head of an app that the caller may use. An app that is hidden from the
// caller and one that is not there give the same ErrNotFound.
func usable(ctx context.Context, r Reader, by Caller, id string) (Head, error) {
	h, err := r.Head(ctx, id)
	if errors.Is(err, ErrNotFound) || err == nil && !by.mayUse(h) {
		return Head{}, fmt.Errorf("%w: no app has this id", ErrNotFound) // a hidden one reads the same, whatever its id
	}
	return h, err
}
