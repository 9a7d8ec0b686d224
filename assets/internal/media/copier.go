package media

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/vitrine-go/vitrine/internal/fault"
)

// copier reads a file from its beginning to its end, and writes what stays of it.
type copier struct {
	format string // for errors, for example "JPEG"
	r      *bufio.Reader
	w      *bufio.Writer
}

// maxTake is how many bytes take and peek return at most. It is more than a segment of a JPEG has.
const maxTake = 1 << 16

func newCopier(format string, w io.Writer, r io.Reader) *copier {
	return &copier{format, bufio.NewReaderSize(r, maxTake), bufio.NewWriterSize(w, maxTake)}
}

// peek returns the next n bytes, which are valid until the next call of a method that reads.
func (c *copier) peek(n int) ([]byte, error) {
	b, err := c.r.Peek(n)
	return b, c.readError(err)
}

// take is peek, and goes on behind these bytes.
func (c *copier) take(n int) ([]byte, error) {
	b, err := c.peek(n)
	if err == nil {
		_, err = c.r.Discard(n)
	}
	return b, err
}

// skip leaves out the next n bytes.
func (c *copier) skip(n int64) error {
	_, err := io.CopyN(io.Discard, c.r, n)
	return c.readError(err)
}

// copy copies the next n bytes.
func (c *copier) copy(n int64) error {
	_, err := io.CopyN(c.w, c.r, n)
	return c.readError(err)
}

// tee copies the next n bytes, and returns them.
func (c *copier) tee(n int64) ([]byte, error) {
	var b bytes.Buffer
	_, err := io.CopyN(io.MultiWriter(c.w, &b), c.r, n)
	return b.Bytes(), c.readError(err)
}

// zeros writes n zeros.
func (c *copier) zeros(n int64) error {
	_, err := io.CopyN(c.w, zeroReader{}, n)
	return err
}

// blank writes a zero for each of the next n bytes.
func (c *copier) blank(n int64) error {
	if err := c.skip(n); err != nil {
		return err
	}
	return c.zeros(n)
}

// write writes all parts.
func (c *copier) write(parts ...[]byte) error {
	for _, part := range parts {
		if _, err := c.w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// readError returns the error of a file that ends too early, and other errors as they are.
func (c *copier) readError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.NotApplicable("", "the %s ends early: the last of its bytes are missing, so send the whole file",
			c.format)
	}
	return err
}

// damaged is the error of a file that breaks the rules of its format.
func (c *copier) damaged(format string, args ...any) error {
	return damaged(c.format, format, args...)
}

func damaged(file, format string, args ...any) error {
	e := fault.NotApplicable("", format, args...)
	e.Reason = "the " + file + " is damaged: " + e.Reason
	return e
}

type zeroReader struct{}

func (zeroReader) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
