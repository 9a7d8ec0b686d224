package reviews

import (
	"encoding/binary"
	"math/bits"
)

// look returns the column of an offset in the window, and the text from there on, at most maxHead bytes of it. It fills the
// window if less is in memory and the line goes on. The text is a slice of the window, valid until the next fill. The offset
// must be one that fill keeps: in the pinned value, or not before pos.
func (w *window) look(offset int64) (column int64, head []byte) {
	for len(w.buf)-int(offset-w.base) < maxHead && w.fill() {
	}
	head = w.buf[offset-w.base:]
	return w.column(offset), head[:min(len(head), maxHead)]
}

// column returns the column of an offset in the window. Columns count characters (code points) from 1, as most editors do. The
// window remembers up to where it has counted, and counts on from there, or back. So the columns of a line with many problems are
// found by counting each part of it about once. beforeDrop counts what is about to leave the window.
func (w *window) column(offset int64) int64 {
	// Only failExpecting asks for an offset in front of the window: that of the CR at the end of the line, if the CR has left the
	// window already. It is one byte and one character.
	if offset < w.base {
		return w.column(w.base) - (w.base - offset)
	}
	// Count the characters between the last offset that was asked for and this one.
	from, to := w.counted-w.base, offset-w.base
	if from <= to {
		w.characters += characters(w.buf[from:to])
	} else {
		w.characters -= characters(w.buf[to:from])
	}
	w.counted = offset
	return w.characters + 1
}

// characters counts the characters of valid UTF-8: all bytes but those that continue a character, which are 10xxxxxx. It looks at
// eight bytes at a time: w & ^(w << 1) has the highest bit of a byte set if the bit is set and the next lower one is not.
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
