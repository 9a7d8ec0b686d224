package reviews

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/vitrine-go/vitrine/reviews/internal/format"
)

// ReadOptions say how a file is read, by a check or an import, and who is told of its progress. The zero value works.
// Only MaxLine and Now change which problems are found.
type ReadOptions struct {
	Workers int // goroutines that check lines; 0 or less: one for each core, eight at most
	MaxLine int // bytes of a line at most (rule line-too-long); 0: 32 MiB, or Limits.Line in an import

	// LongLines, if not nil, bounds how many lines of more than 1 MiB are in memory at a time. A check or an import
	// sends a value to this channel before it reads such a line, and receives it afterwards. A server passes one
	// channel, whose capacity is the limit, to all imports. Waiting for the channel ends with the context of the
	// import.
	LongLines chan struct{}

	// Now is the clock of the rule created-future. It is called once, when reading begins. nil: the clock of the store
	// of an import, else time.Now.
	Now func() time.Time

	// Progress, if not nil, is called after each block of the file (512 KiB) with the bytes that were read of the file
	// as it was given, compressed or not, and the counts so far. A program that knows the size of the file computes a
	// percentage. It is called by the goroutine that ranges over Checker.Problems or has called Import, so it may use
	// the variables of that goroutine without a lock. A slow Progress slows the check down.
	Progress func(bytes int64, counts Counts)

	buffer int // bytes of a block. Tests set it, so that short lines count as long.
}

// Checker checks one file, once. Range over Problems to read the file, then call Report for the counts. It is used by
// one goroutine, and checks the lines on several.
type Checker struct {
	file    io.Reader // nil once a loop over Problems has begun
	reading *reading
}

// Check returns a Checker of a file in the import format: NDJSON with one collection on each line, uncompressed or
// compressed with gzip. It reads nothing yet. A check stores nothing and needs no store. Only Session.Import applies
// the two rules about stored reviews, stored-dimensions and overwrite; so does its dry run. o may be nil.
//
// The memory of a check does not grow with the file or its problems, except for about 25 bytes for each collection. The
// longest line is in memory, with the ids of its reviews.
func Check(file io.Reader, o *ReadOptions) *Checker {
	if o == nil {
		o = &ReadOptions{}
	}
	return &Checker{file, newReading(*o, true, nil)}
}

// Problems reads the file and yields its problems in the order of their offsets, and then the warnings about the whole
// file. If a line has more than a thousand problems, each thousand of them is in this order. It yields all problems,
// not only the first thousand that Report keeps.
//
// If the file could not be read to its end, the last pair has an error: that of the reader, or that of a damaged gzip
// file. Lines before the error are checked. If the loop ends early, no more of the file is read. A second loop over
// problems of the same Checker yields only an error.
func (c *Checker) Problems() iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		if c.file == nil {
			yield(Problem{}, errors.New("reviews: this checker was used before"))
			return
		}
		file, f := c.file, c.reading.checker
		c.file = nil
		c.reading.yield = func(p Problem) bool { return yield(p, nil) }
		err := f.Read(context.Background(), file)
		f.End(err == nil)
		// A loop that has ended must get nothing more, not even an error.
		if err != nil && !f.Stop {
			yield(Problem{}, err)
		}
	}
}

// Report returns the counts of what has been read so far, and the first thousand problems in it. It may also be called
// inside the loop over Problems. Created, Updated and Unchanged are 0, and DryRun is true.
func (c *Checker) Report() Report { return c.reading.total() }

// reading is a file that is read, by a check or an import, and what is reported of it.
type reading struct {
	checker *format.Checker
	report  Report             // without the counts of the checker
	late    int                // how many of its problems are warnings about the whole file, which come last
	yield   func(Problem) bool // gets each problem; returns false to stop
}

func newReading(o ReadOptions, dryRun bool, yield func(Problem) bool) *reading {
	r := &reading{report: Report{Counts: Counts{DryRun: dryRun}, Problems: []Problem{}}, yield: yield}
	r.checker = &format.Checker{Workers: o.Workers, MaxLine: o.MaxLine, Buffer: o.buffer, LongLines: o.LongLines,
		Now: o.Now, Found: r.found}
	if o.Progress != nil {
		r.checker.Progress = func(bytes int64) { o.Progress(bytes, r.total().Counts) }
	}
	return r
}

// found adds a problem to the counts and, if there is room, to the problems of the report; otherwise it sets
// ProblemsTruncated. The warnings about the whole file come last and matter more than one problem of many, so they
// replace others if there is no room.
func (r *reading) found(f format.Problem) {
	p, list := problemOf(f), r.report.Problems
	if f.Rule.Rejects() {
		r.report.Errors++
	} else {
		r.report.Warnings++
	}
	if f.Rule >= format.RuleScale {
		r.late++
	}
	full := len(list) == maxReported
	if full && r.late > 0 {
		list = slices.Delete(slices.Clone(list), maxReported-r.late, maxReported-r.late+1)
	}
	if r.report.ProblemsTruncated = full; !full || r.late > 0 {
		r.report.Problems = append(list, p)
	}
	r.checker.Stop = r.checker.Stop || !r.yield(p)
}

// total returns the report with the counts of the checker.
func (r *reading) total() Report {
	out, c := r.report, r.checker.Counts
	out.Add(Counts{Lines: c.Lines, Collections: c.Collections, CollectionsRejected: c.CollectionsRejected,
		Reviews: c.Reviews, ReviewsRejected: c.ReviewsRejected})
	return out
}
