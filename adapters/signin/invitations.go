package signin

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/storage"
)

// An invitation is a link whose fragment has a secret. A browser does not send the fragment, so it is in no log of
// addresses. An invitation is used once, to register a passkey.
//
// Whoever has the link can become the person, with all that the person owns. So only an administrator invites somebody
// who may own something: who has or had a passkey, or was given the URN of a token. A person with a passkey is told of
// it in each session that began with a passkey from before.

// invite gives a person a new invitation in place of the one before.
func (s *Service) invite(ctx context.Context, t *tx, p *person, by string) (link string, err error) {
	switch {
	case p.Disabled:
		return "", wrongState("this person is disabled")
	case p.Provider != nil:
		return "", wrongState("this person signs in through %s", p.Provider.Issuer)
	}
	if err := dropInvitation(ctx, t, p); err != nil {
		return "", err
	}
	secret, hash := newSecret(invitationPrefix)
	p.Invitation = &invitation{Hash: hash, By: by, Expires: s.millis() + invitationLife.Milliseconds()}
	if len(p.Passkeys) > 0 {
		p.Anew = &anew{by, s.millis()}
	}
	p.giver(by)
	if err := putPerson(ctx, t, p); err != nil {
		return "", err
	}
	return s.BaseURL + "/#invite=" + secret, t.Put(ctx, entry(invitationKey(hash), p.ID))
}

// invited returns the person whom an invitation is for, or an error for one that is unknown, used or expired: always
// the same one.
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
		if p != nil && !p.Disabled && p.Invitation != nil && p.Invitation.Expires > s.millis() &&
			(p.Invitation.Hash == hash || slices.Contains(p.Invitation.Mailed, hash)) {
			return p, nil
		}
	}
	return nil, fault.NotFound("there is no such invitation: it was used, or is too old. Ask for another one")
}

// invitePerson serves POST /x/people/{id}/invite.
func (s *Service) invitePerson(c *call, t *tx) (any, error) {
	var in struct{}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if s.origin == "" {
		return nil, errNowhere
	}
	p, err := c.managed(t)
	if err == nil && p.mayOwn() && !c.rights.Admin {
		err = fault.Forbidden("this person has or had a passkey, or has the URN of a token, and may own something: " +
			"only an administrator who is signed in may invite them")
	}
	if err == nil {
		err = s.confirmed(c.session)
	}
	if err != nil {
		return nil, err
	}
	link, err := s.invite(c.Context(), t, p, c.URN)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"link": link, "expires": p.Invitation.Expires}
	if s.Mail != nil {
		if out["mailed"], err = s.mailInvitation(c, t, p); err != nil {
			return nil, err
		}
	}
	s.accessed(c.Context(), t, "invited", "urn", p.URN, "by", c.URN)
	return out, nil
}

// secretOf is a body with the secret of an invitation.
type secretOf struct {
	Invitation string `json:"invitation"`
}

// lookAtInvitation serves POST /x/signin/invitation: it returns the person of an invitation, without using it.
func (s *Service) lookAtInvitation(r *httpapi.Request) (any, error) {
	var in secretOf
	if err := r.Decode(&in); err != nil {
		return nil, err
	}
	return view(r.Context(), s.db, func(v storage.Reader) (any, error) {
		p, err := s.invited(r.Context(), v, hashOf(in.Invitation))
		if err != nil {
			return nil, err
		}
		by, err := nameOf(r.Context(), v, p.Invitation.By)
		return map[string]any{"name": p.Name, "urn": p.URN, "by": by, "expires": p.Invitation.Expires}, err
	})
}

// Invitation is an invitation by the program itself, as at the command line. It may give any right.
type Invitation struct {
	URN    string // of an existing person, or for a new one; "" makes one in Network
	Name   string
	Email  string
	Rights Rights
	// Network is that of a new person without URN: urn:<vendor>:<network>. "" is the one of the first right.
	Network string
}

// Invite makes a person, unless one has the URN already, and returns a link that lets them register a passkey. An
// existing person keeps their rights, unless some are given. It returns ErrInvalid for a malformed Invitation.
func (s *Service) Invite(ctx context.Context, in Invitation) (link string, err error) {
	if err := in.Rights.check(); err != nil {
		return "", err
	}
	given := in.URN != ""
	if !given {
		for _, list := range [][]string{in.Rights.Moderates, in.Rights.Reads, in.Rights.Groups,
			{"urn:vitrine:default"}} {
			if in.Network == "" && len(list) > 0 {
				in.Network = networkOf(list[0])
			}
		}
		if err := checkNetwork(in.Network); err != nil {
			return "", err
		}
		in.URN = in.Network + ":user=" + uuid.NewString()
	}
	if err := urn.CheckUser(in.URN); err != nil {
		return "", fault.Invalid("/urn", "%s", err)
	}
	err = s.update(ctx, func(t *tx) error {
		p, err := s.called(ctx, t, in.URN)
		if err != nil {
			return err
		}
		p.GivenURN = p.GivenURN || given
		p.Name, p.Email = cmp.Or(in.Name, p.Name), cmp.Or(in.Email, p.Email)
		if !in.Rights.none() {
			p.Rights = in.Rights
		}
		if err := p.check(); err != nil {
			return err
		}
		link, err = s.invite(ctx, t, p, "")
		s.accessed(ctx, t, "invited", "urn", p.URN, "by", "the program")
		return err
	})
	return link, err
}

// called returns the person with a URN, or a new one. It returns an error if a deleted person had it.
func (s *Service) called(ctx context.Context, r storage.Reader, user string) (*person, error) {
	p, taken, err := byURN(ctx, r, user)
	switch {
	case err != nil:
		return nil, err
	case !taken:
		return s.newPerson(ctx, r, user)
	case p == nil:
		return nil, fault.NotFound("there is no such person")
	}
	return p, nil
}

// Link returns a link that signs in as a person, as often as it is opened, until it expires. It is for sample data
// only. It makes the person if there is none with this URN, and sets their rights.
func (s *Service) Link(ctx context.Context, user, name string, rights Rights, life time.Duration) (string, error) {
	l := link{Expires: s.millis() + life.Milliseconds()}
	err := s.update(ctx, func(t *tx) error {
		p, err := s.called(ctx, t, user)
		if err != nil {
			return err
		}
		p.Name, p.Rights, l.Person = name, rights, p.ID
		return putPerson(ctx, t, p)
	})
	if err != nil {
		return "", err
	}
	secret, hash := newSecret(invitationPrefix)
	err = s.db.Update(ctx, transient, storage.UpdateOptions{}, func(t storage.Tx) error {
		return t.Put(ctx, keyval.JSON(linkKey(hash), l))
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
	w, err := s.begin(r, viaLink, "", func(t *tx) (p *person, _ string, err error) {
		l, err := read[link](ctx, t, linkKey(hashOf(in.Link)))
		if err == nil && l != nil {
			p, err = read[person](ctx, t, personKey(l.Person))
		}
		if err == nil && (l == nil || l.Expires <= s.millis() || p == nil || p.Disabled) {
			err = fault.NotFound("there is no such link: it is too old")
		}
		return p, "", err
	})
	return map[string]any{"session": w}, err
}
