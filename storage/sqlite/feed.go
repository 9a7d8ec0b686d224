package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Only one update of all processes writes at a time, so the positions of entries are consecutive numbers in the order
// of commits: SQLite gives a new row the number after the highest. No reader has seen the number of an update
// that was rolled back, so it is given again. The numbers of entries that were removed are not given again.

// Feed returns the state of the feed.
func (r *appReader) Feed(ctx context.Context) (appsvc.FeedState, error) {
	c, err := r.conn(ctx)
	if err != nil {
		return appsvc.FeedState{}, err
	}
	rows := c.query("SELECT key, identity, removed, coalesce((SELECT max(position) FROM app_change), removed) FROM feed")
	defer rows.close()
	if !rows.next() {
		return appsvc.FeedState{}, errors.Join(rows.err, errNoFeed)
	}
	return feed.State{
		Key: rows.blob(0), Identity: rows.blob(1),
		Removed: feed.Position{Number: rows.int(2)}, Last: feed.Position{Number: rows.int(3)},
	}, nil
}

var errNoFeed = errors.New("the feed of changes has lost its key")

// Entries yields the entries after a position.
func (r *appReader) Entries(ctx context.Context, after appsvc.FeedPosition, limit int) iter.Seq2[appsvc.FeedEntry, error] {
	return stream.Limited(ctx, r.check, limit, func(out func(appsvc.FeedEntry) bool) error {
		c, err := r.conn(ctx)
		if err != nil {
			return err
		}
		rows := c.query(`SELECT position, at, data FROM app_change WHERE position > max($1, (SELECT removed FROM feed))
			ORDER BY position LIMIT $2`, after.Number, limit)
		return eachEntry(rows, func(key int64) (string, error) { return r.name(ctx, key) }, out)
	})
}

// eachEntry yields the entries in rows of position, at and data. name returns the name with a key.
func eachEntry(rows *rows, name func(key int64) (string, error), out func(feed.Entry) bool) error {
	defer rows.close()
	for rows.next() {
		e := feed.Entry{Position: feed.Position{Number: rows.int(0)}, At: rows.int(1)}
		keys, data, err := splitNames(rows.blob(2))
		if err != nil {
			return fmt.Errorf("entry %d of the feed: %w", e.Position.Number, err)
		}
		e.Data = data
		for _, key := range keys {
			text, err := name(key)
			if err != nil {
				return err
			}
			e.Names = append(e.Names, text)
		}
		if !out(e) {
			return nil
		}
	}
	return rows.err
}

// joinNames puts the keys of names before the data of an entry.
func joinNames(keys []int64, data []byte) []byte {
	out := binary.AppendUvarint(make([]byte, 0, len(data)+2+3*len(keys)), uint64(len(keys)))
	for _, key := range keys {
		out = binary.AppendUvarint(out, uint64(key))
	}
	return append(out, data...)
}

// splitNames undoes joinNames.
func splitNames(stored []byte) (keys []int64, data []byte, err error) {
	next := func() int64 {
		n, size := binary.Uvarint(stored)
		if size <= 0 {
			err = errors.New("it ends too early")
			return 0
		}
		stored = stored[size:]
		return int64(n)
	}
	for n := next(); n > 0 && err == nil; n-- {
		keys = append(keys, next())
	}
	return keys, stored, err
}

// nameKey and keyOfName are the cache's keys for a row of change_name.
type (
	nameKey   int64
	keyOfName string
)

// name returns the name with a key, from the cache if it is there. A row of change_name never changes.
func (r *appReader) name(ctx context.Context, key int64) (string, error) {
	return read(ctx, r, nameKey(key), func(c *conn) (string, int, error) {
		name, err := c.name(key)
		return name, perEntry + len(name), err
	})
}

// name returns the name with a key.
func (c *conn) name(key int64) (string, error) {
	rows := c.query("SELECT name FROM change_name WHERE key = $1", key)
	defer rows.close()
	if !rows.next() {
		return "", errors.Join(rows.err, fmt.Errorf("the feed of changes has lost the name %d", key))
	}
	return rows.text(0), nil
}

// keyOf returns the key of a name, and adds the name if there is none.
func (c *conn) keyOf(name string) (int64, error) {
	key, err := c.value("SELECT key FROM change_name WHERE name = $1", name)
	if err == nil && key == 0 {
		key, err = c.insert("INSERT INTO change_name (name) VALUES ($1)", name)
	}
	return key, err
}

// keyOf returns the key of a name as conn.keyOf does, from the cache if it is there.
func (t *appTx) keyOf(ctx context.Context, name string) (int64, error) {
	if key, found := t.cached(keyOfName(name)); found {
		return key.(int64), nil
	}
	key, err := t.c.keyOf(name)
	if err == nil { // reads of an update are not cached; this row never changes
		t.c.remember(keyOfName(name), key, perEntry+len(name))
	}
	return key, err
}

// AddEntry adds an entry to the feed.
func (t *appTx) AddEntry(ctx context.Context, e appsvc.FeedEntry) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	keys := make([]int64, len(e.Names))
	for i, name := range e.Names {
		var err error
		if keys[i], err = t.keyOf(ctx, name); err != nil {
			return err
		}
	}
	_, err := t.c.insert("INSERT INTO app_change (at, data) VALUES ($1, $2)", e.At, joinNames(keys, e.Data))
	return err
}

// RemoveEntries removes the oldest entries. Their names stay. The row with the highest position stays too, so that SQLite gives
// the next entry a higher one; readers skip it, as they skip all rows up to the position in feed.removed.
func (t *appTx) RemoveEntries(ctx context.Context, before int64, limit int) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	last, err := t.c.lastToRemove(`SELECT position, at FROM app_change WHERE position > (SELECT removed FROM feed)
		ORDER BY position LIMIT $1`, before, limit)
	if err != nil || last == 0 {
		return err
	}
	if _, err := t.c.exec("DELETE FROM app_change WHERE position <= $1 AND position < (SELECT max(position) FROM app_change)", last); err != nil {
		return err
	}
	_, err = t.c.exec("UPDATE feed SET removed = $1", last)
	return err
}

// lastToRemove returns the position of the last entry to remove, 0 if there is none. sql yields positions and times in the order
// of positions. The entries up to the first one whose time is after before are to be removed.
func (c *conn) lastToRemove(sql string, before int64, args ...any) (last int64, err error) {
	rows := c.query(sql, args...)
	defer rows.close()
	for rows.next() && rows.int(1) <= before {
		last = rows.int(0)
	}
	return last, rows.err
}

// ResetFeed gives the feeds of changes of apps and assets another identity, which makes all earlier cursors invalid. Call it
// after a store was brought back from an older copy of its file.
func (db *DB) ResetFeed(ctx context.Context) error {
	err := db.update(ctx, (*conn).newIdentity)
	if err != nil {
		return fmt.Errorf("sqlite: reset the feed of changes: %w", err)
	}
	return nil
}

// newIdentity gives the feeds another random identity.
func (c *conn) newIdentity() error {
	_, err := c.exec("UPDATE feed SET identity = randomblob(16)")
	return err
}
