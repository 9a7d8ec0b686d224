package signin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"

	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// The records are in two spaces. In people:
//
//	person/<id>                   person
//	network/<network> <id>        the people of a network
//	urn/<urn>                     the id of the person who has it or had it; it is never given to another one
//	subject/<issuer> <sub>        the id of the person that a provider calls so
//	admin/<id>                    the administrators who are not disabled
//	invitation/<hash>             the id of the person whom a secret lets register a passkey
//	session/<hash>                session
//	sessions/<person> <hash>      the sessions of a person
//	key/<id>                      key
//	secret/<hash>                 the id of the key with this secret
//	keys/<person> <id>            the secret keys of a person
//
// And in signin, which change often or are of no use in a copy:
//
//	ceremony/<expires> <hash>     ceremony: what a passkey or a provider was asked
//	link/<hash>                   link: a secret that begins sessions
//	base/                         the address where people sign in
//	seen/<kind> <id>              when a person, session, passkey or key was used last, to the hour
//
// Hashes are those of secrets. Times are milliseconds since the epoch.
const (
	space  = "people"
	passed = "signin"
)

// person is somebody who may sign in.
type person struct {
	ID    string `json:"id"`
	URN   string `json:"urn"`
	Name  string `json:"name"`
	Email string `json:"email,omitempty"`
	Rights
	Disabled  bool     `json:"disabled,omitempty"`
	CreatedAt int64    `json:"createdAt"`
	Givers    []string `json:"givers,omitempty"` // URNs of those who have invited the person, or given rights

	Passkeys   []passkey   `json:"passkeys,omitempty"`
	Invitation *invitation `json:"invitation,omitempty"`
	Provider   *identified `json:"provider,omitempty"`
}

// passkey is a credential of a person.
type passkey struct {
	ID         string              `json:"id"`
	Name       string              `json:"name"`
	CreatedAt  int64               `json:"createdAt"`
	Credential webauthn.Credential `json:"credential"`
}

type invitation struct {
	Hash    string `json:"hash"`
	By      string `json:"by"`
	Expires int64  `json:"expires"`
}

// identified is who a provider says a person is. The rights of the person are those of the values.
type identified struct {
	Issuer  string   `json:"issuer"`
	Subject string   `json:"subject"`
	Values  []string `json:"values"`
}

// The ways into a session.
const (
	viaPasskey  = "passkey"
	viaProvider = "oidc"
	viaLink     = "link"
)

type session struct {
	ID        string `json:"id"`
	Person    string `json:"person"`
	Via       string `json:"via"`
	Passkey   string `json:"passkey,omitempty"`
	Browser   string `json:"browser"`
	CreatedAt int64  `json:"createdAt"`
	Expires   int64  `json:"expires"`
	Confirmed int64  `json:"confirmed"`
}

type key struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Prefix string `json:"prefix"`
	Rights
	Tags      []string `json:"tags,omitempty"`
	Reviews   bool     `json:"reviews,omitempty"`
	Expires   int64    `json:"expires,omitempty"` // 0: when it is revoked
	CreatedAt int64    `json:"createdAt"`
	By        string   `json:"by"`
	Person    string   `json:"person,omitempty"` // the maker of a secret key
	Hash      string   `json:"hash"`
	Public    string   `json:"public,omitempty"` // a public key itself
}

// ceremony is what a browser was asked, and has to answer.
type ceremony struct {
	Kind       string                `json:"kind"`
	Person     string                `json:"person,omitempty"`     // of whom an answer is wanted; "" for anybody
	Invitation string                `json:"invitation,omitempty"` // hash of the one that is to be spent
	Session    string                `json:"session,omitempty"`    // hash of the one that is to be confirmed or gets a passkey
	Passkey    *webauthn.SessionData `json:"passkey,omitempty"`
	State      string                `json:"state,omitempty"`
	Nonce      string                `json:"nonce,omitempty"`
	Verifier   string                `json:"verifier,omitempty"`
	To         string                `json:"to,omitempty"`
}

type link struct {
	Person  string `json:"person"`
	Expires int64  `json:"expires"`
}

var baseKey = record.Key(passed, "base/")

func personKey(id string) string               { return record.Key(space, "person/", id) }
func networkKey(network, id string) string     { return record.Key(space, "network/", network, id) }
func urnKey(urn string) string                 { return record.Key(space, "urn/", urn) }
func subjectKey(issuer, subject string) string { return record.Key(space, "subject/", issuer, subject) }
func adminKey(id string) string                { return record.Key(space, "admin/", id) }
func invitationKey(hash string) string         { return record.Key(space, "invitation/", hash) }
func sessionKey(hash string) string            { return record.Key(space, "session/", hash) }
func sessionsKey(person, hash string) string   { return record.Key(space, "sessions/", person, hash) }
func keyKey(id string) string                  { return record.Key(space, "key/", id) }
func secretKey(hash string) string             { return record.Key(space, "secret/", hash) }
func keysKey(person, id string) string         { return record.Key(space, "keys/", person, id) }
func linkKey(hash string) string               { return record.Key(passed, "link/", hash) }
func seenKey(kind, id string) string           { return record.Key(passed, "seen/", kind, id) }
func ceremonyKey(expires int64, h string) string {
	return record.Key(passed, "ceremony/", record.Number(expires), h)
}

