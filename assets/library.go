package assets

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"iter"
	"math/rand/v2"
	"strings"

	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// Library names an asset library of a network. The library whose ID equals the network's always
// exists. Another one exists once a moderator of the network has written to it. A network may have
// any number of libraries, which share nothing.
//
// # Ids and cursors
//
//   - The id of an asset is its ordinal in the library, encrypted with a key of the library. An id
//     reveals nothing and is valid in its library only. Cursors of searches are made in the same
//     way.
//   - Ids of folders are the cursors of ListFolders. After and Before take the id of a folder that
//     the caller may read. Those who may manage a folder may use it as a cursor after it was
//     deleted.
//   - An empty page of a search has no cursors. Its HasPrev and HasNext say what is on either side
//     of the cursor that the request had.
type Library struct {
	Network string // the network's name, which is the third segment of its URN
	ID      string
}

// libraryState is the row of a library itself. A library to which nothing was written yet has the zero State.
type libraryState struct {
	Key  cipherKey `json:"key"`  // random; encrypts the ids and cursors of the library's assets
	Last int64     `json:"last"` // the highest ordinal so far; ordinals start at 1 and are never reused
	// when Last was assigned, in milliseconds since the epoch; it never decreases
	At    int64 `json:"at"`
	Count int64 `json:"count"`          // assets in the library
	Rules rules `json:"rules,omitzero"` // of the index that searches read; a store of v0.2.0 has oldRules
	Files int64 `json:"files,omitzero"` // bytes of files in the library, with their renditions
	// a random number that changes with every change of a folder or a permission, so that caches recognize a tree
	Tree int64 `json:"tree"`
}

// cipherKey is an AES-128 key. The zero one means that the library has none yet.
type cipherKey [16]byte

// wasWritten reports whether a library with this State was written to. Its first write gives a
// library its key.
func wasWritten(s libraryState) bool { return s.Key != cipherKey{} }

// createsLibrary reports whether the request creates its library, to which nothing was written yet.
//
// The library with the id of its network always exists. Any other one is created by the first
// change of a moderator, even if that changes nothing else: after a request that succeeded, the
// library must not be reported as missing. Until then, all other requests are ErrNotFound.
func (req *request) createsLibrary() (bool, error) {
	if req.lib.ID == req.lib.Network {
		return false, nil
	}
	if !req.change || !req.moderator {
		return false, fault.NotFound("there is no such library")
	}
	return true, nil
}

// newKey returns the key of a new library, derived from a random string. Options.NewID makes that
// string, so tests that set it get the same ids of assets in each run.
func newKey(random string) cipherKey {
	sum := sha256.Sum256([]byte("library " + random))
	return cipherKey(sum[:16])
}

// newTreeNumber returns a number for a tree of folders, by which caches recognize it. It is a
// random number of 64 bits, so no two trees have the same one. A counter would repeat numbers:
// after an update was rolled back, and after a failover to a standby that lacks the last commits.
func newTreeNumber() int64 { return int64(rand.Uint64()) }

// checkLibrary returns ErrForbidden if the library's network cannot be the name of one, as for a
// network that the caller does not belong to, and ErrInvalid if the library's ID is malformed.
func checkLibrary(l Library, networkURN string, maxID int) error {
	if err := urn.CheckGroup(networkURN); err != nil || strings.Contains(l.Network, ":") {
		return fault.Forbidden("%q is not the name of a network", l.Network)
	}
	if checkName("", l.ID, maxID) != nil {
		return fault.Invalid("",
			"the id of a library has 1 to %d characters of UTF-8, none of them a control character", maxID)
	}
	return nil
}

// Libraries yields every library that was written to, by network and then by id, both in byte order. It is for programs
// that act for the operator of the store: it checks no rights. An error is the last pair.
func (s *Service) Libraries(ctx context.Context) iter.Seq2[Library, error] {
	return libraries(ctx, s.made().db)
}

// An idCipher encrypts ordinals to opaque strings, the ids of assets and the cursors of searches, and decrypts them. A
// plain ordinal would reveal how many assets there are that its reader may not see. Encrypted with the library's key,
// it reveals nothing and is rejected by every other library. An id contains the ordinal, so finding an asset by its id
// needs no index of ids.
//
// The string is one AES block, a kind of 8 bytes followed by the ordinal in 8 bytes, encrypted and
// written in 22 characters of URL-safe base64. The same ordinal always gives the same string, so
// the id of an asset is stable.
type idCipher struct{ block cipher.Block }

// The kinds say what a string is for, so an id is not accepted as a cursor. They also detect
// forgery: a string that was changed or made up decrypts to a random block, which has the right
// kind once in 2^64 cases.
const (
	idKind     = 0x6173736574206964
	cursorKind = 0x74696d65 // in the first 4 bytes: see cursor
)

// newIDCipher returns the cipher of a library with this key.
func newIDCipher(k cipherKey) idCipher {
	block, err := aes.NewCipher(k[:])
	if err != nil {
		panic(err) // the length of a cipherKey is one that AES has
	}
	return idCipher{block}
}

// encrypt returns the string for an ordinal.
func (c idCipher) encrypt(kind uint64, ordinal int64) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], kind)
	binary.BigEndian.PutUint64(b[8:], uint64(ordinal))
	c.block.Encrypt(b[:], b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// decrypt returns the ordinal in a string of this kind. It returns false if encrypt, with this key and kind, has not
// returned the string. The library may not have the ordinal any more.
func (c idCipher) decrypt(kind uint64, text string) (int64, bool) {
	have, ordinal, ok := c.split(text)
	return ordinal, ok && have == kind
}

// split decrypts a string and returns its two halves.
func (c idCipher) split(text string) (kind uint64, ordinal int64, ok bool) {
	if len(text) != base64.RawURLEncoding.EncodedLen(16) || strings.ContainsAny(text, "\r\n") {
		return 0, 0, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != 16 {
		return 0, 0, false
	}
	c.block.Decrypt(b, b)
	return binary.BigEndian.Uint64(b[:8]), int64(binary.BigEndian.Uint64(b[8:])), true
}

// cursor returns the cursor of a position. It has a kind of 4 bytes, the time in 7 bytes, which is 0 in the order of
// adding, and the ordinal in 5 bytes. A made-up cursor has that kind once in 2^32 cases, and the page that it leads to
// reveals nothing.
func (c idCipher) cursor(p position) string {
	return c.encrypt(cursorKind<<32|uint64(p.created)>>24, p.created<<40|p.ordinal)
}

// position returns the position of a cursor. It returns false if the text is not a cursor of this library.
func (c idCipher) position(text string) (position, bool) {
	kind, low, ok := c.split(text)
	return position{int64(kind&(1<<32-1)<<24 | uint64(low)>>40), low & maxOrdinal}, ok && kind>>32 == cursorKind
}
