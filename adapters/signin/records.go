package signin

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// The records are in two spaces. In people:
//
//	person/<id>                   person
//	gone/<id>                     gone: what is kept of a person who was deleted
//	network/<network> <id>        the people of a network
//	urn/<urn>                     the id of the person who has it or had it; it is never given to another one
//	subject/<issuer> <sub>        the id of the person with this subject at a provider
//	admin/<id>                    the administrators who are not disabled
//	invitation/<hash>             the id of the person who may register a passkey with a secret
//	session/<hash>                session
//	sessions/<person> <hash>      the sessions of a person
//	key/<id>                      key
//	secret/<hash>                 the id of the key with this secret
//	keys/<person> <id>            the secret keys of a person
//	reading/<network> <id>        the public keys that read something of a network: what they read, a line each
//	made/<network> <id>           the public keys that callers of a network have made
//	mailbox/<person>              mailbox: what the person is to be told by mail
//	maildue/<time> <person>       the mailboxes in the order in which they are due
//	mailed/<urn>                  when a caller has mailed invitations, within the last hour before the last one
//	feed/, log/<number>           whom changes of the last minutes concern, for Watch: a feed.Feed
//	indexed/keys                  reading/ and made/ have all public keys; a store of v0.2.0 has none of these three
//
// And in signin, short-lived records and those that change often:
//
//	ceremony/<expires> <hash>     ceremony: what a passkey must sign, or a request to a provider
//	link/<hash>                   link: a secret that begins sessions
//	base/                         the address where people sign in
//	seen/<kind> <id>              when a person, session, passkey or key was used last, to the hour
//
// Hashes are those of secrets. Times are milliseconds since the epoch.
const (
	space     = "people"
	transient = "signin"
)

// person is the record of a person who may sign in.
type person struct {
	account
	Givers     []string    `json:"givers,omitempty"` // URNs of those who have invited the person, or given rights
	Passkeys   []passkey   `json:"passkeys,omitempty"`
	HadPasskey bool        `json:"hadPasskey,omitempty"` // one was removed
	GivenURN   bool        `json:"givenURN,omitempty"`   // the URN was not made for the person, so it may own something
	Invitation *invitation `json:"invitation,omitempty"`
	Anew       *anew       `json:"anew,omitempty"`
	NoMail     bool        `json:"noMail,omitempty"` // the person has switched mails off
	Provider   *identified `json:"provider,omitempty"`
}

// mayOwn reports whether the URN of the person may own something.
func (p *person) mayOwn() bool { return p.HadPasskey || p.GivenURN || len(p.Passkeys) > 0 }

// gone is the record of a person who was deleted. It keeps the chain from those whom the person has invited to those
// who have invited the person.
type gone struct {
	Givers []string `json:"givers"`
}

// account is the part of a person's record that responses have unchanged.
type account struct {
	ID  string `json:"id"`
	URN string `json:"urn"`
	profile
	CreatedAt int64 `json:"createdAt"`
}

// profile is the part of a person's record that can be changed.
type profile struct {
	Name  string `json:"name"`
	Email string `json:"email"`
	Rights
	Disabled bool `json:"disabled"`
}

// passkey is a credential of a person.
type passkey struct {
	ID         string              `json:"id"`
	Name       string              `json:"name"`
	CreatedAt  int64               `json:"createdAt"`
	Credential webauthn.Credential `json:"credential"`
}

// invitation is an unused invitation. Responses have it without its hashes.
type invitation struct {
	Hash    string   `json:"hash,omitempty"`
	Mailed  []string `json:"mailed,omitempty"` // hashes of the last links that mails had
	By      string   `json:"by"`
	Expires int64    `json:"expires"`
}

// anew says when somebody was invited last who had a passkey already, and by whom. The person did not necessarily want
// it.
type anew struct {
	By string `json:"by,omitempty"` // "" is the program
	At int64  `json:"at"`
}

// identified is a person's identity at a provider, with the values of the claim that give them rights. Responses have
// it without Subject.
type identified struct {
	Issuer  string   `json:"issuer"`
	Subject string   `json:"subject,omitempty"`
	Values  []string `json:"values"`
}

