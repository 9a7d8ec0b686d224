package reviews

import (
	"cmp"
	"slices"
)

// fileChecker applies the rules that span lines: collection-repeated, file-kind, file-empty, and the warnings about the whole
// file (fileWarnings). It gets the findings of all lines in the order of the file, puts the problems of each line in order, and
// counts everything for the Report. Check uses it as it is, and an import builds on it. It is used by the goroutine of
// pipeline.run alone.
//
// A problem takes this way:
//
//	problem   waits in line until all problems of its line are known
//	endLine   puts them in the order of their offsets
//	give      keeps a problem in early while the file may be of another kind than NDJSON
//	report    counts it, and yield hands it to the caller
type fileChecker struct {
	report Report
	yield  func(Problem) bool // gets each problem; false: it wants no more
	stop   bool               // yield wants no more
	tell   func(Progress)     // nil: nobody asks for progress

	line     []Problem                // problems of the line that is read
	pairs    map[fingerprint]struct{} // the collections of the lines before: source and id
	lines    bool                     // some line is not blank
	warnings fileWarnings

	// A file may be of another kind than NDJSON until a line is a record. Its problems wait until then.
	kind  kind      // what the file may be; zero if nothing else than NDJSON, or once a line was a record
	start int64     // offset of its first line
	early []Problem // those that wait until the kind is known
	named bool      // the kind was reported instead of them
	array array     // how far the file was read as a JSON array with an element on each line
}

// maxWaiting is how many problems of a line, or of a file that may be of another kind, wait at most. It bounds the memory of a
// check, whatever the file is.
const maxWaiting = 1000

// problem takes a problem. It waits for the others of its line: what an object lacks, for instance, is found at the end of
// the object and reported at its beginning.
func (f *fileChecker) problem(p Problem) {
	if f.warnings.note(p) {
		return
	}
	f.endLineBefore(p.Line)
	// A line with more problems than may wait is reported in portions, each in the order of its offsets.
	if len(f.line) == maxWaiting {
		f.endLine()
	}
	f.line = append(f.line, p)
}

// endLineBefore calls endLine if the problems that wait are in an earlier line than this one, so no more of them can come.
func (f *fileChecker) endLineBefore(line int64) {
	if len(f.line) > 0 && f.line[0].Line != line {
		f.endLine()
	}
}

// endLine reports the problems of a line in the order of their offsets. Problems at the same offset keep the order in which they
// were found.
func (f *fileChecker) endLine() {
	slices.SortStableFunc(f.line, func(a, b Problem) int { return cmp.Compare(a.Offset, b.Offset) })
	for _, p := range f.line {
		f.give(p)
	}
	clear(f.line)
	f.line = f.line[:0]
}

// give reports a problem. While the file may be of another kind, it keeps the problem instead, and drops it once file-kind was
// reported.
func (f *fileChecker) give(p Problem) {
	switch {
	case f.kind == kind{}: // the usual case
		f.report.add(p)
		if !f.stop {
			f.stop = !f.yield(p)
		}
	case !f.named: // otherwise p is dropped, since the kind was reported
		f.early = append(f.early, p)
		if len(f.early) == maxWaiting {
			f.nameKind()
		}
	}
}

// begin is called at the beginning of the file with the kind that it may be of, see fileKind.
func (f *fileChecker) begin(k kind, offset int64) { f.kind, f.start = k, offset }

// nameKind reports the kind of the file, at line 1, in place of the problems of its lines. Further problems are dropped as long
// as kind is set.
func (f *fileChecker) nameKind() {
	k := f.kind
	f.kind, f.early, f.named = kind{}, nil, true // without a kind, give reports at once
	f.give(ruleFileKind.problemAt(1, 1, f.start, k.message))
	f.kind = k
}

// foundRecord is called at each record, which shows that the file is of no other kind. It reports the problems that waited.
func (f *fileChecker) foundRecord() {
	early := f.early
	f.kind, f.early = kind{}, nil
	for _, p := range early {
		f.give(p)
	}
}

// end reports what is left when reading has ended. whole says that it ended at the end of the file: only then is the file known
// to be empty. Check and Import call it once, after run.
func (f *fileChecker) end(whole bool) {
	f.endLine()
	// No line was a record, so the file is taken to be of the other kind, also if it could not be read to its end.
	if f.kind != (kind{}) && !f.named {
		f.nameKind()
	}
	if whole && !f.lines && !f.stop {
		f.give(ruleFileEmpty.problemAt(1, 1, f.start, "the file is empty or has only blank lines; want a collection on each line"))
	}
	if whole && !f.stop {
		for _, p := range f.warnings.list(f.start) {
			f.give(p)
		}
	}
}

// result takes the result of a line. Its problems came before.
func (f *fileChecker) result(r lineResult) {
	f.endLineBefore(r.line)
	f.count(r, f.problem)
	f.endLine()
}

// count adds the result of a line to the report and applies the rules that span lines. It returns false if no review of the
// line is accepted, whatever their own rules say: the collection has an error, it came before in the file, the file is binary, or
// the line is taken for the last element of a JSON array. report gets the problems; an import queues them.
func (f *fileChecker) count(r lineResult, report func(Problem)) (accepted bool) {
	// Is it a collection that an earlier line has? The source and the id of a line that is no JSON are not known.
	repeated := false
	if r.paired {
		if _, repeated = f.pairs[r.pair]; !repeated {
			if f.pairs == nil {
				f.pairs = map[fingerprint]struct{}{}
			}
			f.pairs[r.pair] = struct{}{}
		} else {
			p := ruleCollectionRepeated.problem(r.line, r.offset, "", "a collection with this source and id came before in this file; put all of its reviews into one line")
			p.Column, p.Collection, p.Value = r.column, r.id, ruleCollectionRepeated.wrong(r.head)
			report(p)
		}
	}
	f.lines = true
	if f.kind.binary {
		return false
	}
	// The last element of an array looks like a record, but neither it nor its reviews count.
	if f.kind.message == kindArray {
		f.array = f.array.next(r)
		if f.array == arrayInLast {
			// This waits with the other problems. file-kind takes their place unless another record follows.
			p := ruleJSON.problem(r.line, r.offset, "", lastElement)
			p.Column, p.Collection = r.column, r.id
			report(p)
			return false
		}
	}
	// Then the record and its reviews are counted, and which of these are rejected.
	if r.record {
		f.foundRecord()
		f.report.Collections++
	}
	f.warnings.ratings += r.ratings
	f.warnings.top = max(f.warnings.top, r.top)
	f.report.Reviews += r.reviews
	if repeated || r.rejectsAll { // an error of the collection rejects all of its reviews
		f.report.Rejected += r.reviews
		if r.record {
			f.report.CollectionsRejected++
		}
		return false
	}
	f.report.Rejected += r.rejected
	if r.record && r.reviews > 0 && r.reviews == r.rejected {
		f.report.CollectionsRejected++
	}
	return true
}

// progress keeps the number of lines for the report, and tells the caller how far the file was read.
func (f *fileChecker) progress(bytes, lines int64) {
	f.report.Lines = lines
	if f.tell != nil {
		f.tell(Progress{bytes, lines, f.report.Reviews, f.report.Errors + f.report.Warnings})
	}
}

// stopped returns whether the pipeline is to read no further: the caller has left the loop over the problems.
func (f *fileChecker) stopped() bool { return f.stop }

// done returns nil: nobody gives up a check but by leaving the loop over its problems.
func (f *fileChecker) done() <-chan struct{} { return nil }
