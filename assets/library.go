package assets

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/internal/urn"
)

// Library names an asset library of a network. The library whose ID equals the network's always
// exists; another one exists once a moderator of the network has written to it.
type Library struct {
	Network string
	ID      string
}

// State is what a library knows of itself. The zero State is that of a library that was never
// written to.
type State struct {
	Key   Key   // random; enciphers the ids and cursors of the library's assets
	Last  int64 // the highest ordinal given so far; ordinals start at 1 and are given once
	At    int64 // when it was given, milliseconds since the epoch; never goes back
	Count int64 // assets in the library
	Tree  int64 // changes with every change of a folder or a permission
}

// Key is an AES-128 key.
type Key [16]byte

// exists reports whether something was written to the library.
func (s State) exists() bool { return s.Key != Key{} }

// newKey makes a library's key from a random string.
func newKey(random string) Key {
	sum := sha256.Sum256([]byte("library " + random))
	return Key(sum[:16])
}

// check reports what keeps the names from being those of a library.
func (l Library) check(networkURN string, maxID int) error {
	if err := urn.CheckGroup(networkURN); err != nil || strings.Contains(l.Network, ":") {
		return fmt.Errorf("%w: %q is not the name of a network", ErrForbidden, l.Network)
	}
	return checkName("library", l.ID, maxID)
}

// checkName reports what keeps s from being a name of at most limit characters.
func checkName(field, s string, limit int) error {
	if s == "" {
		return fmt.Errorf("%w: %s: must not be empty", ErrInvalid, field)
	}
	if err := checkText(field, s, limit); err != nil {
		return err
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return fmt.Errorf("%w: %s: must not have control characters", ErrInvalid, field)
	}
	return nil
}

// checkText reports what keeps s from being a text of at most limit characters.
func checkText(field, s string, limit int) error {
	if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
		return fmt.Errorf("%w: %s: must be UTF-8 without U+0000", ErrInvalid, field)
	}
	if n := utf8.RuneCountInString(s); n > limit {
		return fmt.Errorf("%w: %s: has %d characters, at most %d are allowed", ErrInvalid, field, n, limit)
	}
	return nil
}

// A seal turns ordinals into opaque strings and back. An ordinal in the clear would tell how many
// assets were added that its reader may not see; enciphered under the library's key it says nothing,
// is of no use in another library, and needs no index to be found again.
type seal struct{ block cipher.Block }

// What is sealed beside the ordinal: an id is no cursor, and a changed string opens to neither.
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

func (s seal) close(kind uint64, ordinal int64) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], kind)
	binary.BigEndian.PutUint64(b[8:], uint64(ordinal))
	s.block.Encrypt(b[:], b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// open returns the ordinal in a sealed string of this kind, or false.
func (s seal) open(kind uint64, text string) (int64, bool) {
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
