package appsvc

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// An approval counts if its person could run the release alone, has neither made nor changed it, was not given rights
// by an author of the release, and is not a program. Who was invited was given rights, too. Rights are followed through
// any number of people, also through those who are disabled or deleted: otherwise an author could invite a person who
// invites the approver. If the rule of a tag is independent, somebody who gave rights to an author does not count
// either, and of people who gave each other rights, in one direction or through others, one counts. All of this but the
// last is checked when the release is approved, and all of it when it is run, by the apps and by the rights from
// Options.Rights at that time.

// needs returns how many approvals a release needs: the highest number among the rules of its tags.
func (r release) needs(rules tagRules) (n int) {
	for _, m := range r.Moves {
		n = max(n, rules.of(m.Tag).Approvals)
	}
	return n
}

// independent reports whether the approvals of a release must be independent, by the rule of one of its tags.
func (r release) independent(rules tagRules) bool {
	return slices.ContainsFunc(r.Moves, func(m ReleaseMove) bool { return rules.of(m.Tag).Independent })
}

// mayMoveAll returns the error of the first move that the caller could not make by PutTag or DeleteTag, apart from
// missing approvals. at is the pointer of the moves in the request, or "". A missing app is an error too, unless absent
// is true: the app may have been deleted after the release was created.
func (r *reader) mayMoveAll(ctx context.Context, by vitrine.Caller, moves []ReleaseMove, at string, absent bool) error {
	ahead := []string{records.RulesKey}
	for _, m := range moves {
		ahead = append(ahead, records.HeadKey(m.AppID), records.TagKey(m.AppID, m.Tag))
	}
	if err := r.Ahead(ctx, ahead...); err != nil {
		return err
	}
	rules, err := r.tagRules(ctx)
	if err != nil {
		return err
	}
	for i, m := range moves {
		h, err := usableHead(ctx, r, by, m.AppID)
		if absent && errors.Is(err, vitrine.ErrNotFound) {
			// and not just hidden from the caller
			if _, err := r.head(ctx, m.AppID); errors.Is(err, vitrine.ErrNotFound) {
				continue
			}
		}
		if err == nil {
			err = rules.of(m.Tag).mayMove(by, h)
		}
		e, rejected := errors.AsType[*vitrine.Error](err)
		switch {
		case !rejected && err != nil:
			return err
		case rejected:
			named := *e
			if at != "" {
				named.Pointer = fmt.Sprintf("%s/%d", at, i)
			}
			if e.Kind == vitrine.ErrForbidden {
				named.Reason = fmt.Sprintf("the move of the tag %q of app %q: %s", m.Tag, m.AppID, e.Reason)
			}
			return &named
		}
	}
	return nil
}

// person is somebody whose rights were stored with a release, with the present rights.
type person struct {
	callers  []vitrine.Caller // the person may do what all of them may do
	disabled bool
}

// person returns the person whose rights were stored as kept, with the present rights. A key may do what both its
// stored rights and the present rights of its maker allow.
func (s *Service) person(ctx context.Context, kept vitrine.Caller) (p person, err error) {
	p.callers = []vitrine.Caller{kept}
	if s.rights == nil {
		return p, nil
	}
	now, _, err := s.rights(ctx, kept.URN)
	switch {
	case errors.Is(err, vitrine.ErrNotFound):
		return p, nil
	case errors.Is(err, vitrine.ErrForbidden):
		p.disabled = true
		return p, nil
	case err != nil:
		return p, err
	}
	if kept.Key == "" {
		p.callers = p.callers[:0]
	}
	p.callers = append(p.callers, now)
	return p, nil
}

// mayMoveAll returns the error of mayMoveAll for the person.
func (p person) mayMoveAll(ctx context.Context, r *reader, moves []ReleaseMove) error {
	if p.disabled {
		return fault.Forbidden("the person was disabled")
	}
	for _, by := range p.callers {
		if err := r.mayMoveAll(ctx, by, moves, "", true); err != nil {
			return err
		}
	}
	return nil
}

// mostGivers is how many people are asked about to find out who gave rights to somebody. Who has more counts as given
// rights by everybody, so that a long chain of people neither hides its beginning nor takes long.
const mostGivers = 1000

// givers are the URNs of people who gave rights to somebody, through any number of people. nil is everybody.
type givers map[string]bool

// anyOf reports whether one of these people is among the givers.
func (g givers) anyOf(urns ...string) bool {
	return g == nil || slices.ContainsFunc(urns, func(urn string) bool { return g[urn] })
}

// givers returns those who gave rights to one of these people.
func (s *Service) givers(ctx context.Context, of ...string) (givers, error) {
	found := givers{}
	if s.rights == nil {
		return found, nil
	}
	for next := slices.Clone(of); len(next) > 0; next = next[1:] {
		_, inviters, err := s.rights(ctx, next[0])
		if err := ignore(ignore(err, vitrine.ErrNotFound), vitrine.ErrForbidden); err != nil {
			return nil, err
		}
		for _, urn := range inviters {
			if !found[urn] {
				found[urn], next = true, append(next, urn)
			}
		}
		if len(found) > mostGivers {
			return nil, nil
		}
	}
	return found, nil
}

// approver is somebody who approves a release.
type approver struct {
	person
	kept      vitrine.Caller // as the approval was made
	givers    givers         // who gave the person rights
	ofAuthors givers         // who gave the authors of the release rights
}

