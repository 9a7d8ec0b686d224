package appsvc

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// This file has the rules of access; tagrules.go has those of protected tags. The rules are functions of values,
// most of them named may…. Caller.CheckUnrestricted rejects some callers altogether. The functions readableHead and
// usableHead apply the rules to an app of the store: every method that reads or changes one app calls one of them
// first, in its snapshot or transaction, or authorize if it has read the app already.
//
//	readableHead  the caller may use the app, or Reads contains one of its groups; else ErrNotFound
//	usableHead    the caller owns the app or moderates one of its groups; else ErrForbidden, or ErrNotFound if not readable
//
// The groups are always those of the latest version. So the moderators of a group that an app has left lose the right
// to its older versions too.

// moderates reports whether the group is one of those that the caller moderates, or a site of one of these networks. A
// moderator of a site does not moderate its network.
func moderates(c vitrine.Caller, group string) bool {
	return slices.ContainsFunc(c.Moderates, func(m string) bool { return urn.Contains(m, group) })
}

// reads reports whether the group is one of those in Reads, or a site of one of these networks.
func reads(c vitrine.Caller, group string) bool {
	return slices.ContainsFunc(c.Reads, func(r string) bool { return urn.Contains(r, group) })
}

// mayUse is the rule for changing an app: the caller owns it or moderates one of the groups of its latest version. Who
// may use an app may also read it. A caller with TagsOnly may use no app, whatever its other rights are.
func mayUse(c vitrine.Caller, h appHead) bool {
	return !c.TagsOnly &&
		(c.Owns(h.Owner) || slices.ContainsFunc(h.Groups, func(group string) bool { return moderates(c, group) }))
}

// mayRead is the rule for reading any version of an app: the caller may use the app, or may read one of the groups of
// its latest version.
func mayRead(c vitrine.Caller, h appHead) bool {
	return mayUse(c, h) || slices.ContainsFunc(h.Groups, func(group string) bool { return reads(c, group) })
}

// readsOneOf reports whether the caller moderates or reads one of the groups in an entry of the feed, which the app may
// have left since. Unlike mayRead, it does not look at the owner, nor at TagsOnly: callers with TagsOnly may not read
// the feed.
func readsOneOf(c vitrine.Caller, groups []string) bool {
	return slices.ContainsFunc(groups, func(group string) bool { return moderates(c, group) || reads(c, group) })
}

// mayCreateIn is the rule for creating an app in groups, and for adding groups to an app: the caller moderates each of
// them. It returns ErrForbidden for the first group of which this is not true. had are the groups that the app had
// before; they are not checked. at is the JSON pointer of the groups in the request, and the error points to the group
// below it. at is "" if the request has no groups.
func mayCreateIn(c vitrine.Caller, at string, groups, had []string) error {
	for i, g := range groups {
		if moderates(c, g) || slices.Contains(had, g) {
			continue
		}
		if at != "" {
			at = fmt.Sprintf("%s/%d", at, i)
		}
		return fault.At(at, fault.Forbidden("only a moderator of %q may create apps in it or add apps to it", g))
	}
	return nil
}

// mayManageComponents is the rule for creating, deleting and checking components. The right is one over the whole
// store.
func mayManageComponents(c vitrine.Caller, operation string) error {
	if err := c.CheckUnrestricted(""); err != nil {
		return err
	}
	if !c.Components {
		return fault.Forbidden("%s needs the right to manage components, which is over the whole store: the caller's "+
			"components must be true", operation)
	}
	return nil
}

// authorize returns an error if the caller may not read the app with this head or, if change is true, may not change
// it. err is the error of reading the head. It returns the same ErrNotFound for an app that the caller may not read as
// for one that does not exist, and ErrForbidden for an app that the caller may only read.
func authorize(by vitrine.Caller, h appHead, err error, change bool) error {
	switch {
	case err == nil && mayUse(by, h):
		return nil
	case errors.Is(err, vitrine.ErrNotFound) || err == nil && !mayRead(by, h):
		return fault.NotFound("no app has this id") // the same for a hidden app
	case err == nil && change:
		return fault.Forbidden(
			"this caller may read the app and not change it: only its owner and the moderators of its " +
				"groups may")
	}
	return err
}

// readableHead returns the head of an app that the caller may read, and usableHead that of one that it may change; the
// errors are those of authorize.
func readableHead(ctx context.Context, r *reader, by vitrine.Caller, id string) (appHead, error) {
	h, err := r.head(ctx, id)
	return h, authorize(by, h, err, false)
}

func usableHead(ctx context.Context, r *reader, by vitrine.Caller, id string) (appHead, error) {
	h, err := r.head(ctx, id)
	return h, authorize(by, h, err, true)
}
