package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"modernc.org/sqlite"

	"github.com/vitrine-go/vitrine/storage"
)

// SQL returns the transaction of an update for SQL over tables of the program's own, which are committed with the
// update or not at all. Use it in the goroutine of the update's function, and until that function returns. Commit and
// Rollback of the result are errors: the update ends the transaction. To undo a part, execute SAVEPOINT and ROLLBACK
// TO, which hold for the update's writes through t, too. Foreign keys are enforced. All updates share a connection:
// what a PRAGMA sets and ATTACH adds stays for those that follow.
//
// An update that shares its commit with earlier ones is called again, alone; UpdateOptions.Large avoids that. A query
// is read whole before its first row is returned. Rows that are not closed when the function returns make the update
// fail, and so does SQL that ends the transaction, or writes or changes what belongs to the store: the tables entry and
// large, names that begin with vitrine_, application_id and user_version. Tables are made and changed in
// Options.Migrate.
//
// t is the Tx of an update of a store of this package, as it is or within others (see storage.Unwrap). For any other
// one SQL returns an error. The error of a statement is a *sqlite.Error of modernc.org/sqlite. A rule that knows what
// it means, such as a foreign key without its row, returns an error of its own in its place.
func SQL(t storage.Tx) (*sql.Tx, error) {
	own, ok := storage.Unwrap(t).(*tx)
	var err error
	switch {
	case !ok:
		err = fmt.Errorf("sqlite: SQL needs an update of a store of this package, and this is one of a %T: "+
			"open it with sqlite.Open",
			storage.Unwrap(t))
	case own.ended:
		err = errors.New("sqlite: SQL is used after the update's function has returned")
	case !own.first:
		own.needsAlone = true
		err = errAlone
	case own.sql == nil:
		if err = own.direct(); err == nil {
			own.sql, err = beginSQL(own.c)
		}
	}
	if err != nil {
		return nil, err
	}
	return own.sql.Tx, nil
}

var errAlone = errors.New("sqlite: the update has SQL and needs a commit of its own; its function is called again")

// call calls the function of an update, and ends its SQL.
func (t *tx) call(fn func(storage.Tx) error) (err error) {
	defer func() { // also after a panic
		if t.ended = true; t.sql != nil {
			err = t.sql.end(err)
		}
		if t.needsAlone {
			err = errAlone
		}
	}()
	return fn(t)
}

// ownSQL is the driver of database/sql for the SQL of one update. It does without sqlite.Driver, which would open
// another connection.
type ownSQL struct {
	*sql.Tx
	db   *sql.DB
	c    *conn
	open atomic.Int32 // how many results of queries are not closed

	running    bool // a statement of the program runs, and none of the store
	foreign    bool // one has written rows of the store
	rolledBack bool
}

// beginSQL gives the open transaction of a connection to database/sql. Until end, nothing commits it: SQL that ends the
// transaction rolls it back, and no statement runs any more.
func beginSQL(c *conn) (*ownSQL, error) {
	o := &ownSQL{c: c}
	var err error
	if c.marks == nil {
		if c.marks, err = c.row(marks); err != nil {
			return nil, err
		}
	}
	hooks := c.raw.(sqlite.HookRegisterer)
	hooks.RegisterCommitHook(func() int32 { return 1 })
	hooks.RegisterRollbackHook(func() { o.rolledBack = true })
	hooks.RegisterPreUpdateHook(func(row sqlite.SQLitePreUpdateData) {
		o.foreign = o.foreign || o.running && row.DatabaseName == "main" &&
			(row.TableName == "entry" || row.TableName == "large")
	})
	o.db = sql.OpenDB(o)
	o.db.SetMaxOpenConns(1)
	o.Tx, err = o.db.BeginTx(context.Background(), nil)
	return o, err
}

var errForeign = errors.New("sqlite: SQL has written or changed what belongs to the store: the tables entry and " +
	"large, a name that begins with vitrine_, or application_id or user_version; take other names, and keep a " +
	"version in a table")

var errEnded = errors.New("sqlite: the update's SQL has ended the transaction, which is up to the update: leave " +
	"COMMIT and ROLLBACK out")

// end ends the SQL of a function that has returned err. It returns err, or what is wrong with the SQL.
func (o *ownSQL) end(err error) error {
	open := o.open.Load() > 0
	o.Tx.Rollback() // which rolls back nothing, and lets nobody use the Tx any more
	o.db.Close()
	hooks := o.c.raw.(sqlite.HookRegisterer)
	hooks.RegisterCommitHook(nil)
	hooks.RegisterRollbackHook(nil)
	hooks.RegisterPreUpdateHook(nil)
	if err == nil && o.c.broken == nil {
		var after []driver.Value
		if after, err = o.c.row(marks); err == nil && (o.foreign || after[0] != o.c.marks[0]) {
			err = errForeign
		}
	}
	if err == nil && open {
		err = errors.New("sqlite: the update's SQL has left the rows of a query open: close them before the function " +
			"returns")
	}
	return err
}

// Connect and Driver make ownSQL a driver.Connector, the next ones a driver.Conn and a driver.Tx.
func (o *ownSQL) Connect(context.Context) (driver.Conn, error) { return ownConn{o}, nil }
func (o *ownSQL) Driver() driver.Driver                        { return nil }

type ownConn struct{ o *ownSQL }

