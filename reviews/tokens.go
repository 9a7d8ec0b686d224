package reviews

import "unicode/utf8"

// maxDepth is how deep the arrays and objects of a record may be nested, the record itself included. It bounds the stack of the
// methods that call themselves for a value inside a value.
const maxDepth = 64

// tokens reads the JSON (RFC 8259) of one line, byte after byte. It knows nothing of the format of reviews. The line is either
// all in buf, or buf is a window that fill moves along it. So every method that reads a byte may move the window, and a slice of
// the window is invalid afterwards.
//
// A method that reads a value begins at its first byte, which peek finds, ends after its last byte, and returns a verdict.
// Callers compare the verdict with broken and return it at once, as with an error.
//
// It is written by hand because a check gives the offset of each fault, and reads a value of any length in bounded memory.
type tokens struct {
	window
	depth int    // arrays and objects that are open
	outer int    // depth of the pinned value
	fault *fault // why the line cannot be read on
	str   str    // the string that was read last
}

// pin pins the value that is next: the window keeps it until unpin. One value is pinned at a time.
func (t *tokens) pin() { t.pinned, t.outer = t.pos, t.depth }

// fault is why a line cannot be read on: it breaks one of the rules json, utf-8 and json-depth. It is the only problem of the
// line, because nothing after it can be understood; only if the line had maxFound problems by then, these were handed over
// before.
type fault struct {
	offset  int64
	column  int64
	rule    ruleID
	message string
}

// verdict is the outcome of reading a value.
type verdict uint8

// The verdicts, from the worst to the best, so min returns the worse of two. The zero verdict is broken, so that a method that
// returns too early accepts nothing.
const (
	// broken means that reading cannot go on. The line is not JSON, not UTF-8 or nested too deep, and fault says which; or
	// reading the file has failed, which sets err; or a pinned value is too long for the window, which sets overflow.
	broken   verdict = iota
	refused          // it was read, and has an error that was reported
	accepted         // it was read, and has no error
)

// brokenIf returns broken if broke is true, and accepted otherwise.
func brokenIf(broke bool) verdict {
	if broke {
		return broken
	}
	return accepted
}

// fail sets the fault for which the line cannot be read on, unless there is one already, and returns broken. It is also called
// when err is set, as the fastest way out of all open values; then nobody reports the fault.
func (t *tokens) fail(offset int64, rule ruleID, message string) verdict {
	if t.fault == nil {
		t.fault = &fault{offset, t.column(offset), rule, message}
	}
	return broken
}

// peek skips white space and returns the byte that follows, without reading it; 0 at the end of the line. A byte 0 in the line
// gives 0 too, since no value begins with it: whoever reads on fails there. t.pos == len(t.buf) after peek is the end of the
// line.
func (t *tokens) peek() byte {
	if t.pos < len(t.buf) && t.buf[t.pos] > ' ' {
		return t.buf[t.pos]
	}
	return t.skipSpace()
}

