package reviews

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// A string is read by one of two methods. scan finds its end, and what no string may contain, without making its text: for
// titles and other strings whose text no rule looks at. text also returns the text, that is, without quotes and with escapes
// decoded. Most strings have no escapes, so their text is a slice of the window and costs nothing.
//
// Of the string "caf\u00e9", the file has 11 bytes with the quotes, and the text is the 5 bytes of café. What no string may
// contain, U+0000 and half of a surrogate pair, can only be written as an escape: as a byte, U+0000 is a control character and
// half of a pair is not UTF-8, which are faults of the line.

// str is what is known of the string that was read last. Offsets are those in the file.
type str struct {
	offset    int64  // of the opening quote
	nul       int64  // offset of the first U+0000; -1: there is none
	surrogate int64  // offset of the first half of a surrogate pair that lacks the other half; -1: there is none
	escaped   bool   // it has escapes, and its text is not what stands in the file
	decoded   []byte // memory for such a text
	long      bool   // it has escapes and more than maxDecoded bytes of text, which pieces yields
	end       int64  // offset after the closing quote of a long string
}

// maxDecoded is how many bytes of a string are decoded at once. It is more than any rule looks at, and the window holds
// the string already: a second copy of a string of 16 MiB would double the memory of a check.
const maxDecoded = 128 << 10

// text reads a string and returns its text. The string is part of the pinned value, so it is all in the window once it was
// read. The text is valid until the next byte is read or a problem is reported. Of a long string, text returns the first of its
// pieces, and str.long is true: a method that needs all of the text uses pieces, wholeText or fingerprint.
//
// It tries decode first. If that gives up, because the window does not hold all of the string or the string has a fault, scan
// reads the string, moves the window and finds the fault. Then decode is tried again.
func (t *tokens) text() (text []byte, v verdict) {
	if text, ok := t.decode(); ok {
		return text, accepted
	}
	at := t.offset()
	if t.scan() == broken { // reports the fault, if that is why decode gave up
		return nil, broken
	}
	end := t.offset()
	t.pos = int(at - t.base) // it is all in the window now
	if text, ok := t.decode(); ok {
		return text, accepted
	}
	// It is a long string. scan has set what str needs beside these.
	t.pos = int(end - t.base)
	t.str.escaped, t.str.long, t.str.end = true, true, end
	for text = range t.pieces() {
		break
	}
	return text, accepted
}

// pieces yields the text of the long string that was just read, maxDecoded bytes at a time or a few more. A piece may end
// inside a character, and is valid until the next one is made.
func (t *tokens) pieces() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		rest := t.buf[t.str.offset+1-t.base : t.str.end-1-t.base]
		memory := make([]byte, 0, maxDecoded+utf8.UTFMax)
		for more := true; more && len(rest) > 0; {
			piece := memory
			for len(rest) > 0 && len(piece) < maxDecoded {
				if rest[0] == '\\' {
					r, size := readEscape(rest)
					piece, rest = utf8.AppendRune(piece, r), rest[size:]
				} else {
					n, _ := unescapedPrefix(rest[:min(len(rest), maxDecoded-len(piece))])
					piece, rest = append(piece, rest[:n]...), rest[n:]
				}
			}
			more = yield(piece)
		}
	}
}

// wholeText returns a copy of all of the text of the string that was just read, which stays valid when the window moves. An
// import uses it for ids and sources. text is what the method text returned of it.
func (t *tokens) wholeText(text []byte) string {
	if !t.str.long {
		return string(text)
	}
	var all strings.Builder
	for piece := range t.pieces() {
		all.Write(piece)
	}
	return all.String()
}

