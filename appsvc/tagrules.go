package appsvc

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/keyval"
)

// TagRule says who may move tags of one name, in every app of the store.
type TagRule struct {
	Name string `json:"name"`
	// Protected allows only moderators of every group of the app to create, move and delete such a tag.
	Protected bool `json:"protected"`
	// Approvals is the number of people who must approve a move, 0 to 10. A tag that needs approvals is protected, and
	// only a release or a rollback moves it.
	Approvals int `json:"approvals"`
	// Independent is for a tag that needs approvals. The approval of a person who has given rights to an author of the
	// release, directly or through others, does not count then. Without it, only that of a person who was given rights
	// by an author does not count. Of two approvals, of which the person of one gave rights to that of the other,
	// directly or through others, one counts. Two people who were given rights by the same third one are independent of
	// each other.
	Independent bool `json:"independent,omitzero"`
}

// mostApprovals is the maximum of TagRule.Approvals.
const mostApprovals = 10

// TagRules returns the rules of the store, by name. It takes no Caller: rules belong to the embedding program.
func (s *Service) TagRules(ctx context.Context) (list []TagRule, err error) {
	err = s.made().store.view(ctx, func(r *reader) (err error) {
		list, err = r.tagRules(ctx)
		return err
	})
	return list, err
}

// SetTagRules replaces the rules of the store. Each transaction that moves a tag reads them, so they apply to every
// process on the store. It takes no Caller: rules belong to the embedding program. It returns ErrInvalid if a name is
// invalid or repeated, if Approvals is out of range, or if an independent rule needs no approvals.
func (s *Service) SetTagRules(ctx context.Context, rules []TagRule) error {
	rules = sortTagRules(rules)
	for i, r := range rules {
		switch {
		case !tagName.MatchString(r.Name):
			return badTagName("", r.Name)
		case slices.ContainsFunc(rules[:i], func(o TagRule) bool { return o.Name == r.Name }):
			return fault.Invalid("", "there are two rules for the tag %q: want one", r.Name)
		case r.Approvals < 0 || r.Approvals > mostApprovals:
			return fault.Invalid("", "the tag %q needs %d approvals: want 0 to %d", r.Name, r.Approvals, mostApprovals)
		case r.Independent && r.Approvals == 0:
			return fault.Invalid("",
				"the approvals of the tag %q shall be independent, but it needs none: want 1 to %d",
				r.Name, mostApprovals)
		}
	}
	return s.made().store.update(ctx, func(tx *writer) error { return tx.setTagRules(ctx, rules) })
}

// sortTagRules returns the rules in the form of a store: sorted by name, and protected if they need approvals.
func sortTagRules(rules []TagRule) []TagRule {
	rules = slices.Clone(rules)
	for i := range rules {
		rules[i].Protected = rules[i].Protected || rules[i].Approvals > 0
	}
	slices.SortFunc(rules, func(a, b TagRule) int { return strings.Compare(a.Name, b.Name) })
	return rules
}

// tagRules are the rules of a store.
type tagRules []TagRule

// of returns the rule for tags of a name. The zero rule allows everybody to move them who may change the app.
func (t tagRules) of(name string) (rule TagRule) {
	if i := slices.IndexFunc(t, func(r TagRule) bool { return r.Name == name }); i >= 0 {
		rule = t[i]
	}
	return rule
}

// tagRules reads the rules.
func (r *reader) tagRules(ctx context.Context) (rules tagRules, err error) {
	_, err = keyval.Read(ctx, r, records.RulesKey, &rules)
	return rules, err
}

func (t *writer) setTagRules(ctx context.Context, rules tagRules) error {
	if len(rules) == 0 {
		return t.tx.Delete(ctx, records.RulesKey)
	}
	return t.tx.Put(ctx, keyval.JSON(records.RulesKey, rules))
}

// Protected tags point to what is delivered, such as production. Whoever uses an app may change it, but only a
// moderator of all of its groups decides what is delivered. So the groups of an app are protected too while it has a
// protected tag: otherwise an owner could first remove the groups of others.

