package httpapi

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/golang-jwt/jwt/v5"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/lru"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// Tokens signs and verifies tokens: JSON Web Tokens, HS256 and nothing else. The claims are sub (URN of the user) and
// exp, both required, and moderates, reads, tags, roles, groups (lists of strings) and components (boolean) as in
// Principal. The claim tags, also an empty list, means TagsOnly. Of the other claims that RFC 7519 registers, nbf is
// checked, and iss, aud, iat and jti are allowed. A token with any other claim is rejected, since a misspelt claim
// would leave out a restriction. Tokens is safe for concurrent use.
type Tokens struct {
	keys   []tokenKey // the first one signs
	now    func() time.Time
	parser *jwt.Parser // verifies the signature and nothing else, see NewTokens
	// known has the tokens that were verified before, by their SHA-256, so that no token can be read from memory.
	known *lru.Cache[[sha256.Size]byte, Principal]
}

// TokenOptions are the options of NewTokens; the zero value of each field means its default.
type TokenOptions struct {
	Now    func() time.Time // the clock; time.Now
	Cache  int              // verified tokens to remember; 4,096
	Verify [][]byte         // keys that verify too and do not sign: those that signed before
}

// NewTokens returns Tokens with a secret key that signs and verifies; opts may be nil. It returns an error if a key is
// too short or TokenOptions.Cache is negative.
func NewTokens(key []byte, opts *TokenOptions) (*Tokens, error) {
	var o TokenOptions
	if opts != nil {
		o = *opts
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := orDefault("TokenOptions.Cache", &o.Cache, 4096); err != nil {
		return nil, err
	}
	t := &Tokens{now: o.Now, known: lru.New[[sha256.Size]byte, Principal](o.Cache)}
	for _, secret := range append([][]byte{key}, o.Verify...) {
		if len(secret) < MinKey {
			return nil, fmt.Errorf("httpapi: a signing key of %d bytes is too short: want at least %d", len(secret),
				MinKey)
		}
		t.keys = append(t.keys, tokenKey{keyID(secret), bytes.Clone(secret)})
	}
	// Only HS256 is valid, whatever the header of a token says. Strict decoding rejects Base64 with stray bits at the
	// end, so that each token has one spelling. readClaims checks the claims after the signature: only a client that
	// knows the key is told what is wrong.
	t.parser = jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithStrictDecoding(),
		jwt.WithoutClaimsValidation())
	return t, nil
}

// TokenError is an error of Config.Authenticate. The 401 tells the client its Reason. Use it only for tokens with a
// valid signature, so that a client who cannot sign learns nothing by trying. Unauthenticated makes one for other
// identities.
type TokenError struct {
	Reason string // a sentence without the token
	URN    string // of the user that the token names, for the log; "" = not known
}

// Error returns Reason.
func (e *TokenError) Error() string { return e.Reason }

// Unwrap returns ErrUnauthenticated.
func (e *TokenError) Unwrap() error { return ErrUnauthenticated }

// Sign returns a token for p that is valid until expires, in whole seconds; p.Expires does not count. It returns an
// error if p fails Check, or has NotOwner, for which there is no claim: the token would give more rights than p has.
func (t *Tokens) Sign(p Principal, expires time.Time) (string, error) {
	if err := p.Check(); err != nil {
		return "", fmt.Errorf("httpapi: %w", err)
	}
	if p.NotOwner {
		return "", errors.New(
			"httpapi: no token can say NotOwner: want a caller without it, or a key of package signin")
	}
	all := jwt.MapClaims{"sub": p.URN, "exp": expires.Unix()}
	for name, list := range map[string][]string{"moderates": p.Moderates, "reads": p.Reads, "roles": p.Roles,
		"groups": p.Groups} {
		if len(list) > 0 {
			all[name] = list
		}
	}
	if p.TagsOnly {
		all["tags"] = append([]string{}, p.Tags...)
	}
	if p.Components {
		all["components"] = true
	}
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, all)
	token.Header["kid"] = t.keys[0].id
	return token.SignedString(t.keys[0].secret)
}

