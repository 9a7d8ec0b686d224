package fts5

import "encoding/binary"

// segment is a part of the index: leaf pages with terms in order, each with its posting list.
type segment struct {
	id, first, last int64    // its number, and those of its pages
	tombstones      [][]byte // pages of the hash table of deleted rowids; nil = not read yet
}

// key returns the key of a page.
func (s *segment) key(page int64) int64 { return s.id<<pageBits + page }

// deleted reports whether the segment has a tombstone of the rowid.
func (x *Index) deleted(s *segment, place int64) (bool, error) {
	pages := int64(len(s.tombstones))
	page := s.tombstones[place%pages]
	if page == nil {
		var err error
		if page, err = x.block(x.sql.page, (s.id+tombstones)<<pageBits+place%pages); err != nil {
			return false, err
		}
		s.tombstones[place%pages] = page
	}
	return hasTombstone(page, uint64(place), uint64(pages))
}

// hasTombstone looks a rowid up in its page of a hash table of so many pages. A page has a header of eight bytes, whose
// first is the size of a slot, and then slots. A rowid is put into the slot of its hash or, if that is taken, into the next
// free one. So the search ends at a free slot.
func hasTombstone(page []byte, place, pages uint64) (bool, error) {
	size := 8
	if len(page) > 0 && page[0] == 4 {
		size = 4
	}
	if len(page) < 8+size {
		return false, ErrFormat
	}
	slots := page[8:]
	n := uint64(len(slots) / size)
	for i, tried := place/pages%n, uint64(0); tried < n; i, tried = (i+1)%n, tried+1 {
		var have uint64
		if size == 4 {
			have = uint64(binary.BigEndian.Uint32(slots[4*i:]))
		} else {
			have = binary.BigEndian.Uint64(slots[8*i:])
		}
		if have == 0 {
			return false, nil
		}
		if have == place {
			return true, nil
		}
	}
	return false, nil
}

// leaf is a leaf page. It has a header of two numbers, the rest of the posting list of the page before, terms with
// their posting lists, and at its end an index of where each term begins.
type leaf struct {
	b      []byte // up to where the terms end
	starts varints
	start  int // of the next term; len(b) after the last
}

func leafOf(page []byte) (leaf, error) {
	if len(page) < 4 {
		return leaf{}, ErrFormat
	}
	end := int(binary.BigEndian.Uint16(page[2:]))
	if end < 4 || end > len(page) {
		return leaf{}, ErrFormat
	}
	l := leaf{b: page[:end], starts: varints{page[end:]}}
	l.forward()
	if l.start < 4 {
		return leaf{}, ErrFormat
	}
	return l, nil
}

// forward moves start to the next term.
func (l *leaf) forward() {
	if len(l.starts.b) == 0 {
		l.start = len(l.b)
		return
	}
	l.start += int(min(max(l.starts.next(), 0), int64(len(l.b)-l.start)))
}

// continued returns the part of the posting list that continues from the page before. more is true if it may
// continue on the next page. It must be called before next.
func (l *leaf) continued() (part []byte, more bool) { return l.b[4:l.start], l.start == len(l.b) }

// next returns the text of the next term, with its posting list, and whether it is the last on the page; nil after
// the last.
func (l *leaf) next() (text []byte, last bool) {
	from := l.start
	if from == len(l.b) {
		return nil, false
	}
	l.forward()
	return l.b[from:l.start], l.start == len(l.b)
}

// varints decodes a sequence of SQLite's varints: seven bits in each byte, the highest first, and eight bits in a
// ninth byte. After the end it yields zeros.
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