// approvers returns those who approve a release with these authors, in their order. It must not be called in a
// transaction.
func (s *Service) approvers(ctx context.Context, authors []string, kept ...vitrine.Caller) ([]approver, error) {
	if len(kept) == 0 {
		return nil, nil
	}
	ofAuthors, err := s.givers(ctx, authors...)
	people := make([]approver, len(kept))
	for i, by := range kept {
		people[i] = approver{kept: by, ofAuthors: ofAuthors}
		if err == nil {
			people[i].person, err = s.person(ctx, by)
		}
		if err == nil {
			people[i].givers, err = s.givers(ctx, by.URN)
		}
	}
	return people, err
}

// mayApprove returns ErrForbidden if an approval of this person does not count for a release, whose moves the person
// could make.
func (a approver) mayApprove(rel release, independent bool) error {
	switch {
	case a.kept.Key != "":
		return fault.Forbidden("a program's key approves no release: a person does")
	case a.disabled:
		return fault.Forbidden("the person was disabled")
	case slices.Contains(rel.Authors, a.kept.URN):
		return fault.Forbidden("who made or changed a release does not approve it: ask somebody else")
	case a.givers.anyOf(rel.Authors...):
		return fault.Forbidden("who made or changed the release invited this person or gave it rights, directly or " +
			"through others: " +
			"ask somebody else")
	case independent && a.ofAuthors.anyOf(a.kept.URN):
		return fault.Forbidden(
			"this person invited who made or changed the release, or gave them rights, directly or " +
				"through " +
				"others: ask somebody else")
	}
	return nil
}

// approved returns how many approvals of a release count now. people are the approvers.
func (r release) approved(ctx context.Context, tx *reader, people []approver, independent bool) (n int, err error) {
	var counted []approver
	for _, a := range people {
		err := a.mayMoveAll(ctx, tx, r.Moves)
		if err == nil {
			err = a.mayApprove(r, independent)
		}
		if _, rejected := errors.AsType[*vitrine.Error](err); err != nil && !rejected {
			return 0, err
		} else if err == nil {
			counted = append(counted, a)
		}
	}
	if independent {
		return mostIndependent(counted), nil
	}
	return len(counted), nil
}

// gave reports whether a gave rights to b, directly or through others.
func (a approver) gave(b approver) bool { return b.givers.anyOf(a.kept.URN) }

// mostIndependent returns the size of the largest group of these people in which nobody gave rights to another one. So
// one more approval never counts for less. By Dilworth's theorem it is the smallest number of chains in which everybody
// gave rights to the next one.
func mostIndependent(people []approver) (chains int) {
	var apart []approver // one of those who gave rights to each other in a circle
	for _, a := range people {
		if !slices.ContainsFunc(apart, func(b approver) bool { return a.gave(b) && b.gave(a) }) {
			apart = append(apart, a)
		}
	}
	before := map[int]int{} // who is before whom in a chain
	var follow func(a int, tried map[int]bool) bool
	follow = func(a int, tried map[int]bool) bool {
		for b := range apart {
			if b == a || tried[b] || !apart[a].gave(apart[b]) {
				continue
			}
			tried[b] = true
			if other, taken := before[b]; !taken || follow(other, tried) {
				before[b] = a
				return true
			}
		}
		return false
	}
	for a := range apart {
		if !follow(a, map[int]bool{}) {
			chains++ // which ends with a
		}
	}
	return chains
}

// ApproveRelease adds the caller's approval to a release that is open or scheduled. A second one of the same person
// changes nothing.
//
// It returns the errors of UpdateRelease. It also returns ErrForbidden if the caller is the key of a program, has made
// or changed the release, or was invited or given rights by somebody who has, directly or through others. Where the
// rule of a tag is independent, it is also ErrForbidden if the caller gave rights to somebody who has made or changed
// the release.
func (s *Session) ApproveRelease(ctx context.Context, id string, seen vitrine.Version) (Release, error) {
	if err := s.check(); err != nil {
		return Release{}, err
	}
	var authors []string // of the version that the caller has seen
	err := s.service.store.view(ctx, func(r *reader) error {
		rel, err := r.releaseToChange(ctx, s.by, id, seen, ReleaseOpen, ReleaseScheduled)
		authors = rel.Authors
		return err
	})
	if err != nil {
		return Release{}, err
	}
	people, err := s.service.approvers(ctx, authors, s.by)
	if err != nil {
		return Release{}, err
	}
	return s.changeRelease(ctx, id, seen, func(tx *writer, rel *release) error {
		rules, err := tx.tagRules(ctx)
		if err == nil {
			err = people[0].mayApprove(*rel, rel.independent(rules))
		}
		switch {
		case err != nil:
			return err
		case rel.approvedBy(s.by.URN):
			return errUnchanged
		}
		rel.Approvals = append(slices.Clip(rel.Approvals), Approval{s.by.URN, max(s.service.millis(), rel.UpdatedAt)})
		rel.Approvers = append(slices.Clip(rel.Approvers), s.by)
		return nil
	})
}

// approvedBy reports whether a person has approved the release.
func (r release) approvedBy(urn string) bool {
	return slices.ContainsFunc(r.Approvals, func(a Approval) bool { return a.By == urn })
}

// withdraw takes the approval of a person back, if there is one.
func (r *release) withdraw(urn string) {
	if i := slices.IndexFunc(r.Approvals, func(a Approval) bool { return a.By == urn }); i >= 0 {
		r.Approvals = slices.Delete(slices.Clone(r.Approvals), i, i+1)
		r.Approvers = slices.Delete(slices.Clone(r.Approvers), i, i+1)
	}
}
