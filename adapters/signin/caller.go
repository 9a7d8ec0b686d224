package signin

import (
	"context"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/storage"
)

// asker is the caller of a request about people or keys.
type asker struct {
	vitrine.Caller
	rights  Rights
	session *identity // nil for a token
}

// asker returns the caller of a request.
func (s *Service) asker(r *httpapi.Request) (asker, error) {
	a := asker{Caller: r.By.Caller, rights: rightsOf(r.By.Caller)}
	i, err := s.session(r.Request)
	if i != nil && i.person.URN == r.By.URN {
		a.session, a.rights.Admin = i, i.person.Admin
	}
	return a, err
}

// refresh reads the rights of a person who has signed in again, in the transaction that uses them. It returns an error
// for a key: keys make no people, invitations or keys.
func (a *asker) refresh(ctx context.Context, r storage.Reader) error {
	if a.Key != "" {
		return fault.Forbidden("a key cannot do this: it takes a person who is signed in")
	}
	if a.session == nil {
		return nil
	}
	p, err := read[person](ctx, r, personKey(a.session.person.ID))
	if err != nil {
		return err
	}
	if p == nil || p.Disabled {
		return fault.Forbidden("you may not do this any more")
	}
	a.Caller = p.Rights.caller(p.URN)
	a.rights = rightsOf(a.Caller)
	a.rights.Admin = p.Admin
	return nil
}

// is reports whether the asker has signed in as a person.
func (a asker) is(id string) bool { return a.session != nil && a.session.person.ID == id }

// signedIn returns an error for an asker with a token.
func (a asker) signedIn() error {
	if a.session == nil {
		return fault.Forbidden("this is for people who have signed in, and not for tokens")
	}
	return nil
}

// manages reports whether the asker may see and change the people of a network.
func (a asker) manages(network string) bool {
	return a.rights.Admin || slices.Contains(a.Moderates, network)
}

// networks returns the networks that the asker moderates as a whole. It is an error if they may manage no people.
func (a asker) networks() ([]string, error) {
	whole := slices.DeleteFunc(slices.Sorted(slices.Values(a.Moderates)), func(m string) bool {
		return m != networkOf(m)
	})
	if len(whole) == 0 && !a.rights.Admin {
		return nil, fault.Forbidden("this is for administrators, and for moderators of a whole network")
	}
	return slices.Compact(whole), nil
}

// call is a request of an asker within a transaction, in which their rights were read.
type call struct {
	*httpapi.Request
	asker
}

// reads returns an endpoint that only reads: one thing or, with T as httpapi.List, a list.
func reads[T any](s *Service, serve func(*call, storage.Reader) (T, error)) func(*httpapi.Request) (T, error) {
	return func(r *httpapi.Request) (out T, err error) {
		a, err := s.asker(r)
		if err != nil {
			return out, err
		}
		return view(r.Context(), s.db, func(v storage.Reader) (none T, err error) {
			if err := a.refresh(r.Context(), v); err != nil {
				return none, err
			}
			return serve(&call{r, a}, v)
		})
	}
}

// writes returns an endpoint that changes something.
func (s *Service) writes(serve func(*call, *tx) (any, error)) func(*httpapi.Request) (any, error) {
	return func(r *httpapi.Request) (out any, err error) {
		a, err := s.asker(r)
		if err != nil {
			return nil, err
		}
		err = s.update(r.Context(), func(t *tx) (err error) {
			if err = a.refresh(r.Context(), t); err == nil {
				out, err = serve(&call{r, a}, t)
			}
			return err
		})
		return out, err
	}
}
