package reviews

import (
	"io"
	"unicode/utf8"
)

// maxDepth is how deep the arrays and objects of a record may be nested.
const maxDepth = 64

// tokens reads the JSON of one line. The line is either all in buf, or buf is a window that fill
// moves over it: no token has to fit into the window.
//
// A method that returns false has met something that is no JSON, or is not UTF-8, or is nested too
// deep: fault says what, and the line is over.
type tokens struct {
	buf   []byte    // the line, or the window
	pos   int       // the next byte in buf
	base  int64     // the offset of buf[0] in the file
	last  byte      // the byte before buf[0], where the window has moved
	rest  io.Reader // what follows the window; nil where the line is all in buf
	err   error     // of rest
	depth int       // arrays and objects that are open
	fault *fault
	str   str     // the string that is being read
	copy  capture // what of the line is kept
}

// fault is why a line cannot be read on.
type fault struct {
	offset  int64
	rule    ruleID
	message string
}

// offset is that of the next byte.
func (t *tokens) offset() int64 { return t.base + int64(t.pos) }

func (t *tokens) fail(offset int64, rule ruleID, message string) bool {
	if t.fault == nil {
		t.fault = &fault{offset, rule, message}
	}
	return false
}

// fill moves the window on to pos and says whether there is more to read than before.
func (t *tokens) fill() bool {
	if t.rest == nil {
		return false
	}
	t.copy.take(t.buf, t.pos)
	if t.pos > 0 {
		t.last = t.buf[t.pos-1]
	}
	whole := t.buf[:cap(t.buf)]
	n := copy(whole, t.buf[t.pos:])
	t.base, t.pos = t.offset(), 0
	m, err := io.ReadAtLeast(t.rest, whole[n:], 1)
	t.buf = whole[:n+m]
	if err != nil {
		t.rest = nil
		if err != io.EOF {
			t.err = err
		}
	}
	return m > 0
}

// current is the next byte; ok is false at the end of the line.
func (t *tokens) current() (c byte, ok bool) {
	if t.pos == len(t.buf) && !t.fill() {
		return 0, false
	}
	return t.buf[t.pos], true
}

// next skips white space and gives the byte that follows, 0 at the end of the line.
func (t *tokens) next() byte {
	if t.pos < len(t.buf) && t.buf[t.pos] > ' ' {
		return t.buf[t.pos]
	}
	return t.space()
}

func (t *tokens) space() byte {
	for {
		for ; t.pos < len(t.buf); t.pos++ {
			if c := t.buf[t.pos]; c != ' ' && c != '\t' && c != '\r' {
				return c
			}
		}
		if !t.fill() {
			return 0
		}
	}
}

// unexpected refuses the next byte.
func (t *tokens) unexpected(want string) bool {
	if c, ok := t.current(); ok {
		if c >= utf8.RuneSelf && !mayBegin(c) { // as in UTF-16
			return t.fail(t.offset(), ruleUTF8, notUTF8)
		}
		return t.fail(t.offset(), ruleJSON, "this is not JSON: "+byteName(c)+" where "+want+" belongs")
	}
	end, last := t.offset(), t.last
	if t.pos > 0 {
		last = t.buf[t.pos-1]
	}
	if last == '\r' {
		end-- // it belongs to the end of the line
	}
	return t.fail(end, ruleJSON, "this is not JSON: the line ends where "+want+" belongs")
}

// notUTF8 is the message of ruleUTF8.
const notUTF8 = "this byte is no part of a UTF-8 character"

// mayBegin says whether a character of UTF-8 can begin with this byte from 0x80 on.
func mayBegin(c byte) bool { return c >= 0xc2 && c <= 0xf4 }

func byteName(c byte) string {
	if c > ' ' && c < 0x7f {
		return string(rune(c))
	}
	const hex = "0123456789ABCDEF"
	return "byte 0x" + string(hex[c>>4]) + string(hex[c&15])
}

// element moves to the next element of an array, or member of an object, whose opening bracket is
// behind for the first one, and says whether there is one.
func (t *tokens) element(end byte, first bool) (more, ok bool) {
	c := t.next()
	switch {
	case c == end:
		t.depth--
		t.pos++
		return false, true
	case first:
		return true, true
	case c != ',':
		return false, t.unexpected("a comma or " + string(rune(end)))
	}
	t.pos++
	return true, true
}

// name reads the name of a member, without the colon behind it. It is valid until the next byte is
// read.
func (t *tokens) name() (name []byte, ok bool) {
	if t.next() != '"' {
		return nil, t.unexpected("a member name in quotes")
	}
	name, _, ok = t.short(maxName)
	return name, ok
}

func (t *tokens) colon() bool {
	if t.next() != ':' {
		return t.unexpected("a colon")
	}
	t.pos++
	return true
}

// maxName is how much of a member name is looked at: more than any that is known, and than what a
// problem shows.
const maxName = 2 * maxShown

// enter steps into the array or object that begins here. Its end, in element, steps out.
func (t *tokens) enter() bool {
	if t.depth == maxDepth {
		return t.fail(t.offset(), ruleDepth, "nested deeper than 64 levels")
	}
	t.depth++
	t.pos++
	return true
}

// stepOver reads over one value.
func (t *tokens) stepOver() bool {
	switch c := t.next(); {
	case c == '"':
		t.open()
		for t.piece() {
		}
		return t.fault == nil
	case c == '{' || c == '[':
		return t.stepOverInside(c == '{')
	case c == '-' || '0' <= c && c <= '9':
		_, _, ok := t.number()
		return ok
	case c == 't':
		return t.literal("true")
	case c == 'f':
		return t.literal("false")
	case c == 'n':
		return t.literal("null")
	}
	return t.unexpected("a value")
}

func (t *tokens) stepOverInside(object bool) bool {
	if !t.enter() {
		return false
	}
	end := byte(']')
	if object {
		end = '}'
	}
	for first := true; ; first = false {
		if more, ok := t.element(end, first); !more {
			return ok
		}
		if object {
			if _, ok := t.name(); !ok || !t.colon() {
				return false
			}
		}
		if !t.stepOver() {
			return false
		}
	}
}

func (t *tokens) literal(word string) bool {
	for i := range len(word) {
		if c, ok := t.current(); !ok || c != word[i] {
			return t.unexpected(word)
		}
		t.pos++
	}
	return true
}

// number reads a number of any length. integer says that it is written as an integer; then n is its
// value, cut to ±tooLarge.
func (t *tokens) number() (n int, integer, ok bool) {
	c, _ := t.current()
	negative := c == '-'
	if negative {
		t.pos++
		c, _ = t.current()
	}
	integer = true
	if c == '0' {
		t.pos++
	} else if n, ok = t.digits(); !ok {
		return 0, false, false
	}
	if c, _ = t.current(); c == '.' {
		integer = false
		t.pos++
		if _, ok = t.digits(); !ok {
			return 0, false, false
		}
	}
	if c, _ = t.current(); c == 'e' || c == 'E' {
		integer = false
		t.pos++
		if c, _ = t.current(); c == '+' || c == '-' {
			t.pos++
		}
		if _, ok = t.digits(); !ok {
			return 0, false, false
		}
	}
	if negative {
		n = -n
	}
	return n, integer, true
}

const tooLarge = 1_000_000

func (t *tokens) digits() (n int, ok bool) {
	for ; ; ok = true {
		c, more := t.current()
		if !more || c < '0' || c > '9' {
			break
		}
		n = min(n*10+int(c-'0'), tooLarge)
		t.pos++
	}
	if !ok {
		return 0, t.unexpected("a digit")
	}
	return n, true
}
