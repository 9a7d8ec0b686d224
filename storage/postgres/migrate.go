package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/vitrine-go/vitrine/storage/internal/migration"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations returns the migrations in their order. The table vitrine_schema has those that were run.
func migrations() ([]migration.Step, error) { return migration.Steps(migrationFiles) }

// migrate brings the database to the newest schema, in one transaction. If several processes do so at once, one does it and the
// others wait. If there is no store, it creates an empty one, or returns ErrAbsent if o.Existing is true.
func (db *DB) migrate(ctx context.Context, c *pgx.Conn, o Options) error {
	var have int64
	err := db.inTx(ctx, c, func(tx pgx.Tx) (err error) {
		if _, err = tx.Exec(ctx, waitForSchema); err == nil {
			have, err = schemaNumber(ctx, tx)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case have > db.schema:
		return fmt.Errorf("the store has schema %d, and this release knows %d: it was written by a newer one, which is needed", have, db.schema)
	case have == db.schema:
		return nil
	case have == 0 && o.Existing:
		return ErrAbsent
	}
	for range 10 {
		err = db.inTx(ctx, c, func(tx pgx.Tx) error { return apply(ctx, tx, db.steps) })
		if !collided(err) {
			break
		}
	}
	for _, m := range db.steps {
		if err == nil && have > 0 && m.Number > have && o.Migrated != nil {
			o.Migrated(m.Name)
		}
	}
	return err
}

// collided reports whether err may be due to another process that has created the same table: even CREATE TABLE IF NOT EXISTS
// may fail so.
func collided(err error) bool {
	switch code(err) {
	case "23505", "42P07", "42710", "40001", "40P01":
		return true
	}
	return false
}

// schemaNumber returns the number of the last migration that was run, 0 if there is no store yet. It returns errUnfinished if the
// store has the mark of a builder.
func schemaNumber(ctx context.Context, c pgx.Tx) (have int64, err error) {
	var schema *string
	var store, building bool
	const look = `SELECT current_schema()::text,
		EXISTS (SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'vitrine_schema'),
		EXISTS (SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'vitrine_building')`
	switch err := c.QueryRow(ctx, look).Scan(&schema, &store, &building); {
	case err != nil:
		return 0, err
	case schema == nil:
		return 0, errors.New("the search path names no schema that is there: create it, or name another one in the address (search_path=…)")
	case !store:
		return 0, nil
	case building:
		return 0, errUnfinished
	}
	err = c.QueryRow(ctx, "SELECT coalesce(max(number), 0) FROM vitrine_schema").Scan(&have)
	return have, err
}

// apply runs the migrations that were not run yet.
func apply(ctx context.Context, tx pgx.Tx, steps []migration.Step) error {
	if err := lockSchema(ctx, tx); err != nil {
		return err
	}
	have, err := schemaNumber(ctx, tx)
	if err != nil {
		return err
	}
	return runSteps(ctx, tx, steps, have)
}

// waitForSchema makes a transaction wait without limit while another one changes the schema.
const waitForSchema = "SET LOCAL lock_timeout = 0"

// lockSchema waits until nobody else changes the schema, and keeps others from it. Every update reads vitrine_schema
// first. So it also waits for the updates that run, and those that begin later wait for it and then read the new number.
func lockSchema(ctx context.Context, tx pgx.Tx) error {
	const sql = waitForSchema + `;
		CREATE TABLE IF NOT EXISTS vitrine_schema (number int8 PRIMARY KEY, name text NOT NULL, taken timestamptz NOT NULL DEFAULT now());
		LOCK TABLE vitrine_schema IN ACCESS EXCLUSIVE MODE`
	_, err := tx.Exec(ctx, sql)
	return err
}

// runSteps runs the migrations whose number is above have, and stores their numbers. Before the first one it checks that the
// schema has no tables of something else.
func runSteps(ctx context.Context, tx pgx.Tx, steps []migration.Step, have int64) error {
	if have == 0 {
		if err := refuseForeign(ctx, tx); err != nil {
			return err
		}
	}
	for _, m := range steps {
		if m.Number <= have {
			continue
		}
		if _, err := tx.Exec(ctx, m.SQL); err != nil {
			return fmt.Errorf("migration %s: %w", m.Name, err)
		}
		if _, err := tx.Exec(ctx, "INSERT INTO vitrine_schema (number, name) VALUES ($1, $2)", m.Number, m.Name); err != nil {
			return err
		}
	}
	return nil
}

// refuseForeign returns an error if the schema has tables of something else. Tables of extensions do not count.
func refuseForeign(ctx context.Context, tx pgx.Tx) error {
	const sql = `SELECT current_database()::text, current_schema()::text, count(*), coalesce(min(relname)::text, '') FROM pg_class c
		WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND relname <> 'vitrine_schema'
		AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')`
	var database, schema, one string
	var count int
	if err := tx.QueryRow(ctx, sql).Scan(&database, &schema, &count, &one); err != nil {
		return err
	}
	if count > 0 {
		return fmt.Errorf("schema %q of database %q is no store of ours and not empty: it holds %q and %d more; "+
			"name an empty database, or an empty schema in the address (search_path=…)", schema, database, one, count-1)
	}
	return nil
}