func (c ownConn) Begin() (driver.Tx, error) { return c, nil }
func (c ownConn) Close() error              { return nil }
func (c ownConn) Commit() error             { return errEnds }
func (c ownConn) Rollback() error           { return errEnds }

var errEnds = errors.New("sqlite: the update ends the transaction: its function returns nil, or an error to roll back")

func (c ownConn) Prepare(query string) (driver.Stmt, error) {
	if c.o.c.broken != nil {
		return nil, c.o.c.broken
	}
	st, err := c.o.c.raw.Prepare(query)
	return &ownStmt{st, c.o}, c.o.note(err)
}

// note returns err. If the transaction has ended, no statement runs any more. Unlike the statements of this package,
// these are interrupted when their context ends, and then SQLite rolls back everything.
func (o *ownSQL) note(err error) error {
	o.running = false
	switch o.c.note(err); {
	case !o.rolledBack || o.c.broken != nil:
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		o.c.broken = err
	default:
		o.c.broken = errEnded
	}
	if err == nil && o.foreign {
		err = errForeign
	}
	return err
}

type ownStmt struct {
	driver.Stmt
	o *ownSQL
}

func (s *ownStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if s.o.c.broken != nil {
		return nil, s.o.c.broken
	}
	s.o.running = true
	res, err := s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
	return res, s.o.note(err)
}

// QueryContext reads all rows, so that the connection has no open statement when something else uses it.
func (s *ownStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if s.o.c.broken != nil {
		return nil, s.o.c.broken
	}
	s.o.running = true
	raw, err := s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		return nil, s.o.note(err)
	}
	defer raw.Close()
	out := &ownRows{o: s.o, columns: raw.Columns()}
	for {
		row := make([]driver.Value, len(out.columns))
		if err = raw.Next(row); err == nil {
			err = ctx.Err()
		}
		if err == io.EOF {
			if err = s.o.note(nil); err == nil {
				s.o.open.Add(1)
			}
			return out, err
		}
		if err != nil {
			return nil, s.o.note(err)
		}
		out.rows = append(out.rows, row)
	}
}

// ownRows is a result that was read whole.
type ownRows struct {
	o       *ownSQL
	columns []string
	rows    [][]driver.Value
}

func (r *ownRows) Columns() []string { return r.columns }

func (r *ownRows) Close() error {
	r.o.open.Add(-1)
	return nil
}

func (r *ownRows) Next(to []driver.Value) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	copy(to, r.rows[0])
	r.rows = r.rows[1:]
	return nil
}

// marks are what SQL of the program must leave as it is: the tables of the store with what belongs to them, the names
// that the store may use one day, and the numbers in the header of the file.
const marks = `SELECT (SELECT application_id FROM pragma_application_id) || ' ' ||
	(SELECT user_version FROM pragma_user_version) || ' ' || (SELECT group_concat(name || ' ' || sql) FROM
	(SELECT name, coalesce(sql, '') AS sql FROM
		(SELECT * FROM sqlite_schema UNION ALL SELECT * FROM sqlite_temp_schema) WHERE name LIKE 'vitrine~_%' ESCAPE '~'
		OR lower(name) IN ('entry', 'large', 'kv', 'replaced', 'deleted')
		OR lower(tbl_name) IN ('entry', 'large', 'kv') ORDER BY name))`

// migrate runs Options.Migrate in a transaction of its own.
func migrate(path string, busy string, fn func(context.Context, *sql.Tx) error) (err error) {
	// Foreign keys are checked at the end: a table with references to it can be replaced by another one only without.
	c, err := dial(path, "mode=rw", busy, "synchronous=FULL", "fullfsync=1", "secure_delete=ON", "trusted_schema=0",
		"wal_autocheckpoint=0")
	if err != nil {
		return err
	}
	defer func() {
		c.broken = nil
		c.exec("ROLLBACK") // fails after a COMMIT
		err = errors.Join(err, c.close())
	}()
	if _, err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	schema, err := c.value("PRAGMA schema_version")
	if err != nil {
		return err
	}
	own, err := beginSQL(c)
	if err != nil {
		return err
	}
	func() {
		defer func() { err = own.end(err) }()
		err = fn(context.Background(), own.Tx)
	}()
	if err = cmp.Or(err, c.broken); err != nil {
		return err
	}
	changed, err := c.value("SELECT total_changes() > 0 OR schema_version <> $1 FROM pragma_schema_version", schema)
	if err != nil || changed == 0 {
		return err
	}
	violation, err := c.row("SELECT \"table\", parent FROM pragma_foreign_key_check")
	if err == nil && violation != nil {
		err = fmt.Errorf("a row of %v refers to a row of %v that does not exist", violation[0], violation[1])
	}
	if err == nil {
		_, err = c.exec("COMMIT")
	}
	return err
}

// OwnTables returns the names of the program's own tables in the file, in order. Archives do not have them; copies of
// Backup do.
func (db *DB) OwnTables(ctx context.Context) (names []string, err error) {
	err = db.View(ctx, func(storage.Reader) error { // returns ErrClosed if the store is closed
		c, err := db.store.readers.get(ctx)
		if err != nil {
			return err
		}
		rows := c.query(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('entry', 'large')
			AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name`)
		for rows.next() {
			names = append(names, rows.text(0))
		}
		rows.close()
		db.store.readers.put(c, rows.err == nil)
		return rows.err
	})
	return names, err
}
