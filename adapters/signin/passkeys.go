package signin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/storage"
)

// The kinds of ceremonies with passkeys.
const (
	registers = "register"
	signsIn   = "signin"
)

// mostCredential is the largest credential of a browser, in bytes.
const mostCredential = 64 << 10

// user is a person as a webauthn.User.
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

// descriptors are the passkeys of a person as a challenge names them.
func (p *person) descriptors() []protocol.CredentialDescriptor {
	return webauthn.Credentials(user{p}.WebAuthnCredentials()).CredentialDescriptors()
}

// challenge stores a ceremony, and returns the response with publicKey, the options for navigator.credentials.
func (s *Service) challenge(r *httpapi.Request, c ceremony, publicKey any) (any, error) {
	name, err := s.putCeremony(r.Context(), c)
	return map[string]any{"ceremony": name, "publicKey": publicKey}, err
}

// credentialResponse is what a browser sends for a challenge.
type credentialResponse struct {
	Ceremony   string          `json:"ceremony"`
	Credential json.RawMessage `json:"credential"`
}

// ceremonyOf removes the ceremony of a response from the store and returns it.
func (s *Service) ceremonyOf(r *httpapi.Request, in credentialResponse, kind string) (*ceremony, error) {
	if len(in.Credential) > mostCredential {
		return nil, fault.Invalid("/credential", "is too long")
	}
	return s.takeCeremony(r.Context(), in.Ceremony, kind)
}

// beginRegistration serves POST /x/signin/register/begin: for a person who has an invitation or adds another passkey.
func (s *Service) beginRegistration(r *httpapi.Request) (any, error) {
	var in secretOf
	if err := r.Decode(&in); err != nil {
		return nil, err
	}
	c := ceremony{Kind: registers}
	var p *person
	if in.Invitation != "" {
		c.Invitation = hashOf(in.Invitation)
		var err error
		p, err = view(r.Context(), s.db, func(v storage.Reader) (*person, error) {
			return s.invited(r.Context(), v, c.Invitation)
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
			err = fault.Forbidden("who comes through a provider has no passkeys here")
		}
		if err != nil {
			return nil, err
		}
		p, c.Session = i.person, i.hash
	}
	c.Person = p.ID
	options, data, err := s.passkeys.BeginRegistration(user{p}, webauthn.WithExclusions(p.descriptors()),
		webauthn.WithAuthenticatorSelection(
			protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementRequired,
				RequireResidentKey: protocol.ResidentKeyRequired(), UserVerification: protocol.VerificationRequired}))
	if err != nil {
		return nil, err
	}
	c.Passkey = data
	return s.challenge(r, c, options.Response)
}

// finishRegistration serves POST /x/signin/register/finish. The same write deletes the invitation of the person and
// stores the passkey.
func (s *Service) finishRegistration(r *httpapi.Request) (any, error) {
	var in struct {
		credentialResponse
		Name string `json:"name"`
	}
	if err := r.Decode(&in); err != nil {
		return nil, err
	}
	in.Name = cmp.Or(in.Name, "passkey")
	if err := checkText(in.Name, mostName); err != nil {
		return nil, fault.Invalid("/name", "%s", err)
	}
	c, err := s.ceremonyOf(r, in.credentialResponse, registers)
	if err != nil {
		return nil, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(in.Credential)
	if err != nil {
		return nil, failed("the passkey: %w", withDetails(err))
	}
	ctx := r.Context()
	var k passkey
	w, err := s.begin(r, viaPasskey, c.Session, func(t *tx) (*person, string, error) {
		p, err := s.registering(ctx, t, c)
		if err != nil {
			return nil, "", err
		}
		credential, err := s.passkeys.CreateCredential(user{p}, *c.Passkey, parsed)
		if err != nil {
			return nil, "", failed("the passkey: %w", withDetails(err))
		}
		credential.Attestation = webauthn.CredentialAttestation{} // the kind of device is not needed
		if len(p.Passkeys) >= mostPasskeys {
			return nil, "", wrongState("a person has at most %d passkeys: remove one first", mostPasskeys)
		}
		k = passkey{ID: base64.RawURLEncoding.EncodeToString(credential.ID), Name: in.Name, CreatedAt: s.millis(),
			Credential: *credential}
		if slices.ContainsFunc(p.Passkeys, func(o passkey) bool { return o.ID == k.ID }) {
			return nil, "", failed("the passkey is there already")
		}
		p.Passkeys = append(p.Passkeys, k)
		// From now on a new invitation is for administrators alone, so one from before the first passkey ends too.
		if err := dropInvitation(ctx, t, p); err != nil {
			return nil, "", err
		}
		s.accessed(ctx, t, "passkey stored", "urn", p.URN, "address", r.Address())
		return p, k.ID, putPerson(ctx, t, p)
	})
	return map[string]any{"passkey": k.wire(0), "session": w}, err
}

// registering returns the person who registers a passkey, if their invitation or session is still valid.
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

// withDetails returns an error of package webauthn with its details, for the log.
func withDetails(err error) error {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return fmt.Errorf("%s: %s", e.Details, e.DevInfo)
	}
	return err
}

