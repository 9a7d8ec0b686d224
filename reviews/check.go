package reviews

import (
	"cmp"
	"errors"
	"io"
	"iter"
	"slices"
)

// Options are how a file is read; the zero value works.
type Options struct {
	Workers int    // cores that check; 0: all, up to eight
	TempDir string // for lines that are too long for memory; "": that of the system
	Spool   *Spool // bounds what these take together with those of other imports; nil: nothing does
	Gate    *Gate  // bounds how many imports hold a large review in memory at a time; nil: nothing does

	// Progress, if not nil, is called now and then by the goroutine that reads the findings.
	Progress func(Progress)

	// For tests, 0 else.
	buffer int   // bytes of a stretch
	plain  int64 // bytes of a temporary file that are not compressed
	limit  int   // bytes of JSON that are stored of a review, or of a collection without its reviews
}

// Checker checks one file.
type Checker struct {
	file    io.Reader
	options Options
	results results
}

// Check returns a checker of a file in the import format: NDJSON, one
// collection a line, as it is or compressed with gzip. It stores nothing and needs no store, so the
// rules that look at stored reviews are left to Service.Import. Memory does not grow with the
// file, its lines or its problems, but for some 16 bytes a collection and, within a line, a review. A review, or a member of a
// collection, is in memory while it is checked, 16 MiB of it at most.
func Check(file io.Reader, o *Options) *Checker {
	c := &Checker{file: file}
	if o != nil {
		c.options = *o
	}
	c.results.report.Problems = []Problem{}
	c.results.report.DryRun = true
	return c
}

// Problems reads the file and yields its problems in the order of their offsets; of a line with very
// many, a thousand at a time are put in order. An error says that the file could not be read on, and
// is the last. Problems can be called once.
func (c *Checker) Problems() iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		if c.file == nil {
			yield(Problem{}, errors.New("reviews: this checker was used before"))
			return
		}
		file := c.file
		c.file = nil
		c.results.out = func(p Problem) bool { return yield(p, nil) }
		c.results.tell = c.options.Progress
		p := newPipeline(c.options, false, &c.results)
		err := p.run(file)
		c.results.end(err == nil)
		if err != nil && !c.results.stop {
			yield(Problem{}, err)
		}
	}
}

// Report gives the counts of what was read so far.
func (c *Checker) Report() Report { return c.results.report }

// results counts the findings of a file and judges what one line alone cannot tell.
type results struct {
	report   Report
	pairs    set // collections met
	repeated bool
	held     []Problem          // of one line, not told yet
	out      func(Problem) bool // false: no more
	stop     bool
	tell     func(Progress)

	// Of a file that may be of another kind, no problem is told before a record was found.
	kind  string    // what it may be; "" once a record was found
	start int64     // where its first line begins
	early []Problem // of its lines
	named bool      // kind was told instead
	array array     // how far it was read as a JSON array with an element on each line
	lines bool      // some line is not blank
}

// maxHeld is how many problems of a line are put in order at once.
const maxHeld = 1000

// problem holds a problem until those of its line are known: what an object lacks, for instance, is
// found at its end and reported at its beginning.
func (r *results) problem(p Problem) {
	r.settleBefore(p.Line)
	if len(r.held) == maxHeld {
		r.settle()
	}
	r.held = append(r.held, p)
}

// settleBefore tells the problems of the lines before this one.
func (r *results) settleBefore(line int64) {
	if len(r.held) > 0 && r.held[0].Line != line {
		r.settle()
	}
}

func (r *results) settle() {
	slices.SortStableFunc(r.held, func(a, b Problem) int { return cmp.Compare(a.Offset, b.Offset) })
	for _, p := range r.held {
		r.give(p)
	}
	clear(r.held)
	r.held = r.held[:0]
}

// give tells a problem, or keeps it while the file may be of another kind.
func (r *results) give(p Problem) {
	switch {
	case r.kind == "":
		r.report.add(p)
		if !r.stop {
			r.stop = !r.out(p)
		}
	case !r.named:
		if r.early = append(r.early, p); len(r.early) == maxHeld {
			r.nameKind()
		}
	}
}

func (r *results) begin(kind string, offset int64) { r.kind, r.start = kind, offset }

// nameKind tells what the file is instead of what is wrong with its lines.
func (r *results) nameKind() {
	kind := r.kind
	r.kind, r.early, r.named = "", nil, true
	r.give(ruleFileKind.problemAt(1, 1, r.start, kind))
	r.kind = kind
}

// record takes note that a line is a record, so that the file is of the right kind.
func (r *results) record() {
	if r.kind == "" {
		return
	}
	early := r.early
	r.kind, r.early = "", nil
	for _, p := range early {
		r.give(p)
	}
}

// end tells what is left when the file was read, up to its end or not.
func (r *results) end(whole bool) {
	r.settle()
	if r.kind != "" && !r.named {
		r.nameKind()
	}
	if whole && !r.lines && !r.stop {
		r.give(ruleFileEmpty.problemAt(1, 1, r.start, "the file is empty; want a collection on each line"))
	}
}

func (r *results) batch(b batch) {
	r.settleBefore(b.line)
	r.count(b, r.problem)
}

// count adds a batch to the report and says whether what it accepted stays accepted.
func (r *results) count(b batch, report func(Problem)) bool {
	if b.first {
		r.repeated = b.paired && !r.pairs.add(b.pair)
		if r.repeated {
			p := ruleCollectionRepeated.problem(b.line, b.offset, "", "a collection with this source and id came before in this file; put all of its reviews into one line")
			p.Column, p.Collection, p.Value = b.column, b.id, ruleCollectionRepeated.wrong(b.head)
			report(p)
		}
	}
	r.lines = true
	if b.first && r.kind == kindArray {
		if r.array = r.array.next(b); r.array == arrayInLast {
			p := ruleJSON.problem(b.line, b.offset, "", lastElement)
			p.Column, p.Collection = b.column, b.id
			report(p)
		}
	}
	if r.array == arrayInLast {
		return false
	}
	if b.first && b.record {
		r.record()
		r.report.Collections++
	}
	r.report.Reviews += b.reviews
	if r.repeated || b.refused {
		r.report.Rejected += b.reviews
		return false
	}
	r.report.Rejected += b.rejected
	return true
}

func (r *results) progress(bytes, lines int64) {
	r.report.Lines = lines
	if r.tell != nil {
		r.tell(Progress{bytes, lines, r.report.Reviews, r.report.Errors + r.report.Warnings})
	}
}

func (r *results) stopped() bool { return r.stop }
