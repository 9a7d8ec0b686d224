package reviews

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// Severity says what a problem means for its record.
type Severity string

const (
	SeverityError   Severity = "error"   // the record, or the whole line, is rejected
	SeverityWarning Severity = "warning" // the record is accepted
)

// Problem is one fault in a file: where it is, which rule it breaks, and what would be right. The HTTP API and the
// command return its JSON. The package documentation says at which value each problem is reported.
//
// The text of a Problem may contain what people wrote, such as an id or an email address; see Report.WithoutEmail.
type Problem struct {
	File   string `json:"file,omitzero"` // the name of the file; set by a caller that checks several
	Line   int64  `json:"line"`          // from 1; blank lines count
	Column int64  `json:"column"`        // in characters from 1; a byte order mark does not count
	Offset int64  `json:"offset"`        // in bytes from the start of the uncompressed file

	// Pointer is the JSON pointer (RFC 6901) of what is wrong, in the record of the line. "" is the record itself. A
	// name of more than 256 bytes is cut and ends with "…".
	Pointer  string   `json:"pointer"`
	Rule     string   `json:"rule"` // the ID of one of Rules
	Severity Severity `json:"severity"`
	Message  string   `json:"message"` // what is wrong and what would be right

	// Collection and Review are the ids of the collection and of the review that contain the problem. They are "" if
	// there is none, or if the id could not be read. An id of more than 256 bytes is cut and ends with "…".
	Collection string `json:"collection,omitzero"`
	Review     string `json:"review,omitzero"`
	// Value is the wrong text as it is in the file: its first 80 characters. It is "" if something is missing, if a
	// line is not JSON, and for a problem of the whole file.
	Value string `json:"value,omitzero"`
}

// String returns the problem as one line of text, such as
//
//	line 1, column 374, collection bGFtcA==, review 2, /reviews/1/created: error: <message> (timestamp): "2019-02-30T04:05:06Z"
func (p Problem) String() string {
	out := fmt.Sprintf("%s: %s: %s (%s)", p.Where(), p.Severity, p.Message, p.Rule)
	if p.Value != "" {
		out += ": " + p.Value
	}
	return out
}

// Where returns the position of the problem, the beginning of String.
func (p Problem) Where() string {
	out := fmt.Sprintf("line %d, column %d", p.Line, p.Column)
	if p.File != "" {
		out = p.File + ", " + out
	}
	if p.Collection != "" {
		out += ", collection " + p.Collection
	}
	if p.Review != "" {
		out += ", review " + p.Review
	}
	if p.Pointer != "" {
		out += ", " + p.Pointer
	}
	return out
}

// maxShown is the maximum number of bytes of a name or an id in a problem, so that problems stay small.
const maxShown = 256

// shown returns a name or an id as problems show it: after maxShown bytes it is cut before a character and ends with
// "…".
func shown(name []byte) string {
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
	return "/" + jsonpointer.Escape(shown(name))
}

// problem returns a problem of a rule with its severity. The caller adds the ids and the value.
func (r ruleID) problem(line, column, offset int64, pointer, message string) Problem {
	return Problem{Line: line, Column: column, Offset: offset, Pointer: pointer, Rule: rules[r].ID,
		Severity: rules[r].Severity, Message: message}
}

// fingerprint identifies a pair of texts of any length. Nobody can construct two pairs with the same fingerprint.
type fingerprint [16]byte

func fingerprintOf(a, b string) fingerprint {
	sum := sha256.Sum256([]byte(strconv.Itoa(len(a)) + " " + a + b))
	return fingerprint(sum[:16])
}
