package assets

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"strings"
)

// A seal encrypts ordinals to opaque strings, the ids of assets and the cursors of lists, and decrypts them. A plain
// ordinal would reveal how many assets there are that its reader may not see. Encrypted with the library's key it reveals
// nothing, is rejected by every other library, and is found without an index.
type seal struct{ block cipher.Block }

// The first half of an encrypted block says what the string is: an id is not accepted as a cursor, and a string that
// was changed is neither.
const (
	sealedID     = 0x6173736574206964
	sealedCursor = 0x637572736f722121
)

func newSeal(k Key) seal {
	block, err := aes.NewCipher(k[:])
	if err != nil {
		panic(err) // the length of a Key is one that AES has
	}
	return seal{block}
}

func (s seal) encrypt(kind uint64, ordinal int64) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], kind)
	binary.BigEndian.PutUint64(b[8:], uint64(ordinal))
	s.block.Encrypt(b[:], b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// decrypt returns the ordinal in a sealed string of this kind, or false.
func (s seal) decrypt(kind uint64, text string) (int64, bool) {
	if len(text) != base64.RawURLEncoding.EncodedLen(16) || strings.ContainsAny(text, "\r\n") {
		return 0, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != 16 {
		return 0, false
	}
	s.block.Decrypt(b, b)
	return int64(binary.BigEndian.Uint64(b[8:])), binary.BigEndian.Uint64(b[:8]) == kind
}
