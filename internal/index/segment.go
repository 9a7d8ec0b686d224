package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"maps"
	"slices"

	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/lru"
)

// change is the addition of an ordinal to a posting list that lacks it, or its removal from one that has it. So counts
// of changes can be added up.
type change struct {
	ordinal int64
	gone    bool
}

// each yields encoded changes. Each change is the gap to the previous ordinal, with the lowest bit set for a removal.
func each(b []byte) iter.Seq[change] {
	return func(yield func(change) bool) {
		for at := int64(0); len(b) > 0; {
			n, k := binary.Uvarint(b)
			if k <= 0 {
				return
			}
			at, b = at+int64(n>>1), b[k:]
			if !yield(change{at, n&1 == 1}) {
				return
			}
		}
	}
}

func appendChanges(b []byte, list []change) []byte {
	at := int64(0)
	for _, c := range list {
		n := uint64(c.ordinal-at) << 1
		if c.gone {
			n |= 1
		}
		b, at = binary.AppendUvarint(b, n), c.ordinal
	}
	return b
}

// settled sorts consecutive changes and drops those that undo each other.
func settled(list []change) []change {
	compare := func(a, b change) int { return cmp.Compare(a.ordinal, b.ordinal) }
	if !slices.IsSortedFunc(list, compare) {
		slices.SortStableFunc(list, compare)
	}
	kept := list[:0]
	for _, c := range list {
		if n := len(kept); n > 0 && kept[n-1].ordinal == c.ordinal {
			kept = kept[:n-1]
		} else {
			kept = append(kept, c)
		}
	}
	return kept
}

// segment has the changes of several updates, by term: a list of entries, see appendEntry. Every 16th entry has its
// whole term. The entries are followed by the offsets of these entries and by their number, 4 bytes each, so a term is
// found by binary search in the encoded segment.
type segment []byte

const wholeTerms = 16

// builder builds a segment from terms in ascending order.
type builder struct {
	out     []byte
	places  []uint32
	terms   int
	changes int
	last    []byte
}

func (b *builder) add(term []byte, changes []change) {
	if len(changes) == 0 {
		return
	}
	if b.terms%wholeTerms == 0 {
		b.places = append(b.places, uint32(len(b.out)))
		b.last = b.last[:0]
	}
	b.terms++
	b.changes += len(changes)
	b.out = appendEntry(b.out, b.last, term, appendChanges(nil, changes))
	b.last = append(b.last[:0], term...)
}

// The limits of the short form of an entry, see appendEntry. Most entries fit: their terms have one length and a few
// bytes of changes, as those of times and origins.
const (
	sameBits = 6
	mostSame = 1<<sameBits - 1
)

// appendEntry appends an entry after the entry of the term last. The lower bits of its first byte are the number of
// bytes that its term shares with last. In the long form the upper bits are 0, and the length of the rest of the term,
// the rest, the length of the value and the value follow. In the short form the upper bits are the length of the value
// less 1, and the term is as long as last.
func appendEntry(b, last, term, value []byte) []byte {
	same := common(term, last)
	if short := len(value) - 1; 1 <= short && short <= 3 && same < min(mostSame, len(term)) && len(term) == len(last) {
		b = append(b, byte(short<<sameBits|same))
		b = append(b, term[same:]...)
		return append(b, value...)
	}
	b = append(b, byte(min(same, mostSame)))
	if same >= mostSame {
		b = binary.AppendUvarint(b, uint64(same-mostSame))
	}
	return keyval.AppendText(keyval.AppendText(b, term[same:]), value)
}

// common returns the length of the common prefix of two terms.
func common(a, b []byte) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func (b *builder) segment() segment {
	out := b.out
	for _, p := range append(b.places, uint32(len(b.places))) {
		out = binary.LittleEndian.AppendUint32(out, p)
	}
	return out
}

// unwritten is a change of a term that is not in a segment yet.
type unwritten struct {
	term string
	change
}

// segmentOf returns changes, which are in the order in which they happened, as a segment, with their number. It sorts
// only the different terms: texts have most of their terms many times, and updates of others wait meanwhile.
func segmentOf(all []unwritten) (segment, int) {
	// The first change of each term, and the one after each change with the same term; both counted from 1, 0 = none.
	first, next := make(map[string]int, len(all)/8), make([]int, len(all))
	for i := len(all) - 1; i >= 0; i-- {
		next[i] = first[all[i].term]
		first[all[i].term] = i + 1
	}
	var b builder
	var text []byte
	var list []change
	for _, term := range slices.Sorted(maps.Keys(first)) {
		list = list[:0]
		for i := first[term]; i > 0; i = next[i-1] {
			list = append(list, all[i-1].change)
		}
		text = append(text[:0], term...)
		b.add(text, settled(list))
	}
	return b.segment(), b.changes
}

// merged merges segments, oldest first, and returns the number of changes in the result.
func merged(all []segment) (segment, int, error) {
	m, b := merger{}, builder{}
	for _, s := range all {
		m.cursors = append(m.cursors, s.seek(""))
	}
	for m.next(); m.ok; m.next() {
		b.add(m.term, together(m.changes))
	}
	return b.segment(), b.changes, damage(m.cursors)
}

