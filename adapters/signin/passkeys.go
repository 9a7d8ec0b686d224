package signin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/storage"
)

// The kinds of ceremonies with passkeys.
const (
	registers = "register"
	signsIn   = "signin"
)

// mostCredential bounds what a browser says of a passkey, in bytes.
const mostCredential = 64 << 10

// user is a person as package webauthn wants them.
type user struct{ *person }

func (u user) WebAuthnID() []byte          { return []byte(u.ID) }
func (u user) WebAuthnName() string        { return u.Name }
func (u user) WebAuthnDisplayName() string { return u.Name }
func (u user) WebAuthnCredentials() (all []webauthn.Credential) {
	for _, k := range u.Passkeys {
		all = append(all, k.Credential)
	}
	return all
}

// asked is the question to a browser: the options of navigator.credentials.
type asked struct {
	Ceremony  string `json:"ceremony"`
	PublicKey any    `json:"publicKey"`
}

// beginRegistration serves POST /x/signin/register/begin: for who has an invitation, or adds a passkey to their own.
func (s *Service) beginRegistration(r *httpapi.Request) (any, error) {
	var in struct {
		Invitation string `json:"invitation"`
	}
	if err := r.Decode(&in); err != nil {
		return nil, err
	}
	c := ceremony{Kind: registers}
	var p *person
	if in.Invitation != "" {
		c.Invitation = hashOf(in.Invitation)
		err := s.db.View(r.Context(), func(v storage.Reader) (err error) {
			p, err = s.invited(r.Context(), v, c.Invitation)
			return err
		})
		if err != nil {
			return nil, err
		}
	} else {
		i, err := s.session(r.Request)
		if err == nil && i == nil {
			err = failed("neither an invitation nor a session")
		}
		if err == nil {
			err = s.confirmed(i)
		}
		if err == nil && i.session.Via == viaProvider {
			err = forbidden("who comes through a provider has no passkeys here")
		}
		if err != nil {
			return nil, err
		}
		p, c.Session = i.person, i.hash
	}
	c.Person = p.ID
	var exclude []protocol.CredentialDescriptor
	for _, k := range p.Passkeys {
		exclude = append(exclude, k.Credential.Descriptor())
	}
	options, data, err := s.passkeys.BeginRegistration(user{p}, webauthn.WithExclusions(exclude),
		webauthn.WithAuthenticatorSelection(protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementRequired,
			RequireResidentKey: protocol.ResidentKeyRequired(), UserVerification: protocol.VerificationRequired}))
	if err != nil {
		return nil, err
	}
	c.Passkey = data
	name, err := s.ask(r.Context(), c)
	return asked{name, options.Response}, err
}

