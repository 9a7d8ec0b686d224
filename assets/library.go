package assets

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/internal/urn"
)

// exists reports whether something was written to the library.
func exists(s State) bool { return s.Key != Key{} }

// newKey makes a library's key from a random string.
func newKey(random string) Key {
	sum := sha256.Sum256([]byte("library " + random))
	return Key(sum[:16])
}

// newTreeNumber returns a number for a tree of folders, by which caches recognize it. Numbers are random, so two different
// trees never have the same one. A counter would repeat numbers: after an update was rolled back, and after a failover that
// loses commits.
func newTreeNumber() int64 {
	var b [8]byte
	rand.Read(b[:])
	return int64(binary.BigEndian.Uint64(b[:]))
}

// checkLibrary returns ErrForbidden if the library's network cannot be one, and ErrInvalid if its ID is malformed.
func checkLibrary(l Library, networkURN string, maxID int) error {
	if err := urn.CheckGroup(networkURN); err != nil || strings.Contains(l.Network, ":") {
		return forbidden("", "%q is not the name of a network", l.Network)
	}
	if checkName("", l.ID, maxID) != nil {
		return invalid("", "the id of a library has 1 to %d characters of UTF-8, none of them a control character", maxID)
	}
	return nil
}

// checkName returns ErrInvalid unless s is a name: a text of 1 to limit characters without control characters. at is where s
// stands in the request.
func checkName(at, s string, limit int) error {
	if s == "" {
		return invalid(at, "must not be empty")
	}
	if err := checkText(at, s, limit); err != nil {
		return err
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return invalid(at, "must not have control characters")
	}
	return nil
}

// checkText returns ErrInvalid unless s is UTF-8 without U+0000, of at most limit characters. at is where s stands in the
// request.
func checkText(at, s string, limit int) error {
	if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
		return invalid(at, "must be UTF-8 without U+0000")
	}
	if n := utf8.RuneCountInString(s); n > limit {
		return invalid(at, "has %d characters, at most %d are allowed", n, limit)
	}
	return nil
}
