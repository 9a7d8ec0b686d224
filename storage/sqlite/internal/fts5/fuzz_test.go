package fts5

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
)

// pagesOfAnIndex returns the structure of a small index, and its pages.
func pagesOfAnIndex(t testing.TB) (structure []byte, pages [][]byte) {
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	for i := range 40 {
		exec(t, db, "INSERT INTO term (rowid, terms) VALUES (?, ?)", (i+1)*1000, fmt.Sprintf("all allow n%d z%d", i%7, i))
	}
	rows, err := db.Query("SELECT id, block FROM term_data WHERE id >= ?", structureKey)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var block []byte
		if err := rows.Scan(&id, &block); err != nil {
			t.Fatal(err)
		}
		if id == structureKey {
			structure = block
		} else {
			pages = append(pages, block)
		}
	}
	if len(structure) == 0 || len(pages) == 0 {
		t.Fatalf("%d bytes, %d pages", len(structure), len(pages))
	}
	return structure, pages
}

// A damaged index is read to an error or to nonsense, never to a panic or without an end.
func FuzzStructure(f *testing.F) {
	structure, _ := pagesOfAnIndex(f)
	f.Add(structure)
	f.Add(append(structure[:8:8], bytes.Repeat([]byte{0xff}, 40)...))
	f.Fuzz(func(t *testing.T, block []byte) {
		list, err := segmentsOf(block)
		for _, s := range list {
			if s.id <= 0 || s.first > s.last || err != nil {
				t.Errorf("segment %d of pages %d to %d, error %v", s.id, s.first, s.last, err)
			}
		}
	})
}

// pages is a Conn on an index of one segment that has some pages.
type pages [][]byte

func (p pages) Query(string, ...any) Rows { return &pageRows{pages: p, at: -1} }

type pageRows struct {
	pages
	at int
}

func (r *pageRows) Next() bool      { r.at++; return r.at < len(r.pages) }
func (r *pageRows) Int(int) int64   { return 1<<pageBits + int64(r.at) }
func (r *pageRows) Blob(int) []byte { return r.pages[r.at] }
func (r *pageRows) Err() error      { return nil }
func (r *pageRows) Close()          {}

func FuzzPages(f *testing.F) {
	_, seeds := pagesOfAnIndex(f)
	for _, page := range seeds {
		for _, key := range []string{"all", "allow", "n3", "never", "", "z"} {
			f.Add(page, seeds[0], []byte(key))
		}
	}
	f.Add([]byte{0, 0, 0, 6, 0xff, 0xff, 4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, []byte{}, []byte("a"))
	f.Fuzz(func(t *testing.T, one, two, key []byte) {
		x := &Index{conn: pages{one, two}, segments: []*segment{{id: 1, first: 1, last: 2}}}
		in := Range{1, 1, 1 << 62}
		list, err := x.Postings([][]byte{key}, in, nil)
		if err == nil && len(list) > len(one)+len(two) {
			t.Errorf("%d rows in %d bytes", len(list), len(one)+len(two))
		}
		terms, last := 0, []byte(nil)
		err = x.Terms(key, in, func(term []byte, list []uint32) error {
			terms++
			if !bytes.HasPrefix(term, key) || len(list) == 0 {
				t.Errorf("term %q with %d rows", term, len(list))
			}
			last = append(last[:0], term...)
			return nil
		})
		if err != nil && !errors.Is(err, ErrFormat) && !errors.Is(err, ErrRange) || terms > len(one)+len(two) {
			t.Errorf("%d terms, the last %q, error %v", terms, last, err)
		}
	})
}

// A number has up to nine bytes, and what is cut off is zero.
func TestVarints(t *testing.T) {
	for _, c := range []struct {
		b    []byte
		want int64
		rest int
	}{
		{[]byte{0}, 0, 0}, {[]byte{0x7f, 1}, 127, 1}, {[]byte{0x81, 0}, 128, 0}, {[]byte{0xff, 0x7f}, 1<<14 - 1, 0},
		{[]byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x81, 0x02}, 1<<8 + 2, 0},
		{bytes.Repeat([]byte{0xff}, 10), -1, 1}, {[]byte{0xff, 0xff}, 0, 0}, {nil, 0, 0},
	} {
		in := varints{c.b}
		if got := in.next(); got != c.want || len(in.b) != c.rest {
			t.Errorf("%x: %d with %d bytes behind, want %d with %d", c.b, got, len(in.b), c.want, c.rest)
		}
	}
}

// counted is a Conn that counts queries.
type counted struct {
	conn
	n *int
}

func (c counted) Query(text string, args ...any) Rows {
	rows := c.conn.Query(text, args...)
	return &countedRows{rows, c.n}
}

type countedRows struct {
	Rows
	n *int
}

func (r *countedRows) Next() bool { *r.n++; return r.Rows.Next() }

// A list in a small range of rowids among large ones is read without reading theirs.
func TestRowsOutsideTheRangeAreSkipped(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	exec(t, db, "INSERT INTO term (term, rank) VALUES ('pgsz', 64)")
	ranges := []Range{{0, 1, 1<<40 - 1}, {1 << 40, 1<<40 + 1, 2<<40 - 1}, {2 << 40, 2<<40 + 1, 3<<40 - 1}}
	for i, n := range []int64{5000, 10, 5000} {
		exec(t, db, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
			INSERT INTO term (rowid, terms) SELECT ?2 + i * 100000, 'all' FROM n`, n, ranges[i].Base)
	}
	exec(t, db, "INSERT INTO term (term) VALUES ('optimize')") // to one segment, with the rows one behind the other
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var steps [3]int
	for i, in := range ranges {
		x, err := Open(counted{conn{t, tx}, &steps[i]}, "term")
		if err != nil || len(x.segments) != 1 {
			t.Fatalf("%d segments, error %v", len(x.segments), err)
		}
		list, err := x.Postings([][]byte{[]byte("all")}, in, nil)
		if want := []int{5000, 10, 5000}[i]; err != nil || len(list) != want {
			t.Fatalf("%d rows, error %v, want %d", len(list), err, want)
		}
	}
	if steps[1] > steps[0]/4 {
		t.Errorf("ten rows take %d steps, 5,000 before them %d", steps[1], steps[0])
	}
}
