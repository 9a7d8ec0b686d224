package format

import (
	"crypto/sha256"
	"strconv"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// Problem is one fault in a file. The fields are those of reviews.Problem.
type Problem struct {
	Rule                 RuleID
	Line, Column, Offset int64
	Pointer, Message     string
	Collection, Review   string
	Value                string
}

// maxShown is the maximum number of bytes of a name or an id in a problem, so that problems stay small.
const maxShown = 256

// Shown returns a name or an id as problems show it: after maxShown bytes it is cut before a character and ends with
// "…".
func Shown(name []byte) string {
	if len(name) <= maxShown {
		return string(name)
	}
	// Do not cut inside a character.
	cut := maxShown
	for !utf8.RuneStart(name[cut]) {
		cut--
	}
	return string(name[:cut]) + "…"
}

// pointerToken returns the name of a member as a token of a JSON pointer, with the slash before it. A long name is cut.
func pointerToken(name []byte) string {
	return "/" + jsonpointer.Escape(Shown(name))
}

// fingerprint identifies a pair of texts of any length. Nobody can construct two pairs with the same fingerprint.
type fingerprint [16]byte

func fingerprintOf(a, b string) fingerprint {
	sum := sha256.Sum256([]byte(strconv.Itoa(len(a)) + " " + a + b))
	return fingerprint(sum[:16])
}