// Authenticate returns the caller whom the token of a request names. It is meant for Config.Authenticate. The error
// wraps ErrUnauthenticated.
func (t *Tokens) Authenticate(r *http.Request) (Principal, error) {
	token, err := RequestToken(r)
	if err != nil {
		return Principal{}, err
	}
	return t.Verify(token)
}

// Verify returns the caller whom a token names. The error says what is wrong with the token without repeating it, and
// wraps ErrUnauthenticated. It is a *TokenError if the signature is valid.
//
// A token that was verified before is only looked up, until it expires. There is no list of revoked tokens: a token is
// valid until it expires or its key is removed.
func (t *Tokens) Verify(token string) (Principal, error) {
	digest, now := sha256.Sum256([]byte(token)), t.now()
	if p, ok := t.known.Get(digest); ok && now.Before(p.Expires) {
		return p, nil
	}
	var payload rawClaims
	if _, err := t.parser.ParseWithClaims(token, &payload, t.keyOf); err != nil {
		if own, ok := errors.AsType[keyError](err); ok {
			err = own
		}
		return Principal{}, fmt.Errorf("%w: token: %w", ErrUnauthenticated, err)
	}
	p, err := readClaims(payload.text, now)
	if err != nil {
		return Principal{},
			&TokenError{Reason: "the token is signed well and yet not valid: " + err.Error(), URN: p.URN}
	}
	t.known.Put(digest, p, 1)
	return p, nil
}

// tokenKey is a secret and the name that tokens call it by, in their header kid.
type tokenKey struct {
	id     string
	secret []byte
}

// keyID is the name of a key, 16 hexadecimal digits that follow from the secret and say nothing of it. So every process
// with the same key file uses the same names.
func keyID(secret []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("kid"))
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// KeyIDs are the names of the keys, as tokens have them in their header kid. The first one signs. They say nothing
// of the secrets.
func (t *Tokens) KeyIDs() []string {
	ids := make([]string, len(t.keys))
	for i, key := range t.keys {
		ids[i] = key.id
	}
	return ids
}

// keyError is an error of keyOf, to which the JWT library adds words of its own.
type keyError string

func (e keyError) Error() string { return string(e) }

// keyOf returns the keys that a token may be signed with: the one that its header kid names, or all if it names none. A
// token that names an unknown key is rejected, also if another key would verify it: its key was removed. A token with a
// header crit is rejected, since no extension is known here (RFC 7515, section 4.1.11).
func (t *Tokens) keyOf(token *jwt.Token) (any, error) {
	if _, ok := token.Header["crit"]; ok {
		return nil, keyError(`header "crit": no extension is known here`)
	}
	var set jwt.VerificationKeySet
	kid, named := token.Header["kid"]
	for _, key := range t.keys {
		if !named || kid == key.id {
			set.Keys = append(set.Keys, key.secret)
		}
	}
	if len(set.Keys) == 0 {
		return nil, keyError(fmt.Sprintf("the key file has no key with the id %.40q, which the token names: the key "+
			"was removed, or another service has signed the token", fmt.Sprint(kid)))
	}
	return set, nil
}

// MinKey is the shortest key that signs or verifies tokens, in bytes. 32 random bytes are a good key.
const MinKey = 32

