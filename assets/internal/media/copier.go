package media

import (
	"bufio"
	"bytes"
	"io"

	"github.com/vitrine-go/vitrine/internal/fault"
)

// copier reads a file from its beginning to its end, writes what stays of it, and notes what it says of itself. After
// an error nothing more is read and written, and zeros stand for what was to be read.
type copier struct {
	format string // for errors, for example "JPEG"
	r      *bufio.Reader
	w      *bufio.Writer
	info   Info
	err    error
}

// maxTake is how many bytes take and peek return at most. It is more than a segment of a JPEG has.
const maxTake = 1 << 16

func newCopier(format string, w io.Writer, r io.Reader) *copier {
	return &copier{format: format, r: bufio.NewReaderSize(r, maxTake), w: bufio.NewWriterSize(w, maxTake),
		info: Info{Orientation: 1}}
}

// done returns what the file says of itself, and the first error.
func (c *copier) done() (Info, error) {
	if c.err == nil {
		c.err = c.w.Flush()
	}
	return c.info, c.err
}

// fail notes an error if it is the first one. Of a file that ends early it makes one that says so.
func (c *copier) fail(err error) {
	if err == io.EOF {
		err = fault.NotApplicable("", "the %s ends early: the last of its bytes are missing, so send the whole file",
			c.format)
	}
	if c.err == nil {
		c.err = err
	}
}

// damaged notes the error of a file that breaks the rules of its format.
func (c *copier) damaged(format string, args ...any) {
	e := fault.NotApplicable("", format, args...)
	e.Reason = "the " + c.format + " is damaged: " + e.Reason
	c.fail(e)
}

// head returns the next n bytes, or fewer at the end of the file. They are valid until the next call.
func (c *copier) head(n int) []byte {
	if c.err != nil {
		return nil
	}
	b, err := c.r.Peek(n)
	if err != io.EOF {
		c.fail(err)
	}
	return b
}

// peek returns the next n bytes. They are valid until the next call.
func (c *copier) peek(n int) []byte {
	b := c.head(n)
	if len(b) < n {
		c.fail(io.EOF)
		return make([]byte, n)
	}
	return b
}

// take is peek, and goes on behind these bytes.
func (c *copier) take(n int) []byte {
	b := c.peek(n)
	if c.err == nil {
		c.r.Discard(n) // has them already
	}
	return b
}

// pass writes the next n bytes to w.
func (c *copier) pass(n int64, w io.Writer) {
	for n > 0 && c.err == nil {
		c.peek(1) // fills the buffer if it is empty
		b := c.take(int(min(n, int64(c.r.Buffered()))))
		n -= int64(len(b))
		if c.err == nil {
			_, err := w.Write(b)
			c.fail(err)
		}
	}
}

// copy copies the next n bytes, skip leaves them out, and blank writes zeros for them.
func (c *copier) copy(n int64) { c.pass(n, c.w) }
func (c *copier) skip(n int64) { c.pass(n, io.Discard) }

func (c *copier) blank(n int64) {
	c.skip(n)
	c.zeros(n)
}

// tee copies the next n bytes, and returns them.
func (c *copier) tee(n int64) []byte {
	var b bytes.Buffer
	c.pass(n, io.MultiWriter(c.w, &b))
	return b.Bytes()
}

// rest copies what is left of the file.
func (c *copier) rest() {
	if c.err == nil {
		_, err := io.Copy(c.w, c.r)
		c.fail(err)
	}
}

var zeroBytes [4096]byte

// zeros writes n zeros.
func (c *copier) zeros(n int64) {
	for ; n > 0 && c.err == nil; n -= int64(len(zeroBytes)) {
		c.write(zeroBytes[:min(n, int64(len(zeroBytes)))])
	}
}

// big returns the number in b whose first byte is the highest.
func big(b []byte) (number int64) {
	for _, digit := range b {
		number = number<<8 | int64(digit)
	}
	return number
}

// little returns the number in b whose first byte is the lowest.
func little(b []byte) (number int64) {
	for i, digit := range b {
		number |= int64(digit) << (8 * i)
	}
	return number
}

// write writes all parts.
func (c *copier) write(parts ...[]byte) {
	for _, part := range parts {
		if c.err == nil {
			_, err := c.w.Write(part)
			c.fail(err)
		}
	}
}