// beginSignIn serves POST /x/signin/begin. The browser offers the passkeys that it has for this host, so no name is
// typed.
func (s *Service) beginSignIn(r *httpapi.Request) (any, error) {
	var in struct {
		Confirm bool `json:"confirm"`
	}
	if err := r.Decode(&in); err != nil {
		return nil, err
	}
	c := ceremony{Kind: signsIn}
	options := []webauthn.LoginOption{webauthn.WithUserVerification(protocol.VerificationRequired)}
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
		options = append(options, webauthn.WithAllowedCredentials(i.person.descriptors()))
	}
	assertion, data, err := s.passkeys.BeginDiscoverableLogin(options...)
	if err != nil {
		return nil, err
	}
	c.Passkey = data
	return s.challenge(r, c, assertion.Response)
}

// finishSignIn serves POST /x/signin/finish.
func (s *Service) finishSignIn(r *httpapi.Request) (any, error) {
	var in credentialResponse
	if err := r.Decode(&in); err != nil {
		return nil, err
	}
	c, err := s.ceremonyOf(r, in, signsIn)
	if err != nil {
		return nil, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(in.Credential)
	if err != nil {
		return nil, failed("the passkey: %w", withDetails(err))
	}
	ctx, id := r.Context(), ""
	w, err := s.begin(r, viaPasskey, c.Session, func(t *tx) (*person, string, error) {
		p, err := read[person](ctx, t, personKey(string(parsed.Response.UserHandle)))
		if err != nil {
			return nil, "", err
		}
		if p == nil {
			return nil, "", failed("the passkey is of nobody here")
		}
		find := func(_, _ []byte) (webauthn.User, error) { return user{p}, nil }
		_, credential, err := s.passkeys.ValidatePasskeyLogin(find, *c.Passkey, parsed)
		switch {
		case err != nil:
			return nil, "", failed("the passkey: %w", withDetails(err))
		case c.Person != "" && c.Person != p.ID:
			return nil, "", failed("the passkey is another person's")
		case p.Disabled:
			return nil, "", failed("%s is disabled", p.URN)
		case credential.Authenticator.CloneWarning:
			return nil, "", failed("the passkey of %s counts less than before: it may have been copied", p.URN)
		}
		credential.Attestation = webauthn.CredentialAttestation{}
		i := slices.IndexFunc(p.Passkeys, func(k passkey) bool { return bytes.Equal(k.Credential.ID, credential.ID) })
		id, p.Passkeys[i].Credential = p.Passkeys[i].ID, *credential
		return p, id, putPerson(ctx, t, p)
	})
	if err != nil {
		return nil, err
	}
	s.used(ctx, "passkey", id)
	return map[string]any{"session": w}, nil
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

// listPasskeys serves GET /x/signin/passkeys/: those of the asker.
func (s *Service) listPasskeys(c *call, v storage.Reader) (httpapi.List, error) {
	if err := c.signedIn(); err != nil {
		return httpapi.List{}, err
	}
	p, err := personOf(c.Context(), v, c.session.person.ID)
	if err != nil {
		return httpapi.List{}, err
	}
	after := slices.IndexFunc(p.Passkeys, func(k passkey) bool { return k.ID == c.Text("after") })
	items := func(yield func(passkey, error) bool) {
		for _, k := range p.Passkeys[after+1:] {
			if !yield(k, nil) {
				return
			}
		}
	}
	id := func(k passkey) string { return k.ID }
	return httpapi.NewList(c.Request, "passkeys", items, id, func(k passkey) (*wirePasskey, error) {
		used, err := lastSeen(c.Context(), v, "passkey", k.ID)
		w := k.wire(used)
		return &w, err
	})
}

// passkey returns the person who asks, and which of their passkeys a path names.
func (c *call) passkey(t *tx) (p *person, i int, err error) {
	if err := c.signedIn(); err != nil {
		return nil, 0, err
	}
	if p, err = personOf(c.Context(), t, c.session.person.ID); err != nil {
		return nil, 0, err
	}
	if i = slices.IndexFunc(p.Passkeys, func(k passkey) bool { return k.ID == c.Param(0) }); i < 0 {
		return nil, 0, fault.NotFound("there is no such passkey")
	}
	return p, i, nil
}

// renamePasskey serves PATCH /x/signin/passkeys/{id}.
func (s *Service) renamePasskey(c *call, t *tx) (any, error) {
	var in struct {
		Name string `json:"name"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if err := checkText(in.Name, mostName); err != nil {
		return nil, fault.Invalid("/name", "%s", err)
	}
	p, i, err := c.passkey(t)
	if err != nil {
		return nil, err
	}
	p.Passkeys[i].Name = in.Name
	used, err := lastSeen(c.Context(), t, "passkey", p.Passkeys[i].ID)
	if err != nil {
		return nil, err
	}
	return p.Passkeys[i].wire(used), putPerson(c.Context(), t, p)
}

// removePasskey serves DELETE /x/signin/passkeys/{id}. The sessions that began with it end.
func (s *Service) removePasskey(c *call, t *tx) (any, error) {
	p, i, err := c.passkey(t)
	if err != nil {
		return nil, err
	}
	id := p.Passkeys[i].ID
	p.Passkeys, p.HadPasskey = slices.Delete(p.Passkeys, i, i+1), true
	if _, err := endSessions(c.Context(), t, p, func(_ string, one *session) bool {
		return one.Passkey == id
	}); err != nil {
		return nil, err
	}
	t.unseen = append(t.unseen, seenKey("passkey", id))
	s.accessed(c.Context(), t, "passkey removed", "urn", p.URN)
	return nil, putPerson(c.Context(), t, p)
}