// The ways into a session.
const (
	viaPasskey  = "passkey"
	viaProvider = "oidc"
	viaLink     = "link"
)

// session is that of a browser.
type session struct {
	begun
	Person    string `json:"person"`
	Passkey   string `json:"passkey,omitempty"`
	Confirmed int64  `json:"confirmed"`
}

// begun is the part of a session's record that responses have unchanged.
type begun struct {
	ID        string `json:"id"`
	Via       string `json:"via"`
	Browser   string `json:"browser"`
	CreatedAt int64  `json:"createdAt"`
	Expires   int64  `json:"expires"`
}

// key is a secret key of a person, or a public one of a network.
type key struct {
	ID     string `json:"id"`
	Prefix string `json:"prefix"`
	chosen
	CreatedAt int64  `json:"createdAt"`
	By        string `json:"by"`
	Person    string `json:"person,omitempty"` // the maker of a secret key
	Hash      string `json:"hash"`
	Public    string `json:"public,omitempty"` // a public key itself
}

// chosen is the part of a key's record that its maker chooses.
type chosen struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Rights
	// Owner gives a secret key also the rights that its maker has by name. A record without it is older than this
	// choice: every secret key had these rights then.
	Owner   *bool    `json:"owner"`
	Agent   bool     `json:"agent"` // of a secret key: see vitrine.Caller; false in records from before
	Tags    []string `json:"tags"`
	Reviews bool     `json:"reviews"`
	List    bool     `json:"list"` // may list what its tags publish; false in records from before
	// Folders that a public key shows: <network>/<library>/<id of the folder>; none in records from before
	Folders []string `json:"folders"`
	Expires *int64   `json:"expires"` // nil = not before it is revoked
}

// owner reports whether the key has what its maker has by name.
func (k *key) owner() bool { return k.Kind == kindSecret && (k.Owner == nil || *k.Owner) }

// ceremony is a challenge that a browser has yet to respond to.
type ceremony struct {
	Kind       string `json:"kind"`
	Person     string `json:"person,omitempty"`     // who must respond; "" for anybody
	Invitation string `json:"invitation,omitempty"` // hash of the one that is used
	// hash of the session to confirm or to add a passkey to
	Session  string                `json:"session,omitempty"`
	Passkey  *webauthn.SessionData `json:"passkey,omitempty"`
	State    string                `json:"state,omitempty"`
	Nonce    string                `json:"nonce,omitempty"`
	Verifier string                `json:"verifier,omitempty"`
	To       string                `json:"to,omitempty"`
}

type link struct {
	Person  string `json:"person"`
	Expires int64  `json:"expires"`
}

var (
	baseKey    = keyval.Key(transient, "base/")
	indexedKey = keyval.Key(space, "indexed/", "keys")
)

func personKey(id string) string               { return keyval.Key(space, "person/", id) }
func goneKey(id string) string                 { return keyval.Key(space, "gone/", id) }
func networkKey(network, id string) string     { return keyval.Key(space, "network/", network, id) }
func urnKey(urn string) string                 { return keyval.Key(space, "urn/", urn) }
func subjectKey(issuer, subject string) string { return keyval.Key(space, "subject/", issuer, subject) }
func adminKey(id string) string                { return keyval.Key(space, "admin/", id) }
func invitationKey(hash string) string         { return keyval.Key(space, "invitation/", hash) }
func sessionKey(hash string) string            { return keyval.Key(space, "session/", hash) }
func sessionsKey(person, hash string) string   { return keyval.Key(space, "sessions/", person, hash) }
func keyKey(id string) string                  { return keyval.Key(space, "key/", id) }
func secretKey(hash string) string             { return keyval.Key(space, "secret/", hash) }
func keysKey(person, id string) string         { return keyval.Key(space, "keys/", person, id) }
func readingKey(network, id string) string     { return keyval.Key(space, "reading/", network, id) }
func madeKey(network, id string) string        { return keyval.Key(space, "made/", network, id) }
func folderKey(folder, id string) string       { return keyval.Key(space, "folder/", folder, id) }
func linkKey(hash string) string               { return keyval.Key(transient, "link/", hash) }
func seenKey(kind, id string) string           { return keyval.Key(transient, "seen/", kind, id) }
func ceremonyKey(expires int64, h string) string {
	return keyval.Key(transient, "ceremony/", keyval.Number(expires), h)
}

