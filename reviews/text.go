package reviews

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// str is a string of the record while it is read, a piece at a time. Most strings are one piece
// that lies in the window as it is; a piece with escapes is decoded, and a long string, however
// long, comes in several.
type str struct {
	offset    int64  // of the opening quote
	piece     []byte // the decoded text of this piece, valid until the next
	from      int    // where the piece begins in the window
	escaped   bool   // piece is decoded and not the window itself
	closed    bool   // this piece is the last
	nul       int64  // offset of the first U+0000, or -1
	surrogate int64  // offset of the first half of a surrogate pair, or -1
	decoded   []byte // memory of decoded pieces
	joined    []byte // memory of texts in several pieces
}

// maxPiece is the most of a string with escapes that is decoded at once.
const maxPiece = 64 << 10

// open begins the string whose opening quote is next.
func (t *tokens) open() {
	t.str.offset = t.offset()
	t.str.closed, t.str.nul, t.str.surrogate = false, -1, -1
	t.pos++
}

// piece reads the next piece of the string; false is its end, or a fault.
func (t *tokens) piece() bool {
	if t.str.closed || t.fault != nil {
		return false
	}
	rest := t.buf[t.pos:]
	n, ascii := plain(rest)
	if n < len(rest) && rest[n] == '"' && (ascii || utf8.Valid(rest[:n])) {
		t.str.piece, t.str.from, t.str.escaped, t.str.closed = rest[:n], t.pos, false, true
		t.pos += n + 1
		return true
	}
	if t.decodeWhole(rest, n, ascii) {
		return true
	}
	if !ascii {
		n = 0
	}
	return t.decode(n)
}

// decodeWhole reads a piece with escapes that is all in rest, of which the first n bytes are plain.
// False leaves everything as it was, for decode: the piece is too long, or has a fault to be explained.
func (t *tokens) decodeWhole(rest []byte, n int, ascii bool) bool {
	out := append(t.str.decoded[:0], rest[:n]...)
	nul, surrogate := t.str.nul, t.str.surrogate // of the pieces before
	for len(rest)-n >= maxEscape && rest[n] == '\\' && len(out) < maxPiece {
		if c := rest[n+1]; c != 'u' && simpleEscapes[c] != 0 {
			out = append(out, simpleEscapes[c])
			n += 2
		} else {
			r, size := readEscape(rest[n:])
			switch {
			case size == 0:
				return false
			case r == 0 && nul < 0:
				nul = t.offset() + int64(n)
			case 0xD800 <= r && r < 0xE000 && surrogate < 0:
				surrogate = t.offset() + int64(n)
			}
			out = utf8.AppendRune(out, r)
			n += size
		}
		run, plainASCII := plain(rest[n:])
		ascii = ascii && plainASCII
		out = append(out, rest[n:n+run]...)
		n += run
	}
	t.str.decoded = out
	if n == len(rest) || rest[n] != '"' || len(out) > maxPiece || !ascii && !utf8.Valid(out) {
		return false
	}
	t.str.piece, t.str.from, t.str.escaped, t.str.closed = out, t.pos, true, true
	t.str.nul, t.str.surrogate = nul, surrogate
	t.pos += n + 1
	return true
}

// simpleEscapes are the characters of the escapes with one letter.
var simpleEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// decode reads a piece that is not simply what lies between here and the closing quote. The first
// n bytes of it are known to be plain ASCII.
func (t *tokens) decode(n int) bool {
	out := t.str.decoded[:0]
	t.str.from, t.str.escaped = t.pos, true
	for !t.str.closed && len(out) < maxPiece {
		run, ok := t.run(n, maxPiece-len(out)+utf8.UTFMax)
		n = 0
		if !ok {
			return false
		}
		out = append(out, run...)
		short := len(t.buf)-t.pos < maxEscape
		if short && len(out) > 0 && t.rest != nil {
			break // moving the window would move what at looks at
		}
		if short && len(out) == 0 {
			more := t.fill()
			if t.str.from = t.pos; more {
				continue
			}
		}
		if out, ok = t.special(out); !ok {
			return false
		}
	}
	t.str.piece, t.str.decoded = out, out
	return true
}