// skipSpace is peek for the case that white space, or the end of the window, is next. A CR is white space of JSON, so a line
// that ends with CR and LF needs no rule of its own.
func (t *tokens) skipSpace() byte {
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

// failExpecting fails at the next byte because want is expected there, and not that byte. want is a part of the message, such as
// "a colon". A byte that cannot begin a character breaks the rule utf-8 instead. If the line ends here, the offset is that of its
// end, in front of the CR if it ends with CR and LF.
func (t *tokens) failExpecting(want string) verdict {
	if c, ok := t.current(); ok {
		if c >= utf8.RuneSelf && !mayBegin(c) { // as in a file in UTF-16
			return t.fail(t.offset(), ruleUTF8, notUTF8)
		}
		return t.fail(t.offset(), ruleJSON, "this is not JSON: "+byteName(c)+" where "+want+" belongs")
	}
	// The line has ended. The byte before may have left the window.
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

// mayBegin returns whether a character of UTF-8 can begin with this byte, which is 0x80 or more (RFC 3629).
func mayBegin(c byte) bool { return c >= 0xc2 && c <= 0xf4 }

// byteName names a byte in a message: by its character, or in hexadecimal if it is not a visible one.
func byteName(c byte) string {
	if c > ' ' && c < 0x7f {
		return string(rune(c))
	}
	const hex = "0123456789ABCDEF"
	return "byte 0x" + string(hex[c>>4]) + string(hex[c&15])
}

// step is what follows in an array or an object. An array is read with enter, then element until it returns another step than
// stepElement, and ended for the verdict. An object is read in the same way, with a name and a colon before each value.
type step uint8

// The steps. At stepElement the next value, or the name of the next member, is still to be read.
const (
	stepBroken step = iota // neither an element nor the end
	stepElement
	stepEnd
)

// element moves to the next element of an array, or to the next member of an object, or after the closing bracket end.
// first says that the opening bracket was just read.
func (t *tokens) element(end byte, first bool) step {
	c := t.peek()
	switch {
	case c == end:
		t.depth--
		t.pos++
		return stepEnd
	case first:
		return stepElement
	case c != ',':
		t.failExpecting("a comma or " + string(rune(end)))
		return stepBroken
	}
	t.pos++
	return stepElement
}

// ended returns the verdict on an array or object after a step that is not stepElement.
func (s step) ended() verdict { return brokenIf(s == stepBroken) }

// colon reads the colon after the name of a member.
func (t *tokens) colon() verdict {
	if t.peek() != ':' {
		return t.failExpecting("a colon")
	}
	t.pos++
	return accepted
}

// enter reads an opening bracket. element reads the closing one.
func (t *tokens) enter() verdict {
	if t.depth == maxDepth {
		return t.fail(t.offset(), ruleDepth, "nested deeper than 64 levels")
	}
	t.depth++
	t.pos++
	return accepted
}

// stepOver reads a value that has only to be JSON. It applies no rule of the format, and reports nothing. So it serves for a
// value that is read again later, and for one that is too long for the window; nothing needs to be pinned. It calls itself for a
// value inside a value, at most maxDepth deep.
func (t *tokens) stepOver() verdict {
	switch c := t.peek(); {
	case c == '"':
		return t.scan()
	case c == '{' || c == '[':
		return t.stepOverInside(c == '{')
	case c == '-' || '0' <= c && c <= '9':
		_, v := t.number()
		return brokenIf(v == broken)
	case c == 't':
		return t.literal("true")
	case c == 'f':
		return t.literal("false")
	case c == 'n':
		return t.literal("null")
	}
	return t.failExpecting("a value")
}

// stepOverInside is stepOver for an object or an array.
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

// quote fails unless the name of a member is next. It reads nothing of the name.
func (t *tokens) quote() verdict {
	if t.peek() != '"' {
		return t.failExpecting("a member name in quotes")
	}
	return accepted
}

// literal reads true, false or null. The caller has seen its first byte.
func (t *tokens) literal(word string) verdict {
	for i := range len(word) {
		if c, ok := t.current(); !ok || c != word[i] {
			return t.failExpecting(word)
		}
		t.pos++
	}
	return accepted
}

// number reads a number of any length. It is accepted if it is written as an integer, without fraction and exponent, and refused
// if it is not. Of an integer n is its value, or ±tooLarge if it is larger; of another number n is of no use. A zero before
// other digits, as in 05, is not JSON: the caller meets the 5 where a comma or bracket belongs.
func (t *tokens) number() (n int, v verdict) {
	// At the end of the line, current returns 0, which is part of no number.
	v = accepted
	c, _ := t.current()
	negative := c == '-'
	if negative {
		t.pos++
		c, _ = t.current()
	}
	// The integer, then the fraction, then the exponent. Each has one digit at least.
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

// tooLarge stands for all larger numbers. It is more than any rule allows, and ten times as much fits into an int, so the sum of
// digits never overflows.
const tooLarge = 1_000_000

// digits reads one digit or more, and returns their value, at most tooLarge. Without a digit it fails. Digits go on as long as
// the line does, so a number of a million digits is read in the memory of the window.
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
		return 0, t.failExpecting("a digit")
	}
	return n, v
}
