package appsvc

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine"
)

// An approval counts if its person could run the release alone, has neither made nor changed it, was not invited or given
// rights by an author of the release, and is not a program. All of this is checked when the release is approved, and again
// when it is run, by the apps and by the rights from Options.Rights at that time.

// needs returns how many approvals a release needs: the highest number among the rules of its tags.
func (r release) needs(rules tagRules) (n int) {
	for _, m := range r.Moves {
		n = max(n, rules.of(m.Tag).Approvals)
	}
	return n
}

// mayMoveAll returns the error of the first move that the caller could not make by PutTag or DeleteTag, apart from missing
// approvals. at is the pointer of the moves in the request, or "". A missing app is an error too, unless absent is true: the
// app may have been deleted after the release was created.
func (r *reader) mayMoveAll(ctx context.Context, by vitrine.Caller, moves []ReleaseMove, at string, absent bool) error {
	ahead := []string{keyOf(rulesKind)}
	for _, m := range moves {
		ahead = append(ahead, keyOf(headKind, m.AppID), keyOf(tagKind, m.AppID, m.Tag))
	}
	if err := r.r.Ahead(ctx, ahead...); err != nil {
		return err
	}
	rules, err := r.tagRules(ctx)
	if err != nil {
		return err
	}
	for i, m := range moves {
		h, err := usableHead(ctx, r, by, m.AppID)
		if absent && errors.Is(err, vitrine.ErrNotFound) {
			if _, err := r.head(ctx, m.AppID); errors.Is(err, vitrine.ErrNotFound) { // and not just hidden from the caller
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
	inviters []string         // URNs of those who invited it or gave it rights
	disabled bool
}

// person returns the person whose rights were stored as kept, with the present rights. A key may do what both its stored
// rights and the present rights of its maker allow.
func (s *Service) person(ctx context.Context, kept vitrine.Caller) (p person, err error) {
	p.callers = []vitrine.Caller{kept}
	if s.rights == nil {
		return p, nil
	}
	now, inviters, err := s.rights(ctx, kept.URN)
	switch {
	case errors.Is(err, vitrine.ErrNotFound):
		return p, nil
	case errors.Is(err, vitrine.ErrForbidden):
		p.disabled = true
		return p, nil
	case err != nil:
		return p, err
	}
	p.inviters = inviters
	if kept.Key == "" {
		p.callers = p.callers[:0]
	}
	p.callers = append(p.callers, now)
	return p, nil
}

// mayMoveAll returns the error of mayMoveAll for the person.
func (p person) mayMoveAll(ctx context.Context, r *reader, moves []ReleaseMove) error {
	if p.disabled {
		return forbidden("the person was disabled")
	}
	for _, by := range p.callers {
		if err := r.mayMoveAll(ctx, by, moves, "", true); err != nil {
			return err
		}
	}
	return nil
}

// isAuthor returns ErrForbidden if the person, or somebody who invited the person or gave it rights, made or changed the release.
func (r release) isAuthor(urn string, p person) error {
	if slices.Contains(r.Authors, urn) {
		return forbidden("who made or changed a release does not approve it: ask somebody else")
	}
	if slices.ContainsFunc(p.inviters, func(inviter string) bool { return slices.Contains(r.Authors, inviter) }) {
		return forbidden("who made or changed the release invited this person or gave it rights: ask somebody else")
	}
	return nil
}

// approved returns how many approvals of a release count now. people are the approvers, in their order.
func (r release) approved(ctx context.Context, tx *reader, people []person) (n int, err error) {
	for i, p := range people {
		err := p.mayMoveAll(ctx, tx, r.Moves)
		if err == nil {
			err = r.isAuthor(r.Approvals[i].By, p)
		}
		if _, rejected := errors.AsType[*vitrine.Error](err); err != nil && !rejected {
			return n, err
		} else if err == nil {
			n++
		}
	}
	return n, nil
}

// approvers returns the people who have approved a release, in their order.
func (s *Service) approvers(ctx context.Context, rel release) ([]person, error) {
	people := make([]person, len(rel.Approvers))
	for i, kept := range rel.Approvers {
		var err error
		if people[i], err = s.person(ctx, kept); err != nil {
			return nil, err
		}
	}
	return people, nil
}

// ApproveRelease adds the caller's approval to a release that is open or scheduled. A second one of the same person changes
// nothing.
//
// It returns the errors of UpdateRelease. It also returns ErrForbidden if the caller is the key of a program, has made or
// changed the release, or was invited or given rights by somebody who has.
func (s *Service) ApproveRelease(ctx context.Context, by vitrine.Caller, id string, seen vitrine.Version) (Release, error) {
	if err := by.CheckUnrestricted(); err != nil {
		return Release{}, err
	}
	var p person
	if s.rights != nil {
		var err error
		if p, err = s.person(ctx, by); err != nil {
			return Release{}, err
		}
	}
	return s.changeRelease(ctx, by, id, seen, func(_ *writer, rel *release) error {
		switch {
		case by.Key != "":
			return forbidden("a program's key approves no release: a person does")
		case p.disabled:
			return forbidden("the person was disabled")
		case slices.ContainsFunc(rel.Approvals, func(a Approval) bool { return a.By == by.URN }):
			return errUnchanged
		}
		if err := rel.isAuthor(by.URN, p); err != nil {
			return err
		}
		rel.Approvals = append(slices.Clip(rel.Approvals), Approval{by.URN, max(s.millis(), rel.UpdatedAt)})
		rel.Approvers = append(slices.Clip(rel.Approvers), by)
		return nil
	})
}
