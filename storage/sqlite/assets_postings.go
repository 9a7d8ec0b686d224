package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sort"
)

// postings reads which places have a term from the tables in which FTS5 keeps its index. A list is
// a few bytes for each place, and reading it takes a tenth of the time that SQL takes to step over
// what a MATCH finds.
//
// The format is described at the head of SQLite's ext/fts5/fts5_index.c, and one that files stay in
// for releases to come. Where it is another than is known here the error is errFormat; MATCH knows.
type postings struct {
	c        *conn
	segments []segment // the oldest first, about
}

// What keeps a list from being read so.
var (
	errFormat = errors.New("the index is in a format that is not known")
	errHigh   = errors.New("an ordinal has more than 32 bits")
)

// missing is why rows has no row that should be there.
func missing(rows *rows) error {
	if rows.err != nil {
		return rows.err
	}
	return errFormat
}

// segment is a part of the index: pages of terms in their order, each with its list.
type segment struct {
	id, first, last int64    // its number, and those of its pages
	gone            [][]byte // pages of a hash of the places that are in it no longer; nil = not read yet
}

// The table asset_term_data: the key of the list of segments, and the keys of their pages. Pages of
// hashes are those of a segment with a number so much higher.
const (
	structureKey = 10
	pageBits     = 37
	hashesAbove  = 1 << 16
)

func (s *segment) key(page int64) int64 { return s.id<<pageBits + page }

// postings returns a reader of the lists of this snapshot.
func (c *conn) postings() (*postings, error) {
	rows := c.query("SELECT block FROM asset_term_data WHERE id = $1", structureKey)
	defer rows.close()
	if !rows.next() {
		return nil, missing(rows)
	}
	// Behind a number that changes with the settings stands the mark of an index that can delete
	// without knowing the text.
	b := rows.blob(0)
	if len(b) < 8 || !bytes.Equal(b[4:8], []byte{0xff, 0, 0, 1}) {
		return nil, errFormat
	}
	in := varints{b[8:]}
	p := &postings{c: c}
	levels := in.next()
	in.skip(2) // the number of segments, and of pages written
	for range levels {
		in.skip(1) // segments that are being merged
		var level []segment
		for n := in.next(); n > 0 && len(in.b) > 0; n-- {
			s := segment{id: in.next(), first: in.next(), last: in.next()}
			in.skip(2) // which updates it holds
			s.gone = make([][]byte, min(in.next(), hashesAbove))
			in.skip(2) // the number of places that are gone, and of all
			level = append(level, s)
		}
		p.segments = append(level, p.segments...)
	}
	return p, nil
}

// read returns the ordinals of the places from first to last that have one of the terms, in any order
// and with repeats. errHigh for one that has more than 32 bits.
func (p *postings) read(terms [][]byte, first, last int64) ([]uint32, error) {
	keys := make([][]byte, len(terms))
	for i, term := range terms {
		keys[i] = append([]byte{'0'}, term...) // the number of the index: there is one
	}
	slices.SortFunc(keys, bytes.Compare)
	var out []uint32
	for i := range p.segments {
		w := walk{postings: p, segment: &p.segments[i], first: first, last: last, out: out}
		for _, key := range keys {
			if err := w.take(key); err != nil {
				return nil, err
			}
		}
		out = w.out
	}
	return out, nil
}

// walk goes through the lists of terms, in their order, in one segment.
type walk struct {
	*postings
	*segment
	first, last int64
	out         []uint32
	leaf        leaf  // read last; empty at first
	page        int64 // its number
}

// take takes the list of a term. Terms that are asked for together are often on one page.
func (w *walk) take(key []byte) error {
	list, more, behind, err := w.leaf.find(key)
	if behind && err == nil {
		if err = w.seek(key); err == nil {
			list, more, _, err = w.leaf.find(key)
		}
	}
	if err != nil || list == nil {
		return err
	}
	reached, err := w.places(list)
	if err != nil || !more {
		return err
	}
	return w.rest(key, reached)
}

