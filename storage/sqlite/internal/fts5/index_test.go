package fts5

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/vitrine-go/vitrine/internal/proof"
)

// A long run, for an upgrade of SQLite: go test ./storage/sqlite/internal/fts5 -run MATCH -timeout 0 -args -seeds 600
var seeds = flag.Int("seeds", 5, "random histories of an index that are read in both ways")

// conn is a Conn on a transaction.
type conn struct {
	t  testing.TB
	tx *sql.Tx
}

func (c conn) Query(text string, args ...any) Rows {
	rows, err := c.tx.Query(text, args...)
	if err != nil {
		c.t.Fatal(err)
	}
	return &result{rows: rows}
}

type result struct {
	rows   *sql.Rows
	values []any
}

func (r *result) Next() bool {
	if !r.rows.Next() {
		return false
	}
	columns, _ := r.rows.Columns()
	r.values = make([]any, len(columns))
	to := make([]any, len(columns))
	for i := range to {
		to[i] = &r.values[i]
	}
	return r.rows.Scan(to...) == nil
}

func (r *result) Int(i int) int64   { n, _ := r.values[i].(int64); return n }
func (r *result) Blob(i int) []byte { b, _ := r.values[i].([]byte); return b }
func (r *result) Err() error        { return r.rows.Err() }
func (r *result) Close()            { r.rows.Close() }

// open opens a file in which the table term is an index.
func open(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)&_pragma=synchronous(off)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	exec(t, db, `CREATE VIRTUAL TABLE IF NOT EXISTS term USING fts5 (terms, content = '', contentless_delete = 1, detail = none,
		tokenize = "ascii tokenchars '_'")`)
	exec(t, db, "CREATE VIRTUAL TABLE IF NOT EXISTS vocabulary USING fts5vocab (term, instance)")
	return db
}

type executer interface {
	Exec(string, ...any) (sql.Result, error)
}

