package fts5

import (
	"bytes"
	"errors"
	"slices"
)

// The errors of this package. The caller finds the rows with MATCH instead.
var (
	// ErrFormat: the index is in a format that this package does not know.
	ErrFormat = errors.New("the index is in a format that is not known")
	// ErrRange: a rowid is too far above the base of a Range.
	ErrRange = errors.New("a rowid is 1<<32 or more above the base of its range")
)

// Conn runs queries, all in one snapshot.
type Conn interface {
	Query(sql string, args ...any) Rows
}

// Rows iterates over the result of a query.
type Rows interface {
	Next() bool        // false at the end, and on an error
	Int(i int) int64   // column i
	Blob(i int) []byte // stays valid after Next and Close
	Err() error
	Close()
}

// Range is the rowids from First to Last. A list has their distances from Base, which is at most First.
type Range struct{ Base, First, Last int64 }

// Index is the index of an FTS5 table as one snapshot has it.
type Index struct {
	conn     Conn
	segments []*segment
	sql      statements
	spare    []uint32 // what Terms has used for its lists, to be used again
}

// statements are the queries of an index, whose text has the name of its table.
type statements struct{ structure, seek, pages, head, page, next string }

// Keys in the _data table. The key of a page is the number of its segment and its own. The tombstone pages of a segment
// have the segment's number plus tombstones.
const (
	structureKey = 10
	pageBits     = 37
	tombstones   = 1 << 16
	maxPages     = 1 << 20 // tombstone pages of a segment; more are ErrFormat
)

// Open returns the index of a table.
func Open(c Conn, table string) (*Index, error) {
	data, idx := table+"_data", table+"_idx"
	x := &Index{conn: c, sql: statements{
		structure: "SELECT block FROM " + data + " WHERE id = $1",
		seek: "SELECT id, block FROM " + data + " WHERE id BETWEEN $1 + max($2, coalesce((SELECT pgno >> 1 FROM " + idx +
			" WHERE segid = $3 AND term <= $4 ORDER BY term DESC LIMIT 1), 0)) AND $5 ORDER BY id",
		pages: "SELECT id, block FROM " + data + " WHERE id BETWEEN $1 AND $2 ORDER BY id",
		head:  "SELECT substr(block, 1, 16) FROM " + data + " WHERE id = $1",
		page:  "SELECT block FROM " + data + " WHERE id = $1",
		next:  "SELECT pgno >> 1 FROM " + idx + " WHERE segid = $1 AND term > $2 ORDER BY term LIMIT 1",
	}}
	block, err := x.block(x.sql.structure, structureKey)
	if err != nil {
		return nil, err
	}
	if x.segments, err = segmentsOf(block); err != nil {
		return nil, err
	}
	return x, nil
}

// block returns the one value of a query that must have one.
func (x *Index) block(sql string, args ...any) ([]byte, error) {
	rows := x.conn.Query(sql, args...)
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return nil, err
		}
		return nil, ErrFormat
	}
	return rows.Blob(0), nil
}

// segmentsOf parses the structure of an index. Bytes 4 to 7 are the mark of an index with tombstones; the bytes before
// are a counter of changes to the settings.
func segmentsOf(block []byte) (all []*segment, err error) {
	if len(block) < 8 || !bytes.Equal(block[4:8], []byte{0xff, 0, 0, 1}) {
		return nil, ErrFormat
	}
	in := varints{block[8:]}
	levels := in.next()
	in.skip(2) // the number of segments, and of pages written
	for ; levels > 0 && len(in.b) > 0; levels-- {
		in.skip(1) // the number of segments that are being merged
		for n := in.next(); n > 0 && len(in.b) > 0; n-- {
			s := &segment{id: in.next(), first: in.next(), last: in.next()}
			in.skip(2) // the range of updates in the segment
			pages := in.next()
			in.skip(2) // the number of tombstones, and of all entries
			if s.first == 0 && s.last == 0 {
				continue // it is merged completely
			}
			if s.id <= 0 || s.id >= tombstones || s.first <= 0 || s.last < s.first || s.last>>pageBits != 0 || pages < 0 || pages >= maxPages {
				return nil, ErrFormat
			}
			s.tombstones = make([][]byte, pages)
			all = append(all, s)
		}
	}
	return all, nil
}

// mainIndex begins all terms of the index itself; other indexes, of prefixes, may be in the same tables.
const mainIndex = '0'

// Postings appends to list the rows in the range that have at least one of the terms. They are in any order and may
// repeat.
func (x *Index) Postings(terms [][]byte, in Range, list []uint32) ([]uint32, error) {
	keys := make([][]byte, len(terms))
	for i, term := range terms {
		keys[i] = append([]byte{mainIndex}, term...)
	}
	slices.SortFunc(keys, bytes.Compare)
	for _, s := range x.segments {
		c := x.cursor(s, in)
		c.list = list
		for _, key := range keys {
			found, err := c.find(key)
			if err == nil && found {
				err = c.read()
			}
			if err != nil {
				c.close()
				return nil, err
			}
		}
		c.close()
		list = c.list
	}
	return list, nil
}

// Terms calls fn with each term that begins with prefix and that a row in the range has, in byte order, and with these
// rows, in any order and each once. Both are valid only until fn returns. Terms ends when fn returns an error, and
// returns it.
func (x *Index) Terms(prefix []byte, in Range, fn func(term []byte, list []uint32) error) error {
	key := append([]byte{mainIndex}, prefix...)
	var cursors []*cursor // each at a term with the prefix
	defer func() {
		for _, c := range cursors {
			c.close()
		}
	}()
	for _, s := range x.segments {
		c := x.cursor(s, in)
		cursors = append(cursors, c)
		if err := c.seek(key); err != nil {
			return err
		}
		for more := true; more && (c.term == nil || bytes.Compare(c.term, key) < 0); {
			var err error
			if more, err = c.next(); err != nil {
				return err
			}
		}
	}
	var term []byte
	list := x.spare
	x.spare = nil // fn may call Terms
	defer func() { x.spare = list }()
	for {
		cursors = slices.DeleteFunc(cursors, func(c *cursor) bool {
			ends := !bytes.HasPrefix(c.term, key)
			if ends {
				c.close()
			}
			return ends
		})
		if len(cursors) == 0 {
			return nil
		}
		first := slices.MinFunc(cursors, func(a, b *cursor) int { return bytes.Compare(a.term, b.term) })
		term, list = append(term[:0], first.term...), list[:0]
		for _, c := range cursors {
			if !bytes.Equal(c.term, term) {
				continue
			}
			c.list = list
			if err := c.read(); err != nil {
				return err
			}
			list, c.list = c.list, nil
			if _, err := c.next(); err != nil {
				return err
			}
		}
		if len(list) > 0 {
			if err := fn(term[1:], list); err != nil {
				return err
			}
		}
	}
}
