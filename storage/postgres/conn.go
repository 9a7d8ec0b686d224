package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// conn is a connection within one transaction, a view or an update. One goroutine uses it at a time. The server begins the
// transaction with the first statement that is sent.
//
// Strings are stored as bytea, since PostgreSQL's text cannot hold U+0000 and is ordered by locale: arguments that are strings,
// or lists of strings, are sent as bytes.
type conn struct {
	raw     *pgx.Conn
	from    *pgxpool.Conn // what raw belongs to
	connect func() error  // sets raw, at the first statement
	// ahead holds statements that are sent with the next one whose result is needed, in one round trip. connect puts the
	// statements that begin the transaction before them, so a transaction that runs nothing sends nothing.
	ahead []statement
	// broken is the first error in the transaction. PostgreSQL refuses all later statements, so none is sent.
	broken   error
	walks    int      // open cursors
	writes   bool     // the transaction is an update
	pooled   bool     // the connection leads to a pooler, so settings hold within a transaction only
	prepares bool     // statements are prepared, once for each connection
	begins   int      // how many statements begin the transaction; 0 before connect
	claims   []string // keys that were inserted into the table claim
}

// statement is a statement with its arguments $1, $2 and so on.
type statement struct {
	sql  string
	args []any
	take func(*rows) error // receives the rows of a statement in ahead; nil = they are not needed
}

// newStatement returns a statement whose arguments that are strings, or lists of strings, are replaced by bytes, in args itself.
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

// exec runs one statement, in a round trip, and returns how many rows it changed.
func (c *conn) exec(ctx context.Context, sql string, args ...any) (changed int64, err error) {
	err = c.run(ctx, newStatement(sql, args), func(r pgx.Rows) error {
		r.Close()
		changed = r.CommandTag().RowsAffected()
		return r.Err()
	})
	return changed, err
}

// later takes a statement whose result is not needed. It is sent together with the next one or with the COMMIT. If it fails, they
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
// two portions. The cursor is opened with the next statement that is sent, and the rows are those of its snapshot: writes after
// the call do not change them. The caller calls close.
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
		if err := c.prepareFetch(ctx, fetch.sql); err != nil {
			return err
		}
		err = c.run(ctx, fetch, r.read)
		if err == nil && len(r.values) < portion {
			r.more = nil
		}
		return err
	}
	return r
}

// prepareFetch prepares a FETCH once for each connection, when its cursor is open. Otherwise pgx prepares it before it runs the
// DECLARE. Then it does not learn the columns, and the server sends all values as text, in which a
// bytea has twice as many bytes.
func (c *conn) prepareFetch(ctx context.Context, sql string) error {
	if err := c.attach(); err != nil {
		return err
	}
	if !c.prepares || c.raw.PgConn().CustomData()[sql] != nil {
		return nil
	}
	if err := c.query(ctx, "SELECT").err; err != nil { // sends the DECLARE
		return err
	}
	_, err := c.raw.Prepare(ctx, sql, sql)
	if err == nil {
		c.raw.PgConn().CustomData()[sql] = true
	}
	return c.note(ctx, err)
}

// alone runs one query before the transaction begins, in a snapshot of its own. It runs nothing, and ok is false, if the
// transaction has begun, if statements wait to be sent, or behind a pooler, where the settings belong to a transaction. If no
// connection could be taken, ok is true and r has the error.
func (c *conn) alone(ctx context.Context, sql string, args ...any) (r *rows, ok bool) {
	if c.pooled || !c.idle() {
		return nil, false
	}
	if err := c.attach(); err != nil {
		return &rows{err: err}, true
	}
	begin := c.ahead
	c.ahead = nil
	r = c.query(ctx, sql, args...)
	c.ahead = begin
	return r, true
}

// attach takes a connection, unless c has one. It returns the first error of the transaction.
func (c *conn) attach() error {
	if c.raw == nil && c.broken == nil {
		c.broken = c.connect()
	}
	return c.broken
}

// begun reports whether the server has begun the transaction.
func (c *conn) begun() bool { return c.raw != nil && c.raw.PgConn().TxStatus() != 'I' }

// idle reports whether the transaction has not begun and no statement waits to be sent but those that begin it.
func (c *conn) idle() bool { return !c.begun() && len(c.ahead) == c.begins }

// run sends the statements in ahead and the last one, in one round trip. take reads and closes the rows of the last one.
func (c *conn) run(ctx context.Context, last statement, take func(pgx.Rows) error) error {
	if err := c.attach(); err != nil {
		return err
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

// note keeps the first error of the transaction in broken, and returns it. It wraps it with the error of ctx if that is done,
// and with errLost if the connection was lost or leads to a standby. Later errors are returned as they are.
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

// onStandby reports whether err is that of an update on a server that takes no writes, a standby. It then closes the connection,
// since the next one may lead to a primary.
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
	values []row // the portion that was read last
	at     int   // index of the row that next moves to
	more   func() error
	done   func()
}

// row has the values of a row in the binary format of the server: a bytea as it is, an int8 in 8 bytes, a bool in one. nil =
// NULL.
type row [][]byte

// read reads all rows that the server sends.
func (r *rows) read(from pgx.Rows) error {
	defer from.Close()
	for from.Next() {
		v, err := copyRow(from)
		if err != nil {
			return err
		}
		r.values = append(r.values, v)
	}
	return from.Err()
}

// copyRow copies the current row, whose bytes are valid until the next one is read.
func copyRow(from pgx.Rows) (row, error) {
	raw, size := from.RawValues(), 0
	for i, f := range from.FieldDescriptions() {
		if f.Format != pgx.BinaryFormatCode {
			return decodeRow(from)
		}
		size += len(raw[i])
	}
	out, all := make(row, len(raw)), make([]byte, 0, size)
	for i, v := range raw {
		if v != nil {
			begin := len(all)
			all = append(all, v...)
			out[i] = all[begin:len(all):len(all)]
		}
	}
	return out, nil
}

// decodeRow is copyRow for a row with columns that came as text: those of type text always do, and all do where statements are
// not prepared, as behind a pooler. A value of any other type, such as the int4 of SELECT 1, is NULL: nobody reads it.
func decodeRow(from pgx.Rows) (row, error) {
	values, err := from.Values()
	out := make(row, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case []byte:
			out[i] = v
		case string:
			out[i] = []byte(v)
		case int64:
			out[i] = binary.BigEndian.AppendUint64(nil, uint64(v))
		case bool:
			out[i] = []byte{0}
			if v {
				out[i][0] = 1
			}
		}
	}
	return out, err
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

// int, text, blob and bool return column i of the current row, and the zero value for NULL. int and bool return it also for a
// column of another type.
func (r *rows) int(i int) int64 {
	v := r.blob(i)
	if len(v) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(v))
}

func (r *rows) text(i int) string { return string(r.blob(i)) }

func (r *rows) blob(i int) []byte { return r.values[r.at-1][i] }

func (r *rows) bool(i int) bool {
	v := r.blob(i)
	return len(v) == 1 && v[0] == 1
}
