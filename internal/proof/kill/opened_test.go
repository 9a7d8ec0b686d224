package kill

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/sqlite"

	_ "modernc.org/sqlite"
)

// errLost is an acknowledged change that is not there, or one that is there in part.
var errLost = errors.New("lost")

func lost(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errLost, fmt.Errorf(format, args...))
}

// opened is a store after a kill.
type opened struct {
	db     *sqlite.DB
	apps   *appsvc.Service
	assets *assets.Service
}

func open(path string) (*opened, error) {
	db, err := sqlite.Open(path, nil)
	if err != nil {
		return nil, err
	}
	return &opened{db, appsvc.New(db.Apps(), nil), assets.New(db.Assets(), nil)}, nil
}

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

// checkInvariants looks at the file with nothing but SQLite.
func checkInvariants(ctx context.Context, path string) (err error) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=rw")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, i := range invariants {
		var have string
		if err := db.QueryRowContext(ctx, i.sql).Scan(&have); err != nil {
			return fmt.Errorf("%s: %w", i.what, err)
		}
		if have != i.want {
			return lost("%s: %s, want %s", i.what, have, i.want)
		}
	}
	_, err = db.ExecContext(ctx, "INSERT INTO asset_term (asset_term) VALUES ('integrity-check')")
	return err
}
