package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/lru"
	"github.com/vitrine-go/vitrine/internal/record"
)

// change is the addition of an ordinal to a list that lacks it, or the removal from one that has it. So counts add up.
type change struct {
	ordinal int64
	gone    bool
}

// each yields encoded changes: for each the gap to the ordinal before and, in the lowest bit, whether it is gone.
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

// settled sorts changes that came one after the other, and drops those that undo each other.
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

// segment has the changes of some updates, by term. It is a list of entries; see appendEntry. Every 16th entry has its whole term. Behind
// them stand the places of these entries and their number, in 4 bytes each. So a term is found in it as it is.
type segment []byte

const wholeTerms = 16

// builder makes a segment of terms in their order.
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

// most entries have terms of one length and a few bytes, such as those of times and origins; see appendEntry.
const (
	sameBits = 6
	mostSame = 1<<sameBits - 1
)

// appendEntry appends an entry behind the one of the term last. The lower bits of its first byte say how many bytes of last its term begins
// with. The upper ones are 0 in an entry with the length of the rest of the term, the rest, and the value with its length. Otherwise they
// are the length of the value less 1, and the term is as long as last, so that no lengths are needed.
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
	return record.AppendText(record.AppendText(b, term[same:]), value)
}

// common returns how many bytes two terms begin with together.
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

// unwritten is a change of a term that is in no segment yet. Those of a term happened in the order of their numbers.
type unwritten struct {
	term string
	change
	number int
}

// segmentOf returns the segment of changes, and how many they are. It sorts them.
func segmentOf(all []unwritten) (segment, int) {
	slices.SortFunc(all, func(a, b unwritten) int { return cmp.Or(strings.Compare(a.term, b.term), a.number-b.number) })
	var b builder
	var term []byte
	var list []change
	for len(all) > 0 {
		n := 0
		for list = list[:0]; n < len(all) && all[n].term == all[0].term; n++ {
			list = append(list, all[n].change)
		}
		term = append(term[:0], all[0].term...)
		b.add(term, settled(list))
		all = all[n:]
	}
	return b.segment(), b.changes
}

// merged returns the segment of what some segments change, the oldest first, and how many changes it has.
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

// blocks returns how many whole terms a segment has, and a function that returns the entries from one of them on.
func (s segment) blocks() (n int, from func(i int) []byte, err error) {
	if len(s) < 4 {
		return 0, nil, errDamaged
	}
	n = int(binary.LittleEndian.Uint32(s[len(s)-4:]))
	end := len(s) - 4 - 4*n
	if n < 0 || end < 0 {
		return 0, nil, errDamaged
	}
	return n, func(i int) []byte {
		return s[min(int(binary.LittleEndian.Uint32(s[end+4*i:])), end):end]
	}, nil
}

// blockOf returns the last whole term that is not above a given one, or the first one.
func (s segment) blockOf(term string) (int, error) {
	n, from, err := s.blocks()
	if err != nil {
		return 0, err
	}
	low, high := 0, n
	for low < high {
		middle := (low + high) / 2
		_, rest := number(from(middle))
		whole, _, ok := part(rest)
		if !ok {
			return 0, errDamaged
		}
		if string(whole) <= term {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return max(low-1, 0), nil
}

// entries returns the part of a segment from the last whole term on that is not above a given one, or from the first on.
func (s segment) entries(term string) ([]byte, error) {
	n, from, err := s.blocks()
	if err != nil || n == 0 {
		return nil, err
	}
	i, err := s.blockOf(term)
	if err != nil {
		return nil, err
	}
	return from(i), nil
}

// number returns the number at the beginning of b and what follows it, nil if there is none.
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

// part returns the bytes at the beginning of b that have their length before them, and what follows them.
func part(b []byte) (s, rest []byte, ok bool) {
	n, rest := number(b)
	if rest == nil || n > len(rest) {
		return nil, nil, false
	}
	return rest[:n], rest[n:], true
}

// findIn returns what a term has in entries that begin with a whole term, nil if it is not there, and whether there are none of later
// terms.
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

// cursor stands at an entry of a segment, or behind the last.
type cursor struct {
	rest    []byte
	term    []byte
	changes []byte
	ok      bool
	err     error
}

// seek returns a cursor at the first term that is not below a given one.
func (s segment) seek(term string) (c cursor) {
	if c.rest, c.err = s.entries(term); c.err != nil {
		return c
	}
	for c.next(); c.ok && string(c.term) < term; {
		c.next()
	}
	return c
}

// next goes to the next entry.
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

// forward moves the cursor of a segment on to the first term that is not below a given one.
func (c *cursor) forward(s segment, term string) {
	for range wholeTerms {
		if !c.ok || string(c.term) >= term {
			return
		}
		c.next()
	}
	*c = s.seek(term)
}

// merger goes through the terms of several segments. Its changes are those of the segments that have the term, the oldest first. Both are
// only good until the next step.
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

// damage returns the error of the first damaged segment.
func damage(cursors []cursor) error {
	for _, c := range cursors {
		if c.err != nil {
			return c.err
		}
	}
	return nil
}

// together returns the changes that several segments have for a term.
func together(parts [][]byte) (list []change) {
	for _, p := range parts {
		for c := range each(p) {
			list = append(list, c)
		}
	}
	return settled(list)
}

// Cache keeps segments, which never change and whose numbers are never given again, by their keys.
type Cache = lru.Cache[string, segment]

// NewCache returns a cache of this many bytes.
func NewCache(bytes int) *Cache { return lru.New[string, segment](bytes) }