// moderatesAll reports whether the caller moderates every group of the app. It is false for an app without groups.
func moderatesAll(c vitrine.Caller, h appHead) bool {
	return len(h.Groups) > 0 && !slices.ContainsFunc(h.Groups, func(g string) bool { return !moderates(c, g) })
}

// mayMove is the rule for creating, moving and deleting a tag of an app that the caller may use: it returns
// ErrForbidden if the tag is protected and the caller does not moderate every group of the app. h is the head of the
// latest version in the transaction of the write or, for a repeat with an idempotency key, in that of the repeat.
func (t TagRule) mayMove(by vitrine.Caller, h appHead) error {
	if t.Protected && !moderatesAll(by, h) {
		return fault.Forbidden(
			"the tag %q is protected: only a moderator of every group of the app may create, move or "+
				"delete it", t.Name)
	}
	return nil
}

// approvals is a number of approvals in words.
func approvals(n int) string {
	if n == 1 {
		return "1 approval"
	}
	return fmt.Sprintf("%d approvals", n)
}

// mayMoveAlone is the rule for a move without a release: it returns the errors of mayMove, and ErrForbidden with
// CodeNeedsRelease if the tag needs approvals.
func (t TagRule) mayMoveAlone(by vitrine.Caller, h appHead) error {
	if err := t.mayMove(by, h); err != nil || t.Approvals == 0 {
		return err
	}
	err := fault.Forbidden("the tag %q needs %s: move it by a release, or roll it back", t.Name, approvals(t.Approvals))
	err.Code = vitrine.CodeNeedsRelease
	return err
}

// mayMoveTag applies the rule of a tag to a caller, and returns the head of the app and the rules. A rollback needs no
// release. It returns the errors of usableHead, mayMove and mayMoveAlone.
func mayMoveTag(
	ctx context.Context, r *reader, by vitrine.Caller, app, name string, rollback bool,
) (h appHead, rules tagRules, err error) {
	if err = r.Ahead(ctx, records.HeadKey(app), records.RulesKey, records.TagKey(app, name)); err != nil {
		return h, rules, err
	}
	if h, err = usableHead(ctx, r, by, app); err != nil {
		return h, rules, err
	}
	if rules, err = r.tagRules(ctx); err != nil {
		return h, rules, err
	}
	if rule := rules.of(name); rollback {
		err = rule.mayMove(by, h)
	} else {
		err = rule.mayMoveAlone(by, h)
	}
	return h, rules, err
}

// mayRegroup is the rule for changing the groups of an app. To add a group, the caller must moderate it. To remove a
// group, the caller must moderate it or own the app, since the removal hides the app from that group. While the app has
// a protected tag, the caller must moderate all of its present groups. A change of their order alone needs no right,
// since it changes nobody's rights. at is the JSON pointer of the groups in the request, or "". mayRegroup must be
// called in the transaction that changes the groups, since tags may change until then.
func (s *Session) mayRegroup(ctx context.Context, r *reader, at string, h appHead, groups []string) error {
	taken := keyval.Without(h.Groups, groups)
	if len(taken) == 0 && len(keyval.Without(groups, h.Groups)) == 0 {
		return nil
	}
	if err := mayCreateIn(s.by, at, groups, h.Groups); err != nil {
		return err
	}
	for _, g := range taken {
		if !s.by.Owns(h.Owner) && !moderates(s.by, g) {
			return fault.At(at, fault.Forbidden(
				"only a moderator of the group %q or the owner of the app may take the group away", g))
		}
	}
	if moderatesAll(s.by, h) {
		return nil
	}
	tag, err := r.protectedTag(ctx, h.ID)
	if err == nil && tag != "" {
		return fault.At(at, fault.Forbidden("the app has the protected tag %q: only a moderator of every group of the "+
			"app may change its groups", tag))
	}
	return err
}

// protectedTag returns the name of a protected tag of an app, or "".
func (r *reader) protectedTag(ctx context.Context, app string) (string, error) {
	rules, err := r.tagRules(ctx)
	if err != nil || len(rules) == 0 {
		return "", err
	}
	for tag, err := range r.tags(ctx, records.TagsAfter(app, "", 0)) {
		if err != nil || rules.of(tag.Name).Protected {
			return tag.Name, err
		}
	}
	return "", nil
}
