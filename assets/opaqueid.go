package assets

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"strings"
)

// A seal encrypts ordinals to opaque strings, the ids of assets and the cursors of searches, and
// decrypts them. A plain ordinal would reveal how many assets there are that its reader may not
// see. Encrypted with the library's key, it reveals nothing and is rejected by every other library.
// An asset is found by its id without an index of ids, since the id has the ordinal in it.
//
// The string is one AES block, a kind of 8 bytes followed by the ordinal in 8 bytes, encrypted and
// written in 22 characters of URL-safe base64. The same ordinal always gives the same string, so
// the id of an asset is stable.
type seal struct{ block cipher.Block }

// The kinds say what a string is for, so an id is not accepted as a cursor. They also detect
// forgery: a string that was changed or made up decrypts to a random block, which has the right
// kind once in 2^64 cases.
const (
	sealedID     = 0x6173736574206964
	sealedCursor = 0x637572736f722121
)

// newSeal returns the seal of a library with this key.
func newSeal(k Key) seal {
	block, err := aes.NewCipher(k[:])
	if err != nil {
		panic(err) // the length of a Key is one that AES has
	}
	return seal{block}
}

// encrypt returns the string for an ordinal.
func (s seal) encrypt(kind uint64, ordinal int64) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], kind)
	binary.BigEndian.PutUint64(b[8:], uint64(ordinal))
	s.block.Encrypt(b[:], b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// decrypt returns the ordinal in a string of this kind. It returns false if the string is not one
// that encrypt of this seal returned for the kind. The ordinal may be one that the library does not
// have any more.
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
