package signin

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/storage"
)

// An invitation is a link whose fragment has a secret. A browser does not send the fragment, so nobody who looks at addresses on the way
// spends it. It is good once: the page registers a passkey with it.

// invite gives a person a new invitation in place of the one before.
func (s *Service) invite(ctx context.Context, t storage.Tx, p *person, by string) (link string, expires int64, err error) {
	switch {
	case p.Disabled:
		return "", 0, wrongState("this person is disabled")
	case p.Provider != nil:
		return "", 0, wrongState("this person signs in through %s", p.Provider.Issuer)
	}
	if err := dropInvitation(ctx, t, p); err != nil {
		return "", 0, err
	}
	secret, hash := newSecret(invitationPrefix)
	p.Invitation = &invitation{hash, by, s.millis() + invitationLife.Milliseconds()}
	p.giver(by)
	if err := putPerson(ctx, t, p); err != nil {
		return "", 0, err
	}
	return s.BaseURL + "/#invite=" + secret, p.Invitation.Expires, t.Put(ctx, entry(invitationKey(hash), p.ID))
}

// invited returns the person whom an invitation is for, or an error for one that is unknown, spent or expired: all alike.
func (s *Service) invited(ctx context.Context, r storage.Reader, hash string) (*person, error) {
	id, err := text(ctx, r, invitationKey(hash))
	if err != nil {
		return nil, err
	}
	if id != "" {
		p, err := read[person](ctx, r, personKey(id))
		if err != nil {
			return nil, err
		}
		if p != nil && !p.Disabled && p.Invitation != nil && p.Invitation.Hash == hash && p.Invitation.Expires > s.millis() {
			return p, nil
		}
	}
	return nil, notFound("invitation: it was used, or is too old. Ask for another one")
}

// invitePerson serves POST /x/people/{id}/invite.
func (s *Service) invitePerson(r *httpapi.Request) (any, error) {
	var in struct{}
	if err := r.Decode(&in); err != nil {
		return nil, err
	}
	var out struct {
		Link    string `json:"link"`
		Expires int64  `json:"expires"`
	}
	if s.origin == "" {
		return nil, forbidden("nobody can sign in at this server: it needs -base-url with https, or to be reached as http://localhost")
	}
	return &out, s.change(r, "invited", func(ctx context.Context, t storage.Tx, a asker, p *person, managed error) (err error) {
		if managed != nil {
			return managed
		}
		if a.session != nil {
			if err := s.confirmed(a.session); err != nil {
				return err
			}
		}
		out.Link, out.Expires, err = s.invite(ctx, t, p, a.URN)
		return err
	})
}

// lookAtInvitation serves POST /x/signin/invitation: whom an invitation is for, without spending it.
func (s *Service) lookAtInvitation(r *httpapi.Request) (any, error) {
	var in struct {
		Invitation string `json:"invitation"`
	}
	if err := r.Decode(&in); err != nil {
		return nil, err
	}
	type named struct {
		URN  string `json:"urn"`
		Name string `json:"name"`
	}
	var out struct {
		Name    string `json:"name"`
		URN     string `json:"urn"`
		By      named  `json:"by"`
		Expires int64  `json:"expires"`
	}
	err := s.db.View(r.Context(), func(v storage.Reader) error {
		p, err := s.invited(r.Context(), v, hashOf(in.Invitation))
		if err != nil {
			return err
		}
		out.Name, out.URN, out.By.URN, out.Expires = p.Name, p.URN, p.Invitation.By, p.Invitation.Expires
		id, err := text(r.Context(), v, urnKey(p.Invitation.By))
		if err != nil || id == "" {
			return err
		}
		by, err := read[person](r.Context(), v, personKey(id))
		if by != nil {
			out.By.Name = by.Name
		}
		return err
	})
	return out, err
}