// run reads what stands for itself, of at most limit bytes and in whole characters. The first
// known bytes do.
func (t *tokens) run(known, limit int) (text []byte, ok bool) {
	rest := t.buf[t.pos:]
	rest = rest[:min(len(rest), limit)]
	known = min(known, len(rest))
	n, ascii := plain(rest[known:])
	n += known
	if !ascii {
		valid := validPrefix(rest[:n])
		// A character may be cut by the window, not by what ends the run.
		if valid < n && (n < len(rest) || utf8.FullRune(rest[valid:n]) || len(rest) == len(t.buf)-t.pos && t.rest == nil) {
			return nil, t.fail(t.offset()+int64(valid), ruleUTF8, notUTF8)
		}
		n = valid
	}
	t.pos += n
	return rest[:n], true
}

// special reads an escape, the closing quote, or refuses what may not stand in a string.
func (t *tokens) special(out []byte) ([]byte, bool) {
	c, ok := t.current()
	switch {
	case !ok:
		return nil, t.unexpected("the closing quote of a string")
	case c == '"':
		t.str.closed = true
		t.pos++
		return out, true
	case c < ' ':
		return nil, t.fail(t.offset(), ruleJSON, "this is not JSON: "+byteName(c)+" in a string, where an escape belongs")
	case c != '\\':
		return out, true // the run was cut by its limit
	}
	r, size := readEscape(t.buf[t.pos:])
	switch {
	case size == 0:
		return nil, t.fail(t.offset(), ruleJSON, "this is not JSON: no such escape in a string")
	case r == 0 && t.str.nul < 0:
		t.str.nul = t.offset()
	case 0xD800 <= r && r < 0xE000 && t.str.surrogate < 0:
		t.str.surrogate = t.offset()
	}
	t.pos += size
	return utf8.AppendRune(out, r), true
}

// at gives the offset in the file of byte i of the current piece.
func (t *tokens) at(i int) int64 {
	if !t.str.escaped {
		return t.base + int64(t.str.from+i)
	}
	raw := t.str.from
	for n := 0; n < i; {
		if t.buf[raw] != '\\' {
			n++
			raw++
			continue
		}
		r, size := readEscape(t.buf[raw:])
		if r >= 0xD800 && r < 0xE000 {
			r = utf8.RuneError
		}
		n += utf8.RuneLen(r)
		raw += size
	}
	return t.base + int64(raw)
}

// short reads a string and gives its text if it is not longer than limit bytes, else its
// beginning. The text is valid until the next string is read.
func (t *tokens) short(limit int) (text []byte, whole, ok bool) {
	t.open()
	if !t.piece() {
		return nil, false, t.fault == nil
	}
	if t.str.closed {
		return t.str.piece[:min(len(t.str.piece), limit)], len(t.str.piece) <= limit, true
	}
	t.str.joined = t.str.joined[:0]
	for more := true; more; more = t.piece() {
		keep := min(len(t.str.piece), limit+1-len(t.str.joined))
		t.str.joined = append(t.str.joined, t.str.piece[:keep]...)
	}
	text = t.str.joined
	return text[:min(len(text), limit)], len(text) <= limit, t.fault == nil
}

// plain gives the length of the longest beginning of b without quote, backslash and control
// character, and whether that beginning is ASCII. It looks at eight bytes at a time.
func plain(b []byte) (n int, ascii bool) {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	var seen uint64
	for ; len(b)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		quote, back := w^(ones*'"'), w^(ones*'\\')
		if (w|(w-ones*' ')|(quote-ones)|(back-ones))&highs == 0 {
			continue // plain ASCII
		}
		// The lowest high bit of stop marks the first byte that is not plain.
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

// validPrefix gives the length of the longest beginning of b that is valid UTF-8.
func validPrefix(b []byte) int {
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

// maxEscape is the length of the longest escape, a surrogate pair.
const maxEscape = len(`\ud83d\ude00`)

// readEscape decodes the escape at the beginning of b. Half of a surrogate pair is given as it is;
// size 0 says that there is no escape.
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
	if 0xD800 <= r && r < 0xDC00 {
		if low, ok := readHex(b[6:]); ok && 0xDC00 <= low && low < 0xE000 {
			return (r-0xD800)<<10 + (low - 0xDC00) + 0x10000, 12
		}
	}
	return r, 6
}

// readHex decodes a \uXXXX at the beginning of b.
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