// entries returns the entries from the last whole term that is not above term, or all of them.
func (s segment) entries(term string) ([]byte, error) {
	if len(s) < 4 {
		return nil, errDamaged
	}
	n := int(binary.LittleEndian.Uint32(s[len(s)-4:]))
	end := len(s) - 4 - 4*n
	if n < 0 || end < 0 {
		return nil, errDamaged
	}
	// the i-th whole term on
	from := func(i int) []byte { return s[min(int(binary.LittleEndian.Uint32(s[end+4*i:])), end):end] }
	low, high := 0, n
	for low < high {
		middle := (low + high) / 2
		_, rest := number(from(middle))
		whole, _, ok := part(rest)
		if !ok {
			return nil, errDamaged
		}
		if string(whole) <= term {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if n == 0 {
		return nil, nil
	}
	return from(max(low-1, 0)), nil
}

// number returns the number at the beginning of b and the bytes that follow it, or nil if there is none.
func number(b []byte) (int, []byte) {
	if len(b) > 0 && b[0] < 0x80 {
		return int(b[0]), b[1:]
	}
	n, k := binary.Uvarint(b)
	if k <= 0 || n > 1<<31 {
		return 0, nil
	}
	return int(n), b[k:]
}

// part returns the length-prefixed bytes at the beginning of b, and the bytes that follow them.
func part(b []byte) (s, rest []byte, ok bool) {
	n, rest := number(b)
	if rest == nil || n > len(rest) {
		return nil, nil, false
	}
	return rest[:n], rest[n:], true
}

// findIn returns the value of a term in entries that begin with a whole term, or nil. last is true if the entries have
// no later term.
func findIn(b []byte, term string) (value []byte, last bool, err error) {
	c := cursor{rest: b}
	for c.next(); c.ok && string(c.term) < term; {
		c.next()
	}
	if c.ok && string(c.term) == term {
		value = c.changes
		c.next()
	}
	return value, !c.ok, c.err
}

// cursor is at an entry of a segment, or after the last one.
type cursor struct {
	rest    []byte
	term    []byte
	changes []byte
	ok      bool
	err     error
}

// seek returns a cursor at the first term that is not below term.
func (s segment) seek(term string) (c cursor) {
	if c.rest, c.err = s.entries(term); c.err != nil {
		return c
	}
	for c.next(); c.ok && string(c.term) < term; {
		c.next()
	}
	return c
}

// next advances to the next entry.
func (c *cursor) next() {
	if c.ok = len(c.rest) > 0; !c.ok {
		return
	}
	same, short, rest := int(c.rest[0]&mostSame), int(c.rest[0]>>sameBits), c.rest[1:]
	if end := len(c.term) - same; short > 0 && end > 0 && end+short < len(rest) {
		c.term = append(c.term[:same], rest[:end]...)
		c.changes, c.rest = rest[end:end+short+1], rest[end+short+1:]
		return
	}
	if same == mostSame {
		var more int
		more, rest = number(rest)
		same += more
	}
	suffix, rest, ok := part(rest)
	changes, rest, ok2 := part(rest)
	if !ok || !ok2 || short > 0 || same > len(c.term) {
		c.err, c.ok = errDamaged, false
		return
	}
	c.term = append(c.term[:same], suffix...)
	c.changes, c.rest = changes, rest
}

// forward advances the cursor to the first term of its segment s that is not below term.
func (c *cursor) forward(s segment, term string) {
	for range wholeTerms {
		if !c.ok || string(c.term) >= term {
			return
		}
		c.next()
	}
	*c = s.seek(term)
}

// merger iterates over the terms of several segments. changes has the changes of each segment that has the term, oldest
// first. term and changes are valid until the next call of next.
type merger struct {
	cursors []cursor
	term    []byte
	changes [][]byte
	ok      bool
}

func (m *merger) next() {
	first := -1
	for i := range m.cursors {
		if m.cursors[i].ok && (first < 0 || bytes.Compare(m.cursors[i].term, m.cursors[first].term) < 0) {
			first = i
		}
	}
	if m.ok = first >= 0; !m.ok {
		return
	}
	m.term, m.changes = append(m.term[:0], m.cursors[first].term...), m.changes[:0]
	for i := first; i < len(m.cursors); i++ {
		if c := &m.cursors[i]; c.ok && bytes.Equal(c.term, m.term) {
			m.changes = append(m.changes, c.changes)
			c.next()
		}
	}
}

// damage returns the error of the first cursor that met a damaged segment.
func damage(cursors []cursor) error {
	for _, c := range cursors {
		if c.err != nil {
			return c.err
		}
	}
	return nil
}

// together returns the changes of a term in several segments as one list.
func together(parts [][]byte) (list []change) {
	for _, p := range parts {
		for c := range each(p) {
			list = append(list, c)
		}
	}
	return settled(list)
}

// Cache caches segments by their keys. A segment never changes, and its number is never reused.
type Cache = lru.Cache[string, segment]

// NewCache returns a cache with a limit in bytes.
func NewCache(bytes int) *Cache { return lru.New[string, segment](bytes) }
