package history

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"
)

// store keeps histories in SQLite as the package comment advises.
type store struct {
	tb                                                  testing.TB
	codec                                               *Codec
	file                                                string
	db                                                  *sql.DB
	tx                                                  *sql.Tx
	pending                                             int
	getHead, getTail, getBody, getRows, putHead, putRow *sql.Stmt
}

const schema = `
CREATE TABLE heads (app INTEGER PRIMARY KEY, version INTEGER NOT NULL, updated_at INTEGER NOT NULL, updated_by TEXT NOT NULL, tail BLOB, body BLOB NOT NULL) STRICT;
CREATE TABLE history (key INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
`

func openStore(tb testing.TB) *store {
	codec, err := New()
	s := &store{tb: tb, codec: codec, file: filepath.Join(tb.TempDir(), "history.db")}
	s.must(err)
	s.db, err = sql.Open("sqlite", s.file)
	s.must(err)
	tb.Cleanup(func() { s.db.Close() })
	s.db.SetMaxOpenConns(1)
	_, err = s.db.Exec("PRAGMA synchronous=OFF; PRAGMA journal_mode=WAL; PRAGMA temp_store=MEMORY;" + schema)
	s.must(err)
	prepare := func(query string) *sql.Stmt {
		stmt, err := s.db.Prepare(query)
		s.must(err)
		return stmt
	}
	s.getHead = prepare("SELECT version, updated_at, updated_by, tail, body FROM heads WHERE app=?")
	s.getTail = prepare("SELECT tail FROM heads WHERE app=?")
	s.getRows = prepare("SELECT key, data FROM history WHERE key BETWEEN ? AND ? ORDER BY key DESC")
	s.putHead = prepare("INSERT OR REPLACE INTO heads VALUES (?,?,?,?,?,?)")
	s.putRow = prepare("INSERT INTO history VALUES (?,?)")
	s.getBody = prepare("SELECT body FROM heads WHERE app=?")
	return s
}

func (s *store) must(err error) {
	s.tb.Helper()
	if err != nil {
		s.tb.Fatal(err)
	}
}

// put stores the next version of an app; commits come every 500 versions.
func (s *store) put(app int64, prev, next Version, tail []byte) []byte {
	if s.tx == nil {
		tx, err := s.db.Begin()
		s.must(err)
		s.tx = tx
	}
	var change Change
	if next.Number > 0 {
		var err error
		change, err = s.codec.Append(tail, prev, next)
		s.must(err)
	}
	for _, row := range change.Rows {
		_, err := s.tx.Stmt(s.putRow).Exec(app<<32|row.Version, row.Data)
		s.must(err)
	}
	_, err := s.tx.Stmt(s.putHead).Exec(app, next.Number, next.UpdatedAt, next.UpdatedBy, change.Tail, next.Body)
	s.must(err)
	if s.pending++; s.pending%500 == 0 {
		s.commit()
	}
	return change.Tail
}

func (s *store) commit() {
	if s.tx != nil {
		s.must(s.tx.Commit())
		s.tx = nil
	}
}

func (s *store) latest(app int64) (v Version, tail []byte) {
	s.must(s.getHead.QueryRow(app).Scan(&v.Number, &v.UpdatedAt, &v.UpdatedBy, &tail, &v.Body))
	return v, tail
}

// rows are the rows of an app up to a version, newest first.
func (s *store) rows(app, number int64) Rows {
	return func(yield func(Row, error) bool) {
		rows, err := s.getRows.Query(app<<32, app<<32|number)
		if err != nil {
			yield(Row{}, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var row Row
			err := rows.Scan(&row.Version, &row.Data)
			row.Version &= 1<<32 - 1
			if !yield(row, err) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(Row{}, err)
		}
	}
}

func (s *store) get(app, number int64) Version {
	var tail []byte
	s.must(s.getTail.QueryRow(app).Scan(&tail))
	v, err := s.codec.Read(tail, s.rows(app, number), number)
	s.must(err)
	return v
}

func (s *store) list(app, from int64, limit int) {
	var tail []byte
	s.must(s.getTail.QueryRow(app).Scan(&tail))
	_, err := s.codec.List(tail, s.rows(app, from), from, limit, 16<<20)
	s.must(err)
}

// size is that of the whole file, everything in it.
func (s *store) size() int64 {
	s.commit()
	_, err := s.db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	s.must(err)
	info, err := os.Stat(s.file)
	s.must(err)
	return info.Size()
}
