package reviews

import (
	"bufio"
	"bytes"
	"io"
	"slices"

	"github.com/vitrine-go/vitrine/internal/gunzip"
)

// lines cuts a file into blocks of whole lines. It decompresses a file that is compressed with gzip, and skips a byte order
// mark. Lines end with LF, and the last one may end with the file. A CR before the LF is white space of the line. Offsets and
// line numbers are those of the uncompressed file.
type lines struct {
	counted
	plain  *bufio.Reader // the decompressed file
	kind   kind          // what the file may be
	size   int           // bytes of a block
	most   int           // bytes of a line that is not too long
	carry  []byte        // what was read after the last block
	offset int64         // of the next block
	number int64         // of the first line of the next block
	skips  bool          // the next bytes are the rest of a line that was too long
	err    error         // of plain, once it has ended; io.EOF at the end of the file
}

// counted counts the bytes that are read, for Progress. It does not read on after an error.
type counted struct {
	file   io.Reader
	read   int64
	failed error
}

// Read reads, and counts what was read.
func (c *counted) Read(p []byte) (n int, err error) {
	if c.failed == nil {
		n, c.failed = c.file.Read(p)
		c.read += int64(n)
	}
	return n, c.failed
}

// bom is the byte order mark U+FEFF in UTF-8, with which some programs begin a file. It is skipped at the beginning of the file
// only: offsets count it, and columns do not. Elsewhere it is a fault outside of strings, and text in them.
const bom = "\xef\xbb\xbf"

// newLines begins to read a file, in blocks of size bytes. It returns an error if the file begins like gzip and its gzip header is damaged.
// Any other error of reading, also inside compressed data, shows after the lines that were read before it.
func newLines(file io.Reader, size, most int) (*lines, error) {
	l := &lines{counted: counted{file: file}, size: size, most: most, number: 1}
	var err error
	if l.plain, err = gunzip.Unpacked(bufio.NewReaderSize(&l.counted, maxLook)); err != nil {
		return nil, err
	}
	if head, _ := l.plain.Peek(len(bom)); string(head) == bom {
		l.plain.Discard(len(bom))
		l.offset = int64(len(bom))
	}
	head, _ := l.plain.Peek(maxLook)
	l.kind = fileKind(head)
	return l, nil
}

// block is some whole lines of the file.
type block struct {
	data    []byte
	offset  int64 // of data in the uncompressed file
	number  int64 // of the first line, from 1; blank lines count
	tooLong bool  // in place of data, there is a line of more bytes than a line may have
}

// next reads a block into buf, which grows if a line is longer. A block without data means that nothing more can be read; err says why. If
// reading fails inside a line, the beginning of that line is dropped, since its rest might make another record of it.
//
// While a line of more than a block is read, longer is called with what was read of it, and ends the reading if it returns false.
func (l *lines) next(buf []byte, longer func(size int) bool) block {
	buf = append(buf[:0], l.carry...)
	l.carry = l.carry[:0]
	for l.skips { // the rest of a line that is too long
		end := bytes.IndexByte(buf, '\n') + 1
		if l.skips = end == 0 && l.err == nil; l.skips {
			l.offset += int64(len(buf))
			if !longer(0) {
				return block{}
			}
			buf = l.readMore(buf[:0])
			continue
		}
		if end == 0 {
			end = len(buf)
		}
		l.offset += int64(end)
		l.number++
		buf = append(buf[:0], buf[end:]...)
	}
	b := block{offset: l.offset, number: l.number}
	whole := 0 // bytes of buf that are whole lines
	for scanned := 0; ; {
		if at := bytes.LastIndexByte(buf[scanned:], '\n'); at >= 0 {
			whole = scanned + at + 1
		}
		switch {
		case l.err == nil && whole == 0 && len(buf) > max(l.most, l.size):
			l.skips, b.tooLong = true, true
			l.offset += int64(len(buf))
			return b
		case l.err == nil && whole == 0 && len(buf) >= l.size && !longer(len(buf)):
			return block{}
		case l.err == nil && (whole == 0 || len(buf) < l.size):
			scanned = len(buf)
			buf = l.readMore(buf)
			continue
		case l.err == io.EOF: // the last line is whole without a line end
			whole = len(buf)
		}
		break
	}
	l.carry = append(l.carry, buf[whole:]...)
	if b.data = buf[:whole]; whole > 0 {
		l.offset += int64(whole)
		l.number += int64(bytes.Count(b.data[:whole-1], []byte{'\n'})) + 1
	}
	return b
}

// readMore reads once, and appends what was read to buf.
func (l *lines) readMore(buf []byte) []byte {
	if len(buf) == cap(buf) {
		buf = slices.Grow(buf, max(l.size, min(len(buf), l.most+1-len(buf))))
	}
	n, err := l.plain.Read(buf[len(buf):min(len(buf)+l.size, cap(buf))])
	l.err = err
	return buf[:len(buf)+n]
}
