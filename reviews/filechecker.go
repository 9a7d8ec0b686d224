package reviews

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// fileChecker applies the rules that span lines: collection-repeated, file-kind, file-empty, and the warnings about the
// whole file. It gets the results of all lines in the order of the file, sorts the problems of each line, and counts
// everything for the Report. Only the goroutine of pipeline.run uses it.
type fileChecker struct {
	ctx     context.Context
	report  Report
	yield   func(Problem) bool  // gets each problem; returns false to stop
	stop    bool                // yield has returned false, or the store of an import has failed
	watcher func(int64, Counts) // nil if nobody asks for progress

	// store, if not nil, gets each line instead of tell. r.incoming is nil if the line is rejected.
	store func(r lineResult)

	pairs   map[fingerprint]struct{} // source and id of the collections of earlier lines
	lines   bool                     // some line is not blank
	ratings int64                    // ratings without an error
	top     uint8                    // the highest of them

	// Some mistakes break no rule of a value, but show in the file as a whole. A lineChecker reports every such value;
	// the file gets one warning for each rule, at the first such value.
	odd map[string]*oddValues // by rule: id-text, created-future, email

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

// newFileChecker returns a fileChecker that passes problems to yield until yield returns false.
func newFileChecker(ctx context.Context, o ReadOptions, dryRun bool, yield func(Problem) bool) *fileChecker {
	f := &fileChecker{ctx: ctx, yield: yield, watcher: o.Progress, pairs: map[fingerprint]struct{}{},
		odd: map[string]*oddValues{}}
	f.report.Problems, f.report.DryRun = []Problem{}, dryRun
	for _, rule := range []ruleID{ruleIDText, ruleFuture, ruleEmail} {
		f.odd[rules[rule].ID] = &oddValues{}
	}
	return f
}

// line processes the result of a line.
func (f *fileChecker) line(r lineResult) {
	if !r.part && !f.count(&r) {
		r.incoming = nil
	}
	if f.store != nil {
		f.store(r)
	} else {
		f.tell(r.problems)
	}
}

// tell reports the problems of a line in the order of their offsets. Problems at the same offset keep their order.
func (f *fileChecker) tell(problems []Problem) {
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

// give reports a problem. While the file may be of another kind, it keeps the problem instead. After file-kind was
// reported, it drops the problem.
func (f *fileChecker) give(p Problem) {
	switch {
	case f.kind == kind{}: // the usual case
		f.report.add(p)
		f.stop = f.stop || !f.yield(p)
	case !f.named: // otherwise p is dropped, since the kind was reported
		f.early = append(f.early, p)
		if len(f.early) == maxWaiting {
			f.nameKind()
		}
	}
}

// nameKind reports the kind of the file, at line 1, in place of the problems of its lines. Further problems are dropped
// while kind is set.
func (f *fileChecker) nameKind() {
	k := f.kind
	f.kind, f.early, f.named = kind{}, nil, true // without a kind, give reports at once
	f.give(ruleFileKind.problem(1, 1, f.start, "", k.message))
	f.kind = k
}

// count adds the result of a line to the report and applies the rules that span lines. It returns false if no review of
// the line can be accepted: the collection has an error, an earlier line has the same collection, the file is binary,
// or the line counts as the last element of an array.
func (f *fileChecker) count(r *lineResult) (accepted bool) {
	f.lines = true
	// An earlier line may have the same collection. Source and id are unknown if the line is not JSON.
	if r.paired {
		if _, repeated := f.pairs[r.pair]; repeated {
			p := f.atRecord(ruleCollectionRepeated, r,
				"a collection with this source and id came before in this file; put all of its reviews into one line")
			p.Value = firstCharacters(r.record)
			r.problems, r.rejectsAll = append(r.problems, p), true
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
			r.problems = append(r.problems,
				f.atRecord(ruleJSON, r,
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
		f.report.Collections++
	}
	// Count the record, its reviews, and those that are rejected.
	f.ratings += r.ratings
	f.top = max(f.top, r.top)
	f.report.Reviews += r.reviews
	if r.rejectsAll { // an error of the collection rejects all of its reviews
		r.rejected = r.reviews
	}
	f.report.ReviewsRejected += r.rejected
	if r.record != nil && (r.rejectsAll || r.reviews > 0 && r.reviews == r.rejected) {
		f.report.CollectionsRejected++
	}
	return !r.rejectsAll
}

// atRecord returns a problem at the beginning of the record of a line.
func (f *fileChecker) atRecord(rule ruleID, r *lineResult, message string) Problem {
	p := rule.problem(r.line, r.column, r.offset, "", message)
	p.Collection = idOf(&decoder{}, r.record)
	return p
}

// end reports what remains when reading has ended. whole is true at the end of the file: only then can the file be
// reported as empty, and get the warnings about the whole file.
func (f *fileChecker) end(whole bool) {
	// No line was a record, so the file is of the other kind, even if it could not be read to its end.
	if f.kind != (kind{}) && !f.named {
		f.nameKind()
	}
	if !whole || f.stop {
		return
	}
	if !f.lines {
		f.give(ruleFileEmpty.problem(1, 1, f.start, "",
			"the file is empty or has only blank lines; want a collection on each line"))
	}
	if f.ratings >= fewRatings && f.top <= maxStars {
		f.give(ruleScale.problem(1, 1, f.start, "", fmt.Sprintf("none of the %d ratings of this file is above %d; "+
			"a rating is from 1 to 100: multiply stars from 1 to 5 by 20, and points from 1 to 10 by 10", f.ratings,
			f.top)))
	}
	for _, rule := range []ruleID{ruleIDText, ruleFuture, ruleEmail} {
		odd := f.odd[rules[rule].ID]
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

// progress stores the number of lines in the report, and tells the caller how much of the file was read.
func (f *fileChecker) progress(bytes, lines int64) {
	f.report.Lines = lines
	if f.watcher != nil {
		f.watcher(bytes, f.report.Counts)
	}
}

// stopped returns whether reading must end.
func (f *fileChecker) stopped() bool { return f.stop || f.ctx.Err() != nil }
