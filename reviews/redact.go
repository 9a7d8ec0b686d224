package reviews

import (
	"slices"
	"strings"
)

// The imported_email of a review is returned by Export alone, to those who moderate the network as a whole and to
// operators. ReviewRecord has no such member, so no list of reviews has it. The problems of a check or an import may
// repeat it in their values. WithoutEmail removes those from a report.

// WithoutEmail returns the report without the values of problems that may contain an imported_email: those of that
// member, and those of the objects and arrays around one. The problems stay. A program that shows a report to somebody
// who may not read email addresses shows this one, as the HTTP API does. r is not changed.
func (r Report) WithoutEmail() Report {
	problems := r.Problems
	r.Problems = slices.Clone(problems)
	for i, p := range problems {
		if p.mayContainEmail() {
			r.Problems[i].Value = ""
		}
	}
	return r
}

// mayContainEmail returns whether the value of the problem may contain an imported_email. The value may be an address
// or part of one, or it may enclose one: a review, the list of reviews, the record or any object.
func (p Problem) mayContainEmail() bool {
	steps := strings.Split(p.Pointer, "/") // "/reviews/0/title" is "", "reviews", "0", "title"
	// The record has the pointer "", the list of reviews "/reviews", and a review "/reviews/0".
	// An object or an array with an object in it may be a review at a place where none belongs.
	whole := len(steps) < 2 || steps[1] == "reviews" && len(steps) <= 3
	object := strings.HasPrefix(p.Value, "{") || strings.HasPrefix(p.Value, "[") && strings.Contains(p.Value, "{")
	return whole || object || slices.Contains(steps, "imported_email")
}
