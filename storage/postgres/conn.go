package postgres

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// conn is a connection within a transaction. One goroutine uses it at a time.
//
// Keys and texts are stored as bytea, since PostgreSQL's text cannot hold every string and has
// orders of its own: an argument that is a string or a list of strings goes out as bytes.
type conn struct {
	raw  *pgx.Conn
	from *pgxpool.Conn // what raw belongs to
	// open sets raw at the first statement, if the transaction has no connection before.
	open func(context.Context) error
	// ahead goes out with the next statement whose result is waited for, in one round trip. What opens
	// the transaction is in it at first, so a transaction that runs nothing costs nothing.
	ahead []statement
	// broken is the first error in the transaction, which PostgreSQL has given up then. Nothing
	// more is run.
	broken error
	walks  int      // cursors that are open
	writes bool     // in an update
	pooled bool     // to a pooler, where a statement runs under the settings of a transaction only
	opens  int      // statements that the transaction begins with; they are ahead until it has begun
	claims []string // keys of the table claim
}

type statement struct {
	sql  string
	args []any
	take func(*rows) error // of a statement that waits; nil = the outcome does not matter
}

func newStatement(sql string, args []any) statement {
	for i, a := range args {
		switch a := a.(type) {
		case string:
			args[i] = []byte(a)
		case []string:
			list := make([][]byte, len(a))
			for i, s := range a {
				list[i] = []byte(s)
			}
			args[i] = list
		}
	}
	return statement{sql: sql, args: args}
}

// exec runs one statement and returns how many rows it changed.
func (c *conn) exec(ctx context.Context, sql string, args ...any) (changed int64, err error) {
	err = c.run(ctx, newStatement(sql, args), func(r pgx.Rows) error {
		r.Close()
		changed = r.CommandTag().RowsAffected()
		return r.Err()
	})
	return changed, err
}

// later runs one statement, whose outcome nobody needs to know, together with the next one or with
// the commit. Its error is theirs.
func (c *conn) later(sql string, args ...any) {
	c.ahead = append(c.ahead, newStatement(sql, args))
}

// also is later for a query. take gets its rows before those of the next statement are read.
func (c *conn) also(take func(*rows) error, sql string, args ...any) {
	s := newStatement(sql, args)
	s.take = take
	c.ahead = append(c.ahead, s)
}

// query runs one statement and reads all of its rows, which should be few, or bounded by a LIMIT:
//
//	r := c.query(ctx, "SELECT …", …)
//	for r.next() { … r.text(0) … }
//	return r.err
func (c *conn) query(ctx context.Context, sql string, args ...any) *rows {
	r := new(rows)
	r.err = c.run(ctx, newStatement(sql, args), r.read)
	return r
}

// walk runs a query whose rows may be many. They come in portions, through a cursor, so other
// statements may be run between them. Close it; the rows are those of its beginning.
func (c *conn) walk(ctx context.Context, portion int, sql string, args ...any) *rows {
	h := fnv.New64a() // FETCH is kept prepared with the columns it gave, so the name must tell them
	h.Write([]byte(sql))
	name := fmt.Sprintf("walk_%x_%d", h.Sum64(), c.walks)
	fetch := newStatement("FETCH "+strconv.Itoa(portion)+" FROM "+name, nil)
	c.walks++
	c.later("DECLARE "+name+" NO SCROLL CURSOR FOR "+sql, args...)
	r := &rows{done: func() {
		c.walks--
		c.later("CLOSE " + name)
	}}
	r.more = func() (err error) {
		r.values, r.at = r.values[:0], 0
		err = c.run(ctx, fetch, r.read)
		if err == nil && len(r.values) < portion {
			r.more = nil
		}
		return err
	}
	return r
}

// alone runs one query before the transaction has begun, as a snapshot of its own. ok is false,
// and nothing was run, when it has begun.
func (c *conn) alone(ctx context.Context, sql string, args ...any) (r *rows, ok bool) {
	if c.pooled || !c.idle() {
		return nil, false
	}
	begin := c.ahead
	c.ahead = nil
	r = c.query(ctx, sql, args...)
	c.ahead = begin
	return r, true
}

