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
// Strings are stored as bytea, since PostgreSQL's text cannot hold U+0000 and is ordered by locale: arguments that are strings,
// or lists of strings, are sent as bytes.
type conn struct {
	raw  *pgx.Conn
	from *pgxpool.Conn // what raw belongs to
	// connect sets raw at the first statement, if the transaction has no connection before.
	connect func(context.Context) error
	// ahead holds statements that are sent with the next one whose result is needed, in one round trip. At first it holds
	// the statements that begin the transaction, so a transaction that runs nothing sends nothing.
	ahead []statement
	// broken is the first error in the transaction. PostgreSQL refuses all later statements, so none is sent.
	broken error
	walks  int      // open cursors
	writes bool     // the transaction is an update
	pooled bool     // the connection leads to a pooler, so settings hold within a transaction only
	begins int      // how many statements begin the transaction
	claims []string // keys that were inserted into the table claim
}

type statement struct {
	sql  string
	args []any
	take func(*rows) error // gets the rows of a statement in ahead; nil = they are not needed
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

// later sends one statement, whose result is not needed, together with the next one or with the COMMIT. If it fails, they
// fail with its error.
func (c *conn) later(sql string, args ...any) {
	c.ahead = append(c.ahead, newStatement(sql, args))
}

// also is like later, for a query: take gets its rows before those of the next statement are read.
func (c *conn) also(take func(*rows) error, sql string, args ...any) {
	s := newStatement(sql, args)
	s.take = take
	c.ahead = append(c.ahead, s)
}

// query runs one statement and reads all of its rows into memory:
//
//	r := c.query(ctx, "SELECT …", …)
//	for r.next() { … r.text(0) … }
//	return r.err
func (c *conn) query(ctx context.Context, sql string, args ...any) *rows {
	r := new(rows)
	r.err = c.run(ctx, newStatement(sql, args), r.read)
	return r
}

// walk runs a query that may have many rows. It reads them in portions through a cursor, so other statements may run between
// two portions; the rows are those at the time of the call. The caller closes it.
func (c *conn) walk(ctx context.Context, portion int, sql string, args ...any) *rows {
	h := fnv.New64a() // a prepared FETCH keeps its columns, so each query needs a cursor name of its own
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

// alone runs one query before the transaction begins, in a snapshot of its own. If the transaction has begun it runs nothing,
// and ok is false.
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

// idle reports that the transaction has not begun and that no statement waits to be sent.
func (c *conn) idle() bool { return !c.begun() && len(c.ahead) == c.begins }

// run sends the statements in ahead and the last one, in one round trip. take reads and closes the rows of the last one.
func (c *conn) run(ctx context.Context, last statement, take func(pgx.Rows) error) error {
	if c.raw == nil && c.broken == nil {
		c.broken = c.connect(ctx)
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

// send sends the statements in ahead and a last one.
func (c *conn) send(ctx context.Context, last statement) pgx.BatchResults {
	var batch pgx.Batch
	for _, s := range c.ahead {
		batch.Queue(s.sql, s.args...)
	}
	batch.Queue(last.sql, last.args...)
	return c.raw.SendBatch(ctx, &batch)
}

// receive reads the result of a statement in ahead.
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

// note keeps the first error of the transaction. It wraps it with errLost if the connection was lost.
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

// onStandby reports whether err says that the server takes no writes. It closes the connection, since the next one may lead
// to a primary.
func (c *conn) onStandby(err error) bool {
	if !c.writes || code(err) != "25006" {
		return false
	}
	c.raw.PgConn().Conn().Close()
	return true
}

// rows are the rows of a query, read one after the other by next.
type rows struct {
	err    error
	values [][]any // the portion that was read last
	at     int     // index of the row that next moves to
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

// next moves to the next row. It returns false at the end and on an error, which err then holds.
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

// int, text, blob and bool return column i of the row, and the zero value for NULL.
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
