package reviews

import (
	"bufio"
	"bytes"
	"io"
	"sync/atomic"

	"github.com/vitrine-go/vitrine/internal/gunzip"
)

// lines cuts a file, unpacked if it is compressed, into stretches of whole lines.
type lines struct {
	in     counted
	r      io.Reader // unpacked
	head   []byte    // what the file begins with, up to maxLook bytes
	carry  []byte    // read already, after the last stretch
	offset int64     // of the next stretch
	number int64     // of the line that begins it
	over   bool
	err    error // of r; comes after the lines before it
}

type counted struct {
	r io.Reader
	n atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

const bom = "\xef\xbb\xbf"

func newLines(r io.Reader) (*lines, error) {
	l := &lines{number: 1}
	l.in.r = r
	buffered := bufio.NewReader(&l.in)
	if head, _ := buffered.Peek(len(gunzip.Magic)); string(head) == gunzip.Magic {
		unzip, err := gunzip.NewReader(buffered)
		if err != nil {
			return nil, err
		}
		buffered = bufio.NewReader(unzip)
	}
	if head, _ := buffered.Peek(len(bom)); string(head) == bom {
		buffered.Discard(len(bom))
		l.offset = int64(len(bom))
	}
	head := make([]byte, maxLook)
	n, err := io.ReadFull(buffered, head)
	l.head = head[:n]
	var rest io.Reader = buffered
	switch err {
	case nil:
	case io.ErrUnexpectedEOF:
		rest = ended{io.EOF}
	default:
		rest = ended{err}
	}
	l.r = io.MultiReader(bytes.NewReader(l.head), rest)
	return l, nil
}

// ended is a reader at its end, which is not asked again.
type ended struct{ err error }

func (e ended) Read([]byte) (int, error) { return 0, e.err }

// stretch is a piece of the file.
type stretch struct {
	data   []byte
	offset int64
	number int64 // of its first line
	lines  int64
	long   bool // data is the beginning of one line that is longer than the buffer
}

// next reads a stretch of whole lines into buf, or the beginning of a line that does not fit; then
// rest and skipLine read on. An empty stretch is the end.
func (l *lines) next(buf []byte) stretch {
	n := copy(buf, l.carry)
	l.carry = l.carry[:0]
	for n < len(buf) && !l.over {
		var m int
		m, l.err = l.r.Read(buf[n:])
		l.over = l.err != nil
		n += m
	}
	s := stretch{data: buf[:n], offset: l.offset, number: l.number}
	if !l.over || l.failed() {
		cut := bytes.LastIndexByte(s.data, '\n') + 1
		if cut == 0 && !l.failed() {
			s.long = true
			return s
		}
		l.carry = append(l.carry[:0], s.data[cut:]...)
		s.data = s.data[:cut]
	}
	s.lines = int64(bytes.Count(s.data, []byte{'\n'}))
	if len(s.data) > 0 && s.data[len(s.data)-1] != '\n' {
		s.lines++
	}
	l.offset += int64(len(s.data))
	l.number += s.lines
	return s
}

// failed says whether reading ended for another reason than the end of the file.
func (l *lines) failed() bool { return l.over && l.err != io.EOF }

// restOfLine is the rest of a line that is longer than the buffer.
type restOfLine struct {
	*lines
	watch   func() error // called at each step; an error ends it
	most    int          // bytes of a step: what is behind the line must fit into the next stretch
	read    int64
	done    bool
	newline bool
}

// Read reads up to the end of the line.
func (l *restOfLine) Read(p []byte) (n int, err error) {
	if l.done {
		return 0, io.EOF
	}
	if l.over {
		l.done = true
		return 0, l.err
	}
	if err := l.watch(); err != nil {
		return 0, err
	}
	n, l.err = l.r.Read(p[:min(len(p), l.most)])
	l.over = l.err != nil
	if end := bytes.IndexByte(p[:n], '\n'); end >= 0 {
		l.carry = append(l.carry[:0], p[end+1:n]...)
		l.done, l.newline = true, true
		n = end
	}
	l.read += int64(n)
	return n, nil
}

// finish reads over what is left of the line that began with s.
func (l *restOfLine) finish(s stretch) {
	for err := error(nil); err == nil; {
		_, err = l.Read(s.data)
	}
	l.offset += int64(len(s.data)) + l.read
	l.number++
	if l.newline {
		l.offset++
	}
}
