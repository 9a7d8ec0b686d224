package reviews

import "io"

// window is the part of a line that is in memory: all of a short line, or as much of a long one as is needed. The methods that
// read JSON go through buf with pos, and call fill when they need more than is there.
//
//	line     {"source":"example.test", … {"id":"1","title":"Bright", … }, …
//	                               └─────┴─────── buf ──┴───────┘
//	                              base   pinned        pos       rest reads on here
//
// A review, or a member of a collection, is pinned while it is read: the window does not move beyond its beginning, so that
// a problem can show the text and an import can store it. The window grows with what is pinned, up to most bytes. A longer value
// overflows: fill then returns false, as at the end of the line, so the methods that read it return broken; endPin goes back, and
// the value is read over with stepOver. That it is too long is one problem (rule stored-size).
//
// The window of a short line is a slice of its block, and fill does nothing. The window of a long line begins as its block. fill
// moves the bytes that stay to the front and reads on after them, from the file or from the temporary file.
type window struct {
	buf  []byte
	pos  int       // the next byte in buf
	base int64     // the offset of buf[0] in the file
	last byte      // the byte before buf[0], if the window has moved
	rest io.Reader // what follows the window; nil if the rest of the line is in buf
	err  error     // of rest, tee or beforeLarge: the line cannot be read on

	small       []byte       // memory of the window before it grows, and after; that of the block
	most        int          // bytes up to which it grows: maxSmall while an import copies the line, otherwise maxWindow
	pinned      int          // where in buf the pinned value begins; -1: nothing is pinned
	overflow    bool         // the pinned value is longer than the window grows
	beforeLarge func() error // called before the window grows beyond maxSmall, to enter the Gate; nil: nobody counts it
	afterLarge  func()       // called when the window returns to small memory, to leave the Gate; nil: it keeps the large memory
	tee         io.Writer    // gets a copy of the bytes that leave the window; nil: no copy is made
	teed        int          // how many bytes of buf were written to tee

	counted    int64 // offset up to which characters are counted, see column
	characters int64 // of the line before that offset
}

// maxWindow is how far the window grows: to what is stored of a review, and some text after it that a problem shows.
const maxWindow = maxStored + 64<<10

// reset sets the window to a line that is all in memory. offset is that of the line in the file.
func (w *window) reset(line []byte, offset int64) {
	*w = window{buf: line, base: offset, pinned: -1, counted: offset}
}

// begin sets the window to what rest reads, which begins at this offset and column of the file. The window is empty at first.
func (w *window) begin(rest io.Reader, offset, column int64) {
	w.buf, w.pos, w.base, w.rest, w.pinned = w.small[:0], 0, offset, rest, -1
	w.counted, w.characters = offset, column-1
}

// offset returns the offset of the next byte.
func (w *window) offset() int64 { return w.base + int64(w.pos) }

// current returns the next byte; ok is false at the end of the line.
func (w *window) current() (c byte, ok bool) {
	if w.pos == len(w.buf) && !w.fill() {
		return 0, false
	}
	return w.buf[w.pos], true
}

// unpin ends pinning. It returns whether the value has overflowed: then pos is at its first byte again, and the caller reads
// over the value. lineChecker.endPin also resets what reading the value has set.
func (w *window) unpin() (overflow bool) {
	if w.overflow {
		w.pos = w.pinned
	}
	w.pinned, overflow, w.overflow = -1, w.overflow, false
	return overflow
}

// since returns what was read from an offset in the window on.
func (w *window) since(offset int64) []byte { return w.buf[offset-w.base : w.pos] }

// fill moves the window on, or makes it grow, and returns whether there is more to read than before. It keeps the bytes from the
// pinned value on, or from pos on if nothing is pinned. It returns false at the end of the line, if the pinned value overflows,
// and if reading fails, which sets err. Slices of the window are invalid afterwards.
func (w *window) fill() bool {
	if w.rest == nil {
		return false
	}
	// The bytes from here on stay.
	from := w.pos
	if w.pinned >= 0 {
		from = w.pinned
	}
	left := len(w.buf) - from
	to := w.memory(left)
	if to == nil {
		return false
	}
	// Move them to the front, of the same memory or of other. All indices move with them.
	w.beforeDrop(from)
	left = copy(to[:cap(to)], w.buf[from:])
	w.base, w.pos, w.teed = w.base+int64(from), w.pos-from, w.teed-from
	if w.pinned >= 0 {
		w.pinned = 0
	}
	// Fill the rest of the memory.
	n, err := io.ReadFull(w.rest, to[left:cap(to)])
	w.buf = to[:left+n]
	if err != nil { // the line has ended, or cannot be read on
		w.rest = nil
		if err != io.EOF && err != io.ErrUnexpectedEOF {
			w.err = err
		}
	}
	return n > 0
}

// memory returns the memory for the window when its last left bytes stay; nil if there is none, because the pinned value
// overflows or beforeLarge has failed. A quarter of the memory is to be free, so that fill is not called for every few bytes. The
// size doubles up to maxSmall, then it is multiplied by four, and at last it is most: 512 KiB, 1 MiB, 4 MiB, 16 MiB + 64 KiB. So
// a large value is copied a few times only. If afterLarge is set, the next memory is small again when little of a large window
// stays.
func (w *window) memory(left int) []byte {
	// First the size that is wanted for these bytes, whatever the window has now.
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
		w.overflow = true
		return nil
	}
	// Then where it comes from: back to the small memory, the same as now, or new memory, which may take a place in the Gate.
	have := cap(w.buf)
	switch {
	case size == cap(w.small) && have > size && w.afterLarge != nil: // the large value was read, so its memory becomes garbage
		w.afterLarge()
		return w.small
	case size <= have:
		return w.buf
	case size > maxSmall && have <= maxSmall && w.beforeLarge != nil:
		w.err = w.beforeLarge()
		if w.err != nil {
			w.rest = nil
			return nil
		}
	}
	return make([]byte, 0, size)
}

// beforeDrop is called by fill before the first n bytes leave the window. What will be needed of them is taken: tee gets a copy,
// last the byte before the window, and column counts their characters.
func (w *window) beforeDrop(n int) {
	if w.tee != nil {
		w.write(n)
	}
	if n > 0 {
		w.last = w.buf[n-1]
	}
	w.column(w.base + int64(n))
}

// write writes the first n bytes of the window to tee, except those that were written before. An error goes to err.
func (w *window) write(n int) {
	if w.teed < n && w.err == nil {
		_, w.err = w.tee.Write(w.buf[w.teed:n])
		w.teed = n
	}
}
