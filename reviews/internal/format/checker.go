package format

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// Checker applies the rules that span lines: collection-repeated, file-kind, file-empty, and the warnings about the
// whole file. It gets the results of all lines in the order of the file, sorts the problems of each line, and counts
// everything. Only the goroutine of pipeline.run uses it.
type Checker struct {
	// How the file is read, see reviews.ReadOptions. 0 and nil mean the defaults.
	Workers, MaxLine int
	Buffer           int // bytes of a block
	LongLines        chan struct{}
	Now              func() time.Time

	// Found gets each problem.
	Found func(Problem)
	// Store, if not nil, gets each line instead of Tell. The line is an import then: an accepted one has Incoming.
	Store func(Result)
	// Progress, if not nil, is called after each block with the bytes of the file that were read.
	Progress func(bytes int64)

	Counts Counts
	Stop   bool // whoever reads the file sets it to end reading

	ctx     context.Context
	pairs   map[fingerprint]struct{} // source and id of the collections of earlier lines
	lines   bool                     // some line is not blank
	ratings int64                    // ratings without an error
	top     uint8                    // the highest of them

	// Some mistakes break no rule of a value, but show in the file as a whole. A lineChecker reports every such value;
	// the file gets one warning for each rule, at the first such value.
	odd map[RuleID]*oddValues // id-text, created-future, email

	// Until a line is a record, the file may be of another kind than NDJSON, and its problems wait.
	kind  kind      // what the file may be; zero if it can only be NDJSON, or after the first record
	start int64     // offset of its first line
	early []Problem // the waiting problems
	named bool      // the kind was reported instead of the problems

	// A file that begins with [ may be a JSON array with an element on each line:
	//
	//	[
	//	{"source":…},      a JSON value and a comma: an error of the rule json
	//	{"source":…}       looks like a record of NDJSON
	//	]
	//
	// The line of the last element must not count as a record: otherwise it alone would be imported, and every other
	// line would be an error, instead of one problem file-kind. If another record follows, the file is not an array.
	element     bool // a line was a JSON value and a comma
	lastElement bool // and after it came a record, which did not count
}

// oddValues is the number of values that break a rule about the whole file, and the problem of the first one.
type oddValues struct {
	count int64
	first Problem
}

// Counts are the counts of what was read, see reviews.Counts.
type Counts struct {
	Lines, Collections, CollectionsRejected, Reviews, ReviewsRejected int64
}

// Read reads a file to its end, or until the Checker has stopped. It returns the error of reading; lines before the
// error are checked. A Checker reads one file, and then the caller calls End.
func (f *Checker) Read(ctx context.Context, file io.Reader) error {
	f.ctx, f.pairs = ctx, map[fingerprint]struct{}{}
	f.odd = map[RuleID]*oddValues{RuleIDText: {}, RuleFuture: {}, RuleEmail: {}}
	return newPipeline(f).run(file)
}

// line processes the result of a line.
func (f *Checker) line(r Result) {
	if !r.part && !f.count(&r) {
		r.Incoming = nil
	}
	if f.Store != nil {
		f.Store(r)
	} else {
		f.Tell(r.Problems)
	}
}

// Tell reports the problems of a line in the order of their offsets. Problems at the same offset keep their order.
func (f *Checker) Tell(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Offset, b.Offset) })
	for _, p := range problems {
		odd := f.odd[p.Rule]
		if odd == nil {
			f.give(p)
			continue
		}
		if odd.count++; odd.count == 1 {
			odd.first = p
		}
	}
}

// give reports a problem. As long as the file looks like one of another kind, such as a table, give keeps the
// problem until that is decided. When file-kind was reported, it drops the problem.
func (f *Checker) give(p Problem) {
	switch {
	case f.kind == kind{}: // the usual case
		f.Found(p)
	case !f.named: // otherwise p is dropped, since the kind was reported
		f.early = append(f.early, p)
		if len(f.early) == maxWaiting {
			f.nameKind()
		}
	}
}

// nameKind reports the kind of the file, at line 1, in place of the problems of its lines. Further problems are dropped
// while kind is set.
func (f *Checker) nameKind() {
	k := f.kind
	f.kind, f.early, f.named = kind{}, nil, true // without a kind, give reports at once
	f.Warn(RuleFileKind, k.message)
	f.kind = k
}

