// Package format reads files in the import format of reviews, from their bytes to what is wrong with them and to what
// an import stores of them. It knows no store. The documentation of package reviews says what the format is, and
// reviews/howitworks.go follows a line through the code.
//
// A [Checker] reads one file. It hands over each [Problem] and, for an import, the [Result] of each line with what is
// to be stored of it.
//
//	checker.go                Checker: the rules that span lines
//	lines.go, filekind.go     blocks of lines; files that are compressed or no NDJSON
//	pipeline.go               the goroutines that check blocks
//	linechecker.go            the rules of one line: JSON, objects, discarded values; the column of a problem
//	collection.go, review.go  the members of a collection and of a review
//	values.go, html.go,       the values of members
//	timestamp.go, fieldformats.go
//	jsonscan.go               strings and their escapes, the end of a value, the text that a problem shows
//	rules.go, problem.go      the rules, with examples; what a Problem has
//	incoming.go               what is stored of a line, in the canonical form
//	recordreader.go           the same rules for a stored record, for an audit
package format
