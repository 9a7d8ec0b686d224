package reviews

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// Severity says what a problem means for the record it was found in.
type Severity string

const (
	SeverityError   Severity = "error"   // the record, or the whole line, is rejected
	SeverityWarning Severity = "warning" // the record is accepted
)

// Problem is one thing that is wrong in a file, and exactly where.
type Problem struct {
	File     string   `json:"file,omitzero"` // of several; set by the caller of the checker
	Line     int64    `json:"line"`          // from 1; blank lines count
	Column   int64    `json:"column"`        // in characters from 1; a byte order mark does not count
	Offset   int64    `json:"offset"`        // in bytes from the start of the uncompressed file
	Pointer  string   `json:"pointer"`       // JSON pointer into the line's record; "" is the record; a name of over 256 bytes is cut and ends with "…"
	Rule     string   `json:"rule"`          // the ID of one of Rules
	Severity Severity `json:"severity"`
	Message  string   `json:"message"` // what is wrong and what would be right

	Collection string `json:"collection,omitzero"` // id of the record's collection, where it could be read; over 256 bytes cut like Pointer
	Review     string `json:"review,omitzero"`     // id of the review that the problem is in, likewise
	Value      string `json:"value,omitzero"`      // the JSON text that is wrong, as it stands in the file, its first 80 characters; "" for what is missing or no JSON
}

// String gives a problem as one line of text.
func (p Problem) String() string {
	var out strings.Builder
	if p.File != "" {
		out.WriteString(p.File + ", ")
	}
	out.WriteString("line " + strconv.FormatInt(p.Line, 10) + ", column " + strconv.FormatInt(p.Column, 10))
	if p.Collection != "" {
		out.WriteString(", collection " + p.Collection)
	}
	if p.Review != "" {
		out.WriteString(", review " + p.Review)
	}
	if p.Pointer != "" {
		out.WriteString(", " + p.Pointer)
	}
	out.WriteString(": " + string(p.Severity) + ": " + p.Message + " (" + p.Rule + ")")
	if p.Value != "" {
		out.WriteString(": " + p.Value)
	}
	return out.String()
}

// WithoutEmail returns the report as it may leave the program that imports: no problem repeats the text of an
// imported_email, or of a value that may contain one.
func (r Report) WithoutEmail() Report {
	problems := r.Problems
	r.Problems = slices.Clone(problems)
	for i, p := range problems {
		if p.mayHoldEmail() {
			r.Problems[i].Value = ""
		}
	}
	return r
}

// mayHoldEmail says whether the value of the problem is, is inside of, or may contain an imported_email: records,
// reviews and the list of these do.
func (p Problem) mayHoldEmail() bool {
	steps := strings.Split(p.Pointer, "/")
	whole := len(steps) < 2 || steps[1] == "reviews" && len(steps) <= 3
	object := strings.HasPrefix(p.Value, "{") || strings.HasPrefix(p.Value, "[") && strings.Contains(p.Value, "{")
	return whole || object || slices.Contains(steps, "imported_email")
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

// pointerToken gives a member name as one step of a JSON pointer, a long one cut.
func pointerToken(name []byte) string {
	return "/" + jsonpointer.Escape(shown(name))
}

// problem returns a problem with a rule. The caller adds the column, the ids and the value.
func (r ruleID) problem(line, offset int64, pointer, message string) Problem {
	return Problem{Line: line, Offset: offset, Pointer: pointer, Rule: rules[r].ID, Severity: rules[r].Severity, Message: message}
}

// problemAt returns a problem of the file as a whole.
func (r ruleID) problemAt(line, column, offset int64, message string) Problem {
	p := r.problem(line, offset, "", message)
	p.Column = column
	return p
}
