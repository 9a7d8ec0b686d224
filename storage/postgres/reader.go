package postgres

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/vitrine-go/vitrine/storage"
)

// source is where a reader gets its data from: a transaction, a View, or the group that an update belongs to.
type source interface {
	// fetch reads the values of keys and some portions, in one round trip. It sets the values of existing keys in
	// found.
	fetch(ctx context.Context, keys []string, found map[string][]byte, portions []*portion) error
	// query runs one statement.
	query(ctx context.Context, st stmt) error
}

const (
	firstRows   = 64      // of a range in its first portion, if nobody knows how many are wanted
	mostRows    = 4096    // of a portion
	mostBytes   = 1 << 20 // of a portion, and one value more
	estimateMax = 1000    // how many entries Estimate counts: which of two longer ranges is shorter hardly matters
)

// ask is the request for a portion: the first entries of a range, or how many there are.
type ask struct {
	count    bool
	from, to string
	reverse  bool
	rows     int // at most
}

// portion is a part of a range that is read at once.
type portion struct {
	ask
	entries []storage.Entry
	n       int           // if it counts
	more    bool          // the range may have more entries
	covers  storage.Range // the part of the range that was read
}

func newPortion(in storage.Range, rows int) *portion {
	return &portion{ask: ask{from: in.From, to: in.To, reverse: in.Reverse, rows: rows}}
}

// reader is the Reader of a View, or the Tx of an update.
type reader struct {
	source
	own *overlay // nil in a View
}

func (r *reader) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	found := make(map[string][]byte, len(keys))
	var missing []string
	for _, key := range keys {
		if r.own != nil {
			if value, written := r.own.get(key); written {
				found[key] = value
				continue
			}
		}
		if !slices.Contains(missing, key) {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		if err := r.fetch(ctx, missing, found, nil); err != nil {
			return nil, err
		}
	}
	values := make([][]byte, len(keys))
	for i, key := range keys {
		values[i] = found[key]
	}
	return values, nil
}

// read reads portions in one round trip, with the writes of the update applied.
func (r *reader) read(ctx context.Context, portions []*portion) error {
	if err := r.fetch(ctx, nil, nil, portions); err != nil || r.own == nil {
		return err
	}
	for _, p := range portions {
		*p = r.own.over(*p)
	}
	return nil
}

// Scan reads the first portions of all ranges in one round trip.
func (r *reader) Scan(ctx context.Context, ranges ...storage.Range) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		var first []*portion
		for _, in := range ranges {
			n := min(cmp.Or(in.Expect, firstRows), mostRows)
			if in.Limit > 0 {
				n = min(n, in.Limit)
			}
			first = append(first, newPortion(in, n))
		}
		if first == nil {
			return
		}
		if err := r.read(ctx, first); err != nil {
			yield(storage.Entry{}, err)
			return
		}
		known := map[ask]*portion{}
		for _, p := range first {
			known[p.ask] = p
		}
		storage.Merge(ranges, func(in storage.Range) iter.Seq2[storage.Entry, error] {
			return storage.Portions(in, firstRows, mostRows,
				func(in storage.Range, n int) ([]storage.Entry, storage.Range, bool, error) {
					p := newPortion(in, n)
					if read := known[p.ask]; read != nil {
						p = read
					} else if err := r.read(ctx, []*portion{p}); err != nil {
						return nil, in, false, err
					}
					if in.Reverse {
						in.To = p.covers.From
					} else {
						in.From = p.covers.To
					}
					return p.entries, in, p.more, nil
				})
		})(yield)
	}
}

func (r *reader) Estimate(ctx context.Context, in storage.Range) (int, error) {
	p := &portion{ask: ask{count: true, from: in.From, to: in.To, rows: estimateMax}}
	if in.Limit > 0 {
		p.rows = min(p.rows, in.Limit)
	}
	if err := r.read(ctx, []*portion{p}); err != nil {
		return 0, err
	}
	return min(p.n, p.rows), nil
}

