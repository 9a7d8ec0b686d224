package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

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

// claims is a payload: a Principal and the times between which it is valid. notBefore is nil if the token does not have
// it.
type claims struct {
	Principal
	expires, notBefore *time.Time
}

// readClaims reads a payload strictly: each claim is known and has its type, none is null, and its URNs
// are well-formed. The error names the claim. Claims that RFC 7519 registers are known, and have no effect but sub, exp and nbf.
// Any other claim is refused: a misspelt "tag" would otherwise make a token that is not restricted.
func readClaims(text []byte) (claims, error) {
	var c claims
	// Check refuses repeated members, among other things: of two claims of one name, programs disagree about which counts.
	if err := strictjson.Check(text, strictjson.MaxDepth); err != nil {
		return c, fmt.Errorf("its claims: %w", err)
	}
	members, err := strictjson.Members(text)
	if err != nil {
		return c, fmt.Errorf("its claims: %w", err)
	}
	// Each claim that a token may have, with the place for its value. What is only allowed has a place that nobody reads; its
	// type is checked all the same.
	var unused string
	fields := map[string]any{
		"sub": &c.URN, "moderates": &c.Moderates, "reads": &c.Reads, "tags": &c.Tags, "roles": &c.Roles, "groups": &c.Groups, "components": &c.Components,
		"exp": &c.expires, "nbf": &c.notBefore, "iat": new(*time.Time), "iss": &unused, "jti": &unused, "aud": new(audience),
	}
	for _, m := range members {
		field, known := fields[m.Name]
		if !known {
			return c, fmt.Errorf("claim %s: there is no such claim", m.Name)
		}
		if err := decodeClaim(m.Value, field); err != nil {
			return c, strictjson.Within("claim "+m.Name, err)
		}
		if m.Name == "tags" { // also without a tag: who filters a list to nothing must not widen the token
			c.TagsOnly = true
		}
	}
	if c.expires == nil {
		return c, errors.New("claim exp: missing; want the time at which the token expires, in seconds since 1970")
	}
	if err := c.Check(); err != nil {
		return c, fmt.Errorf("claim %w", err)
	}
	c.Expires = *c.expires
	return c, nil
}

// goodAt returns an error unless now is before exp and, if there is an nbf, not before nbf. The clocks of who signs and who
// verifies are expected to agree.
func (c claims) goodAt(now time.Time) error {
	if !now.Before(*c.expires) {
		return fmt.Errorf("it expired at %s", c.expires.UTC().Format(time.RFC3339))
	}
	if c.notBefore != nil && now.Before(*c.notBefore) {
		return fmt.Errorf("it is good from %s on", c.notBefore.UTC().Format(time.RFC3339))
	}
	return nil
}

// audience is what claim aud may be: a string, or a list of strings.
type audience struct{}

// decodeClaim decodes the value of a claim into its field, strictly: null is no value of any claim, and a list has strings
// alone.
func decodeClaim(value []byte, field any) error {
	switch to := field.(type) {
	case **time.Time:
		return decodeTime(value, to)
	case *audience:
		if bytes.HasPrefix(value, []byte{'['}) {
			return strictjson.Decode(value, new([]string))
		}
		return strictjson.Decode(value, new(string))
	}
	return strictjson.Decode(value, field)
}

// maxSeconds keeps times within what time.Time can hold and compare, about 35,000 years before and after 1970. A number of
// seconds beyond it is read as the nearest of the two bounds, -maxSeconds and maxSeconds.
const maxSeconds = 1 << 40

// decodeTime reads a JSON number of seconds since the epoch, which may have a fraction (RFC 7519, section 2).
func decodeTime(value []byte, to **time.Time) error {
	var n float64
	if err := strictjson.Decode(value, &n); err != nil {
		return err
	}
	at := time.UnixMilli(int64(min(max(n, -maxSeconds), maxSeconds) * 1000))
	*to = &at
	return nil
}
