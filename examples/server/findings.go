package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/vitrine-go/vitrine/reviews"
)

// findings shows what a check or an import found: for machines a line of JSON a problem and the
// report as the last line, for people the problems grouped by their rule.
type findings struct {
	out    *bufio.Writer
	asJSON *json.Encoder // nil for people
	groups map[string]*group
}

// group is the problems with one rule.
type group struct {
	rule     string
	severity reviews.Severity
	count    int64
	first    []reviews.Problem
}

// stopped is what end is told of a file that was not read to its end. Of an import, what was read and
// is not stored is counted then too.
const stopped = "stopped"

// shownOfGroup is how many problems of a group are shown.
const shownOfGroup = 3

func newFindings(w io.Writer, asJSON bool) *findings {
	f := &findings{out: bufio.NewWriterSize(w, 64<<10), groups: map[string]*group{}}
	if asJSON {
		f.asJSON = json.NewEncoder(escaper{f.out})
		f.asJSON.SetEscapeHTML(false)
	}
	return f
}

func (f *findings) add(p reviews.Problem) {
	if f.asJSON != nil {
		_ = f.asJSON.Encode(p) // an error of the writer stays, and end returns it
		return
	}
	g := f.groups[p.Rule]
	if g == nil {
		g = &group{rule: p.Rule, severity: p.Severity}
		f.groups[p.Rule] = g
	}
	if g.count++; g.count <= shownOfGroup {
		g.first = append(g.first, p)
	}
}

// end shows the report; done says in a word what was done with the file.
func (f *findings) end(r reviews.Report, done string) error {
	if f.asJSON != nil {
		_ = f.asJSON.Encode(r)
		return f.out.Flush()
	}
	order := func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.severity, b.severity), cmp.Compare(b.count, a.count), cmp.Compare(a.rule, b.rule))
	}
	for _, g := range slices.SortedFunc(maps.Values(f.groups), order) {
		fmt.Fprintf(f.out, "%s: %s\n", g.rule, count(g.count, string(g.severity)))
		for _, p := range g.first {
			fmt.Fprintf(f.out, "  line %d, byte %d, %s: %s\n", p.Line, p.Offset, printable(cmp.Or(p.Pointer, "the record")), printable(p.Message))
		}
		if more := g.count - int64(len(g.first)); more > 0 {
			fmt.Fprintf(f.out, "  and %d more\n", more)
		}
	}
	fmt.Fprintf(f.out, "%s: %s, %s, %s; ", done, count(r.Lines, "line"), count(r.Collections, "collection"), count(r.Reviews, "review"))
	stored := r.Created + r.Updated + r.Unchanged
	inPart := done == stopped && !r.DryRun
	if stored > 0 || inPart {
		fmt.Fprintf(f.out, "%d created, %d updated, %d unchanged, ", r.Created, r.Updated, r.Unchanged)
	}
	if inPart {
		fmt.Fprintf(f.out, "%d read and not stored, ", r.Reviews-stored-r.Rejected)
	}
	fmt.Fprintf(f.out, "%d rejected; %s, %s\n", r.Rejected, count(r.Errors, "error"), count(r.Warnings, "warning"))
	return f.out.Flush()
}

// count writes a number of things.
func count(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
