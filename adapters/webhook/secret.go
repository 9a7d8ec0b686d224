package webhook

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// Secret is a key that signs deliveries. Printing, logging and marshaling it give the same text for every Secret. The
// zero Secret has no key and must not be used; ParseSecret returns a Secret.
type Secret struct {
	// key is behind a function, so that printing a value which has a Secret somewhere inside, also in a field that is
	// not exported, prints an address.
	key func() []byte
}

const (
	minKey = 24 // bytes: a key of Standard Webhooks has 192 to 512 bits
	maxKey = 64

	secretPrefix = "whsec_"
	hidden       = secretPrefix + "…"
)

// ParseSecret reads a secret as Standard Webhooks writes it: whsec_ and the base64 of 24 to 64 random bytes. The
// error does not repeat it.
func ParseSecret(s string) (Secret, error) {
	encoded, found := strings.CutPrefix(s, secretPrefix)
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	switch {
	case !found:
		return Secret{}, fmt.Errorf("a secret begins with %s, and the base64 of %d to %d random bytes follows",
			secretPrefix, minKey, maxKey)
	case err != nil || strings.ContainsAny(encoded, "\r\n"):
		return Secret{}, fmt.Errorf("the part after %s is not base64", secretPrefix)
	case len(key) < minKey || len(key) > maxKey:
		return Secret{},
			fmt.Errorf("the part after %s is the base64 of %d bytes: want %d to %d random bytes", secretPrefix,
				len(key), minKey, maxKey)
	}
	return Secret{func() []byte { return key }}, nil
}

// parseSecrets reads the JSON text of one secret or of a list of two different ones. Its errors do not repeat a secret.
func parseSecrets(text []byte) ([]Secret, error) {
	const want = `want a string "` + hidden + `", or a list of two of them while one replaces the other`
	if len(text) == 0 {
		return nil, errors.New("a webhook needs a secret: " + want)
	}
	n := 2
	if text[0] == '"' {
		n, text = 1, slices.Concat([]byte("["), text, []byte("]"))
	}
	var list []string
	if strictjson.Decode(text, &list) != nil || len(list) != n {
		return nil, errors.New(want)
	}
	var out []Secret
	for i, s := range list {
		secret, err := ParseSecret(s)
		if err != nil && n > 1 {
			err = &strictjson.Error{Pointer: fmt.Sprintf("/%d", i), Offset: -1, Reason: err.Error()}
		}
		if err != nil {
			return nil, err
		}
		out = append(out, secret)
	}
	if n == 2 && bytes.Equal(out[0].key(), out[1].key()) {
		return nil, errors.New("the two secrets are the same")
	}
	return out, nil
}

// mac returns the HMAC-SHA256 of the parts under the secret.
func (s Secret) mac(parts ...string) []byte {
	h := hmac.New(sha256.New, s.key())
	for _, p := range parts {
		h.Write([]byte(p))
	}
	return h.Sum(nil)
}

// String returns a text that is the same for every secret.
func (Secret) String() string { return hidden }

// GoString returns a text that is the same for every secret.
func (Secret) GoString() string { return hidden }

// LogValue returns a text that is the same for every secret.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText returns a text that is the same for every secret.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
