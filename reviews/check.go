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

// Check returns a checker of a file in the import format (contract, section 4.3): NDJSON, one
// collection a line, as it is or compressed with gzip. It stores nothing and needs no store, so the
// rules that look at stored reviews are left to Service.Import. Memory does not grow with the
// file, its lines or its problems, but for some 16 bytes a collection and, within a line, a review.
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
		c.results.settle()
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
		r.report.add(p)
		if !r.stop {
			r.stop = !r.out(p)
		}
	}
	clear(r.held)
	r.held = r.held[:0]
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
			report(ruleCollectionRepeated.problem(b.line, b.offset, "", "a collection with this source and id came before in this file"))
		}
	}
	if b.first && b.record {
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
