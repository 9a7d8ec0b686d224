package reviews

import (
	"fmt"

	"github.com/vitrine-go/vitrine/reviews/internal/format"
)

// Severity says what a problem means for its record.
type Severity string

const (
	SeverityError   Severity = "error"   // the record, or the whole line, is rejected
	SeverityWarning Severity = "warning" // the record is accepted
)

// Problem is one fault in a file: where it is, which rule it breaks, and what would be right. The HTTP API and the
// command return its JSON. Its text may contain what people wrote, such as an id or an email address;
// Report.WithoutEmail removes the values that may contain an address.
//
// A problem is reported at the value that is wrong. A missing member is reported at the object that lacks it, members
// that exclude each other at their object, and a repeated item at the item: the dimension, the review, the record. The
// problems of a line come in the order of their offsets. If a line has more than a thousand, each thousand of them is
// in this order.
type Problem struct {
	File   string `json:"file,omitzero"` // the name of the file; set by a caller that checks several
	Line   int64  `json:"line"`          // from 1; blank lines count
	Column int64  `json:"column"`        // in characters from 1; a byte order mark does not count
	// Offset is that of the first byte of the value, in bytes from the start of the uncompressed file: of the name for
	// an unknown or repeated member, of the tag for body_html, of the escape for U+0000 and for half a surrogate pair,
	// and of the byte itself if the line is not JSON or not UTF-8.
	Offset int64 `json:"offset"`

	// Pointer is the JSON pointer (RFC 6901) of what is wrong, in the record of the line. "" is the record itself. A
	// name of more than 256 bytes is cut and ends with "…". A pointer of 512 bytes gets no further name: a problem
	// deeper inside has the pointer of a value around it.
	Pointer  string   `json:"pointer"`
	Rule     string   `json:"rule"` // the ID of one of Rules
	Severity Severity `json:"severity"`
	Message  string   `json:"message"` // what is wrong and what would be right

	// Collection and Review are the ids of the collection and of the review that contain the problem. They are "" if
	// there is none, or if the id is not a string. A line that is not JSON has the id of the collection if that comes
	// before the fault, but no id of a review. An id of more than 256 bytes is cut and ends with "…".
	Collection string `json:"collection,omitzero"`
	Review     string `json:"review,omitzero"`
	// Value is the text at the offset as it is in the file, its first 80 characters: the whole JSON value or name; in
	// body_html, the text from the tag on; or the one escape that is wrong. It is "" if something is missing, if a line
	// is not JSON, and for a problem of the whole file.
	Value string `json:"value,omitzero"`
}

// problemOf returns a problem as callers get it.
func problemOf(p format.Problem) Problem {
	return Problem{Line: p.Line, Column: p.Column, Offset: p.Offset, Pointer: p.Pointer, Rule: format.Rules[p.Rule].ID,
		Severity: severityOf(p.Rule), Message: p.Message, Collection: p.Collection, Review: p.Review, Value: p.Value}
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
