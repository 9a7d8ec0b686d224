package reviews

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// cursor walks over a line that jsontext has found to be valid JSON. So it need not look for faults: it only finds where values end.
type cursor struct {
	text []byte
	pos  int // the next byte

	counted    int // up to where characters are counted, see column
	characters int64
	decoded    []byte // memory for a text with escapes
}

// peek skips white space and returns the byte that follows, 0 at the end of the line.
func (c *cursor) peek() byte {
	for ; c.pos < len(c.text); c.pos++ {
		if b := c.text[c.pos]; b > ' ' {
			return b
		}
	}
	return 0
}

// more moves to the next element of an array, or member of an object, and returns true, or moves behind the closing bracket.
func (c *cursor) more() bool {
	switch c.peek() {
	case ']', '}':
		c.pos++
		return false
	case ',':
		c.pos++
		c.peek()
	}
	return true
}

// colon moves behind the colon after a name, to the value.
func (c *cursor) colon() {
	c.peek()
	c.pos++
	c.peek()
}

// value moves behind the value that is next, and returns it.
func (c *cursor) value() []byte {
	c.peek()
	raw := firstValue(c.text[c.pos:])
	c.pos += len(raw)
	return raw
}

// unquote returns the text of a string, valid until the next call.
func (c *cursor) unquote(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	c.decoded = c.decoded[:0]
	for rest := raw[1 : len(raw)-1]; ; {
		n := bytes.IndexByte(rest, '\\')
		if n < 0 {
			c.decoded = append(c.decoded, rest...)
			return c.decoded
		}
		r, size := escape(rest[n:])
		c.decoded = utf8.AppendRune(append(c.decoded, rest[:n]...), r) // half of a surrogate pair becomes U+FFFD, and is reported by flaws
		rest = rest[n+size:]
	}
}

// unquoteKept returns the text of a string, valid as long as the line.
func (c *cursor) unquoteKept(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	return bytes.Clone(c.unquote(raw))
}

// escape returns the character that an escape stands for, or half of a surrogate pair, and the length of the escape.
func escape(raw []byte) (r rune, size int) {
	switch raw[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case '"', '\\', '/':
		return rune(raw[1]), 2
	}
	if r = hex(raw[2:6]); 0xD800 <= r && r < 0xDC00 && len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' {
		if low := hex(raw[8:12]); 0xDC00 <= low && low < 0xE000 {
			return 0x10000 + (r-0xD800)<<10 + low - 0xDC00, 12
		}
	}
	return r, 6
}

func hex(digits []byte) (r rune) {
	for _, d := range digits {
		switch {
		case d <= '9':
			d -= '0'
		default:
			d = d&^0x20 - 'A' + 10
		}
		r = r<<4 + rune(d)
	}
	return r
}

// within returns where in a string, with its quotes, byte i of its text is.
func within(raw []byte, i int) int {
	at := 1
	for i > 0 {
		size := 1
		if raw[at] == '\\' {
			var r rune
			r, size = escape(raw[at:])
			i -= len(utf8.AppendRune(nil, r)) - 1
		}
		at += size
		i--
	}
	return at
}

// column returns the column of an offset in the line. Columns count characters (code points) from 1, as most editors do. The cursor
// remembers up to where it has counted, and counts on from there, or back. So the columns of a line with many problems are
// found by counting each part of it about once.
func (c *cursor) column(at int) int64 {
	if c.counted <= at {
		c.characters += characters(c.text[c.counted:at])
	} else {
		c.characters -= characters(c.text[at:c.counted])
	}
	c.counted = at
	return c.characters + 1
}

// characters counts the characters of UTF-8: all bytes but those that continue a character, which are 10xxxxxx. It looks at
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
