// Package intact checks the invariants of a store's file with SQL alone, without the code of the store's driver.
package intact

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// ErrBroken is the error for a file that breaks an invariant.
var ErrBroken = errors.New("the file is not whole")

// invariants are queries with the one answer that they must give.
var invariants = []struct{ what, sql, want string }{
	{"integrity", "PRAGMA integrity_check", "ok"},
	{"references", "SELECT count(*) FROM pragma_foreign_key_check", "0"},
	{"tags without a version", `SELECT count(*) FROM tag LEFT JOIN app ON app.id = tag.app
		WHERE app.id IS NULL OR tag.version NOT BETWEEN 0 AND app.version`, "0"},
	{"tags that are not where their last move leads", `SELECT count(*) FROM (SELECT app, name, target, max(number) FROM tag_move GROUP BY app, name) m
		LEFT JOIN tag ON tag.app = m.app AND tag.name = m.name WHERE coalesce(tag.version, -1) <> m.target`, "0"},
	{"moves that do not follow the one before", `SELECT count(*) FROM tag_move m LEFT JOIN tag_move b ON b.app = m.app AND b.name = m.name AND b.number = m.number - 1
		WHERE m.number > 1 AND coalesce(b.target, -2) <> m.source`, "0"},
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
