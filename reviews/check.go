package reviews

import (
	"errors"
	"io"
	"iter"
)

// Options say how a file is read. The zero value works.
type Options struct {
	Workers int    // goroutines that check lines; 0: one for each core, eight at most
	TempDir string // where lines that are too long for memory are written; "": the directory of the system
	Spool   *Spool // bounds the temporary files of several imports together; nil: no bound
	Gate    *Gate  // bounds how many imports hold a large review in memory at a time; nil: no bound

	// Progress, if not nil, is called now and then by the goroutine that reads the problems.
	Progress func(Progress)

	// Tests set these to reach a limit with a small file. 0 is the usual limit.
	buffer       int   // bytes of a block
	uncompressed int64 // bytes of a temporary file that are not compressed
	limit        int   // bytes of JSON that are stored of a review, or of a collection without its reviews
}

// Checker checks one file. Check returns it.
type Checker struct {
	file        io.Reader
	options     Options
	fileChecker fileChecker
}

// Check returns a Checker of a file in the import format: NDJSON with one collection on each line, as it is or compressed
// with gzip. A check stores nothing and needs no store. It leaves the one rule about stored reviews, stored-dimensions,
// to Service.Import.
//
// The memory of a check does not grow with the file, its lines or its problems, except for some 16 bytes for each
// collection, and for each review of the line that is read. A review, or a member of a collection, is in memory while it
// is checked, up to 16 MiB of it.
func Check(file io.Reader, o *Options) *Checker {
	c := &Checker{file: file}
	if o != nil {
		c.options = *o
	}
	c.fileChecker.report.Problems = []Problem{}
	c.fileChecker.report.DryRun = true
	return c
}

// Problems reads the file and yields its problems in the order of their offsets. If a line has more than a thousand, each
// thousand of them is in this order. An error means that the file could not be read on; it comes last. A second call of
// Problems yields only an error.
func (c *Checker) Problems() iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		if c.file == nil {
			yield(Problem{}, errors.New("reviews: this checker was used before"))
			return
		}
		file := c.file
		c.file = nil
		c.fileChecker.yield = func(p Problem) bool { return yield(p, nil) }
		c.fileChecker.tell = c.options.Progress
		err := newPipeline(c.options, false, &c.fileChecker).run(file)
		c.fileChecker.end(err == nil)
		if err != nil && !c.fileChecker.stop {
			yield(Problem{}, err)
		}
	}
}

// Report returns the counts of what was read so far, and its first problems.
func (c *Checker) Report() Report { return c.fileChecker.report }