// newSecret returns a prefix with 32 random bytes, and its hash.
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
	v := new(T)
	found, err := keyval.Read(ctx, r, key, v)
	if err != nil || !found {
		return nil, err
	}
	return v, nil
}

func decoded[T any](e storage.Entry) (*T, error) {
	v := new(T)
	return v, keyval.Decode(e, v)
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
	return keyval.Map(r.Scan(ctx, storage.Prefix(prefix)), func(e storage.Entry) (string, error) {
		parts := keyval.Parts(e.Key, prefix)
		return parts[len(parts)-1], nil
	})
}

// view returns the result of fn, which reads one snapshot.
func view[T any](ctx context.Context, db storage.Store, fn func(storage.Reader) (T, error)) (out T, err error) {
	err = db.View(ctx, func(r storage.Reader) (err error) {
		out, err = fn(r)
		return err
	})
	return out, err
}

// tx is a transaction that changes records of people.
type tx struct {
	storage.Tx
	committed []func() // called after the commit
	concerned []string // URNs of those whose rights, sessions or keys may have changed
	unseen    []string // keys of times of last use, to delete after the commit
}

// update runs fn in a transaction that changes records of people.
func (s *Service) update(ctx context.Context, fn func(*tx) error) error {
	var t *tx
	err := s.db.Update(ctx, space, storage.UpdateOptions{}, func(in storage.Tx) error {
		t = &tx{Tx: in}
		if err := fn(t); err != nil || len(t.concerned) == 0 {
			return err
		}
		entry := feed.Entry{At: s.millis(), Data: []byte(strings.Join(t.concerned, "\n"))}
		return s.changes.Add(ctx, t, feed.Feed{Space: space}, entry.At, entry)
	})
	if err != nil {
		return err
	}
	if len(t.unseen) > 0 { // these are in another space; those that cannot be deleted do no harm
		_ = s.db.Update(ctx, transient, storage.UpdateOptions{}, func(in storage.Tx) error {
			return in.Delete(ctx, t.unseen...)
		})
	}
	for _, do := range t.committed {
		do()
	}
	return nil
}

// accessed writes a line of the log once t is committed.
func (s *Service) accessed(ctx context.Context, t *tx, what string, more ...any) {
	t.committed = append(t.committed, func() { s.access(ctx, what, more...) })
}

// personOf returns the person with an id, or an error for none.
func personOf(ctx context.Context, r storage.Reader, id string) (*person, error) {
	p, err := read[person](ctx, r, personKey(id))
	if err == nil && p == nil {
		err = fault.NotFound("there is no such person")
	}
	return p, err
}

// byURN returns the person with a URN, nil if there is none. taken is also true if a person who was deleted had it.
func byURN(ctx context.Context, r storage.Reader, user string) (p *person, taken bool, err error) {
	id, err := text(ctx, r, urnKey(user))
	if err == nil && id != "" {
		p, err = read[person](ctx, r, personKey(id))
	}
	return p, id != "", err
}

// newPerson returns a person who is not stored yet, or an error if the network has as many people as it may have.
func (s *Service) newPerson(ctx context.Context, r storage.Reader, user string) (*person, error) {
	err := room(ctx, r, keyval.Prefix(space, "network/", networkOf(user)), mostPeople,
		"the network has %d people, as many as it may have: delete one first")
	return &person{account: account{ID: newID(), URN: user, CreatedAt: s.millis()}}, err
}

// room returns an error, a sentence with the number most, if there are so many records with a prefix already.
func room(ctx context.Context, r storage.Reader, prefix string, most int, sentence string) error {
	in := storage.Prefix(prefix)
	in.Limit, in.Expect = most, most
	n := 0
	for _, err := range r.Scan(ctx, in) {
		if err != nil {
			return err
		}
		n++
	}
	if n >= most {
		return fault.Unprocessable(vitrine.CodeLimit, "", sentence, most)
	}
	return nil
}

