package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/golang-jwt/jwt/v5"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

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

// claims is the payload of a token. It has the claims of Principal and those that RFC 7519 registers, of which sub, exp and nbf have
// an effect. Any other claim is refused: a misspelt "tag" would otherwise make a token that is not restricted.
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

// audience is what claim aud may be: a string, or a list of strings.
type audience struct{}

// UnmarshalJSONFrom checks the claim.
func (audience) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '[' {
		return json.UnmarshalDecode(dec, new([]string))
	}
	return json.UnmarshalDecode(dec, new(string))
}

// readClaims reads a payload strictly: each claim is known and has its type, none is null, and its URNs are well-formed. It returns an
// error that names the claim, also unless now is before exp and not before nbf. The clocks of who signs and who
// verifies are expected to agree. The Principal has a URN also with an error, if the payload has one.
func readClaims(text []byte, now time.Time) (Principal, error) {
	c := claims{Expires: math.NaN(), NotBefore: -maxSeconds}
	err := strictjson.Decode(text, &c)
	p := Principal{Expires: timeOf(c.Expires), Caller: vitrine.Caller{URN: c.URN, Moderates: c.Moderates, Reads: c.Reads, Tags: c.Tags,
		TagsOnly: c.Tags != nil, // also without a tag: who filters a list to nothing must not widen the token
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

// maxSeconds keeps times within what time.Time can hold and compare, about 35,000 years before and after 1970. A number of
// seconds beyond it is read as the nearest of the two bounds, -maxSeconds and maxSeconds.
const maxSeconds = 1 << 40

// timeOf returns the time that is so many seconds after 1970, which may have a fraction (RFC 7519, section 2).
func timeOf(seconds float64) time.Time {
	return time.UnixMilli(int64(min(max(seconds, -maxSeconds), maxSeconds) * 1000))
}
