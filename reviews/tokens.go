package reviews

import "unicode/utf8"

// maxDepth is how deep the arrays and objects of a record may be nested.
const maxDepth = 64

// tokens reads the JSON of one line. The line is either all in buf, or buf is a window that fill moves over it: see window.go.
type tokens struct {
	window
	depth int    // arrays and objects that are open
	outer int    // depth of what is held
	fault *fault // why the line cannot be read on
	str   str    // the string that was read last
}

// hold holds what is read from here on.
func (t *tokens) hold() { t.held, t.outer = t.pos, t.depth }

// fault is why a line cannot be read on.
type fault struct {
	offset  int64
	column  int64
	rule    ruleID
	message string
}

// verdict is how reading a value ended.
type verdict uint8

const (
	broken   verdict = iota // not JSON, not UTF-8, or nested too deep: fault says which, and the rest of the line is skipped
	refused                 // it was read, and has an error that was reported
	accepted                // it was read
)

// unless is accepted, or broken where the line cannot be read on.
func unless(broke bool) verdict {
	if broke {
		return broken
	}
	return accepted
}

func (t *tokens) fail(offset int64, rule ruleID, message string) verdict {
	if t.fault == nil {
		t.fault = &fault{offset, t.column(offset), rule, message}
	}
	return broken
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
func (t *tokens) unexpected(want string) verdict {
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

// step is what comes next in an array or an object.
type step uint8

const (
	stepBroken step = iota // neither an element nor the end
	stepElement
	stepEnd
)

// element moves to the next element of an array, or member of an object, whose opening bracket is
// behind for the first one.
func (t *tokens) element(end byte, first bool) step {
	c := t.next()
	switch {
	case c == end:
		t.depth--
		t.pos++
		return stepEnd
	case first:
		return stepElement
	case c != ',':
		t.unexpected("a comma or " + string(rune(end)))
		return stepBroken
	}
	t.pos++
	return stepElement
}

// ended is the verdict of an array or object behind its last element.
func (s step) ended() verdict { return unless(s == stepBroken) }

func (t *tokens) colon() verdict {
	if t.next() != ':' {
		return t.unexpected("a colon")
	}
	t.pos++
	return accepted
}

// enter steps into the array or object that begins here. Its end, in element, steps out.
func (t *tokens) enter() verdict {
	if t.depth == maxDepth {
		return t.fail(t.offset(), ruleDepth, "nested deeper than 64 levels")
	}
	t.depth++
	t.pos++
	return accepted
}

// stepOver reads over one value.
func (t *tokens) stepOver() verdict {
	switch c := t.next(); {
	case c == '"':
		return t.scan()
	case c == '{' || c == '[':
		return t.stepOverInside(c == '{')
	case c == '-' || '0' <= c && c <= '9':
		_, v := t.number()
		return unless(v == broken)
	case c == 't':
		return t.literal("true")
	case c == 'f':
		return t.literal("false")
	case c == 'n':
		return t.literal("null")
	}
	return t.unexpected("a value")
}

func (t *tokens) stepOverInside(object bool) verdict {
	if t.enter() == broken {
		return broken
	}
	end := byte(']')
	if object {
		end = '}'
	}
	for first := true; ; first = false {
		if s := t.element(end, first); s != stepElement {
			return s.ended()
		}
		if object && t.stepOverName() == broken || t.stepOver() == broken {
			return broken
		}
	}
}

// stepOverName reads over the name of a member and its colon.
func (t *tokens) stepOverName() verdict {
	if t.quote() == broken || t.scan() == broken {
		return broken
	}
	return t.colon()
}

// quote makes sure that the name of a member is next.
func (t *tokens) quote() verdict {
	if t.next() != '"' {
		return t.unexpected("a member name in quotes")
	}
	return accepted
}

func (t *tokens) literal(word string) verdict {
	for i := range len(word) {
		if c, ok := t.current(); !ok || c != word[i] {
			return t.unexpected(word)
		}
		t.pos++
	}
	return accepted
}

// number reads a number of any length. It is accepted if it is written as an integer; then n is its
// value, cut to ±tooLarge.
func (t *tokens) number() (n int, v verdict) {
	v = accepted
	c, _ := t.current()
	negative := c == '-'
	if negative {
		t.pos++
		c, _ = t.current()
	}
	if c == '0' {
		t.pos++
	} else if n, v = t.digits(); v == broken {
		return 0, broken
	}
	if c, _ = t.current(); c == '.' {
		v = refused
		t.pos++
		if _, ok := t.digits(); ok == broken {
			return 0, broken
		}
	}
	if c, _ = t.current(); c == 'e' || c == 'E' {
		v = refused
		t.pos++
		if c, _ = t.current(); c == '+' || c == '-' {
			t.pos++
		}
		if _, ok := t.digits(); ok == broken {
			return 0, broken
		}
	}
	if negative {
		n = -n
	}
	return n, v
}

const tooLarge = 1_000_000

func (t *tokens) digits() (n int, v verdict) {
	for ; ; v = accepted {
		c, more := t.current()
		if !more || c < '0' || c > '9' {
			break
		}
		n = min(n*10+int(c-'0'), tooLarge)
		t.pos++
	}
	if v == broken {
		return 0, t.unexpected("a digit")
	}
	return n, v
}