// NotArchived returns what the keys begin with that archives leave out: everything, or with access what no copy may have.
func NotArchived(access bool) []string {
	if !access {
		return []string{space + " ", passed + " "}
	}
	return []string{space + " session/", space + " sessions/", passed + " "}
}

// newSecret returns 32 random bytes after a prefix that says what they are, and their hash.
func newSecret(prefix string) (secret, hash string) {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	secret = prefix + base64.RawURLEncoding.EncodeToString(b)
	return secret, hashOf(secret)
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// newID returns an id that sorts after those made before.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// read decodes the value stored at a key. It returns nil if the key is absent.
func read[T any](ctx context.Context, r storage.Reader, key string) (*T, error) {
	values, err := r.Get(ctx, key)
	if err != nil || values[0] == nil {
		return nil, err
	}
	return decoded[T](storage.Entry{Key: key, Value: values[0]})
}

func decoded[T any](e storage.Entry) (*T, error) {
	v := new(T)
	if err := json.Unmarshal(e.Value, v); err != nil {
		return nil, fmt.Errorf("the record %q is damaged: %w", e.Key, err)
	}
	return v, nil
}

func stored(key string, v any) storage.Entry {
	text, err := json.Marshal(v)
	if err != nil {
		panic("signin: " + err.Error()) // the records have nothing that cannot be marshaled
	}
	return storage.Entry{Key: key, Value: text}
}

// entry is a record that is its key alone, or an id.
func entry(key, value string) storage.Entry { return storage.Entry{Key: key, Value: []byte(value)} }

// text returns the value of a key as it is, "" if there is none.
func text(ctx context.Context, r storage.Reader, key string) (string, error) {
	values, err := r.Get(ctx, key)
	if err != nil {
		return "", err
	}
	return string(values[0]), nil
}

// lastParts yields the last part of each key with a prefix.
func lastParts(ctx context.Context, r storage.Reader, prefix string) iter.Seq2[string, error] {
	return record.Map(r.Scan(ctx, storage.Prefix(prefix)), func(e storage.Entry) (string, error) {
		parts := record.Parts(e.Key, prefix)
		return parts[len(parts)-1], nil
	})
}

// update changes records of people.
func (s *Service) update(ctx context.Context, fn func(storage.Tx) error) error {
	return s.db.Update(ctx, space, storage.UpdateOptions{}, fn)
}

// personOf returns the person with an id, or an error for none.
func personOf(ctx context.Context, r storage.Reader, id string) (*person, error) {
	p, err := read[person](ctx, r, personKey(id))
	if err == nil && p == nil {
		err = notFound("person")
	}
	return p, err
}

// putPerson stores a person who exists, or a new one.
func putPerson(ctx context.Context, t storage.Tx, p *person) error {
	if p.Admin && !p.Disabled {
		if err := t.Put(ctx, entry(adminKey(p.ID), "")); err != nil {
			return err
		}
	} else if err := t.Delete(ctx, adminKey(p.ID)); err != nil {
		return err
	}
	return t.Put(ctx, stored(personKey(p.ID), p), entry(networkKey(networkOf(p.URN), p.ID), ""), entry(urnKey(p.URN), p.ID))
}

// giver notes who has invited a person or given rights to them.
func (p *person) giver(urn string) {
	if urn != "" && !slices.Contains(p.Givers, urn) {
		p.Givers = append(p.Givers, urn)
	}
}

// endSessions deletes sessions of a person, but for one, and as far as which is true.
func endSessions(ctx context.Context, t storage.Tx, id string, which func(hash string, s *session) bool) error {
	for hash, err := range lastParts(ctx, t, record.Prefix(space, "sessions/", id)) {
		if err != nil {
			return err
		}
		one, err := read[session](ctx, t, sessionKey(hash))
		if err != nil {
			return err
		}
		if one == nil || which(hash, one) {
			if err := t.Delete(ctx, sessionKey(hash), sessionsKey(id, hash)); err != nil {
				return err
			}
		}
	}
	return nil
}

func all(string, *session) bool { return true }

// dropInvitation takes the invitation of a person away.
func dropInvitation(ctx context.Context, t storage.Tx, p *person) error {
	if p.Invitation == nil {
		return nil
	}
	hash := p.Invitation.Hash
	p.Invitation = nil
	return t.Delete(ctx, invitationKey(hash))
}
