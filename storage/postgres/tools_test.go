//go:build proof

package postgres

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// openPool opens connections that no store uses.
func openPool(tb testing.TB, address string) *pgxpool.Pool {
	tb.Helper()
	pool, err := pgxpool.New(ctx, address)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(pool.Close)
	return pool
}

// tables names what the database holds.
func (db *DB) tables(tb testing.TB) (names string) {
	tb.Helper()
	return db.list(tb, "SELECT string_agg(schemaname || '.' || tablename, ',' ORDER BY 1) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')")
}

// numbers are those in the table n.
func (db *DB) numbers(tb testing.TB) string {
	tb.Helper()
	return db.list(tb, "SELECT string_agg(n::text, ',' ORDER BY n) FROM n")
}

// list is the text that a query gives, "" for NULL.
func (db *DB) list(tb testing.TB, sql string) string {
	tb.Helper()
	var text *string
	if err := db.pool.QueryRow(ctx, sql).Scan(&text); err != nil {
		tb.Fatal(err)
	}
	if text == nil {
		return ""
	}
	return *text
}

// waitFor returns when a query gives another number than 0.
func (db *DB) waitFor(tb testing.TB, sql string) {
	tb.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		var n int64
		err := db.pool.QueryRow(ctx, sql).Scan(&n)
		switch {
		case err != nil || time.Now().After(deadline):
			tb.Errorf("%s: %d, %v", sql, n, err)
			return
		case n != 0:
			return
		}
	}
}
