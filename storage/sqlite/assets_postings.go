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
	segments []segment // about the oldest first
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
	maxHashes    = 1 << 20 // pages of hashes that a segment may have here
)

func (s *segment) key(page int64) int64 { return s.id<<pageBits + page }

// postings returns a reader of the lists of this snapshot.
func (c *conn) postings() (*postings, error) {
	rows := c.query("SELECT block FROM asset_term_data WHERE id = $1", structureKey)
	defer rows.close()
	if !rows.next() {
		return nil, missing(rows)
	}
	segments, err := segmentsOf(rows.blob(0))
	if err != nil {
		return nil, err
	}
	return &postings{c, segments}, nil
}

// segmentsOf reads the list of segments. Behind a number that changes with the settings stands the mark
// of an index that can delete without knowing the text.
func segmentsOf(block []byte) (all []segment, err error) {
	if len(block) < 8 || !bytes.Equal(block[4:8], []byte{0xff, 0, 0, 1}) {
		return nil, errFormat
	}
	in := varints{block[8:]}
	levels := in.next()
	in.skip(2) // the number of segments, and of pages written
	for ; levels > 0 && len(in.b) > 0; levels-- {
		in.skip(1) // segments that are being merged
		var level []segment
		for n := in.next(); n > 0 && len(in.b) > 0; n-- {
			s := segment{id: in.next(), first: in.next(), last: in.next()}
			in.skip(2) // which updates it holds
			hashes := in.next()
			in.skip(2) // the number of places that are gone, and of all
			if s.id <= 0 || s.id >= hashesAbove || s.first <= 0 || s.last < s.first || s.last>>pageBits != 0 || hashes < 0 || hashes >= maxHashes {
				return nil, errFormat
			}
			s.gone = make([][]byte, hashes)
			level = append(level, s)
		}
		all = append(level, all...)
	}
	return all, nil
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
