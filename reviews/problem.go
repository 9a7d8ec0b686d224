package reviews

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// Severity says what a problem means for the record that it is in.
type Severity string

const (
	SeverityError   Severity = "error"   // the record, or the whole line, is rejected
	SeverityWarning Severity = "warning" // the record is accepted
)

// Problem is one thing that is wrong in a file: where it is, which rule it breaks, and what would be right. Its JSON is what the
// HTTP API and the command answer. The package documentation says at which value each problem is reported.
//
// The text of a Problem may hold what people wrote, such as an id or an email address; see Report.WithoutEmail.
type Problem struct {
	File   string `json:"file,omitzero"` // the name of the file; set by a caller that checks several
	Line   int64  `json:"line"`          // from 1; blank lines count
	Column int64  `json:"column"`        // in characters from 1; a byte order mark does not count
	Offset int64  `json:"offset"`        // in bytes from the start of the uncompressed file

	// Pointer is the JSON pointer (RFC 6901) of what is wrong, in the record of the line. "" is the record itself. A name of more
	// than 256 bytes is cut and ends with "…".
	Pointer  string   `json:"pointer"`
	Rule     string   `json:"rule"` // the ID of one of Rules
	Severity Severity `json:"severity"`
	Message  string   `json:"message"` // what is wrong and what would be right

	// Collection and Review are the ids of the collection and of the review that the problem is in. They are "" if the problem
	// is in none, or if the id could not be read. An id of more than 256 bytes is cut and ends with "…".
	Collection string `json:"collection,omitzero"`
	Review     string `json:"review,omitzero"`
	// Value is the text that is wrong, as it stands in the file: its first 80 characters. It is "" for what is missing, for a
	// line that is no JSON, and for a problem of the whole file.
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

// Where returns where the problem is, as String begins.
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

// maxShown is how many bytes of a name or an id a problem repeats, so that problems stay small.
const maxShown = 256

// shown returns a name or an id as a problem repeats it: one of more than maxShown bytes is cut in front of a character, and ends
// with "…".
func shown(name []byte) string {
	if len(name) <= maxShown {
		return string(name)
	}
	// A byte that continues a character is no place to cut.
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

// problem returns a problem with a rule, and with the severity of that rule. The caller adds the ids and the value.
func (r ruleID) problem(line, column, offset int64, pointer, message string) Problem {
	return Problem{Line: line, Column: column, Offset: offset, Pointer: pointer, Rule: rules[r].ID, Severity: rules[r].Severity, Message: message}
}

// fingerprint stands for a pair of texts of any length. Nobody can write two pairs with the same one.
type fingerprint [16]byte

func fingerprintOf(a, b string) fingerprint {
	sum := sha256.Sum256([]byte(strconv.Itoa(len(a)) + " " + a + b))
	return fingerprint(sum[:16])
}