func exec(t testing.TB, db executer, text string, args ...any) {
	t.Helper()
	if _, err := db.Exec(text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// vocabulary has terms that share beginnings, short and long.
var vocabulary = func() (terms []string) {
	for i := range 60 {
		terms = append(terms, fmt.Sprintf("t%d", i*i*i), strings.Repeat("long", i+1))
	}
	return append(terms, "é", "éa", "語", "_41", "_41b", "all")
}()

const base = 5 << 40

// ranges are whole libraries, and parts of one.
var ranges = []Range{
	{base, base + 1, base + 1<<40 - 1}, {base, base + 100, base + 300}, {0, 1, 1<<40 - 1}, {9 << 40, 9<<40 + 1, 9<<40 + 50},
}

// history makes random changes.
type history struct {
	*rand.Rand
	t   *testing.T
	dbs []*sql.DB // of the same file
}

func (h *history) change() {
	db := h.dbs[h.IntN(len(h.dbs))]
	switch h.IntN(16) {
	case 0, 5, 6:
		exec(h.t, db, "INSERT INTO term (term, rank) VALUES ('merge', ?)", []int{1, 2, 5, 20, 500, -1, -4, -100}[h.IntN(8)])
	case 1:
		exec(h.t, db, "INSERT INTO term (term, rank) VALUES ('secure-delete', ?)", h.IntN(2))
	case 2:
		if h.IntN(6) == 0 {
			exec(h.t, db, "INSERT INTO term (term) VALUES ('optimize')")
		}
	case 3:
		if h.IntN(4) == 0 {
			exec(h.t, db, "VACUUM")
		}
	case 4:
		exec(h.t, db, "INSERT INTO term (term, rank) VALUES ('usermerge', ?)", 2+h.IntN(5))
	default:
		h.write(db)
	}
}

// write changes rows in one transaction, some of them in a savepoint, and may roll back.
func (h *history) write(db *sql.DB) {
	tx, err := db.Begin()
	if err != nil {
		h.t.Fatal(err)
	}
	defer tx.Rollback()
	for range 1 + h.IntN(120) {
		place := ranges[h.IntN(len(ranges))].Base + 1 + h.Int64N(1+h.Int64N(1500))
		switch h.IntN(8) {
		case 0, 1:
			exec(h.t, tx, "DELETE FROM term WHERE rowid = ?", place)
		case 2:
			exec(h.t, tx, "SAVEPOINT s")
			exec(h.t, tx, "INSERT OR REPLACE INTO term (rowid, terms) VALUES (?, ?)", place, h.text())
			if h.IntN(2) == 0 {
				exec(h.t, tx, "ROLLBACK TO s")
			}
			exec(h.t, tx, "RELEASE s")
		default:
			exec(h.t, tx, "INSERT OR REPLACE INTO term (rowid, terms) VALUES (?, ?)", place, h.text())
		}
	}
	if h.IntN(6) > 0 {
		if err := tx.Commit(); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *history) text() string {
	terms := []string{"all"}
	for range h.IntN(12) {
		terms = append(terms, vocabulary[h.IntN(1+h.IntN(len(vocabulary)))])
	}
	slices.Sort(terms)
	return strings.Join(slices.Compact(terms), " ")
}

// seen is what the checks met.
type seen struct{ longest, segments, tombstones, merged int }

// check compares the lists of all terms with those of MATCH, and the terms of some prefixes with the vocabulary.
func (h *history) check(most *seen) {
	tx, err := h.dbs[h.IntN(len(h.dbs))].Begin()
	if err != nil {
		h.t.Fatal(err)
	}
	defer tx.Rollback()
	c := conn{h.t, tx}
	x, err := Open(c, "term")
	if err != nil {
		h.t.Fatalf("the index cannot be read: %v", err)
	}
	block, err := x.block(x.sql.structure, structureKey)
	if err != nil {
		h.t.Fatal(err)
	}
	if len(x.segments) < segmentsIn(block) {
		most.merged++
	}
	most.segments = max(most.segments, len(x.segments))
	for _, s := range x.segments {
		most.tombstones += len(s.tombstones)
	}
	in := ranges[h.IntN(len(ranges))]
	var together []uint32
	var some [][]byte
	for _, term := range append(vocabulary, "never", "a", "zzz") {
		got, err := x.Postings([][]byte{[]byte(term)}, in, nil)
		if err != nil {
			h.t.Fatalf("%s: %v", term, err)
		}
		slices.Sort(got)
		want := h.rows(c, in, "SELECT rowid FROM term WHERE term MATCH ?1 AND rowid BETWEEN ?2 AND ?3", `"`+term+`"`)
		if !slices.Equal(got, want) {
			h.t.Fatalf("%s in %v: read %v, MATCH finds %v", term, in, got, want)
		}
		most.longest = max(most.longest, len(got))
		if h.IntN(3) == 0 {
			some, together = append(some, []byte(term)), append(together, want...)
		}
	}
	got, err := x.Postings(some, in, nil)
	slices.Sort(got)
	slices.Sort(together)
	if err != nil || !slices.Equal(got, together) {
		h.t.Fatalf("%d terms together in %v: %d rows, error %v; want %d", len(some), in, len(got), err, len(together))
	}
	for _, prefix := range []string{"t", "t1", "long", "longlong", "é", "_41", "a", "none", "語", "lo"} {
		h.checkTerms(c, x, prefix, in)
	}
}

// segmentsIn counts the segments of a structure, the merged ones too.
func segmentsIn(block []byte) (n int) {
	in := varints{block[8:]}
	levels := in.next()
	in.skip(2)
	for range levels {
		in.skip(1)
		for range in.next() {
			in.skip(8)
			n++
		}
	}
	return n
}

func (h *history) rows(c conn, in Range, text, arg string) (out []uint32) {
	rows := c.Query(text, arg, in.First, in.Last)
	defer rows.Close()
	for rows.Next() {
		out = append(out, uint32(rows.Int(0)-in.Base))
	}
	if rows.Err() != nil {
		h.t.Fatal(rows.Err())
	}
	return out
}

func (h *history) checkTerms(c conn, x *Index, prefix string, in Range) {
	var got, want []string
	err := x.Terms([]byte(prefix), in, func(term []byte, list []uint32) error {
		slices.Sort(list)
		got = append(got, fmt.Sprint(string(term), list))
		return nil
	})
	rows := c.Query(`SELECT term, json_group_array(doc) FROM (SELECT term, doc FROM vocabulary
		WHERE term BETWEEN ?1 AND ?1 || char(0x10ffff) AND doc BETWEEN ?2 AND ?3 ORDER BY term, doc) GROUP BY term`, prefix, in.First, in.Last)
	defer rows.Close()
	for rows.Next() {
		r := rows.(*result)
		var list []uint32
		for place := range strings.SplitSeq(strings.Trim(r.values[1].(string), "[]"), ",") {
			var n int64
			fmt.Sscan(place, &n)
			list = append(list, uint32(n-in.Base))
		}
		want = append(want, fmt.Sprint(r.values[0].(string), list))
	}
	if err != nil || rows.Err() != nil || !slices.Equal(got, want) {
		h.t.Fatalf("terms with %q in %v: %v\n%q\nwant %v\n%q", prefix, in, err, got, rows.Err(), want)
	}
}

// After any writes, merges and settings, with pages small enough for each list to go over many, the lists are those
// that MATCH finds, of one file in two openings.
func TestPostingsEqualTheResultsOfMatch(t *testing.T) {
	n := *seeds
	if proof.Short() {
		n = 1
	}
	var most seen
	for seed := range n {
		h := &history{rand.New(rand.NewPCG(uint64(seed), 3)), t, nil}
		path := filepath.Join(t.TempDir(), "x.db")
		h.dbs = []*sql.DB{open(t, path), open(t, path)}
		for name, value := range map[string]int{
			"pgsz": []int{64, 100, 500, 4050}[h.IntN(4)], "automerge": []int{0, 2, 4, 8}[h.IntN(4)], "crisismerge": 3 + h.IntN(14),
		} {
			exec(t, h.dbs[0], "INSERT INTO term (term, rank) VALUES (?, ?)", name, value)
		}
		for range 60 {
			h.change()
			if h.IntN(3) == 0 {
				h.check(&most)
			}
		}
		h.check(&most)
		exec(t, h.dbs[0], "INSERT INTO term (term) VALUES ('integrity-check')")
		for _, db := range h.dbs {
			db.Close()
		}
	}
	t.Logf("%+v", most)
	if n > 1 && (most.longest < 200 || most.segments < 4 || most.tombstones < 2 || most.merged == 0) {
		t.Errorf("%+v: this test shows little", most)
	}
}

// An index that is not contentless with tombstones is not read.
func TestAnotherFormatIsRefused(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	exec(t, db, "CREATE VIRTUAL TABLE other USING fts5 (terms, content = '', detail = none)")
	exec(t, db, "INSERT INTO other (rowid, terms) VALUES (1, 'a')")
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := Open(conn{t, tx}, "other"); !errors.Is(err, ErrFormat) {
		t.Errorf("error %v, want ErrFormat", err)
	}
}

// A rowid that is too far from the base of the range is refused, not cut.
func TestARowidFarAboveTheBaseIsRefused(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	exec(t, db, "INSERT INTO term (rowid, terms) VALUES (1, 'a'), (4294967296, 'b')")
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	x, err := Open(conn{t, tx}, "term")
	if err != nil {
		t.Fatal(err)
	}
	all := Range{0, 1, 1 << 40}
	if list, err := x.Postings([][]byte{[]byte("a")}, all, nil); err != nil || !slices.Equal(list, []uint32{1}) {
		t.Errorf("a: %v, error %v", list, err)
	}
	if _, err := x.Postings([][]byte{[]byte("b")}, all, nil); !errors.Is(err, ErrRange) {
		t.Errorf("b: error %v, want ErrRange", err)
	}
	if list, err := x.Postings([][]byte{[]byte("b")}, Range{1, 1, 1 << 40}, nil); err != nil || !slices.Equal(list, []uint32{1<<32 - 1}) {
		t.Errorf("b from 1 on: %v, error %v", list, err)
	}
}