// seek reads the page on which the term must be.
func (w *walk) seek(key []byte) error {
	rows := w.c.query(`SELECT id, block FROM asset_term_data WHERE id = $1 + max($2, coalesce(
		(SELECT pgno >> 1 FROM asset_term_idx WHERE segid = $3 AND term <= $4 ORDER BY term DESC LIMIT 1), 0))`,
		w.key(0), w.segment.first, w.id, key)
	defer rows.close()
	if !rows.next() {
		return missing(rows)
	}
	return w.turn(rows)
}

// turn takes the page that rows has.
func (w *walk) turn(rows *rows) (err error) {
	w.page = rows.int(0) - w.key(0)
	w.leaf, err = leafOf(rows.blob(1))
	return err
}

// rest takes what the list has behind the page, given the place that it has reached. Pages of other
// libraries in between are leapt over.
func (w *walk) rest(key []byte, reached int64) error {
	page := w.page + 1
	if reached < w.first {
		var err error
		if page, err = w.leap(key); err != nil {
			return err
		}
	}
	rows := w.c.query("SELECT id, block FROM asset_term_data WHERE id BETWEEN $1 AND $2 ORDER BY id", w.key(page), w.key(w.segment.last))
	defer rows.close()
	for more := true; more && reached <= w.last && rows.next(); {
		if err := w.turn(rows); err != nil {
			return err
		}
		var list []byte
		if list, more = w.leaf.rest(); len(list) == 0 {
			continue
		}
		var err error
		if reached, err = w.places(list); err != nil {
			return err
		}
	}
	return rows.err
}

// places takes the places of a page's part of the list, and returns the last.
func (w *walk) places(list []byte) (place int64, err error) {
	if cap(w.out)-len(w.out) < len(list) { // a place takes a byte at least
		w.out = append(make([]uint32, 0, 2*cap(w.out)+len(list)), w.out...)
	}
	in := varints{list}
	for len(in.b) > 0 {
		if step := in.b[0]; step < 0x80 { // most are
			place, in.b = place+int64(step), in.b[1:]
		} else {
			place += in.next()
		}
		if len(in.b) > 0 && in.b[0] == 0 {
			return 0, errFormat // the place is taken out of older segments: an index with text does so
		}
		if place < w.first {
			continue
		}
		if place > w.last {
			break
		}
		if len(w.gone) > 0 {
			if gone, err := w.isGone(place); err != nil {
				return 0, err
			} else if gone {
				continue
			}
		}
		ordinal := ordinalOf(place)
		if ordinal > math.MaxUint32 {
			return 0, errHigh
		}
		w.out = append(w.out, uint32(ordinal))
	}
	return place, nil
}

// leap returns the page behind this one from which on to look for the first place. The list ends on
// the page where the next term begins, at the latest.
func (w *walk) leap(key []byte) (int64, error) {
	end, err := w.c.value("SELECT pgno >> 1 FROM asset_term_idx WHERE segid = $1 AND term > $2 ORDER BY term LIMIT 1", w.id, key)
	if err != nil {
		return 0, err
	}
	if end == 0 {
		end = w.segment.last
	}
	n := sort.Search(int(end-w.page), func(i int) bool {
		rows := w.c.query("SELECT substr(block, 1, 16) FROM asset_term_data WHERE id = $1", w.key(w.page+1+int64(i)))
		defer rows.close()
		if !rows.next() {
			err = errors.Join(err, rows.err)
			return true
		}
		b := rows.blob(0)
		if len(b) <= 4 || b[0] != 0 || b[1] != 4 {
			return true // no place of the list is there
		}
		in := varints{b[4:]}
		return in.next() > w.first
	})
	return w.page + max(int64(n), 1), err
}

