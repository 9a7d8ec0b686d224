package sqlite

import (
	"context"
	"strings"

	"github.com/vitrine-go/vitrine/storage"
)

// schema has the tables of a store. A value of more than mostSmall bytes would waste much of its pages in a table without
// rowid, so it is a row of large, and entry has the number of that row. Operators read the view kv.
const schema = `
CREATE TABLE entry (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE large (id INTEGER PRIMARY KEY, value BLOB NOT NULL) STRICT;
CREATE VIEW kv AS SELECT key,
  CASE typeof(value) WHEN 'integer' THEN (SELECT large.value FROM large WHERE id = entry.value) ELSE value END AS value
  FROM entry;
CREATE TRIGGER replaced AFTER UPDATE OF value ON entry WHEN typeof(old.value) = 'integer'
  BEGIN DELETE FROM large WHERE id = old.value; END;
CREATE TRIGGER deleted AFTER DELETE ON entry WHEN typeof(old.value) = 'integer'
  BEGIN DELETE FROM large WHERE id = old.value; END;
`

// mostSmall is how many bytes a value has at most that stands beside its key.
const mostSmall = 512

// tx is an update, on the connection of the writer.
type tx struct{ reader }

// mostPut is how many entries one statement puts, to share the cost of a statement.
const mostPut = 16

// putStatements are the statements that put so many entries.
var putStatements = func() (sql [mostPut + 1]string) {
	for n := range sql {
		sql[n] = "INSERT INTO entry VALUES " + strings.TrimPrefix(strings.Repeat(", (?, ?)", n), ", ") + " ON CONFLICT (key) DO UPDATE SET value = excluded.value"
	}
	return sql
}()

func (t *tx) Put(_ context.Context, entries ...storage.Entry) error {
	args := make([]any, 0, 2*mostPut)
	flush := func() error {
		_, err := t.c.exec(putStatements[len(args)/2], args...)
		args = args[:0]
		return err
	}
	for _, e := range entries {
		var value any = e.Value
		switch {
		case e.Value == nil:
			value = []byte{}
		case len(e.Value) > mostSmall:
			if len(args) > 0 { // one of these may have the same key
				if err := flush(); err != nil {
					return err
				}
			}
			id, err := t.putLarge(e)
			if err != nil {
				return err
			}
			if id == 0 {
				continue
			}
			value = id
		}
		if args = append(args, e.Key, value); len(args) == 2*mostPut {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if len(args) == 0 {
		return nil
	}
	return flush()
}

// putLarge replaces a large value by another one. If the entry has none, it adds one, and returns its number for the entry.
func (t *tx) putLarge(e storage.Entry) (id int64, err error) {
	res, err := t.c.exec("UPDATE large SET value = $2 WHERE id = (SELECT value FROM entry WHERE key = $1)", e.Key, e.Value)
	if err != nil {
		return 0, err
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		return 0, err
	}
	if res, err = t.c.exec("INSERT INTO large (value) VALUES ($1)", e.Value); err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

func (t *tx) Delete(_ context.Context, keys ...string) error {
	for _, key := range keys {
		if _, err := t.c.exec("DELETE FROM entry WHERE key = $1", key); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) DeleteRange(_ context.Context, r storage.Range) error {
	_, err := t.c.exec("DELETE FROM entry WHERE key >= $1 AND key < $2", r.From, r.To)
	return err
}
