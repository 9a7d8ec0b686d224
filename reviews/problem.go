package reviews

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Severity says what a problem means for the record it was found in.
type Severity string

const (
	Error   Severity = "error"   // the record, or the whole line, is rejected
	Warning Severity = "warning" // the record is accepted
)

// Problem is one thing that is wrong in a file, and exactly where.
type Problem struct {
	Line     int64    `json:"line"`    // from 1; blank lines count
	Offset   int64    `json:"offset"`  // in bytes from the start of the uncompressed file
	Pointer  string   `json:"pointer"` // JSON pointer into the line's record; "" is the record; a name of over 256 bytes is cut and ends with "…"
	Rule     string   `json:"rule"`    // the ID of one of Rules
	Severity Severity `json:"severity"`
	Message  string   `json:"message"` // what is wrong and what would be right
}

// String gives a problem as one line of text.
func (p Problem) String() string {
	where := p.Pointer
	if where == "" {
		where = "the record"
	}
	return "line " + strconv.FormatInt(p.Line, 10) + ", byte " + strconv.FormatInt(p.Offset, 10) + ", " +
		where + ": " + string(p.Severity) + ": " + p.Message + " (" + p.Rule + ")"
}

// maxShown is how many bytes of a name a problem repeats: a problem stays small whatever it is about.
const maxShown = 256

// shown cuts a name from the file to what a problem may repeat of it.
func shown(name []byte) string {
	if len(name) <= maxShown {
		return string(name)
	}
	cut := maxShown
	for !utf8.RuneStart(name[cut]) {
		cut--
	}
	return string(name[:cut]) + "…"
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// pointerToken gives a member name as one step of a JSON pointer, a long one cut.
func pointerToken(name []byte) string {
	return "/" + pointerEscapes.Replace(shown(name))
}
