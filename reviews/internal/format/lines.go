package format

import (
	"bufio"
	"bytes"
	"io"
	"slices"

	"github.com/vitrine-go/vitrine/internal/gunzip"
)

// lines splits a file into blocks of whole lines. It decompresses a file that is compressed with gzip, and skips a byte
// order mark. Lines end with LF, and the last one may end with the file. A CR before the LF is white space of the line.
// Offsets and line numbers are those of the uncompressed file.
type lines struct {
	counted
	plain  *bufio.Reader // the decompressed file
	kind   kind          // what the file may be
	size   int           // bytes of a block
	most   int           // the maximum length of a line in bytes
	offset int64         // of the next block
	number int64         // of the first line of the next block
	skips  bool          // next begins with the rest of a line that was too long
	err    error         // the error of plain after its end; io.EOF at the end of the file
}

// counted counts the bytes that were read, for Progress. After an error it stops reading.
type counted struct {
	file   io.Reader
	read   int64
	failed error
}

// Read reads bytes and counts them.
func (c *counted) Read(p []byte) (n int, err error) {
	if c.failed == nil {
		n, c.failed = c.file.Read(p)
		c.read += int64(n)
	}
	return n, c.failed
}

// bom is the byte order mark U+FEFF in UTF-8, with which some programs begin a file. It is skipped only at the
// beginning of the file: offsets count it, and columns do not. Elsewhere it is text inside strings, and a fault outside
// of them.
const bom = "\xef\xbb\xbf"

// readAtOnce is the number of bytes that one Read asks for.
const readAtOnce = 64 << 10

// newLines begins to read a file, in blocks of size bytes. It returns an error if the file has a damaged gzip header.
// Any other error of reading, also inside compressed data, is returned after the lines before it.
func newLines(file io.Reader, size, most int) (*lines, error) {
	l := &lines{counted: counted{file: file}, size: size, most: most, number: 1}
	var err error
	if l.plain, l.offset, err = PlainText(&l.counted); err != nil {
		return nil, err
	}
	head, _ := l.plain.Peek(maxLook)
	l.kind = fileKind(head)
	return l, nil
}

// PlainText decompresses a file that is compressed with gzip, and skips a byte order mark. offset is the number of
// bytes that it has skipped.
func PlainText(file io.Reader) (plain *bufio.Reader, offset int64, err error) {
	if plain, err = gunzip.Unpacked(bufio.NewReaderSize(file, readAtOnce)); err != nil {
		return nil, 0, err
	}
	if head, _ := plain.Peek(len(bom)); string(head) == bom {
		plain.Discard(len(bom))
		offset = int64(len(bom))
	}
	return plain, offset, nil
}

// block is a number of whole lines of the file.
type block struct {
	data    []byte
	offset  int64 // of data in the uncompressed file
	number  int64 // of the first line, from 1; blank lines count
	tooLong bool  // data is followed by a line that is longer than the limit
}

// next reads a block into buf: size bytes and the rest of their last line. A block without lines means that nothing
// more can be read; err has the reason. If reading fails inside a line, its beginning is dropped, since a part of a
// line could be a different record.
//
// While reading a line that is longer than a block, next calls longer with the bytes read so far, and stops if longer
// returns false.
func (l *lines) next(buf []byte, longer func(size int) bool) block {
	for l.skips {
		if _, last := l.part(); last {
			l.skips = false
			l.number++
		}
		if !longer(0) {
			return block{}
		}
	}
	b := block{data: slices.Grow(buf[:0], l.size+readAtOnce)[:l.size], offset: l.offset, number: l.number}
	n, err := io.ReadFull(l.plain, b.data)
	if l.err = err; err == io.ErrUnexpectedEOF {
		l.err = io.EOF
	}
	b.data = b.data[:n]
	l.offset += int64(n)
	l.number += int64(bytes.Count(b.data, []byte{'\n'}))
	begin := bytes.LastIndexByte(b.data, '\n') + 1 // where the incomplete line begins
	for l.err == nil && begin < len(b.data) && !b.tooLong {
		part, last := l.part()
		b.data = append(b.data, part...)
		switch size := len(b.data) - begin; {
		case last && l.err == nil:
			begin = len(b.data)
			l.number++
		case last:
		case size > max(l.most, l.size):
			l.skips, b.tooLong = true, true
		case size >= l.size && !longer(size):
			return block{}
		}
	}
	if l.err == io.EOF && begin < len(b.data) { // the last line of a file may lack the line end
		begin = len(b.data)
		l.number++
	}
	b.data = b.data[:begin]
	return b
}

// part reads a part of a line, and returns whether it is the last one. The last line may end with the file, or with an
// error.
func (l *lines) part() (part []byte, last bool) {
	part, err := l.plain.ReadSlice('\n')
	l.offset += int64(len(part))
	if err == bufio.ErrBufferFull {
		return part, false
	}
	l.err = err
	return part, true
}
