package postgres

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/vitrine-go/vitrine/storage"
)

// source is where a reader gets its data from: a transaction, a View, or the group that an update belongs to.
type source interface {
	// fetch reads the values of keys and some portions, in one trip. It sets those of keys that are there in found.
	fetch(ctx context.Context, keys []string, found map[string][]byte, portions []*portion) error
}

const (
	firstRows   = 64      // of a range in its first portion, if nobody knows how many are wanted
	mostRows    = 4096    // of a portion
	mostBytes   = 1 << 20 // of a portion, and one value more
	estimateMax = 1000    // how many entries Estimate counts: between two longer lists there is little to choose
)

// ask is what a portion asks for.
type ask struct {
	kind     kind
	from, to string // for names, from is the prefix
	reverse  bool
	rows     int // at most
}

type kind int

const (
	scan  kind = iota // the first entries of a range
	count             // how many entries a range has
	names             // the spaces with a prefix that have entries, as keys
)

// portion is what is read at once.
type portion struct {
	ask
	entries []storage.Entry
	n       int           // for count
	more    bool          // the range may have more entries
	covers  storage.Range // the part of the range that was read
}

// reader is the Reader of a View, or the Tx of an update.
type reader struct {
	source
	own   *overlay // nil in a View
	space string   // of the update
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

// read reads portions, in one trip, as they are with what the update has written.
func (r *reader) read(ctx context.Context, portions []*portion) error {
	if err := r.fetch(ctx, nil, nil, portions); err != nil || r.own == nil {
		return err
	}
	for _, p := range portions {
		*p = r.own.over(*p)
	}
	return nil
}

// walk is a loop over one range.
type walk struct {
	rest storage.Range // what is not read yet
	rows int           // of the next portion
	part []storage.Entry
	more bool
}

func (w *walk) next() *portion {
	n := min(w.rows, mostRows)
	w.rows = 4 * n
	return &portion{ask: ask{from: w.rest.From, to: w.rest.To, reverse: w.rest.Reverse, rows: n}}
}

// fill reads the next portions of walks, in one trip.
func (r *reader) fill(ctx context.Context, walks ...*walk) error {
	portions := make([]*portion, len(walks))
	for i, w := range walks {
		portions[i] = w.next()
	}
	err := r.read(ctx, portions)
	for i, p := range portions {
		w := walks[i]
		if w.part, w.more = p.entries, p.more; p.reverse {
			w.rest.To = p.covers.From
		} else {
			w.rest.From = p.covers.To
		}
	}
	return err
}

// Scan reads the first portions of all ranges in one trip.
func (r *reader) Scan(ctx context.Context, ranges ...storage.Range) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		walks := make([]*walk, len(ranges))
		for i, in := range ranges {
			walks[i] = &walk{rest: in, rows: firstRows}
			if in.Expect > 0 {
				walks[i].rows = in.Expect
			}
			if in.Limit > 0 {
				walks[i].rows = min(walks[i].rows, in.Limit)
			}
		}
		if len(walks) == 0 {
			return
		}
		if err := r.fill(ctx, walks...); err != nil {
			yield(storage.Entry{}, err)
			return
		}
		of := map[storage.Range][]*walk{} // equal ranges have a walk each
		for i, in := range ranges {
			of[in] = append(of[in], walks[i])
		}
		storage.Merge(ranges, func(in storage.Range) iter.Seq2[storage.Entry, error] {
			w := of[in][0]
			of[in] = of[in][1:]
			return r.entries(ctx, w)
		})(yield)
	}
}

// entries yields the entries of a walk whose first portion is there.
func (r *reader) entries(ctx context.Context, w *walk) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		left := w.rest.Limit
		for {
			for _, e := range w.part {
				if left--; !yield(e, nil) || left == 0 {
					return
				}
			}
			if !w.more {
				return
			}
			if err := r.fill(ctx, w); err != nil {
				yield(storage.Entry{}, err)
				return
			}
		}
	}
}

func (r *reader) Estimate(ctx context.Context, in storage.Range) (int, error) {
	p := &portion{ask: ask{kind: count, from: in.From, to: in.To, rows: estimateMax}}
	if in.Limit > 0 {
		p.rows = min(p.rows, in.Limit)
	}
	if err := r.read(ctx, []*portion{p}); err != nil {
		return 0, err
	}
	return min(p.n, p.rows), nil
}

func (r *reader) Spaces(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		all := &portion{ask: ask{kind: names, from: prefix}}
		if err := r.fetch(ctx, nil, nil, []*portion{all}); err != nil {
			yield("", err)
			return
		}
		var list []string
		for _, e := range all.entries {
			if r.own == nil || e.Key != r.space {
				list = append(list, e.Key)
			}
		}
		if r.own != nil && strings.HasPrefix(r.space, prefix) { // has it entries, with what the update has written?
			own := storage.Prefix(r.space + " ")
			own.Limit = 1
			for _, err := range r.Scan(ctx, own) {
				if err != nil {
					yield("", err)
					return
				}
				list = append(list, r.space)
			}
		}
		slices.SortFunc(list, func(a, b string) int { return strings.Compare(a+" ", b+" ") })
		for _, space := range list {
			if !yield(space, nil) {
				return
			}
		}
	}
}