// putPerson stores a person, new or existing.
func putPerson(ctx context.Context, t *tx, p *person) error {
	was, err := read[person](ctx, t, personKey(p.ID))
	if err != nil {
		return err
	}
	if was != nil && (was.Disabled != p.Disabled || !reflect.DeepEqual(was.Rights, p.Rights)) {
		t.concerned = append(t.concerned, p.URN)
	}
	if p.Admin && !p.Disabled {
		if err := t.Put(ctx, entry(adminKey(p.ID), "")); err != nil {
			return err
		}
	} else if err := t.Delete(ctx, adminKey(p.ID)); err != nil {
		return err
	}
	return t.Put(ctx, keyval.JSON(personKey(p.ID), p), entry(networkKey(networkOf(p.URN), p.ID), ""),
		entry(urnKey(p.URN), p.ID))
}

// giver notes who has invited a person or given rights to them.
func (p *person) giver(urn string) {
	if urn != "" && !slices.Contains(p.Givers, urn) {
		p.Givers = append(p.Givers, urn)
	}
}

// invitedAnew returns the last invitation that the person should be told of in a session. It is nil for a session by a
// passkey that was made since, as by whoever has used the invitation.
func (p *person) invitedAnew(one *session) *anew {
	since := func(k passkey) bool { return k.ID == one.Passkey && k.CreatedAt >= p.Anew.At }
	if p.Anew == nil || slices.ContainsFunc(p.Passkeys, since) {
		return nil
	}
	return p.Anew
}

// hashed is a session with the hash of its secret.
type hashed struct {
	*session
	hash string
}

// sessionsOf returns the sessions of a person, newest first, but any most of them if there are more; 0 is for all. A
// sign-in leaves mostSessions, so only a store of v0.2.0 can have more.
func sessionsOf(ctx context.Context, r storage.Reader, id string, most int) (list []hashed, err error) {
	in := storage.Prefix(keyval.Prefix(space, "sessions/", id))
	in.Limit = most
	keys := keyval.Map(r.Scan(ctx, in), func(e storage.Entry) (string, error) {
		return sessionKey(e.Key[strings.LastIndexByte(e.Key, ' ')+1:]), nil
	})
	for e, err := range keyval.Load(ctx, r, keys, atOnce) {
		if err != nil {
			return nil, err
		}
		one, err := decoded[session](e)
		if err != nil {
			return nil, err
		}
		list = append(list, hashed{one, keyval.Parts(e.Key, keyval.Prefix(space, "session/"))[0]})
	}
	slices.SortFunc(list, func(a, b hashed) int { return strings.Compare(b.ID, a.ID) })
	return list, nil
}

// endSession deletes a session.
func (t *tx) endSession(ctx context.Context, h hashed) error {
	t.unseen = append(t.unseen, seenKey("session", h.ID))
	return t.Delete(ctx, sessionKey(h.hash), sessionsKey(h.Person, h.hash))
}

// endSessions deletes the sessions of a person for which which is true, and returns how many.
func endSessions(ctx context.Context, t *tx, p *person, which func(hash string, s *session) bool) (ended int,
	err error) {
	list, err := sessionsOf(ctx, t, p.ID, 0)
	for _, one := range list {
		if which(one.hash, one.session) {
			ended++
			t.concerned = append(t.concerned, p.URN)
			err = cmp.Or(err, t.endSession(ctx, one))
		}
	}
	return ended, err
}

func all(string, *session) bool { return true }

// dropInvitation deletes the invitation of a person.
func dropInvitation(ctx context.Context, t storage.Tx, p *person) error {
	if p.Invitation == nil {
		return nil
	}
	keys := []string{invitationKey(p.Invitation.Hash)}
	for _, hash := range p.Invitation.Mailed {
		keys = append(keys, invitationKey(hash))
	}
	p.Invitation = nil
	return t.Delete(ctx, keys...)
}