// ParseKeys reads the text of a key file: a key in each line, without the white space around it; empty
// lines are skipped. The first one signs, all of them verify, so that a key can be changed while tokens
// of the old one are still good. The error names the line of a key that is too short.
func ParseKeys(text []byte) (keys [][]byte, err error) {
	line := 0
	for key := range bytes.Lines(text) {
		line++
		if key = bytes.TrimSpace(key); len(key) == 0 {
			continue
		}
		if len(key) < MinKey {
			return nil, fmt.Errorf("line %d: a key of %d bytes is too short: want at least %d", line, len(key), MinKey)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no key: want one a line")
	}
	return keys, nil
}

// rawClaims is the payload of a token as it was sent. The parser of the JWT library decodes into it before it verifies
// the signature, so it only keeps the text. The text is read once the signature is known to be good.
type rawClaims struct {
	jwt.RegisteredClaims // stands in for methods that nobody calls
	text                 []byte
}

// UnmarshalJSON keeps the payload.
func (c *rawClaims) UnmarshalJSON(text []byte) error {
	c.text = bytes.Clone(text)
	return nil
}

// claims is the payload of a token. It has the claims of Principal and those that RFC 7519 registers, of which sub, exp
// and nbf have an effect. Any other claim is rejected: a misspelt "tag" would otherwise make a token that is not
// restricted.
type claims struct {
	URN        string   `json:"sub"`
	Moderates  []string `json:"moderates"`
	Reads      []string `json:"reads"`
	Tags       []string `json:"tags"` // nil if the token does not have it
	Roles      []string `json:"roles"`
	Groups     []string `json:"groups"`
	Components bool     `json:"components"`

	Expires   float64  `json:"exp"` // seconds since 1970; NaN if the token does not have it
	NotBefore float64  `json:"nbf"`
	IssuedAt  float64  `json:"iat"`
	Issuer    string   `json:"iss"`
	ID        string   `json:"jti"`
	Audience  audience `json:"aud"`
}

// audience is the claim aud: a string or a list of strings.
type audience struct{}

// UnmarshalJSONFrom checks the claim.
func (audience) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '[' {
		return json.UnmarshalDecode(dec, new([]string))
	}
	return json.UnmarshalDecode(dec, new(string))
}

// readClaims reads a payload strictly: each claim is known and has its type, none is null, and its URNs are
// well-formed. It returns an error that names the claim, also if now is not before exp or is before nbf. The clocks of
// who signs and who verifies are expected to agree. Also with an error, the Principal has the URN of the payload.
func readClaims(text []byte, now time.Time) (Principal, error) {
	c := claims{Expires: math.NaN(), NotBefore: -maxSeconds}
	err := strictjson.Decode(text, &c)
	p := Principal{Expires: timeOf(c.Expires),
		Caller: vitrine.Caller{URN: c.URN, Moderates: c.Moderates, Reads: c.Reads, Tags: c.Tags,
			TagsOnly: c.Tags != nil, // also without a tag: an empty list must not widen the token
			Roles:    c.Roles, Groups: c.Groups, Components: c.Components}}
	if e, ok := errors.AsType[*strictjson.Error](err); ok && e.Pointer != "" {
		return p, fmt.Errorf("claim %s: %s", strings.TrimPrefix(e.Pointer, "/"), e.Sentence())
	}
	if err != nil {
		return p, fmt.Errorf("its claims: %w", err)
	}
	if math.IsNaN(c.Expires) {
		return p, errors.New("claim exp: missing; want the time at which the token expires, in seconds since 1970")
	}
	if err := p.Check(); err != nil {
		return p, fmt.Errorf("claim %w", err)
	}
	if !now.Before(p.Expires) {
		return p, fmt.Errorf("it expired at %s", p.Expires.UTC().Format(time.RFC3339))
	}
	if from := timeOf(c.NotBefore); now.Before(from) {
		return p, fmt.Errorf("it is good from %s on", from.UTC().Format(time.RFC3339))
	}
	return p, nil
}

// maxSeconds keeps times within what time.Time can represent and compare, about 35,000 years before and after 1970. A
// number of seconds beyond it is read as the nearest of the two bounds, -maxSeconds and maxSeconds.
const maxSeconds = 1 << 40

// timeOf returns the time from seconds since 1970, which may have a fraction (RFC 7519, section 2).
func timeOf(seconds float64) time.Time {
	return time.UnixMilli(int64(min(max(seconds, -maxSeconds), maxSeconds) * 1000))
}
