package httpapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// MinKey is the shortest key that NewTokens takes, in bytes. 32 random bytes are a good key.
const MinKey = 16

// Tokens signs and verifies tokens: JSON Web Tokens, HS256 and nothing else. The claims are sub
// (URN of the user) and exp, both required, nbf, and moderates, roles, groups (lists of strings)
// and components (boolean) as in Principal. It is safe for concurrent use.
type Tokens struct {
	key    []byte
	now    func() time.Time
	parser *jwt.Parser
	known  *verified
}

// TokenOptions are what NewTokens may be told; the zero value of each field means its default.
type TokenOptions struct {
	Now   func() time.Time // the clock; time.Now
	Cache int              // verified tokens to remember; 4,096
}

// NewTokens returns Tokens with a secret key; opts may be nil. The error is about the key.
func NewTokens(key []byte, opts *TokenOptions) (*Tokens, error) {
	if len(key) < MinKey {
		return nil, fmt.Errorf("httpapi: a signing key of %d bytes is too short: want at least %d", len(key), MinKey)
	}
	var o TokenOptions
	if opts != nil {
		o = *opts
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Cache == 0 {
		o.Cache = 4096
	}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithExpirationRequired(),
		jwt.WithStrictDecoding(), jwt.WithTimeFunc(o.Now))
	return &Tokens{append([]byte(nil), key...), o.Now, parser, newVerified(o.Cache)}, nil
}

// Sign returns a token for p that is good until expires, in whole seconds.
func (t *Tokens) Sign(p Principal, expires time.Time) (string, error) {
	if err := checkSubject(p.URN); err != nil {
		return "", fmt.Errorf("httpapi: %w", err)
	}
	all := jwt.MapClaims{"sub": p.URN, "exp": expires.Unix()}
	for name, list := range map[string][]string{"moderates": p.Moderates, "roles": p.Roles, "groups": p.Groups} {
		if len(list) > 0 {
			all[name] = list
		}
	}
	if p.Components {
		all["components"] = true
	}
	return jwt.NewWithClaims(jwt.SigningMethodHS256, all).SignedString(t.key)
}

// Authenticate returns who a token stands for; it is meant for Config.Authenticate. The error
// says what is wrong with the token and does not repeat it.
func (t *Tokens) Authenticate(_ context.Context, token string) (Principal, error) {
	digest := sha256.Sum256([]byte(token))
	now := t.now()
	if p, ok := t.known.get(digest, now); ok {
		return p, nil
	}
	var c claims
	_, err := t.parser.ParseWithClaims(token, &c, t.keyOf)
	if err != nil {
		return Principal{}, fmt.Errorf("httpapi: token: %w", err)
	}
	t.known.put(digest, c.Principal, c.expires.Time)
	return c.Principal, nil
}

// keyOf returns the key that a token must be signed with. A token whose header says that it is to be
// understood by an extension is refused, as none is (RFC 7515, section 4.1.11).
func (t *Tokens) keyOf(token *jwt.Token) (any, error) {
	if _, ok := token.Header["crit"]; ok {
		return nil, errors.New(`header "crit": no extension is known here`)
	}
	return t.key, nil
}

// claims is the payload of a token. Its types are checked strictly, claims that mean nothing here
// are left alone.
type claims struct {
	Principal
	expires, notBefore *jwt.NumericDate
}

// UnmarshalJSON reads the payload. The signature is judged after it, so nothing is trusted yet.
func (c *claims) UnmarshalJSON(data []byte) error {
	if err := strictjson.Check(data, strictjson.MaxDepth); err != nil {
		return err
	}
	members, err := strictjson.Members(data)
	if err != nil {
		return err
	}
	fields := map[string]any{
		"sub": &c.URN, "moderates": &c.Moderates, "roles": &c.Roles, "groups": &c.Groups, "components": &c.Components,
		"exp": &seconds{&c.expires}, "nbf": &seconds{&c.notBefore},
	}
	for _, m := range members {
		field := fields[m.Name]
		if s, ok := field.(*seconds); ok {
			err = s.decode(m.Value)
		} else if field != nil {
			err = strictjson.Decode(m.Value, field)
		}
		if err != nil {
			return fmt.Errorf("claim %q: %w", m.Name, err)
		}
	}
	return checkSubject(c.URN)
}

// checkSubject refuses what cannot be the name of a user in any store.
func checkSubject(s string) error {
	if s == "" || len(s) > 512 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return errors.New(`claim "sub": want the URN of a user, 1 to 512 bytes without spaces`)
	}
	return nil
}

// seconds is a claim that holds a time: a JSON number of seconds since the epoch.
type seconds struct{ to **jwt.NumericDate }

// maxSeconds keeps times within what a clock can show and be compared with.
const maxSeconds = 1 << 40

func (s *seconds) decode(value []byte) error {
	var n float64
	if err := strictjson.Decode(value, &n); err != nil {
		return err
	}
	*s.to = jwt.NewNumericDate(time.UnixMilli(int64(min(max(n, -maxSeconds), maxSeconds) * 1000)))
	return nil
}

// The methods that the library validates by.
func (c *claims) GetExpirationTime() (*jwt.NumericDate, error) { return c.expires, nil }
func (c *claims) GetNotBefore() (*jwt.NumericDate, error)      { return c.notBefore, nil }
func (c *claims) GetIssuedAt() (*jwt.NumericDate, error)       { return nil, nil }
func (c *claims) GetAudience() (jwt.ClaimStrings, error)       { return nil, nil }
func (c *claims) GetIssuer() (string, error)                   { return "", nil }
func (c *claims) GetSubject() (string, error)                  { return c.URN, nil }