// decode reads a string that is all in the window, has no fault, and is short enough: if it has escapes, its text has at most
// maxDecoded bytes. ok is false for any other string, and nothing of it is read. An escaped character that no string may contain
// is no fault here; str notes it.
//
// It is the fast way for nearly all strings, and does not move the window. It gives up at anything unusual, so that only scan has
// to tell one fault from another.
func (t *tokens) decode() (text []byte, ok bool) {
	// t.str stays as it is until the string was read to its end, since scan begins anew if decode gives up.
	rest := t.buf[t.pos+1:] // after the opening quote
	s := str{offset: t.offset(), nul: -1, surrogate: -1, decoded: t.str.decoded[:0]}
	n, ascii := unescapedPrefix(rest) // n bytes of rest were read
	if n < len(rest) && rest[n] == '"' {
		text = rest[:n] // no escapes: the text is what stands in the file
	} else if n > maxDecoded {
		return nil, false
	} else {
		s.escaped = true
		text = append(s.decoded, rest[:n]...)
		for len(rest)-n > 1 && rest[n] == '\\' { // an escape, and the text up to the next
			if c := simpleEscapes[rest[n+1]]; c != 0 {
				text = append(text, c)
				n += 2
			} else {
				r, size := readEscape(rest[n:])
				if size == 0 {
					return nil, false
				}
				s.note(r, s.offset+1+int64(n))
				text = utf8.AppendRune(text, r)
				n += size
			}
			run, plainASCII := unescapedPrefix(rest[n:])
			if len(text)+run > maxDecoded {
				return nil, false
			}
			ascii = ascii && plainASCII
			text = append(text, rest[n:n+run]...)
			n += run
		}
		s.decoded = text
	}
	// The closing quote must follow. Text beyond ASCII must be UTF-8; decoded escapes are.
	if n == len(rest) || rest[n] != '"' || !ascii && !utf8.Valid(text) {
		return nil, false
	}
	t.str = s
	t.pos += n + 2 // with both quotes
	return text, true
}

// note keeps the offset of an escaped character that no string may contain: U+0000, or half of a surrogate pair. Only the first
// of each is kept.
func (s *str) note(r rune, offset int64) {
	switch {
	case r == 0 && s.nul < 0:
		s.nul = offset
	case 0xD800 <= r && r < 0xE000 && s.surrogate < 0:
		s.surrogate = offset
	}
}

// scan reads a string of any length without making its text, and notes the characters that no string may contain. It fails at a
// control character, at an escape that JSON does not have, and at a byte that is not UTF-8 (RFC 8259, sections 7 and 8.1). It
// moves the window where needed, so a string that is not pinned may have any length in little memory.
func (t *tokens) scan() verdict {
	t.str.offset, t.str.nul, t.str.surrogate, t.str.long = t.offset(), -1, -1, false
	t.pos++
	for {
		n, ascii := unescapedPrefix(t.buf[t.pos:])
		// The text up to the next quote, backslash or control character must be UTF-8.
		if !ascii {
			valid := validPrefix(t.buf[t.pos : t.pos+n])
			t.pos += valid
			n -= valid
			if n > 0 { // a character may be cut by the end of the window
				if n == len(t.buf)-t.pos && !utf8.FullRune(t.buf[t.pos:]) && t.fill() {
					continue
				}
				return t.fail(t.offset(), ruleUTF8, notUTF8)
			}
		}
		t.pos += n
		// Then an escape, the closing quote, or a fault.
		if len(t.buf)-t.pos < maxEscape && t.fill() { // so that no escape is cut
			continue
		}
		if rest := t.buf[t.pos:]; len(rest) > 1 && rest[0] == '\\' && simpleEscapes[rest[1]] != 0 {
			t.pos += 2
			continue
		}
		c, ok := t.current()
		switch {
		case !ok:
			return t.failExpecting("the closing quote of a string")
		case c == '"':
			t.pos++
			return accepted
		case c < ' ':
			return t.fail(t.offset(), ruleJSON, "this is not JSON: "+byteName(c)+" in a string, where an escape belongs")
		}
		r, size := readEscape(t.buf[t.pos:])
		if size == 0 {
			return t.fail(t.offset(), ruleJSON, "this is not JSON: no such escape in a string")
		}
		t.str.note(r, t.offset())
		t.pos += size
	}
}

