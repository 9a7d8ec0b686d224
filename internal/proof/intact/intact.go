// Package intact looks at the file of a store with nothing but SQLite, whatever the store's own
// driver says of it.
package intact

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// ErrBroken is what a file that is not whole is told with.
var ErrBroken = errors.New("the file is not whole")

// invariants are queries with the one answer that they must give.
var invariants = []struct{ what, sql, want string }{
	{"integrity", "PRAGMA integrity_check", "ok"},
	{"references", "SELECT count(*) FROM pragma_foreign_key_check", "0"},
	{"tags without a version", `SELECT count(*) FROM tag LEFT JOIN app ON app.id = tag.app
		WHERE app.id IS NULL OR tag.version NOT BETWEEN 0 AND app.version`, "0"},
	{"assets that no search finds", "SELECT count(*) FROM (SELECT place FROM asset EXCEPT SELECT id FROM asset_term_docsize)", "0"},
	{"entries of the index without an asset", "SELECT count(*) FROM (SELECT id FROM asset_term_docsize EXCEPT SELECT place FROM asset)", "0"},
	{"libraries that count wrong", "SELECT count(*) FROM library WHERE count <> (SELECT count(*) FROM asset WHERE place >> 40 = number)", "0"},
	{"reviews without a collection", "SELECT count(*) FROM review WHERE collection NOT IN (SELECT key FROM review_collection)", "0"},
}

// Check holds a store against its invariants. Errors wrap ErrBroken when one of them does not hold.
// It takes the write lock for a moment, since only so does SQLite check its index of words.
func Check(ctx context.Context, db *sql.DB) error {
	for _, i := range invariants {
		var have string
		if err := db.QueryRowContext(ctx, i.sql).Scan(&have); err != nil {
			return fmt.Errorf("%s: %w", i.what, err)
		}
		if have != i.want {
			return fmt.Errorf("%w: %s: %s, want %s", ErrBroken, i.what, have, i.want)
		}
	}
	if _, err := db.ExecContext(ctx, "INSERT INTO asset_term (asset_term) VALUES ('integrity-check')"); err != nil {
		return fmt.Errorf("%w: index of words: %w", ErrBroken, err)
	}
	return nil
}
