package reviews

import (
	"bufio"
	"errors"
	"io"
)

// Rejects copies the lines of a file that had an error, so that they can be mended and imported again. It reads
// the file a second time, beside the check or the import that finds the problems, and holds no more than a buffer of it.
type Rejects struct {
	file io.Reader
	in   *bufio.Reader
	to   *bufio.Writer
	next int64 // number of the line that in reads next
	err  error
}

// NewRejects returns Rejects that read file, as it is or compressed with gzip, from its beginning, and write to to.
func NewRejects(file io.Reader, to io.Writer) *Rejects {
	return &Rejects{file: file, to: bufio.NewWriterSize(to, 64<<10), next: 1}
}

// Add writes the line that a problem is in, unless the problem is a warning, or the line was written for an earlier problem. The
// line comes as it is in the file, without a byte order mark, and ends with LF also where the file does not.
// Problems are given in the order of their lines. A file of another kind, which is one problem, has no line to mend.
func (r *Rejects) Add(p Problem) {
	if p.Severity != SeverityError || p.Rule == rules[ruleFileKind].ID || p.Line < r.next || r.err != nil {
		return
	}
	if r.in == nil {
		lines, err := newLines(r.file)
		if r.err = err; err != nil {
			return
		}
		r.in = bufio.NewReaderSize(lines.r, 64<<10)
	}
	for ; r.next <= p.Line && r.err == nil; r.next++ {
		r.err = r.line(r.next == p.Line)
	}
}

// line reads the next line and writes it if it is wanted.
func (r *Rejects) line(wanted bool) error {
	ended := false
	for !ended {
		part, err := r.in.ReadSlice('\n')
		ended = err != bufio.ErrBufferFull
		if err != nil && ended && err != io.EOF {
			return err
		}
		if !wanted {
			continue
		}
		if _, err := r.to.Write(part); err != nil {
			return err
		}
		if err == io.EOF {
			return r.to.WriteByte('\n')
		}
	}
	return nil
}

// End writes what is not written yet, and returns the first error of reading or writing.
func (r *Rejects) End() error { return errors.Join(r.err, r.to.Flush()) }
