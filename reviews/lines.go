package reviews

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"sync/atomic"

	"github.com/vitrine-go/vitrine/internal/gunzip"
)

// lines cuts a file into blocks of whole lines. It decompresses a file that is compressed with gzip, and skips a byte order
// mark. Lines end with LF, and the last one may end with the file. A CR before the LF is white space of the line. Offsets and
// line numbers are those of the uncompressed file.
//
// A block is given to a worker while the next one is read, so next copies what it has read after the last whole line to carry,
// and from there into the next block:
//
//	buffer   {"source":…}LF {"source":…}LF {"sou
//	         └─────────── block ─────────┘ └ carry
type lines struct {
	in     counted
	r      io.Reader // the decompressed file
	head   []byte    // its first maxLook bytes
	carry  []byte    // what was read after the last block
	offset int64     // of the next block
	number int64     // of the first line of the next block
	ended  bool      // r has ended, or failed
	err    error     // of r, once it has ended; io.EOF at the end of the file
}

// counted counts the bytes that are read, for Progress. Another goroutine may ask for the number.
type counted struct {
	r io.Reader
	n atomic.Int64
}

// Read reads, and counts what was read.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// bom is the byte order mark U+FEFF in UTF-8, with which some programs begin a file. It is skipped at the beginning of the file
// only: offsets count it, and columns do not. Elsewhere it is a fault outside of strings, and text in them.
const bom = "\xef\xbb\xbf"

// newLines begins to read a file. It returns an error if the file begins like gzip and its gzip header is damaged. Any other
// error of reading, also inside compressed data, shows after the lines that were read before it, see failed.
func newLines(r io.Reader) (*lines, error) {
	// Progress counts the bytes as they are given, before they are decompressed.
	l := &lines{number: 1}
	l.in.r = r
	buffered := bufio.NewReader(&l.in)
	if isGzip(buffered) {
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
	// The beginning of the file shows of what kind it may be, see fileKind. It is read here and once more by next.
	head := make([]byte, maxLook)
	n, err := io.ReadFull(buffered, head)
	l.head = head[:n]
	var rest io.Reader = buffered
	switch err {
	case nil:
	case io.ErrUnexpectedEOF:
		rest = endedReader{io.EOF}
	default:
		rest = endedReader{err}
	}
	l.r = io.MultiReader(bytes.NewReader(l.head), rest)
	return l, nil
}

// endedReader is a reader that has ended with an error, which it returns again and again. An io.Reader need not do that, and
// lines may read after the end.
type endedReader struct{ err error }

// Read reads nothing, and returns the error.
func (e endedReader) Read([]byte) (int, error) { return 0, e.err }

// block is some whole lines of the file, or the beginning of a line that is longer than the buffer. Its data is in the buffer that
// lines.next was given.
type block struct {
	data   []byte
	offset int64 // of data in the uncompressed file
	number int64 // of the first line, from 1; blank lines count
	long   bool  // data is the beginning of a line
}

// next reads a block into buf. If the next line does not fit into buf, the block is its beginning, and rest reads on. A block without
// data is the end of what can be read: the end of the file, or an error, see failed. If reading fails inside a line, the beginning of
// that line is dropped, since its rest might make another record of it.
func (l *lines) next(buf []byte) block {
	// Fill the buffer: with what was read after the block before, and then from the file.
	n := 0
	for n < len(buf) && !l.atEnd() {
		n += l.read(buf[n:])
	}
	// Cut it after its last newline. At the end of the file the last line is whole without one.
	b := block{data: buf[:n], offset: l.offset, number: l.number}
	if !l.atEnd() || l.failed() {
		cut := bytes.LastIndexByte(b.data, '\n') + 1
		if cut == 0 && !l.atEnd() {
			b.long = true
			return b
		}
		l.carry = append(bytes.Clone(b.data[cut:]), l.carry...)
		b.data = b.data[:cut]
	}
	// The next block begins after this one. A last line without a newline counts too.
	l.offset += int64(len(b.data))
	l.number += int64(bytes.Count(b.data, []byte{'\n'}))
	if len(b.data) > 0 && b.data[len(b.data)-1] != '\n' {
		l.number++
	}
	return b
}

// atEnd returns whether there is nothing left to read.
func (l *lines) atEnd() bool { return l.ended && len(l.carry) == 0 }

// read reads what was carried, or once from the file.
func (l *lines) read(p []byte) int {
	if len(l.carry) > 0 {
		n := copy(p, l.carry)
		l.carry = l.carry[n:]
		return n
	}
	n, err := l.r.Read(p)
	if err != nil {
		l.ended, l.err = true, err
	}
	return n
}

// rest reads the rest of the line that begins with a block, and moves to the next line. It returns the line without its newline. A line
// of more than most bytes is read over, and tooLong is true. watch is called before each read with what was read of the line, and its
// error ends the reading, as that of the file does.
func (l *lines) rest(b block, most int, watch func(size int) error) (line []byte, tooLong bool, err error) {
	line = append(make([]byte, 0, 2*len(b.data)), b.data...)
	size := len(line)
	for ended := false; !ended; {
		if l.atEnd() {
			if l.failed() {
				return nil, false, l.err
			}
			break
		}
		if err := watch(size); err != nil {
			return nil, false, err
		}
		if tooLong = tooLong || size > most; tooLong {
			line = line[:0]
		} else {
			line = slices.Grow(line, len(b.data))
		}
		part := line[len(line) : len(line)+len(b.data)]
		n := l.read(part)
		if end := bytes.IndexByte(part[:n], '\n'); end >= 0 {
			l.carry = append(bytes.Clone(part[end+1:n]), l.carry...)
			n, ended = end, true
			l.offset++
		}
		line, size = line[:len(line)+n], size+n
	}
	l.offset += int64(size)
	l.number++
	return line, tooLong || size > most, nil
}

// failed returns whether reading has ended before the end of the file.
func (l *lines) failed() bool { return l.ended && l.err != io.EOF }
