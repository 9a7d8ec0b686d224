package appsvc

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// Person is somebody who can be mentioned, or asked to approve a release.
type Person struct {
	URN  string `json:"urn"`
	Name string `json:"name"`
}

// The limits of choosing people.
const (
	mostChosen = 20  // people in one answer
	mostAsked  = 20  // people whom a release asks
	mostQuery  = 128 // characters
)

// Readers returns up to 20 people of the caller's network who may read an app, and whose names match a query: those who
// can be mentioned in a comment. Options.People says which names match. The caller must be one who may change the app:
// Readers returns ErrNotFound if there is no such app or the caller may not read it, ErrForbidden if the caller may
// only read it, and ErrInvalid for a query of more than 128 characters.
func (s *Session) Readers(ctx context.Context, appID, query string) ([]Person, error) {
	s = s.calls("Readers")
	h, err := view(ctx, s, func(r *reader) (appHead, error) { return usableHead(ctx, r, s.by, appID) })
	if err != nil {
		return nil, err
	}
	people, callers, err := s.namesakes(ctx, query)
	if err != nil {
		return nil, err
	}
	return firstOf(people, func(p Person) bool { by, known := callers[p.URN]; return known && mayRead(by, h) }), nil
}

// Approvers returns up to 20 people of the caller's network who could approve a release now, by the rules of
// ApproveRelease, and whose names match a query. The caller must be one who may change the release: Approvers returns
// the errors of UpdateRelease for others, and nobody for a release that is done or cancelled.
func (s *Session) Approvers(ctx context.Context, releaseID, query string) ([]Person, error) {
	s = s.calls("Approvers")
	rel, err := view(ctx, s, func(r *reader) (rel release, err error) {
		if rel, err = r.releaseFor(ctx, s.by, releaseID); err == nil {
			err = r.mayMoveAll(ctx, s.by, rel.Moves, "", true)
		}
		return rel, err
	})
	if err != nil {
		return nil, err
	}
	people, callers, err := s.namesakes(ctx, query)
	if err != nil {
		return nil, err
	}
	could, err := s.service.couldApprove(ctx, rel, callers)
	return firstOf(people, func(p Person) bool { return could[p.URN] }), err
}

// namesakes returns the people of the caller's network whose names match a query, and the present rights of those who
// are not disabled.
func (s *Session) namesakes(ctx context.Context, query string) ([]Person, map[string]vitrine.Caller, error) {
	if err := checkText("q", query, mostQuery); err != nil {
		return nil, nil, err
	}
	if s.service.people == nil {
		return nil, nil, nil
	}
	people, err := s.service.people(ctx, networkOf(s.by.URN), query)
	if err != nil {
		return nil, nil, err
	}
	urns := make([]string, len(people))
	for i, p := range people {
		urns[i] = p.URN
	}
	callers, err := s.colleagues(ctx, urns)
	return people, callers, err
}

// firstOf returns the first people for whom may is true.
func firstOf(people []Person, may func(Person) bool) []Person {
	out := []Person{}
	for _, p := range people {
		if len(out) < mostChosen && may(p) {
			out = append(out, p)
		}
	}
	return out
}

// mightApprove reports whether somebody could approve a release, as far as the store tells: it is open, the caller may
// see it and make all its moves, and has neither made, changed nor approved it. approver.mayApprove says the rest.
func (r *reader) mightApprove(ctx context.Context, rel release, by vitrine.Caller) (bool, error) {
	if rel.State != ReleaseOpen && rel.State != ReleaseScheduled || rel.approvedBy(by.URN) ||
		slices.Contains(rel.Authors, by.URN) {
		return false, nil
	}
	v := viewer{r: r, by: by, heads: map[string]appHead{}}
	sees, err := v.seesRelease(ctx, rel)
	if err == nil && sees {
		err = r.mayMoveAll(ctx, by, rel.Moves, "", true)
	}
	if _, rejected := errors.AsType[*vitrine.Error](err); rejected {
		return false, nil
	}
	return sees && err == nil, err
}

// couldApprove returns which of some callers could approve a release, by the rules of ApproveRelease. It must not be
// called in a transaction.
func (s *Service) couldApprove(
	ctx context.Context, rel release, callers map[string]vitrine.Caller,
) (map[string]bool, error) {
	var might []vitrine.Caller
	independent := false
	err := s.store.view(ctx, func(r *reader) error {
		might = nil
		rules, err := r.tagRules(ctx)
		independent = rel.independent(rules)
		for _, by := range callers {
			if ok, wrong := r.mightApprove(ctx, rel, by); wrong != nil {
				return wrong
			} else if ok {
				might = append(might, by)
			}
		}
		return err
	})
	could := map[string]bool{}
	if err != nil {
		return could, err
	}
	people, err := s.remembering().approvers(ctx, rel.Authors, might...)
	for _, a := range people {
		could[a.kept.URN] = err == nil && a.mayApprove(rel, independent) == nil
	}
	return could, err
}

// remembering returns the Service for one call, which asks Options.Rights once about each user.
func (s *Service) remembering() *Service {
	if s.rights == nil {
		return s
	}
	type answer struct {
		by       vitrine.Caller
		inviters []string
		err      error
	}
	known, once := map[string]answer{}, *s
	once.rights = func(ctx context.Context, urn string) (vitrine.Caller, []string, error) {
		a, asked := known[urn]
		if !asked {
			a.by, a.inviters, a.err = s.rights(ctx, urn)
			known[urn] = a
		}
		return a.by, a.inviters, a.err
	}
	return &once
}

// checkAsk returns an error unless each of some people could approve a release, which the caller could change. was are
// those whom it asks already, who may stay. It must not be called in a transaction.
func (s *Session) checkAsk(ctx context.Context, rel release, ask, was []string) error {
	if err := checkUsers("/ask", ask, mostAsked); err != nil {
		return err
	}
	var added []string
	for i, urn := range ask {
		if slices.Contains(ask[:i], urn) {
			return fault.Invalid("/ask/"+strconv.Itoa(i), "%q is there twice", urn)
		}
		if !slices.Contains(was, urn) {
			added = append(added, urn)
		}
	}
	if len(added) == 0 {
		return nil
	}
	callers, err := s.colleagues(ctx, added)
	if err != nil {
		return err
	}
	could, err := s.service.couldApprove(ctx, rel, callers)
	if err != nil {
		return err
	}
	for i, urn := range ask {
		if slices.Contains(added, urn) && !could[urn] {
			return fault.NotApplicable("/ask/"+strconv.Itoa(i),
				"nobody with this URN is known who could approve the release")
		}
	}
	return nil
}
