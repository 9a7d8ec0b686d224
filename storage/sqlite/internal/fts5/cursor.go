package fts5

import (
	"bytes"
	"errors"
	"math"
	"sort"
)

// cursor goes through the terms of a segment.
type cursor struct {
	*Index
	*segment
	in Range

	rows  Rows // the pages from the current one on; nil before the first
	page  int64
	leaf  leaf   // the current page
	term  []byte // current one; nil before the first on a page, and after the last
	part  []byte // of the current term's posting list: what is on this page
	more  bool   // the posting list may go on over the next page
	list  []uint32
	place int64 // the rowid that was decoded last
}

func (x *Index) cursor(s *segment, in Range) *cursor { return &cursor{Index: x, segment: s, in: in} }

func (c *cursor) close() {
	if c.rows != nil {
		c.rows.Close()
		c.rows = nil
	}
}

// seek goes to before the first term of a page: the term key, if the segment has it, is on this page, and the terms
// after key are on it or later ones.
func (c *cursor) seek(key []byte) error {
	c.close()
	c.page = -1
	c.rows = c.conn.Query(c.sql.seek, c.key(0), c.first, c.id, key, c.key(c.last))
	if ok, err := c.turn(); err != nil || !ok {
		return errors.Join(err, missing(ok))
	}
	return nil
}

func missing(ok bool) error {
	if ok {
		return nil
	}
	return ErrFormat
}

// turn goes to the next page. ok is false after the last.
func (c *cursor) turn() (ok bool, err error) {
	if !c.rows.Next() {
		c.term = nil
		return false, c.rows.Err()
	}
	page := c.rows.Int(0) - c.key(0)
	if page <= c.page { // a damaged index may lead back, and then there would be no end
		return false, ErrFormat
	}
	c.page = page
	c.term, c.part, c.more = nil, nil, false
	c.leaf, err = leafOf(c.rows.Blob(1))
	return err == nil, err
}

// next goes to the next term. ok is false after the last; then term is nil.
func (c *cursor) next() (ok bool, err error) {
	for {
		if ok, err = c.nextOnPage(); ok || err != nil {
			return ok, err
		}
		if ok, err = c.turn(); !ok || err != nil {
			return false, err
		}
	}
}

// nextOnPage goes to the next term, if there is another one on the current page.
//
// Terms are compressed by their prefix: each but the first of a page is stored as the number of bytes that it shares
// with the term before, and the other bytes.
func (c *cursor) nextOnPage() (ok bool, err error) {
	text, last := c.leaf.next()
	if text == nil {
		return false, nil
	}
	in, shared := varints{text}, int64(0)
	if c.term != nil {
		shared = in.next()
	}
	size := in.next()
	if shared < 0 || shared > int64(len(c.term)) || size < 0 || size > int64(len(in.b)) {
		return false, ErrFormat
	}
	c.term = append(c.term[:shared:shared], in.b[:size]...)
	c.part, c.more = in.b[size:], last
	return true, nil
}

// find goes to a term, if the segment has it. Terms must be looked for in byte order. It looks at the current page
// first, since the terms of one search are often on one page.
func (c *cursor) find(key []byte) (found bool, err error) {
	for sought := false; ; sought = true {
		for c.rows != nil {
			switch order := bytes.Compare(c.term, key); {
			case c.term != nil && order == 0:
				return true, nil
			case c.term != nil && order > 0:
				return false, nil
			}
			if found, err = c.nextOnPage(); err != nil {
				return false, err
			}
			if !found {
				break
			}
		}
		if sought {
			return false, nil
		}
		if err = c.seek(key); err != nil {
			return false, err
		}
	}
}

// read appends the rows of the current term's posting list that are in the range, and have no tombstone, to list. Afterwards next
// goes to the term that follows.
func (c *cursor) read() error {
	if err := c.decode(c.part); err != nil || !c.more {
		return err
	}
	if c.place < c.in.First {
		if err := c.leap(); err != nil {
			return err
		}
	}
	// Nothing of interest is on the pages after the range, but the next term is behind them: next goes there.
	for c.place <= c.in.Last {
		if ok, err := c.turn(); !ok || err != nil {
			return err
		}
		part, more := c.leaf.continued()
		if len(part) > 0 {
			if err := c.decode(part); err != nil {
				return err
			}
		}
		if !more {
			break
		}
	}
	return nil
}

// decode appends the rows of a part of a posting list to list, as read does. The part begins with a rowid, and then has the
// steps from one rowid to the next. A step is never 0: a 0 is a delete marker, which only an index without tombstones has.
func (c *cursor) decode(part []byte) error {
	n := len(c.list)
	if cap(c.list)-n < len(part) { // a rowid takes at least one byte
		c.list = append(make([]uint32, 0, 2*cap(c.list)+len(part)), c.list...)
	}
	list := c.list[:n+len(part)]
	place, highest, first, base, span := int64(0), c.in.Base, c.in.First, c.in.Base, uint64(c.in.Last-c.in.First)
	for i := 0; i < len(part); {
		if step := part[i]; step-1 < 0x7f { // most are
			place += int64(step)
			i++
		} else if step == 0 {
			return ErrFormat
		} else {
			in := varints{part[i:]}
			place += in.next()
			i = len(part) - len(in.b)
		}
		if uint64(place-first) > span {
			if place > c.in.Last {
				break
			}
			continue
		}
		if len(c.tombstones) > 0 {
			if deleted, err := c.deleted(c.segment, place); err != nil {
				return err
			} else if deleted {
				continue
			}
		}
		list[n] = uint32(place - base)
		n, highest = n+1, place
	}
	if highest-base > math.MaxUint32 {
		return ErrRange
	}
	c.place, c.list = place, list[:n]
	return nil
}

// leap goes to the last page before the rows of the range: the posting list of the current term has rows of the range
// on the next pages only. The list ends at the latest on the page where the next term begins.
func (c *cursor) leap() error {
	end := c.last
	rows := c.conn.Query(c.sql.next, c.id, c.term)
	if rows.Next() {
		end = rows.Int(0)
	}
	rows.Close()
	if err := rows.Err(); err != nil {
		return err
	}
	var err error
	n := sort.Search(int(max(end-c.page, 0)), func(i int) bool {
		head, failed := c.block(c.sql.head, c.key(c.page+1+int64(i)))
		err = errors.Join(err, failed)
		if len(head) <= 4 || head[0] != 0 || head[1] != 4 {
			return true // the page has no row of the list at its beginning
		}
		in := varints{head[4:]}
		return in.next() > c.in.First
	})
	if err != nil || n <= 1 {
		return err
	}
	// The page before the found one may have rows of the range at its end.
	c.rows.Close()
	c.rows = c.conn.Query(c.sql.pages, c.key(c.page+int64(n)), c.key(c.last))
	return nil
}
