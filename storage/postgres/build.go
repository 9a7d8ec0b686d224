package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vitrine-go/vitrine/storage/internal/migration"
)

var (
	// ErrExists means that the database or schema holds a store already.
	ErrExists = errors.New("there is a store already")
	// ErrAbsent means that the database or schema holds no store.
	ErrAbsent = errors.New("there is no store")

	// errUnfinished means that a Build has not finished, whether or not it is still at work.
	errUnfinished = errors.New("the store is unfinished: it is still being built, or its build was stopped; build it again, which removes what is left")
	// errTaken means that another Build is at work there, or has replaced the store of this one.
	errTaken = errors.New("another process is building a store there")
)

// undoWait bounds the time in which a Build that has failed removes the store.
const undoWait = 30 * time.Second

// Build creates a store in an empty database or schema and calls fill with it. Until Build has returned nil, the store is marked
// as unfinished, and Open refuses it. If fill fails, Build removes the store. If it cannot, or if the process is killed, the
// unfinished store stays, and the next Build removes it and begins anew.
//
// It returns ErrExists if there is a store already, and another error if another process is building one there.
func Build(ctx context.Context, address string, opts *Options, fill func(*DB) error) error {
	if err := build(ctx, address, opts.orDefault(), fill); err != nil {
		return fmt.Errorf("postgres: build: %w", err)
	}
	return nil
}

func build(ctx context.Context, address string, o Options, fill func(*DB) error) error {
	db, err := connect(ctx, address, o)
	if err != nil {
		return err
	}
	defer db.Close()
	// The builder has a connection beside those of the store, since the store may have only one.
	c, err := pgx.ConnectConfig(ctx, db.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	b := &builder{Conn: c, db: db, name: rand.Text()}
	defer func() { _ = b.Close(context.WithoutCancel(ctx)) }() // nothing depends on it
	if err := db.prepare(ctx, b.Conn); err != nil {
		return err
	}
	if err := b.begin(ctx); err != nil {
		return err
	}
	db.builder = b.name
	err = fill(db)
	_ = db.Close() // waits until nothing writes; it returns nil
	if err != nil {
		return errors.Join(err, b.undo(ctx))
	}
	return b.finish(ctx)
}

// builder is the connection of a Build. The table vitrine_building is the mark of an unfinished store. It has one row, with the
// name of the builder and the tables that it has created. The builder keeps the row locked, so that another one sees that it is
// at work. If its connection is lost, another builder may take over: it drops the tables, and makes a mark of its own. Each
// update of the store reads the row of its builder, so it fails then.
type builder struct {
	*pgx.Conn
	db   *DB
	name string // random
	hold pgx.Tx // keeps the row locked
}

// begin creates an empty store, marks it as unfinished, and locks the row of the mark. It returns errTaken if another builder was
// faster.
func (b *builder) begin(ctx context.Context) error {
	var err error
	for range 10 {
		err = b.db.inTx(ctx, b.Conn, func(tx pgx.Tx) error { return b.make(ctx, tx, b.db.steps) })
		if !collided(err) {
			break
		}
	}
	if err != nil {
		return err
	}
	if b.hold, err = b.Begin(ctx); err != nil {
		return err
	}
	// FOR NO KEY UPDATE lets the updates of the builder read the row FOR KEY SHARE.
	const hold = "SELECT true FROM vitrine_building WHERE builder = $1 FOR NO KEY UPDATE NOWAIT"
	if err := b.db.localSettings(ctx, b.hold); err != nil {
		return err
	}
	_, err = b.hold.Exec(ctx, "SET LOCAL idle_in_transaction_session_timeout = 0")
	if err == nil {
		err = b.hold.QueryRow(ctx, hold, b.name).Scan(new(bool))
	}
	if errors.Is(err, pgx.ErrNoRows) || isTakenMark(err) {
		return errTaken
	}
	return err
}

// make runs all migrations and adds the mark, in one transaction. If an unfinished store is there whose builder is gone, it
// removes that first.
func (b *builder) make(ctx context.Context, tx pgx.Tx, steps []migration.Step) error {
	if err := lockSchema(ctx, tx); err != nil {
		return err
	}
	have, err := schemaNumber(ctx, tx)
	switch {
	case errors.Is(err, errUnfinished):
		err = clearRest(ctx, tx)
	case err == nil && have > 0:
		err = fmt.Errorf("the database is not empty: %w: name an empty one, or an empty schema in the address (search_path=…)", ErrExists)
	}
	if err != nil {
		return err
	}
	if err := runSteps(ctx, tx, steps, 0); err != nil {
		return err
	}
	// The schema was empty before the steps, so all tables are theirs.
	const mark = `CREATE TABLE vitrine_building (builder text PRIMARY KEY, tables text[] NOT NULL)`
	const sign = `INSERT INTO vitrine_building SELECT $1, array_agg(tablename::text) FROM pg_tables
		WHERE schemaname = current_schema() AND tablename NOT IN ('vitrine_building', 'vitrine_schema')`
	if _, err := tx.Exec(ctx, mark); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, sign, b.name)
	return err
}

