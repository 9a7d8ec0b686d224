package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/reviews"
)

// findings shows the problems that a check or an import has found. With -json every problem is a line of JSON and the
// counts are the last line. Without it, people get the first problems of each rule at the end, or with -all each
// problem as it comes.
type findings struct {
	out    *bufio.Writer
	asJSON *json.Encoder // nil for people
	all    bool
	groups map[string]*group
}

// finding is a problem. Those that break the same rule are shown together.
type finding struct {
	rule     string
	severity reviews.Severity
	where    string
	message  string
	value    string // what is wrong, or ""
	json     any    // the line of -json
}

// group has the problems that break the same rule.
type group struct {
	rule     string
	severity reviews.Severity
	count    int64
	first    []finding
}

// lastLine is the last line of -json: the report without its problems, which are the lines above.
type lastLine struct {
	reviews.Counts
	ProblemsTruncated bool `json:"problemsTruncated"`
}

// stopped is the word for files that were not read to their end because of an error.
const stopped = "stopped"

// shownOfGroup is how many problems of a rule are shown without -all.
const shownOfGroup = 3

// newFindings returns findings that are written to w.
func newFindings(w io.Writer, shown shownFlags) *findings {
	f := &findings{out: bufio.NewWriterSize(w, 64<<10), all: *shown.all, groups: map[string]*group{}}
	if *shown.asJSON {
		f.asJSON = json.NewEncoder(escaper{f.out})
		f.asJSON.SetEscapeHTML(false)
	}
	return f
}

// add shows a problem, or keeps it for end.
func (f *findings) add(p finding) {
	if f.asJSON != nil {
		_ = f.asJSON.Encode(p.json) // an error of the writer stays, and end returns it
		return
	}
	g := f.groups[p.rule]
	if g == nil {
		g = &group{rule: p.rule, severity: p.severity}
		f.groups[p.rule] = g
	}
	g.count++
	switch {
	case f.all:
		line := fmt.Sprintf("%s: %s: %s (%s)", p.where, p.severity, p.message, p.rule)
		if p.value != "" {
			line += ": " + p.value
		}
		fmt.Fprintln(f.out, printable(line))
	case g.count <= shownOfGroup:
		g.first = append(g.first, p)
	}
}

// outcome shows the problems and counts, and returns the error with which the command ends: err, an error of the
// output, or exitFailed if there were errors. last is the last line of -json, and summary that for people.
func (f *findings) outcome(errors int64, last any, summary func() string, err error) error {
	if writing := f.end(last, summary); err == nil {
		err = writing
	}
	if err == nil && errors > 0 {
		return exitError{nil, exitFailed}
	}
	return err
}

// end writes what is left.
func (f *findings) end(last any, summary func() string) error {
	if f.asJSON != nil {
		_ = f.asJSON.Encode(last)
		return f.out.Flush()
	}
	order := func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.severity, b.severity), cmp.Compare(b.count, a.count), cmp.Compare(a.rule, b.rule))
	}
	for _, g := range slices.SortedFunc(maps.Values(f.groups), order) {
		fmt.Fprintf(f.out, "%s: %s\n", g.rule, count(g.count, string(g.severity)))
		for _, p := range g.first {
			fmt.Fprintf(f.out, "  %s: %s\n", printable(p.where), printable(p.message))
			if p.value != "" {
				fmt.Fprintf(f.out, "    %s\n", printable(p.value))
			}
		}
		if more := g.count - int64(len(g.first)); more > 0 && !f.all {
			fmt.Fprintf(f.out, "  and %d more: -all prints every problem\n", more)
		}
	}
	fmt.Fprintln(f.out, summary())
	return f.out.Flush()
}

// reviewsOutcome is outcome for files of reviews. done is a word for what was done with them.
func (f *findings) reviewsOutcome(c reviews.Counts, done string, err error) error {
	if err != nil {
		done = stopped
	}
	return f.outcome(c.Errors, lastLine{Counts: c}, func() string { return f.reviewsSummary(c, done) }, err)
}

// reviewsSummary returns the counts as a line.
func (f *findings) reviewsSummary(r reviews.Counts, done string) string {
	out := fmt.Sprintf("%s: %s%s, %s%s, %s; ", done, count(r.Lines, "line"), f.odd(r, done),
		count(r.Collections, "collection"), brackets([]fate{
			{r.CollectionsCreated, "created"},
			{r.CollectionsUpdated, "updated"},
			{r.CollectionsRejected, "rejected"},
		}), count(r.Reviews, "review"))
	stored := r.ReviewsCreated + r.ReviewsUpdated + r.ReviewsUnchanged
	inPart := done == stopped && !r.DryRun
	if stored > 0 || inPart {
		out += fmt.Sprintf("%d created, %d updated, %d unchanged, ", r.ReviewsCreated, r.ReviewsUpdated,
			r.ReviewsUnchanged)
	}
	if inPart {
		out += fmt.Sprintf("%d read and not stored, ", r.Reviews-stored-r.ReviewsRejected)
	}
	return out + fmt.Sprintf("%d rejected; %s, %s", r.ReviewsRejected, count(r.Errors, "error"),
		count(r.Warnings, "warning"))
}

// odd says in brackets how many lines are blank and how many cannot be read. It returns "" for files that were not read
// to their end, and for those of another kind.
func (f *findings) odd(r reviews.Counts, done string) string {
	if done == stopped || f.groups["file-kind"] != nil {
		return ""
	}
	unreadable := int64(0)
	// each once in a line
	for _, rule := range []string{"json", "utf-8", "json-depth", "line-too-long", "record-object"} {
		if g := f.groups[rule]; g != nil {
			unreadable += g.count
		}
	}
	return brackets([]fate{{r.Lines - r.Collections - unreadable, "blank"}, {unreadable, "unreadable"}})
}

// fate is how many lines or collections are what the name says.
type fate struct {
	n    int64
	name string
}

// brackets lists the fates that some have, in brackets. It returns "" if there are none.
func brackets(fates []fate) string {
	var all []string
	for _, fate := range fates {
		if fate.n > 0 {
			all = append(all, fmt.Sprint(fate.n, " ", fate.name))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}

// count writes a number with the noun that it counts, in the plural unless it is 1.
func count(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if stem, ok := strings.CutSuffix(thing, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
