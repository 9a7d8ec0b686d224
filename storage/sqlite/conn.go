package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"

	"modernc.org/sqlite"
)

// conn is one connection. One goroutine uses it at a time.
//
// It uses the driver directly and not database/sql, whose pool, locks and conversions take a third of the time
// of a point read.
type conn struct {
	raw driver.Conn
	// idle has the prepared statements that are not in use, by their text. A query inside the loop over the same
	// query gets a second statement.
	idle map[string][]driver.Stmt
	// broken is the first error after which SQLite may have ended the transaction by itself. No statement runs
	// until the writer has rolled back: outside of a transaction it would be committed at once.
	broken error
	marks  []driver.Value // of the store, for SQL of the program, which must not change them; nil before there was any
}

// dial opens a connection to the file at path, an absolute one. mode is the query of SQLite's URI for the file, such as
// "mode=rw". Pragmas are "name=value".
func dial(path, mode string, pragmas ...string) (*conn, error) {
	// With _error_rc an error has the text of its own code, without that of an older error.
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: mode + "&_error_rc=true"}
	raw, err := new(sqlite.Driver).Open(dsn.String())
	if err != nil {
		return nil, err
	}
	c := &conn{raw: raw, idle: map[string][]driver.Stmt{}}
	for _, p := range pragmas {
		if err := c.script("PRAGMA " + p); err != nil {
			return nil, errors.Join(fmt.Errorf("PRAGMA %s: %w", p, err), c.close())
		}
	}
	return c, nil
}

// script runs statements without keeping them prepared.
func (c *conn) script(sql string) error {
	_, err := c.raw.(driver.ExecerContext).ExecContext(context.Background(), sql, nil)
	return err
}

// exec runs one statement without rows.
func (c *conn) exec(sql string, args ...any) (driver.Result, error) {
	st, err := c.prepare(sql)
	if err != nil {
		return nil, err
	}
	defer c.release(sql, st)
	// For a context that can end, the driver starts a goroutine for each statement. Statements here are short, so
	// their callers check the context between statements instead.
	res, err := st.(driver.StmtExecContext).ExecContext(context.Background(), named(args))
	return res, c.note(err)
}

// query starts one statement that yields rows.
//
//	r := c.query("SELECT …", …)
//	defer r.close()
//	for r.next() { … r.text(0) … }
//	return r.err
func (c *conn) query(sql string, args ...any) *rows {
	st, err := c.prepare(sql)
	if err != nil {
		return &rows{err: err}
	}
	raw, err := st.(driver.StmtQueryContext).QueryContext(context.Background(), named(args))
	if err != nil {
		c.release(sql, st)
		return &rows{err: c.note(err)}
	}
	return &rows{c: c, sql: sql, stmt: st, raw: raw, values: make([]driver.Value, len(raw.Columns()))}
}

// row returns the first row of a query, nil if there is none.
func (c *conn) row(sql string, args ...any) (values []driver.Value, err error) {
	r := c.query(sql, args...)
	if r.next() {
		values = r.values
	}
	r.close()
	return values, r.err
}

// value returns the first column of the first row as an integer. It is 0 for NULL, for another type, and without a row.
func (c *conn) value(sql string, args ...any) (int64, error) {
	row, err := c.row(sql, args...)
	if err != nil || row == nil {
		return 0, err
	}
	n, _ := row[0].(int64)
	return n, nil
}

// prepare returns a statement with this text that is not in use. The caller returns it with release.
func (c *conn) prepare(sql string) (driver.Stmt, error) {
	if c.broken != nil {
		return nil, c.broken
	}
	if free := c.idle[sql]; len(free) > 0 {
		c.idle[sql] = free[:len(free)-1]
		return free[len(free)-1], nil
	}
	st, err := c.raw.(driver.ConnPrepareContext).PrepareContext(context.Background(), sql)
	return st, c.note(err)
}

func (c *conn) release(sql string, st driver.Stmt) { c.idle[sql] = append(c.idle[sql], st) }

// note returns err, and makes the connection reject further statements if SQLite may have ended the transaction.
func (c *conn) note(err error) error {
	if err != nil && c.broken == nil && endsTransaction(err) {
		c.broken = err
	}
	return err
}

func (c *conn) close() error {
	for _, free := range c.idle {
		for _, st := range free {
			st.Close() // its error is the last one of the statement, which was reported
		}
	}
	return c.raw.Close()
}

// named numbers arguments as $1, $2 and so on. The driver takes no int, so each becomes an int64.
func named(args []any) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, a := range args {
		if n, ok := a.(int); ok {
			a = int64(n)
		}
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return out
}

// rows iterates over the result of a query. It frees the statement after the last row, after an error, or at close.
type rows struct {
	err    error
	c      *conn
	sql    string
	stmt   driver.Stmt
	raw    driver.Rows // nil when there is nothing more to read
	values []driver.Value
}

// next moves to the next row. It returns false at the end, and on an error, which it stores in err.
func (r *rows) next() bool {
	if r.raw == nil {
		return false
	}
	err := r.raw.Next(r.values)
	if err == nil {
		return true
	}
	if err != io.EOF {
		r.err = r.c.note(err)
	}
	r.close()
	return false
}

// close frees the statement. It may be called more than once.
func (r *rows) close() {
	if r.raw == nil {
		return
	}
	if err := r.raw.Close(); err != nil && r.err == nil {
		r.err = r.c.note(err)
	}
	r.c.release(r.sql, r.stmt)
	r.raw = nil
}

// text and blob return column i of the current row. The value stays valid after next and close.
func (r *rows) text(i int) string {
	s, _ := r.values[i].(string)
	return s
}

// blob returns nil only for NULL.
func (r *rows) blob(i int) []byte {
	b, found := r.values[i].([]byte)
	if found && b == nil { // the driver returns nil for an empty blob
		b = []byte{}
	}
	return b
}