// fetch reads from the server.
func (se *session) fetch(ctx context.Context, keys []string, found map[string][]byte, portions []*portion) error {
	return se.send(ctx, statements(keys, found, portions)...)
}

// statements returns what reads the values of keys and portions.
func statements(keys []string, found map[string][]byte, portions []*portion) (list []stmt) {
	if len(keys) > 0 {
		list = append(list, getStatement(keys, found))
	}
	for _, p := range portions {
		list = append(list, p.statement())
	}
	return list
}

const records, logs = "vitrine_record", "vitrine_log"

var bothTables = []string{records, logs}

// isLog reports whether the entry of a key is in the table of logs.
func isLog(key string) bool {
	_, rest, _ := strings.Cut(key, " ")
	return strings.HasPrefix(rest, "log/")
}

// tablesOf returns the tables that have the entries of a range.
func tablesOf(from, to string) []string {
	space := storage.SpaceOf(from) + " "
	whole, log := storage.Prefix(space), storage.Prefix(space+"log/")
	switch {
	case len(space) == 1 || to == "" || to > whole.To:
		return bothTables
	case to <= log.From || from >= log.To:
		return bothTables[:1]
	case from >= log.From && to <= log.To:
		return bothTables[1:]
	}
	return bothTables
}

// getStatement returns what reads the values of keys: one statement, which has one snapshot.
func getStatement(keys []string, found map[string][]byte) stmt {
	var of [2][][]byte
	for _, key := range keys {
		i := 0
		if isLog(key) {
			i = 1
		}
		of[i] = append(of[i], []byte(key))
	}
	const sql = "SELECT key, value FROM "
	take := func(rows pgx.Rows) error {
		return each(rows, func(key string, value []byte) { found[key] = value })
	}
	switch {
	case of[1] == nil:
		return stmt{sql + records + " WHERE key = ANY($1)", []any{of[0]}, take}
	case of[0] == nil:
		return stmt{sql + logs + " WHERE key = ANY($1)", []any{of[1]}, take}
	}
	return stmt{sql + records + " WHERE key = ANY($1) UNION ALL " + sql + logs + " WHERE key = ANY($2)", []any{of[0], of[1]}, take}
}

// statement returns what reads the portion.
func (p *portion) statement() stmt {
	if p.kind == names {
		const some = "EXISTS (SELECT FROM vitrine_%s WHERE key >= name || '\\x20'::bytea AND key < name || '\\x21'::bytea)"
		sql := "SELECT name, ''::bytea FROM vitrine_space WHERE name >= $1 AND substr(name, 1, length($1)) = $1 AND (" +
			strings.Replace(some, "%s", "record", 1) + " OR " + strings.Replace(some, "%s", "log", 1) + ")"
		return stmt{sql, []any{[]byte(p.from)}, p.take}
	}
	tables := tablesOf(p.from, p.to)
	from := tables[0]
	if len(tables) > 1 {
		from = "(SELECT key, value FROM " + tables[0] + " UNION ALL SELECT key, value FROM " + tables[1] + ") AS tables"
	}
	where, args := " WHERE key >= $1", []any{[]byte(p.from), p.rows}
	if p.to != "" {
		where, args = where+" AND key < $3", append(args, []byte(p.to))
	}
	if p.kind == count {
		return stmt{"SELECT count(*) FROM (SELECT FROM " + from + where + " LIMIT $2) AS counted", args, p.takeCount}
	}
	order := " ORDER BY key"
	if p.reverse {
		order += " DESC"
	}
	// The lengths of values are known without reading them. A value beyond the limit is not sent.
	const fits = "SELECT key, CASE WHEN sum(octet_length(value)) OVER (%s ROWS UNBOUNDED PRECEDING) - octet_length(value) < 1048576 THEN value END FROM (SELECT key, value FROM "
	return stmt{strings.Replace(fits, "%s", order[1:], 1) + from + where + order + " LIMIT $2) AS part" + order, args, p.take}
}

// take takes entries up to the first one without a value.
func (p *portion) take(rows pgx.Rows) error {
	p.entries = nil
	cut := false
	err := each(rows, func(key string, value []byte) {
		if cut = cut || value == nil; !cut {
			p.entries = append(p.entries, storage.Entry{Key: key, Value: value})
		}
	})
	p.covers = storage.Range{From: p.from, To: p.to}
	if p.more = p.kind == scan && (cut || len(p.entries) == p.rows); p.more {
		if last := p.entries[len(p.entries)-1].Key; p.reverse {
			p.covers.From = last
		} else {
			p.covers.To = last + "\x00"
		}
	}
	return err
}

func (p *portion) takeCount(rows pgx.Rows) error {
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&p.n); err != nil {
			return err
		}
	}
	return rows.Err()
}

// each passes on the rows of a key and a value, nil for NULL. Where statements are not prepared, as behind a pooler, the server sends
// text.
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
