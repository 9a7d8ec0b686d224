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

// newTreeNumber returns the number of a tree of folders. Numbers are random, so that two different trees never
// have the same one: a counter would repeat itself in an update that is rolled back, and after a failover that
// loses commits.
func newTreeNumber() int64 {
	var b [8]byte
	rand.Read(b[:])
	return int64(binary.BigEndian.Uint64(b[:]))
}

// checkLibrary reports what keeps the names from being those of a library.
func checkLibrary(l Library, networkURN string, maxID int) error {
	if err := urn.CheckGroup(networkURN); err != nil || strings.Contains(l.Network, ":") {
		return forbidden("", "%q is not the name of a network", l.Network)
	}
	if checkName("", l.ID, maxID) != nil {
		return invalid("", "the id of a library has 1 to %d characters of UTF-8, none of them a control character", maxID)
	}
	return nil
}

// checkName reports what keeps s, at a place of a request, from being a name of at most limit characters.
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

// checkText reports what keeps s, at a place of a request, from being a text of at most limit characters.
func checkText(at, s string, limit int) error {
	if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
		return invalid(at, "must be UTF-8 without U+0000")
	}
	if n := utf8.RuneCountInString(s); n > limit {
		return invalid(at, "has %d characters, at most %d are allowed", n, limit)
	}
	return nil
}