// finishRegistration serves POST /x/signin/register/finish. The invitation is spent with the same write that stores the passkey.
func (s *Service) finishRegistration(r *httpapi.Request) (any, error) {
	var in struct {
		Ceremony   string          `json:"ceremony"`
		Name       string          `json:"name"`
		Credential json.RawMessage `json:"credential"`
	}
	if err := r.Decode(&in); err != nil {
		return nil, err
	}
	if in.Name = cmp.Or(in.Name, "passkey"); checkText(in.Name, mostName) != nil {
		return nil, invalid("/name", "%w", checkText(in.Name, mostName))
	}
	if len(in.Credential) > mostCredential {
		return nil, invalid("/credential", "is too long")
	}
	ctx := r.Context()
	c, err := s.answered(ctx, in.Ceremony, registers)
	if err != nil {
		return nil, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(in.Credential)
	if err != nil {
		return nil, failed("the passkey: %w", said(err))
	}
	var p *person
	var one *session
	var cookie *http.Cookie
	var k passkey
	err = s.update(ctx, func(t storage.Tx) (err error) {
		if p, err = s.registering(ctx, t, c); err != nil {
			return err
		}
		credential, err := s.passkeys.CreateCredential(user{p}, *c.Passkey, parsed)
		if err != nil {
			return failed("the passkey: %w", said(err))
		}
		credential.Attestation = webauthn.CredentialAttestation{} // nobody asks which device it is
		if len(p.Passkeys) >= mostPasskeys {
			return wrongState("a person has at most %d passkeys: remove one first", mostPasskeys)
		}
		k = passkey{ID: base64.RawURLEncoding.EncodeToString(credential.ID), Name: in.Name, CreatedAt: s.millis(), Credential: *credential}
		if slices.ContainsFunc(p.Passkeys, func(o passkey) bool { return o.ID == k.ID }) {
			return failed("the passkey is there already")
		}
		p.Passkeys = append(p.Passkeys, k)
		if c.Invitation != "" {
			if err := dropInvitation(ctx, t, p); err != nil {
				return err
			}
		}
		if err := putPerson(ctx, t, p); err != nil {
			return err
		}
		one, cookie, err = s.begin(ctx, t, r, p, viaPasskey, k.ID, c.Session)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.access(ctx, "passkey stored", "urn", p.URN, "address", r.Address())
	w, err := s.begun(r, one, cookie, p)
	return map[string]any{"passkey": k.wire(0), "session": w}, err
}

// registering returns who registers a passkey: whom the invitation is still for, or whose session still is good.
func (s *Service) registering(ctx context.Context, t storage.Tx, c *ceremony) (*person, error) {
	if c.Invitation != "" {
		return s.invited(ctx, t, c.Invitation)
	}
	i, err := s.loadSession(ctx, t, c.Session)
	if err == nil && (i == nil || i.person.ID != c.Person) {
		err = failed("the session has ended")
	}
	if err != nil {
		return nil, err
	}
	return i.person, nil
}

// said returns an error of package webauthn with its details, for the log.
func said(err error) error {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return fmt.Errorf("%s: %s", e.Details, e.DevInfo)
	}
	return err
}

// beginSignIn serves POST /x/signin/begin. The browser shows the passkeys that it has for this host: nobody types a name.
func (s *Service) beginSignIn(r *httpapi.Request) (any, error) {
	var in struct {
		Confirm bool `json:"confirm"`
	}
	if err := r.Decode(&in); err != nil {
		return nil, err
	}
	c := ceremony{Kind: signsIn}
	var options *protocol.CredentialAssertion
	var err error
	verified := webauthn.WithUserVerification(protocol.VerificationRequired)
	if in.Confirm {
		i, err := s.session(r.Request)
		if err == nil && i == nil {
			err = failed("no session to confirm")
		}
		if err == nil && len(i.person.Passkeys) == 0 {
			err = wrongState("there is no passkey to confirm with")
		}
		if err != nil {
			return nil, err
		}
		c.Person, c.Session = i.person.ID, i.hash
		var allowed []protocol.CredentialDescriptor
		for _, k := range i.person.Passkeys {
			allowed = append(allowed, k.Credential.Descriptor())
		}
		options, c.Passkey, err = s.passkeys.BeginDiscoverableLogin(verified, webauthn.WithAllowedCredentials(allowed))
		if err != nil {
			return nil, err
		}
	} else if options, c.Passkey, err = s.passkeys.BeginDiscoverableLogin(verified); err != nil {
		return nil, err
	}
	name, err := s.ask(r.Context(), c)
	return asked{name, options.Response}, err
}

// finishSignIn serves POST /x/signin/finish.
func (s *Service) finishSignIn(r *httpapi.Request) (any, error) {
	var in struct {
		Ceremony   string          `json:"ceremony"`
		Credential json.RawMessage `json:"credential"`
	}
	if err := r.Decode(&in); err != nil {
		return nil, err
	}
	if len(in.Credential) > mostCredential {
		return nil, invalid("/credential", "is too long")
	}
	ctx := r.Context()
	c, err := s.answered(ctx, in.Ceremony, signsIn)
	if err != nil {
		return nil, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(in.Credential)
	if err != nil {
		return nil, failed("the passkey: %w", said(err))
	}
	var p *person
	var one *session
	var cookie *http.Cookie
	err = s.update(ctx, func(t storage.Tx) (err error) {
		if p, err = read[person](ctx, t, personKey(string(parsed.Response.UserHandle))); err != nil {
			return err
		}
		if p == nil {
			return failed("the passkey is of nobody here")
		}
		_, credential, err := s.passkeys.ValidatePasskeyLogin(func(_, _ []byte) (webauthn.User, error) { return user{p}, nil }, *c.Passkey, parsed)
		switch {
		case err != nil:
			return failed("the passkey: %w", said(err))
		case c.Person != "" && c.Person != p.ID:
			return failed("the passkey is another person's")
		case p.Disabled:
			return failed("%s is disabled", p.URN)
		case credential.Authenticator.CloneWarning:
			return failed("the passkey of %s counts less than before: it may have been copied", p.URN)
		}
		id := ""
		for i, k := range p.Passkeys {
			if bytes.Equal(k.Credential.ID, credential.ID) {
				credential.Attestation = webauthn.CredentialAttestation{}
				id, p.Passkeys[i].Credential = k.ID, *credential
			}
		}
		if err := putPerson(ctx, t, p); err != nil {
			return err
		}
		one, cookie, err = s.begin(ctx, t, r, p, viaPasskey, id, c.Session)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.used(ctx, "passkey", one.Passkey)
	w, err := s.begun(r, one, cookie, p)
	return map[string]any{"session": w}, err
}

// wirePasskey is a passkey as its person sees it.
type wirePasskey struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	CreatedAt  int64  `json:"createdAt"`
	LastUsedAt *int64 `json:"lastUsedAt"`
	Synced     bool   `json:"synced"` // it may be on several devices
}

func (k passkey) wire(used int64) wirePasskey {
	return wirePasskey{k.ID, k.Name, k.CreatedAt, orNull(used), k.Credential.Flags.BackupEligible}
}

// listPasskeys serves GET /x/signin/passkeys/: those of who asks.
func (s *Service) listPasskeys(r *httpapi.Request) (any, error) {
	own, err := s.own(r)
	if err != nil {
		return nil, err
	}
	list := []wirePasskey{}
	err = s.db.View(r.Context(), func(v storage.Reader) error {
		list = list[:0]
		p, err := personOf(r.Context(), v, own.person.ID)
		if err != nil {
			return err
		}
		for _, k := range p.Passkeys {
			used, err := lastSeen(r.Context(), v, "passkey", k.ID)
			if err != nil {
				return err
			}
			list = append(list, k.wire(used))
		}
		return nil
	})
	return map[string]any{"passkeys": list}, err
}

// renamePasskey serves PATCH /x/signin/passkeys/{id}.
func (s *Service) renamePasskey(r *httpapi.Request) (any, error) {
	var in struct {
		Name string `json:"name"`
	}
	if err := r.Decode(&in); err != nil {
		return nil, err
	}
	if err := checkText(in.Name, mostName); err != nil {
		return nil, invalid("/name", "%w", err)
	}
	var w wirePasskey
	err := s.changePasskey(r, func(ctx context.Context, t storage.Tx, p *person, i int) error {
		p.Passkeys[i].Name = in.Name
		used, err := lastSeen(ctx, t, "passkey", p.Passkeys[i].ID)
		w = p.Passkeys[i].wire(used)
		return err
	})
	return w, err
}

// removePasskey serves DELETE /x/signin/passkeys/{id}. The sessions that began with it end.
func (s *Service) removePasskey(r *httpapi.Request) (any, error) {
	return nil, s.changePasskey(r, func(ctx context.Context, t storage.Tx, p *person, i int) error {
		id := p.Passkeys[i].ID
		p.Passkeys = slices.Delete(p.Passkeys, i, i+1)
		s.access(ctx, "passkey removed", "urn", p.URN)
		return endSessions(ctx, t, p.ID, func(_ string, one *session) bool { return one.Passkey == id })
	})
}

// changePasskey changes the passkey of a path, which must be one of who asks.
func (s *Service) changePasskey(r *httpapi.Request, fn func(context.Context, storage.Tx, *person, int) error) error {
	own, err := s.own(r)
	if err != nil {
		return err
	}
	return s.update(r.Context(), func(t storage.Tx) error {
		p, err := personOf(r.Context(), t, own.person.ID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(p.Passkeys, func(k passkey) bool { return k.ID == r.Param(0) })
		if i < 0 {
			return notFound("passkey")
		}
		if err := fn(r.Context(), t, p, i); err != nil {
			return err
		}
		return putPerson(r.Context(), t, p)
	})
}