// Invitation is what the program itself invites a person with, as at the command line. It may give any right.
type Invitation struct {
	URN    string // of a person who is there already, or for a new one; "" makes one in Network
	Name   string
	Email  string
	Rights Rights
	// Network is that of a new person without URN: urn:<vendor>:<network>. "" is the one of the first right.
	Network string
}

// Invite makes a person, unless one has the URN already, and returns a link that lets them register a passkey. The rights of a person who is
// there stay as they are, unless some are given. The error of a malformed Invitation is ErrInvalid.
func (s *Service) Invite(ctx context.Context, in Invitation) (link string, err error) {
	if err := in.Rights.check(); err != nil {
		return "", err
	}
	p := &person{ID: newID(), URN: in.URN, CreatedAt: s.millis()}
	if in.URN == "" {
		for _, list := range [][]string{in.Rights.Moderates, in.Rights.Reads, in.Rights.Groups, {"urn:vitrine:default"}} {
			if in.Network == "" && len(list) > 0 {
				in.Network = networkOf(list[0])
			}
		}
		p.URN = in.Network + ":user=" + uuid.NewString()
	}
	if err := urn.CheckUser(p.URN); err != nil {
		return "", invalid("", "%w", err)
	}
	err = s.update(ctx, func(t storage.Tx) error {
		now := *p
		if id, err := text(ctx, t, urnKey(p.URN)); err != nil {
			return err
		} else if id != "" {
			there, err := personOf(ctx, t, id)
			if err != nil {
				return err
			}
			now = *there
		}
		if in.Name != "" {
			now.Name = in.Name
		}
		if in.Email != "" {
			now.Email = in.Email
		}
		if !in.Rights.none() {
			now.Rights = in.Rights
		}
		if err := (changes{}).apply(&now); err != nil {
			return err
		}
		link, _, err = s.invite(ctx, t, &now, "")
		return err
	})
	return link, err
}

// Link returns a link that signs in as a person, whoever opens it and as often as they like, until it expires. It is for sample data
// alone. The person is made if there is none with this URN, and has these rights afterwards.
func (s *Service) Link(ctx context.Context, user, name string, rights Rights, life time.Duration) (string, error) {
	var id string
	err := s.update(ctx, func(t storage.Tx) (err error) {
		p := &person{ID: newID(), URN: user, CreatedAt: s.millis()}
		if id, err = text(ctx, t, urnKey(user)); err == nil && id != "" {
			p, err = personOf(ctx, t, id)
		}
		if err != nil {
			return err
		}
		p.Name, p.Rights, id = name, rights, p.ID
		return putPerson(ctx, t, p)
	})
	if err != nil {
		return "", err
	}
	secret, hash := newSecret(invitationPrefix)
	err = s.db.Update(ctx, passed, storage.UpdateOptions{}, func(t storage.Tx) error {
		return t.Put(ctx, stored(linkKey(hash), link{id, s.millis() + life.Milliseconds()}))
	})
	return s.BaseURL + "/#signin=" + secret, err
}

// followLink serves POST /x/signin/link.
func (s *Service) followLink(r *httpapi.Request) (any, error) {
	var in struct {
		Link string `json:"link"`
	}
	if err := r.Decode(&in); err != nil {
		return nil, err
	}
	ctx := r.Context()
	var p *person
	var one *session
	var cookie *http.Cookie
	err := s.update(ctx, func(t storage.Tx) error {
		l, err := read[link](ctx, t, linkKey(hashOf(in.Link)))
		if err == nil && l != nil {
			p, err = read[person](ctx, t, personKey(l.Person))
		}
		if err != nil {
			return err
		}
		if l == nil || l.Expires <= s.millis() || p == nil || p.Disabled {
			return notFound("link: it is too old")
		}
		one, cookie, err = s.begin(ctx, t, r, p, viaLink, "", "")
		return err
	})
	if err != nil {
		return nil, err
	}
	w, err := s.begun(r, one, cookie, p)
	return map[string]any{"session": w}, err
}
