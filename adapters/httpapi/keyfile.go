package httpapi

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

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

// tokenKey is a secret and the name that tokens call it by, in their header kid.
type tokenKey struct {
	id     string
	secret []byte
}

// keyID is the name of a key, 16 hexadecimal digits that follow from the secret and say nothing of it. So every process with
// the same key file uses the same names.
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
