package httpapi

import (
	"bytes"
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
