package sqlite

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/storage"
)

// schema has the tables of a store. A value of more than mostSmall bytes would waste much of its pages in a table
// without rowid, so it is a row of large, and entry has the number of that row. Operators read the view kv.
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

// mostSmall is how many bytes a value has at most that is stored beside its key.
const mostSmall = 512

// pending are writes that are not in SQLite yet, by their keys. A nil value means that the entry is deleted.
type pending struct {
	values map[string][]byte
	size   int // bytes of all keys and values that were put, including those that were replaced since
}

// mostPending is the size above which writes go to SQLite before the commit.
const mostPending = 1 << 20

func (p *pending) put(key string, value []byte) {
	if p.values == nil {
		p.values = map[string][]byte{}
	}
	p.values[key] = value
	p.size += len(key) + len(value)
}

func (p *pending) add(others pending) {
	if p.values == nil {
		*p = others
		return
	}
	maps.Copy(p.values, others.values)
	p.size += others.size
}

// tx is an update, on the connection of the writer. Before it reads ranges from SQLite, it flushes all writes.
type tx struct {
	reader
	b     *batch
	own   pending
	first bool // it is the first update of the transaction
	saved bool // there is a savepoint

	sql        *ownSQL // what SQL has returned; each write is executed at once then, for the program's savepoints
	needsAlone bool    // SQL was called, and the update is not the first of the transaction
	ended      bool    // the function has returned
}

func (t *tx) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	values := make([][]byte, len(keys))
	var missing []string
	var places []int
	for i, key := range keys {
		value, known := t.own.values[key]
		if !known {
			value, known = t.b.pending.values[key]
		}
		if values[i] = value; !known {
			missing, places = append(missing, key), append(places, i)
		}
	}
	found, err := t.reader.Get(ctx, missing...)
	if err != nil {
		return nil, err
	}
	for i, value := range found {
		values[places[i]] = value
	}
	return values, nil
}

func (t *tx) Put(_ context.Context, entries ...storage.Entry) error {
	for _, e := range entries {
		if e.Value == nil {
			e.Value = []byte{}
		}
		if t.own.put(e.Key, e.Value); t.own.size > mostPending || t.sql != nil {
			if err := t.direct(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *tx) Delete(_ context.Context, keys ...string) error {
	for _, key := range keys {
		t.own.put(key, nil)
	}
	if t.sql != nil {
		return t.direct()
	}
	return nil
}

func (t *tx) DeleteRange(_ context.Context, r storage.Range) error {
	if err := t.direct(); err != nil {
		return err
	}
	_, err := t.c.exec("DELETE FROM entry WHERE key >= $1 AND key < $2", r.From, r.To)
	return err
}

// flush executes the pending writes in SQLite.
func (t *tx) flush() error {
	if len(t.own.values) > 0 {
		return t.direct()
	}
	return t.b.flush(t.c)
}

// direct executes the pending writes in SQLite, after a savepoint to which the update can be rolled back.
func (t *tx) direct() error {
	if err := t.b.flush(t.c); err != nil {
		return err
	}
	if !t.first && !t.saved {
		if _, err := t.c.exec("SAVEPOINT one"); err != nil {
			return err
		}
		t.saved = true
	}
	err := t.c.write(t.own.values)
	t.own = pending{}
	return err
}

// flush executes the pending writes of the updates of the transaction in SQLite.
func (b *batch) flush(c *conn) error {
	err := c.write(b.pending.values)
	b.pending = pending{}
	return err
}

// mostRows is how many entries one statement puts or deletes, to share the cost of a statement.
const mostRows = 16

// putStatements and deleteStatements have the statements for n entries at index n.
var putStatements, deleteStatements = func() (put, remove [mostRows + 1]string) {
	for n := range put {
		put[n] = "INSERT INTO entry VALUES " + strings.TrimPrefix(strings.Repeat(", (?, ?)", n), ", ") +
			" ON CONFLICT (key) DO UPDATE SET value = excluded.value"
		remove[n] = "DELETE FROM entry WHERE key IN (" + strings.TrimPrefix(strings.Repeat(", ?", n), ", ") + ")"
	}
	return put, remove
}()

// write puts and deletes entries, in the order of their keys.
func (c *conn) write(values map[string][]byte) error {
	var gone, small []any
	for _, key := range slices.Sorted(maps.Keys(values)) {
		switch value := values[key]; {
		case value == nil:
			gone = append(gone, key)
		case len(value) <= mostSmall:
			small = append(small, key, value)
		default:
			id, err := c.putLarge(key, value)
			if err != nil {
				return err
			}
			if id != 0 {
				small = append(small, key, id)
			}
		}
	}
	for part := range slices.Chunk(gone, mostRows) {
		if _, err := c.exec(deleteStatements[len(part)], part...); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(small, 2*mostRows) {
		if _, err := c.exec(putStatements[len(part)/2], part...); err != nil {
			return err
		}
	}
	return nil
}

// putLarge replaces a large value by another one. If the entry has none, it adds one, and returns its number for the
// entry.
func (c *conn) putLarge(key string, value []byte) (id int64, err error) {
	res, err := c.exec("UPDATE large SET value = $2 WHERE id = (SELECT value FROM entry WHERE key = $1)", key, value)
	if err != nil {
		return 0, err
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		return 0, err
	}
	if res, err = c.exec("INSERT INTO large (value) VALUES ($1)", value); err != nil {
		return 0, err
	}
	return res.LastInsertId()
}
