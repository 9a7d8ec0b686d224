package reviews

import (
	"encoding/binary"
	"io"
	"math/bits"
)

// window is the part of a line that is in memory: all of it, or as much of a long line as is needed. It moves on with
// pos, but not beyond what is held: a review, or a member of a collection, is held while it is read, so that whatever is
// said of it is there. The window grows with what is held, up to a bound; what is longer cannot be held.
type window struct {
	buf  []byte
	pos  int       // the next byte in buf
	base int64     // the offset of buf[0] in the file
	last byte      // the byte before buf[0], where the window has moved
	rest io.Reader // what follows the window; nil where the line is all in buf
	err  error     // of rest, of tee or of admit: the line cannot be read on

	small    []byte       // memory of the window before it grows
	most     int          // bytes up to which it grows
	held     int          // where in buf what is held begins; -1: nothing
	overfull bool         // what is held is longer than the window grows
	admit    func() error // called before the window grows beyond maxSmall; nil: it may
	shed     func()       // called when it is small again; nil: it stays as it is
	tee      io.Writer    // gets what the window leaves behind
	teed     int          // where in buf begins what tee did not get yet

	counted    int64 // offset up to which characters are counted
	characters int64 // of the line before it
}

// maxWindow is how many bytes can be held: what is stored of a review, and what a problem shows.
const maxWindow = maxStored + 64<<10

// whole sets the window to a line that is all in memory.
func (w *window) whole(line []byte, offset int64) {
	*w = window{buf: line, base: offset, held: -1, counted: offset}
}

// begin sets the window to what rest gives, which begins at this offset and column.
func (w *window) begin(rest io.Reader, offset, column int64) {
	w.buf, w.pos, w.base, w.rest, w.held = w.small[:0], 0, offset, rest, -1
	w.counted, w.characters = offset, column-1
}

// offset is that of the next byte.
func (w *window) offset() int64 { return w.base + int64(w.pos) }

// current is the next byte; ok is false at the end of the line.
func (w *window) current() (c byte, ok bool) {
	if w.pos == len(w.buf) && !w.fill() {
		return 0, false
	}
	return w.buf[w.pos], true
}

// letGo ends holding. It says whether what was held proved too long: then the next byte is its first one again.
func (w *window) letGo() (tooLong bool) {
	if w.overfull {
		w.pos = w.held
	}
	w.held, tooLong, w.overfull = -1, w.overfull, false
	return tooLong
}

// since gives what was read from an offset in the window on.
func (w *window) since(offset int64) []byte { return w.buf[offset-w.base : w.pos] }

// fill moves the window on, or has it grow, and says whether there is more to read than before. It invalidates all
// parts of the window.
func (w *window) fill() bool {
	if w.rest == nil {
		return false
	}
	from := w.pos
	if w.held >= 0 {
		from = w.held
	}
	left := len(w.buf) - from
	to := w.memory(left)
	if to == nil {
		return false
	}
	w.leave(from)
	left = copy(to[:cap(to)], w.buf[from:])
	w.base, w.pos, w.teed = w.base+int64(from), w.pos-from, w.teed-from
	if w.held >= 0 {
		w.held = 0
	}
	n, err := io.ReadFull(w.rest, to[left:cap(to)])
	w.buf = to[:left+n]
	if err != nil { // the line, or its reader, is at an end
		w.rest = nil
		if err != io.EOF && err != io.ErrUnexpectedEOF {
			w.err = err
		}
	}
	return n > 0
}

// memory gives the memory for a window of which so many bytes stay, nil where there is none.
func (w *window) memory(left int) []byte {
	size := cap(w.small)
	for size-left < size/4 && size < w.most {
		switch {
		case size < maxSmall:
			size = min(2*size, maxSmall)
		case 8*size < w.most:
			size *= 4
		default:
			size = w.most
		}
	}
	if left == size {
		w.overfull = true
		return nil
	}
	switch have := cap(w.buf); {
	case size == cap(w.small) && have > size && w.shed != nil:
		w.shed()
		return w.small
	case size <= have:
		return w.buf
	case size > maxSmall && have <= maxSmall && w.admit != nil:
		if w.err = w.admit(); w.err != nil {
			w.rest = nil
			return nil
		}
	}
	return make([]byte, 0, size)
}

// leave takes note of the first n bytes of the window, which are about to go.
func (w *window) leave(n int) {
	if w.tee != nil {
		w.write(n)
	}
	if n > 0 {
		w.last = w.buf[n-1]
	}
	w.column(w.base + int64(n)) // what is not counted yet would be lost
}

// write gives tee the first n bytes of the window, as far as it did not get them.
func (w *window) write(n int) {
	if w.teed < n && w.err == nil {
		_, w.err = w.tee.Write(w.buf[w.teed:n])
		w.teed = n
	}
}

// look gives the column of an offset in what is held, and the text there, maxHead bytes at most.
func (w *window) look(offset int64) (column int64, head []byte) {
	for len(w.buf)-int(offset-w.base) < maxHead && w.fill() {
	}
	head = w.buf[offset-w.base:]
	return w.column(offset), head[:min(len(head), maxHead)]
}

// column gives the column of an offset in the window, in characters from 1. It counts on from the last
// offset that it was asked for.
func (w *window) column(offset int64) int64 {
	if offset < w.base { // the carriage return before the end of the line
		return w.column(w.base) - (w.base - offset)
	}
	from, to := w.counted-w.base, offset-w.base
	if from <= to {
		w.characters += characters(w.buf[from:to])
	} else {
		w.characters -= characters(w.buf[to:from])
	}
	w.counted = offset
	return w.characters + 1
}

// characters counts the characters of valid UTF-8, which are the bytes that continue none.
func characters(text []byte) int64 {
	const highs = 0x8080808080808080
	n := len(text)
	for ; len(text) >= 8; text = text[8:] {
		w := binary.LittleEndian.Uint64(text)
		n -= bits.OnesCount64(w & ^(w << 1) & highs) // 10xxxxxx
	}
	for _, c := range text {
		if c&0xC0 == 0x80 {
			n--
		}
	}
	return int64(n)
}