// isGone reports whether the place is no longer in the segment.
func (s *walk) isGone(place int64) (bool, error) {
	pages := int64(len(s.gone))
	page := s.gone[place%pages]
	if page == nil {
		rows := s.c.query("SELECT block FROM asset_term_data WHERE id = $1", (s.id+hashesAbove)<<pageBits+place%pages)
		defer rows.close()
		if !rows.next() {
			return false, missing(rows)
		}
		page = rows.blob(0)
		s.gone[place%pages] = page
	}
	size := 8
	if len(page) > 0 && page[0] == 4 {
		size = 4
	}
	if len(page) < 8+size {
		return false, errFormat
	}
	slots := page[8:]
	n := int64(len(slots) / size)
	for i, tried := place/pages%n, int64(0); tried < n; i, tried = (i+1)%n, tried+1 {
		var have uint64
		if size == 4 {
			have = uint64(binary.BigEndian.Uint32(slots[4*i:]))
		} else {
			have = binary.BigEndian.Uint64(slots[8*i:])
		}
		if have == 0 {
			return false, nil
		}
		if have == uint64(place) {
			return true, nil
		}
	}
	return false, nil
}

// leaf is a page of a segment: two numbers, what is left of the list of the page before, terms with
// their lists, and behind it all where each term begins.
type leaf struct {
	b      []byte // up to where the terms end
	starts varints
}

func leafOf(page []byte) (leaf, error) {
	if len(page) < 4 {
		return leaf{}, errFormat
	}
	end := int(binary.BigEndian.Uint16(page[2:]))
	if end < 4 || end > len(page) {
		return leaf{}, errFormat
	}
	return leaf{page[:end], varints{page[end:]}}, nil
}

// next returns where the next term begins, given where the one before does; the end of the page when
// there is none.
func (l *leaf) next(start int) int {
	if len(l.starts.b) == 0 {
		return len(l.b)
	}
	return min(start+int(l.starts.next()), len(l.b))
}

// rest returns what the page has of the list of the page before, and whether the next page may have
// more of it.
func (l leaf) rest() (list []byte, more bool) {
	end := l.next(0)
	return l.b[4:max(end, 4)], end == len(l.b)
}

// find returns the list of the term and whether it may have more behind the page; nil when the term is
// not there, and then whether it stands behind all that are. Each term but the first is written as how
// many bytes it has in common with the one before, and the others.
func (l leaf) find(key []byte) (list []byte, more, behind bool, err error) {
	equal, isFirst := int64(0), true // bytes that the key has in common with the term before
	for start := l.next(0); start < len(l.b); isFirst = false {
		end := l.next(start)
		in := varints{l.b[start:end]}
		start = end
		kept := int64(0)
		if !isFirst {
			kept = in.next()
		}
		size := in.next()
		switch {
		case size > int64(len(in.b)):
			return nil, false, false, errFormat
		case kept > equal: // it differs from the key where the one before does
			continue
		case kept < equal: // it differs where that did not, and so stands behind the key
			return nil, false, false, nil
		}
		others := in.b[:size]
		for len(others) > 0 && equal < int64(len(key)) && others[0] == key[equal] {
			others, equal = others[1:], equal+1
		}
		switch ended := equal == int64(len(key)); {
		case ended && len(others) == 0:
			return in.b[size:], end == len(l.b), false, nil
		case ended || len(others) > 0 && others[0] > key[equal]:
			return nil, false, false, nil
		}
	}
	return nil, false, true, nil
}

// varints is a row of numbers as SQLite writes them: seven bits in a byte, the highest first, and
// eight in a ninth byte. Behind its end there are zeros.
type varints struct{ b []byte }

func (v *varints) next() int64 {
	var n uint64
	for i, b := range v.b {
		if i == 8 {
			v.b = v.b[9:]
			return int64(n<<8 | uint64(b))
		}
		n = n<<7 | uint64(b&0x7f)
		if b < 0x80 {
			v.b = v.b[i+1:]
			return int64(n)
		}
	}
	v.b = nil
	return 0
}

func (v *varints) skip(n int) {
	for range n {
		v.next()
	}
}
