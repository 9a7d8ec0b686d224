package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/storage"
)

// reader reads on the connection of the writer, in an update, or in a View on one from the pool.
type reader struct {
	pool  *pool        // nil in an update
	flush func() error // hands what an update has written to SQLite; nil in a View
	c     *conn        // nil before the first read of a View
	// snapshot is the first query of a View. It is closed when the View ends: SQLite keeps the snapshot while one query
	// of the connection is open. So a View needs neither BEGIN nor ROLLBACK.
	snapshot *rows

	recent *recent // nil in an update, and in a View that is called again
	at     header  // of the commit that the View reads, "" if that is not known
	// keys and values are what a View without a snapshot was given. moved says that one of them has changed since, so
	// that the View must be called again.
	keys   []string
	values [][]byte
	moved  bool
}

// errMoved ends a View that is called again.
var errMoved = errors.New("sqlite: another update was committed between two reads of a View")

// begin takes the snapshot of a View with its first query.
func (r *reader) begin(ctx context.Context, sql string, args ...any) (first *rows, err error) {
	if r.c, err = r.pool.get(ctx); err != nil {
		return nil, err
	}
	before := r.recent.commit()
	r.snapshot = r.c.query(sql, args...)
	if !r.snapshot.next() {
		err = cmp.Or(r.snapshot.err, errors.New("sqlite: the first query of a View has found nothing"))
		r.pool.put(r.c, false)
		r.c = nil
		return nil, err
	}
	if r.recent.commit() != before {
		before = ""
	}
	given := r.at
	r.at = before
	if len(r.keys) > 0 && r.at != given {
		now, err := r.Get(ctx, r.keys...)
		if err != nil {
			return nil, err
		}
		if r.moved = !slices.EqualFunc(now, r.values, same); r.moved {
			return nil, errMoved
		}
	}
	return r.snapshot, nil
}

// same reports whether two values are equal, or both absent.
func same(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

// ready takes the snapshot of a View, unless it was taken before.
func (r *reader) ready(ctx context.Context) (err error) {
	switch {
	case r.flush != nil:
		return r.flush()
	case r.c == nil:
		_, err = r.begin(ctx, "SELECT 1 FROM sqlite_schema")
	}
	return err
}

// end returns the connection of a View to the pool.
func (r *reader) end() {
	if r.c != nil {
		r.snapshot.close()
		r.pool.put(r.c, r.c.broken == nil)
	}
}

// mostGet is how many keys one statement reads at most.
const mostGet = 16

// getStatements has the statement that reads n keys at index n. Each returns one row even if no key exists, since the
// first query of a View needs a row.
var getStatements = func() (sql [mostGet + 1]string) {
	const one = ", (SELECT value FROM kv WHERE key = ?)"
	for n := range sql {
		sql[n] = "SELECT " + strings.TrimPrefix(strings.Repeat(one, n), ", ")
	}
	return sql
}()

func (r *reader) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	if r.recent != nil && r.c == nil {
		if at := r.recent.commit(); r.at == "" || r.at == at {
			if values := r.recent.get(at, keys); values != nil {
				r.at, r.keys, r.values = at, append(r.keys, keys...), append(r.values, values...)
				return values, nil
			}
		}
	}
	values := make([][]byte, 0, len(keys))
	for rest := keys; len(rest) > 0; {
		n := min(len(rest), mostGet)
		args := make([]any, n)
		for i, key := range rest[:n] {
			args[i] = key
		}
		rest = rest[n:]
		var found *rows
		if r.c == nil {
			var err error
			if found, err = r.begin(ctx, getStatements[n], args...); err != nil {
				return nil, err
			}
		} else if found = r.c.query(getStatements[n], args...); !found.next() {
			return nil, found.err
		}
		for i := range n {
			values = append(values, found.blob(i))
		}
		if found != r.snapshot {
			found.close()
		}
	}
	if r.recent != nil && r.at != "" {
		r.recent.put(r.at, keys, values)
	}
	return values, nil
}

func (r *reader) Scan(ctx context.Context, ranges ...storage.Range) iter.Seq2[storage.Entry, error] {
	return storage.Merge(ranges, func(in storage.Range) iter.Seq2[storage.Entry, error] { return r.scan(ctx, in) })
}

const (
	up   = "SELECT key, value FROM kv WHERE key >= $1 AND key < $2 ORDER BY key"
	down = "SELECT key, value FROM kv WHERE key >= $1 AND key < $2 ORDER BY key DESC"
)

// Sizes of the portions in which scan reads.
const (
	firstPortion = 16 // entries, if nobody knows how many are wanted
	mostPortion  = 512
	portionBytes = 1 << 20
)

// scan reads portions, each with a query of its own from where the last one ended, so that no query is open while the
// loop writes.
func (r *reader) scan(ctx context.Context, in storage.Range) iter.Seq2[storage.Entry, error] {
	return storage.Portions(in, firstPortion, mostPortion,
		func(in storage.Range, n int) (list []storage.Entry, rest storage.Range, more bool, err error) {
			if err := r.ready(ctx); err != nil {
				return nil, in, false, err
			}
			sql := up
			if in.Reverse {
				sql = down
			}
			rows := r.c.query(sql, in.From, bound(in.To))
			defer rows.close()
			list = make([]storage.Entry, 0, n)
			for size := 0; len(list) < n && size < portionBytes; {
				if !rows.next() {
					return list, in, false, rows.err
				}
				e := storage.Entry{Key: rows.text(0), Value: rows.blob(1)}
				list, size = append(list, e), size+len(e.Key)+len(e.Value)
			}
			if last := list[len(list)-1].Key; in.Reverse {
				in.To = last
			} else {
				in.From = last + "\x00"
			}
			return list, in, true, nil
		})
}

// bound returns the value for the upper bound of a range. Without one it is a blob, which is greater than each text.
func bound(to string) any {
	if to == "" {
		return []byte{0}
	}
	return to
}

// mostEstimate is how far Estimate counts. Which of two longer ranges is shorter hardly matters.
const mostEstimate = 1000

func (r *reader) Estimate(ctx context.Context, in storage.Range) (int, error) {
	if err := r.ready(ctx); err != nil {
		return 0, err
	}
	n, err := r.c.value("SELECT count(*) FROM (SELECT 1 FROM entry WHERE key >= $1 AND key < $2 LIMIT $3)",
		in.From, bound(in.To), min(cmp.Or(in.Limit, mostEstimate), mostEstimate))
	return int(n), err
}

func (r *reader) Spaces(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return storage.Spaces(prefix, func(in storage.Range) iter.Seq2[storage.Entry, error] { return r.scan(ctx, in) })
}
