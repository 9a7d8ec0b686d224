package reviews

import (
	"bufio"
	"errors"
	"io"

	"github.com/vitrine-go/vitrine/internal/required"
	"github.com/vitrine-go/vitrine/reviews/internal/format"
)

// Rejects copies the lines of a file that have an error, so that people can correct and import them again. It reads the
// file a second time, while a check or an import finds the problems, and keeps only a buffer of it in memory.
//
//	rejects := reviews.NewRejects(again, to) // again: the same file, opened once more
//	report, err := service.As(caller).Import(ctx, reviews.ImportRequest{File: file, Problem: rejects.Add})
//	err = errors.Join(err, rejects.End())
//
// A line with one bad review is copied whole. Importing it again reports its good reviews as unchanged. Rejects is used
// by one goroutine.
type Rejects struct {
	file io.Reader
	in   *bufio.Reader // nil before the first line is wanted
	to   *bufio.Writer
	next int64 // number of the line that in reads next
	err  error // the first error of reading or writing
}

// NewRejects returns Rejects that read file, as it is or compressed with gzip, from its beginning, and write to to. It
// panics if one of them is nil.
func NewRejects(file io.Reader, to io.Writer) *Rejects {
	required.Argument("reviews.NewRejects", "file", file)
	required.Argument("reviews.NewRejects", "writer", to)
	return &Rejects{file: file, to: bufio.NewWriterSize(to, 64<<10), next: 1}
}

// Add writes the line of a problem. It writes a line once, and not for a warning. The line is unchanged, except that it
// has no byte order mark and always ends with LF. Problems must come in the order of their lines. A problem of the rule
// file-kind is about the whole file, so no line is written for it. After an error of reading or writing, Add does
// nothing; End returns that error.
func (r *Rejects) Add(p Problem) {
	if p.Severity != SeverityError || p.Rule == format.Rules[format.RuleFileKind].ID || p.Line < r.next ||
		r.err != nil {
		return
	}
	// The file is read only if there is something to write.
	if r.in == nil {
		plain, _, err := format.PlainText(r.file)
		if err != nil {
			r.err = err
			return
		}
		r.in = bufio.NewReaderSize(plain, 64<<10)
	}
	// Skip the lines before this one.
	for ; r.next <= p.Line && r.err == nil; r.next++ {
		r.err = r.line(r.next == p.Line)
	}
}

// line reads the next line, in parts of the size of the buffer, and writes it if it is wanted. At the end of the file
// it writes the missing LF.
func (r *Rejects) line(wanted bool) error {
	// ErrBufferFull means that the line is longer than the buffer and continues.
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

// End writes the rest of the buffer, and returns the first error of reading or writing, if any. It closes neither file.
func (r *Rejects) End() error { return errors.Join(r.err, r.to.Flush()) }
