package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/vitrine-go/vitrine/storage"
)

// SQL returns the transaction of an update for SQL over tables of the program's own, which are committed with the
// update or not at all. Use it in the goroutine of the update's function, and until that function returns. Commit and
// Rollback of the result are errors: the update ends the transaction. To undo a part, Begin a nested transaction, whose
// Rollback holds for the update's writes through t, too. Names without a schema are those of the search path: of the
// address of Open, and of the pool that New takes. SET LOCAL changes a setting until the update ends. SET does so for
// all later updates on its connection: SET search_path may make them fail.
//
// An update that shares its commit with others is called again, alone; UpdateOptions.Large avoids that. Rows that are
// not closed when the function returns make the update fail, and so do a failed statement that was not undone and SQL
// that ends the transaction. If the connection is lost, or the server ends the transaction in a deadlock, the function
// is called again.
//
// t is the Tx of an update of a store of this package, as it is or within others (see storage.Unwrap). For any other
// one SQL returns an error. The error of a statement is a *pgconn.PgError. A rule that knows what it means, such as a
// foreign key without its row, returns an error of its own in its place.
func SQL(t storage.Tx) (own pgx.Tx, err error) {
	if update, ok := storage.Unwrap(t).(*tx); ok {
		return update.sql()
	}
	return nil, fmt.Errorf("postgres: SQL needs an update of a store of this package, and this is one of a %T: "+
		"open it with postgres.Open",
		storage.Unwrap(t))
}

// ownSQL is the SQL of an update that has its transaction alone.
type ownSQL struct {
	se    *session
	m     *member
	tx    pgx.Tx // nil before SQL was called
	ended bool   // the function has returned
}

// programTx is what SQL returns.
type programTx struct{ pgx.Tx }

var errEnds = errors.New("postgres: the update ends the transaction: its function returns nil, or an error to roll " +
	"back")

func (programTx) Commit(context.Context) error   { return errEnds }
func (programTx) Rollback(context.Context) error { return errEnds }

// What may be wrong with SQL when the function has returned nil.
var (
	errOpen   = errors.New("postgres: the update's SQL has left rows open: close them before the function returns")
	errFailed = errors.New("postgres: a statement of the update's SQL has failed: return its error, or undo it with " +
		"the nested transaction of Begin")
	errEnded = errors.New("postgres: the update's SQL has ended the transaction, which is up to the update: leave " +
		"COMMIT and ROLLBACK out")
)

// planned are the settings with which statements of the store are planned, and not those of the program.
const planned = "SET LOCAL enable_seqscan TO DEFAULT; SET LOCAL enable_bitmapscan TO DEFAULT; " +
	"SET LOCAL plan_cache_mode TO DEFAULT; SET LOCAL jit TO DEFAULT"

// begin sends the writes that the update has made so far, and has each later one sent at once. So a savepoint of the
// program's SQL undoes the writes behind it, too.
func (o *ownSQL) begin(t *tx) (pgx.Tx, error) {
	if o.ended {
		return nil, errors.New("postgres: SQL is used after the update's function has returned")
	}
	if o.tx != nil {
		return programTx{o.tx}, nil
	}
	if err := t.full(o.m.ctx); err != nil {
		return nil, err
	}
	if o.se.conn == nil {
		if err := o.se.send(o.m.ctx); err != nil {
			return nil, err
		}
	}
	// When the function has returned, constraints that wait for the commit are checked, so that they fail before it.
	tx, err := o.se.conn.Conn().BeginTx(o.m.ctx,
		pgx.TxOptions{BeginQuery: planned, CommitQuery: "SET CONSTRAINTS ALL IMMEDIATE"})
	if err := o.se.note(o.m.ctx, err); err != nil {
		return nil, err
	}
	o.tx, o.se.dirty, t.most = tx, true, -1
	return programTx{tx}, nil
}

// end ends the SQL of a function that has returned, and replaces its result if something is wrong with the SQL.
func (o *ownSQL) end() {
	o.ended = true
	if o.tx == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(o.m.ctx), o.se.s.responseWait)
	defer cancel()
	conn := o.tx.Conn().PgConn()
	switch {
	case o.m.result == errGone:
	case conn.IsClosed():
		err := o.m.result
		if err == nil {
			err = errors.New("the update's SQL has lost it")
		}
		if err = o.se.note(o.m.ctx, err); o.m.result == nil {
			o.m.result = err
		}
	case code(o.m.result) == "25P02": // a later statement has met the failed transaction
		o.m.result = errFailed
	case o.m.result != nil:
	case conn.IsBusy():
		o.m.result = errOpen
	case conn.TxStatus() == 'E':
		o.m.result = errFailed
	case conn.TxStatus() != 'T':
		o.m.result = errEnded
	default:
		if err := o.tx.Commit(ctx); err != nil {
			o.m.result = err
		}
		return
	}
	o.tx.Rollback(ctx) // so that the program cannot use it any more; closes a connection that is busy
}

// migrate runs Options.Migrate, if there is one.
func (s *store) migrate(ctx context.Context, fn func(context.Context, pgx.Tx) error) error {
	if fn == nil {
		return nil
	}
	err := s.transact(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockSchema); err != nil {
			return err
		}
		before, err := marks(ctx, tx)
		if err == nil {
			err = fn(ctx, programTx{tx})
		}
		var after string
		if err == nil {
			after, err = marks(ctx, tx)
		}
		if err == nil && before != after {
			err = errors.New("it has taken or changed a name that begins with vitrine_: take other names")
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// marks returns what a migration must leave as it is: what has a name that begins with vitrine_.
func marks(ctx context.Context, tx pgx.Tx) (all string, err error) {
	const sql = `SELECT coalesce(string_agg(c.oid || ' ' || relname || ' ' || relnatts || ' ' || relchecks || ' ' ||
		relhastriggers || ' ' || (SELECT count(*) FROM pg_index WHERE indrelid = c.oid), ',' ORDER BY c.oid), '')
		FROM pg_class c WHERE relname LIKE 'vitrine\_%'`
	err = tx.QueryRow(ctx, sql).Scan(&all)
	return all, err
}

// OwnTables returns the names of the tables that the program has beside those of the store, in the same schema, in
// order. Archives do not have them.
func (db *DB) OwnTables(ctx context.Context) (names []string, err error) {
	err = db.View(ctx, func(storage.Reader) error { // returns ErrClosed if the store is closed
		return db.s.inTx(ctx, func(tx pgx.Tx) error {
			rows, err := tx.Query(ctx, `SELECT relname::text FROM pg_class
				WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
				AND relkind IN ('r', 'p') AND relname NOT LIKE 'vitrine\_%' ORDER BY relname`)
			if err == nil {
				names, err = pgx.CollectRows(rows, pgx.RowTo[string])
			}
			return err
		})
	})
	return names, err
}