// begun reports that the server has begun the transaction.
func (c *conn) begun() bool { return c.raw.PgConn().TxStatus() != 'I' }

// idle reports that the transaction has neither begun nor anything to begin for.
func (c *conn) idle() bool { return !c.begun() && len(c.ahead) == c.opens }

// run sends what waits, and the last statement, whose rows take reads and closes.
func (c *conn) run(ctx context.Context, last statement, take func(pgx.Rows) error) error {
	if c.raw == nil && c.broken == nil {
		c.broken = c.open(ctx)
	}
	if c.broken != nil {
		return c.broken
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(c.ahead) == 0 {
		r, err := c.raw.Query(ctx, last.sql, last.args...)
		if err == nil {
			err = take(r)
		}
		return c.note(ctx, err)
	}
	sent := c.send(ctx, last)
	for _, s := range c.ahead {
		if err := s.receive(sent); err != nil {
			return c.note(ctx, errors.Join(err, sent.Close()))
		}
	}
	c.ahead = c.ahead[:0]
	r, err := sent.Query()
	if err == nil {
		err = take(r)
	}
	if closed := sent.Close(); err == nil {
		err = closed
	}
	return c.note(ctx, err)
}

// send starts a round trip with all that waits and a last statement.
func (c *conn) send(ctx context.Context, last statement) pgx.BatchResults {
	var batch pgx.Batch
	for _, s := range c.ahead {
		batch.Queue(s.sql, s.args...)
	}
	batch.Queue(last.sql, last.args...)
	return c.raw.SendBatch(ctx, &batch)
}

// receive reads the outcome of a statement that has waited.
func (s statement) receive(sent pgx.BatchResults) error {
	if s.take == nil {
		_, err := sent.Exec()
		return err
	}
	from, err := sent.Query()
	if err != nil {
		return err
	}
	r := new(rows)
	if err := r.read(from); err != nil {
		return err
	}
	return s.take(r)
}

// note keeps the first error, as one that tells whether the connection was lost with it.
func (c *conn) note(ctx context.Context, err error) error {
	if err == nil || c.broken != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	case c.raw.IsClosed() || c.onStandby(err):
		err = fmt.Errorf("%w: %w", errLost, err)
	}
	c.broken = err
	return err
}

// onStandby reports that an update met a server that takes none. The connection is given up: the
// address may have a primary as well, now or soon.
func (c *conn) onStandby(err error) bool {
	if !c.writes || code(err) != "25006" {
		return false
	}
	c.raw.PgConn().Conn().Close()
	return true
}

// rows walks the rows of a query.
type rows struct {
	err    error
	values [][]any // of the portion that was read
	at     int     // the row after the present one
	more   func() error
	done   func()
}

// read reads all rows that the server sends.
func (r *rows) read(from pgx.Rows) error {
	defer from.Close()
	for from.Next() {
		v, err := from.Values()
		if err != nil {
			return err
		}
		r.values = append(r.values, v)
	}
	return from.Err()
}

// next moves to the next row; false at the end and on an error, which is in err.
func (r *rows) next() bool {
	if r.err == nil && r.at == len(r.values) && r.more != nil {
		r.err = r.more()
	}
	if r.err != nil || r.at == len(r.values) {
		r.close()
		return false
	}
	r.at++
	return true
}

// close ends a walk. It may be called more than once.
func (r *rows) close() {
	if r.done != nil {
		r.done()
	}
	r.done, r.more = nil, nil
}

// int, text, blob and bool return column i of the row. NULL is the zero.
func (r *rows) int(i int) int64 {
	n, _ := r.values[r.at-1][i].(int64)
	return n
}

func (r *rows) text(i int) string { return string(r.blob(i)) }

func (r *rows) blob(i int) []byte {
	b, _ := r.values[r.at-1][i].([]byte)
	return b
}

func (r *rows) bool(i int) bool {
	b, _ := r.values[r.at-1][i].(bool)
	return b
}
