package history

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

const (
	window = 16      // bytes that are compared by hash; shorter matches are not looked for
	stride = 8       // the windows of the old text at multiples of this are indexed
	reach  = 2 << 10 // how far a better match may extend back over earlier ones, in bytes
	skip   = 7       // largest advance through text without a match; odd, so that it comes to every position modulo stride
)

// diff returns an edit from old to new. The literals of the edit are new itself, so ^from is a position in new. It finds
// blocks of bytes wherever they moved to. Its cost is about linear in both texts; for a single change it is little more
// than that of comparing them.
func diff(old, new []byte) edit {
	prefix := commonPrefix(old, new)
	suffix := commonSuffix(old[prefix:], new[prefix:])
	var e edit
	if prefix > 0 {
		e = e.add(0, 0, int32(prefix))
	}
	if mid := len(new) - suffix; mid-prefix < window {
		if mid > prefix {
			e = e.add(0, ^int32(prefix), int32(mid-prefix))
		}
	} else {
		e = newMatcher(old).match(e, new, prefix, mid)
	}
	if suffix > 0 {
		e = e.add(0, int32(len(old)-suffix), int32(suffix))
	}
	return e
}

// matcher finds places in a text by the hash of window bytes. Of several places
// with the same bytes it knows the first: where that is the wrong one, the copy
// ends early, and the next match reaches back over it.
type matcher struct {
	old    []byte
	shift  int
	places []int32 // by hash: 1 + the place divided by stride, 0 for none
}

// newMatcher indexes the old text. It goes backwards, so of several places with the same hash the first one stays.
func newMatcher(old []byte) *matcher {
	blocks := 0
	if len(old) >= window {
		blocks = (len(old)-window)/stride + 1
	}
	width := max(8, bits.Len(uint(blocks)))
	m := &matcher{old: old, shift: 64 - width, places: make([]int32, 1<<width)}
	for b := blocks - 1; b >= 0; b-- {
		m.places[m.hash(old[b*stride:])] = int32(b + 1)
	}
	return m
}

// hash returns the index in places for the first window bytes of text.
func (m *matcher) hash(text []byte) uint64 {
	x := binary.LittleEndian.Uint64(text) * 0x9e3779b97f4a7c15
	y := binary.LittleEndian.Uint64(text[8:]) * 0xc2b2ae3d27d4eb4f
	return (x ^ bits.RotateLeft64(y, 31)) * 0x9e3779b97f4a7c15 >> m.shift
}

// match appends to e, which makes new[:at], the spans that make new[at:end]. At each position it looks the next window
// bytes up in the old text. A match is extended forward and backward as far as the texts are equal; without a match it
// moves on, in larger steps the longer nothing matches.
func (m *matcher) match(e edit, new []byte, at, end int) edit {
	literal := at // new[literal:at] has no match so far
	for at+window <= end {
		from := max(0, int(m.places[m.hash(new[at:])])-1) * stride
		n := commonPrefix(m.old[from:], new[at:end])
		if n < window {
			at += min(skip, 1+(at-literal)/512*2)
			continue
		}
		back := commonSuffix(m.old[:from], new[max(0, literal-reach):at])
		e = e.cut(int32(min(literal, at-back)))
		if at-back > literal {
			e = e.add(0, ^int32(literal), int32(at-back-literal))
		}
		e = e.add(0, int32(from-back), int32(n+back))
		at += n
		literal = at
	}
	if end > literal {
		e = e.add(0, ^int32(literal), int32(end-literal))
	}
	return e
}

// cut shortens e to the first size bytes of the new text, since a better match covers the rest.
func (e edit) cut(size int32) edit {
	for len(e) > 0 && e.start(len(e)-1) >= size {
		e = e[:len(e)-1]
	}
	if last := len(e) - 1; last >= 0 && e[last].end > size {
		e[last].end = size
	}
	return e
}

// commonPrefix returns how many bytes a and b have in common at their beginning.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+512 <= n && bytes.Equal(a[i:i+512], b[i:i+512]) {
		i += 512
	}
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// commonSuffix returns how many bytes a and b have in common at their end.
func commonSuffix(a, b []byte) int {
	n := min(len(a), len(b))
	a, b = a[len(a)-n:], b[len(b)-n:]
	i := n
	for i >= 512 && bytes.Equal(a[i-512:i], b[i-512:i]) {
		i -= 512
	}
	for ; i >= 8; i -= 8 {
		if x := binary.LittleEndian.Uint64(a[i-8:]) ^ binary.LittleEndian.Uint64(b[i-8:]); x != 0 {
			return n - i + bits.LeadingZeros64(x)/8
		}
	}
	for i > 0 && a[i-1] == b[i-1] {
		i--
	}
	return n - i
}