// clearRest drops the tables of a builder that was killed. It returns errTaken if the builder is still at work, and so has its
// row locked.
func clearRest(ctx context.Context, tx pgx.Tx) error {
	var tables []string
	err := tx.QueryRow(ctx, "SELECT tables FROM vitrine_building FOR UPDATE NOWAIT").Scan(&tables)
	if isTakenMark(err) {
		return errTaken
	}
	if err != nil {
		return err
	}
	return drop(ctx, tx, append(tables, "vitrine_building"))
}

// drop drops tables, and deletes the rows of vitrine_schema, so that all migrations run again.
func drop(ctx context.Context, tx pgx.Tx, tables []string) error {
	for _, name := range tables {
		if _, err := tx.Exec(ctx, "DROP TABLE IF EXISTS "+(pgx.Identifier{name}).Sanitize()); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, "DELETE FROM vitrine_schema")
	return err
}

// isTakenMark reports whether another builder has locked the row of the mark (lock_not_available), or has dropped the table
// (undefined_table).
func isTakenMark(err error) bool { return code(err) == "55P03" || code(err) == "42P01" }

// finish removes the mark, so that Open accepts the store.
func (b *builder) finish(ctx context.Context) error {
	_, err := b.hold.Exec(ctx, "DROP TABLE vitrine_building")
	if err == nil {
		err = b.hold.Commit(ctx)
	}
	if err != nil {
		return fmt.Errorf("the store is complete, but its mark as unfinished may not have been removed: open it, and build it again if that is refused: %w", err)
	}
	return nil
}

// undo removes the store, after fill has failed.
func (b *builder) undo(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoWait)
	defer cancel()
	var tables []string
	err := b.hold.QueryRow(ctx, "SELECT tables FROM vitrine_building WHERE builder = $1", b.name).Scan(&tables)
	if err == nil {
		err = drop(ctx, b.hold, append(tables, "vitrine_building"))
	}
	if err == nil {
		_, err = b.hold.Exec(ctx, "DROP TABLE vitrine_schema")
	}
	if err == nil {
		err = b.hold.Commit(ctx)
	}
	if err != nil {
		return fmt.Errorf("the unfinished store could not be removed; the next build removes it: %w", err)
	}
	return nil
}

// stillBuilding returns a statement that fails with errTaken if another builder than the named one has the store. It is part of
// each update of a Build.
func stillBuilding(name string) statement {
	s := newStatement("SELECT true FROM vitrine_building WHERE builder = convert_from($1, 'UTF8') FOR KEY SHARE", []any{name})
	s.take = func(r *rows) error {
		if !r.next() {
			return errTaken
		}
		return nil
	}
	return s
}
