package appsvc

import (
	"context"
	"slices"

	"github.com/vitrine-go/vitrine"
)

// Protected tags point to what is delivered, such as production. Whoever uses an app may change it, but only a
// moderator of all of its groups decides what is delivered. The groups of an app decide who that is, so they are
// protected too while the app has a protected tag. Otherwise an owner could take away the groups of others first.

// moderatesAll reports whether the caller moderates every group of the app. It is false for an app without groups.
func moderatesAll(c vitrine.Caller, h Head) bool {
	return len(h.Groups) > 0 && !slices.ContainsFunc(h.Groups, func(g string) bool { return !moderates(c, g) })
}

// mayMoveTag is the rule for creating, moving and deleting a tag of an app that the caller may use. It returns
// ErrForbidden if the tag is protected and the caller does not moderate every group of the app. h is the Head of the latest
// version: in the transaction of the write, and in that of a repeat with an idempotency key, it is the one of that time.
func (s *Service) mayMoveTag(by vitrine.Caller, h Head, name string) error {
	if s.protected(name) && !moderatesAll(by, h) {
		return forbidden("the tag %q is protected: only a moderator of every group of the app may create, move or delete it", name)
	}
	return nil
}

// mayRegroup is the rule for changing the groups of an app to these. To add a group, the caller must moderate it. To
// remove a group, the caller must moderate it or own the app, since the removal hides the app from that group. While the app has a protected
// tag, the caller must moderate every group that the app has now. The order of groups does not matter. It returns ErrForbidden if the
// caller may not. at is the JSON pointer of the groups in the request, "" if the request has none. It is applied in the transaction that
// changes the groups, since tags may come and go until then.
func (s *Service) mayRegroup(ctx context.Context, r *reader, by vitrine.Caller, at string, h Head, groups []string) error {
	if sameGroups(h.Groups, groups) {
		return nil
	}
	if err := mayCreateIn(by, at, groups, h.Groups); err != nil {
		return err
	}
	for _, g := range without(h.Groups, groups) {
		if by.URN != h.Owner && !moderates(by, g) {
			err := forbidden("only a moderator of the group %q or the owner of the app may take the group away", g)
			err.Pointer = at
			return err
		}
	}
	if moderatesAll(by, h) {
		return nil
	}
	for tag, err := range r.tags(ctx, tagsAfter(h.ID, "", 0)) {
		if err != nil {
			return err
		}
		if s.protected(tag.Name) {
			err := forbidden("the app has the protected tag %q: only a moderator of every group of the app may change its groups", tag.Name)
			err.Pointer = at
			return err
		}
	}
	return nil
}

// sameGroups reports whether two lists have the same groups, in any order. A patch that only changes their order needs no right
// to the groups: it gives the app to nobody and takes it from nobody.
func sameGroups(a, b []string) bool { return len(without(a, b)) == 0 && len(without(b, a)) == 0 }