// at returns the offset in the file of byte i of the text that was read last, for a problem at a tag of body_html. An escape
// takes more bytes in the file than in the text: byte 1 of the text of "\u0041b" is the seventh byte after the quote. So at
// counts through the string from its beginning, which must be in the window still.
func (t *tokens) at(i int) int64 {
	from := t.str.offset + 1
	if !t.str.escaped {
		return from + int64(i)
	}
	raw := t.buf[from-t.base:]
	at := 0 // in raw, where byte n of the text is
	for n := 0; n < i; {
		if raw[at] != '\\' {
			n++
			at++
			continue
		}
		r, size := readEscape(raw[at:])
		n += len(utf8.AppendRune(nil, r))
		at += size
	}
	return from + int64(at)
}

// unescapedPrefix returns how many bytes at the beginning of b are neither a quote, a backslash nor a control character, and
// whether they are ASCII. It looks at eight bytes at a time, as one number: subtracting a value from each byte sets the highest
// bit of the bytes that are lower. Nearly all of a file is the text of strings, so the speed of a check depends on this loop.
func unescapedPrefix(b []byte) (n int, ascii bool) {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	var seen uint64
	for ; len(b)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		quote, back := w^(ones*'"'), w^(ones*'\\') // a byte is 0 where w has a quote, or a backslash
		if (w|(w-ones*' ')|(quote-ones)|(back-ones))&highs == 0 {
			continue // eight bytes of ASCII
		}
		// The lowest bit that is set in stop is in the first quote, backslash or control character.
		stop := ((w-ones*' ')&^w | (quote-ones)&^quote | (back-ones)&^back) & highs
		if stop != 0 {
			k := bits.TrailingZeros64(stop) / 8
			seen |= w & (1<<(8*k) - 1)
			return n + k, seen&highs == 0
		}
		seen |= w
	}
	ascii = seen&highs == 0
	for ; n < len(b) && b[n] >= ' ' && b[n] != '"' && b[n] != '\\'; n++ {
		ascii = ascii && b[n] < utf8.RuneSelf
	}
	return n, ascii
}

// validPrefix returns how many bytes at the beginning of b are whole characters of valid UTF-8. The byte after them is the one at
// fault, unless b ends inside a character.
func validPrefix(b []byte) int {
	// Nearly all text is valid, and utf8.Valid is much faster than reading it character by character.
	if utf8.Valid(b) {
		return len(b)
	}
	n := 0
	for n < len(b) {
		r, size := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		n += size
	}
	return n
}

// simpleEscapes are the characters of the escapes with one letter, by that letter; 0 for a letter that is none.
var simpleEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// maxEscape is the length of the longest escape, a surrogate pair.
const maxEscape = len(`\ud83d\ude00`)

// readEscape decodes the escape at the beginning of b, which begins with a backslash. It returns how many bytes the escape takes;
// 0 if JSON has no such escape, or b ends inside it. The two escapes of a surrogate pair are read as one. A surrogate that is not
// half of a pair is returned as it is; utf8.AppendRune writes U+FFFD for it.
func readEscape(b []byte) (r rune, size int) {
	if len(b) < 2 {
		return 0, 0
	}
	if c := simpleEscapes[b[1]]; c != 0 {
		return rune(c), 2
	}
	r, ok := readHex(b)
	if !ok {
		return 0, 0
	}
	if 0xD800 <= r && r < 0xDC00 { // the first half of a pair (RFC 8259, section 7)
		if low, ok := readHex(b[6:]); ok && 0xDC00 <= low && low < 0xE000 {
			return (r-0xD800)<<10 + (low - 0xDC00) + 0x10000, 12
		}
	}
	return r, 6
}

// readHex decodes \uXXXX at the beginning of b. ok is false if b begins with anything else.
func readHex(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