// count adds the result of a line to the report and applies the rules that span lines. It returns false if no review of
// the line can be accepted: the collection has an error, an earlier line has the same collection, the file is binary,
// or the line counts as the last element of an array.
func (f *Checker) count(r *Result) (accepted bool) {
	f.lines = true
	// An earlier line may have the same collection. Source and id are unknown if the line is not JSON.
	if r.paired {
		if _, repeated := f.pairs[r.pair]; repeated {
			p := f.atRecord(RuleCollectionRepeated, r,
				"a collection with this source and id came before in this file; put all of its reviews into one line")
			p.Value = firstCharacters(r.record)
			r.Problems, r.rejectsAll = append(r.Problems, p), true
		}
		f.pairs[r.pair] = struct{}{}
	}
	if f.kind.binary {
		return false
	}
	f.element = f.element || r.element && f.kind.message == kindArray
	if r.record != nil {
		if f.element && !f.lastElement {
			// This problem waits with the others. file-kind replaces them unless another record follows.
			f.lastElement = true
			r.Problems = append(r.Problems,
				f.atRecord(RuleJSON, r,
					"this is taken for the last element of a JSON array; take the brackets and commas out of the "+
						"file, and give this record again"))
			return false
		}
		// The record shows that the file is NDJSON, so the waiting problems are reported.
		early := f.early
		f.kind, f.early = kind{}, nil
		for _, p := range early {
			f.give(p)
		}
		f.Counts.Collections++
	}
	// Count the record, its reviews, and those that are rejected.
	f.ratings += r.ratings
	f.top = max(f.top, r.top)
	f.Counts.Reviews += r.reviews
	if r.rejectsAll { // an error of the collection rejects all of its reviews
		r.rejected = r.reviews
	}
	f.Counts.ReviewsRejected += r.rejected
	if r.record != nil && (r.rejectsAll || r.reviews > 0 && r.reviews == r.rejected) {
		f.Counts.CollectionsRejected++
	}
	return !r.rejectsAll
}

// atRecord returns a problem at the beginning of the record of a line.
func (f *Checker) atRecord(rule RuleID, r *Result, message string) Problem {
	return Problem{Rule: rule, Line: r.line, Column: r.column, Offset: r.offset, Message: message,
		Collection: idOf(&decoder{}, r.record)}
}

// End reports what remains when reading has ended. whole is true at the end of the file: only then can the file be
// reported as empty, and get the warnings about the whole file.
func (f *Checker) End(whole bool) {
	// No line was a record, so the file is of the other kind, even if it could not be read to its end.
	if f.kind != (kind{}) && !f.named {
		f.nameKind()
	}
	if !whole || f.Stop {
		return
	}
	if !f.lines {
		f.Warn(RuleFileEmpty,
			"the file is empty or has only blank lines; want a collection on each line")
	}
	if f.ratings >= fewRatings && f.top <= maxStars {
		f.Warn(RuleScale, fmt.Sprintf("none of the %d ratings of this file is above %d; "+
			"a rating is from 1 to 100: multiply stars from 1 to 5 by 20, and points from 1 to 10 by 10", f.ratings,
			f.top))
	}
	for _, rule := range []RuleID{RuleIDText, RuleFuture, RuleEmail} {
		odd := f.odd[rule]
		if odd.count > 1 {
			odd.first.Message += fmt.Sprintf("; this is the first of %d in the file", odd.count)
		}
		if odd.count > 0 {
			f.give(odd.first)
		}
	}
}

// The rule scale is broken if a file has at least fewRatings ratings and none of them is above maxStars: a scale of 1
// to 10 at most.
const (
	fewRatings = 20
	maxStars   = 10
)

// progress stores the number of lines, and tells the caller how much of the file was read.
func (f *Checker) progress(bytes, lines int64) {
	if f.Counts.Lines = lines; f.Progress != nil {
		f.Progress(bytes)
	}
}

// Warn reports a problem of the whole file, at its first line.
func (f *Checker) Warn(rule RuleID, message string) {
	f.give(Problem{Rule: rule, Line: 1, Column: 1, Offset: f.start, Message: message})
}

// stopped returns whether reading must end.
func (f *Checker) stopped() bool { return f.Stop || f.ctx.Err() != nil }