func (r *reader) Spaces(ctx context.Context, prefix string) iter.Seq2[string, error] {
	const sql = `SELECT name, ''::bytea FROM vitrine_space WHERE name >= $1 AND substr(name, 1, length($1)) = $1
		AND EXISTS (SELECT FROM vitrine_record WHERE key >= name || '\x20'::bytea AND key < name || '\x21'::bytea)
		ORDER BY name || '\x20'::bytea`
	return func(yield func(string, error) bool) {
		var list []string
		take := func(rows pgx.Rows) error {
			return each(rows, func(name string, _ []byte) { list = append(list, name) })
		}
		if err := r.query(ctx, stmt{sql, []any{[]byte(prefix)}, take}); err != nil {
			yield("", err)
			return
		}
		for _, space := range list {
			if !yield(space, nil) {
				return
			}
		}
	}
}

func (se *session) query(ctx context.Context, st stmt) error { return se.send(ctx, st) }

// fetch reads from the server.
func (se *session) fetch(ctx context.Context, keys []string, found map[string][]byte, portions []*portion) error {
	return se.send(ctx, statements(keys, found, portions)...)
}

// statements returns the statements that read the values of keys and portions.
func statements(keys []string, found map[string][]byte, portions []*portion) (list []stmt) {
	if len(keys) > 0 {
		list = append(list, getStatement(keys, found))
	}
	for _, p := range portions {
		list = append(list, p.statement())
	}
	return list
}

// getStatement returns one statement that reads the values of keys, and so sees one snapshot.
func getStatement(keys []string, found map[string][]byte) stmt {
	all := make([][]byte, len(keys))
	for i, key := range keys {
		all[i] = []byte(key)
	}
	return stmt{"SELECT key, value FROM vitrine_record WHERE key = ANY($1)", []any{all}, func(rows pgx.Rows) error {
		return each(rows, func(key string, value []byte) { found[key] = value })
	}}
}

// statement returns the statement that reads the portion.
func (p *portion) statement() stmt {
	from, args := " FROM vitrine_record WHERE key >= $1", []any{[]byte(p.from), p.rows}
	if p.to != "" {
		from, args = from+" AND key < $3", append(args, []byte(p.to))
	}
	if p.count {
		return stmt{"SELECT count(*) FROM (SELECT" + from + " LIMIT $2) AS counted", args, p.takeCount}
	}
	order := " ORDER BY key"
	if p.reverse {
		order += " DESC"
	}
	// The lengths of values are known without reading them. A value beyond the limit is not sent.
	return stmt{"SELECT key, CASE WHEN sum(octet_length(value)) OVER (" + order +
		" ROWS UNBOUNDED PRECEDING) - octet_length(value) < 1048576 THEN value END" +
		" FROM (SELECT key, value" + from + order + " LIMIT $2) AS part" + order, args, p.take}
}

// take keeps the entries of rows up to the first one whose value was not sent, and notes which keys they cover and
// whether there are more.
func (p *portion) take(rows pgx.Rows) error {
	p.entries = nil
	cut := false
	err := each(rows, func(key string, value []byte) {
		if cut = cut || value == nil; !cut {
			p.entries = append(p.entries, storage.Entry{Key: key, Value: value})
		}
	})
	p.covers = storage.Range{From: p.from, To: p.to}
	if p.more = cut || len(p.entries) == p.rows; p.more {
		if last := p.entries[len(p.entries)-1].Key; p.reverse {
			p.covers.From = last
		} else {
			p.covers.To = last + "\x00"
		}
	}
	return err
}

func (p *portion) takeCount(rows pgx.Rows) error {
	_, err := pgx.ForEachRow(rows, []any{&p.n}, func() error { return nil })
	return err
}

// each calls take with each row, a key and a value, which is nil for NULL. If statements are not prepared, as behind a
// pooler, the server sends text.
func each(rows pgx.Rows, take func(key string, value []byte)) error {
	defer rows.Close()
	for rows.Next() {
		var key, value []byte
		if raw := rows.RawValues(); rows.FieldDescriptions()[0].Format == pgx.BinaryFormatCode {
			key, value = raw[0], bytes.Clone(raw[1])
		} else if err := rows.Scan(&key, &value); err != nil {
			return err
		}
		take(string(key), value)
	}
	return rows.Err()
}
