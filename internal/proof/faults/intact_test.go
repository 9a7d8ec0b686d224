//go:build proof

package faults

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// errBroken is the error for a file that breaks an invariant.
var errBroken = errors.New("the file is not whole")

// check returns an error if a file breaks an invariant: SQLite's own check, and the audits of the domains.
func check(path string) (err error) {
	ctx := context.Background()
	if err := integrity(ctx, path); err != nil {
		return err
	}
	db, err := sqlite.Open(path, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, m := range []storage.Maintenance{
		appsvc.Maintenance(appsvc.Limits{}), assets.Maintenance(assets.Limits{}, nil), reviews.Maintenance(),
	} {
		for fault, err := range m.Audit(ctx, db) {
			if err == nil {
				err = fmt.Errorf("%w: %s", errBroken, fault)
			}
			return err
		}
	}
	return nil
}

// integrity is SQLite's own check.
func integrity(ctx context.Context, path string) (err error) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=rw")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var have string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&have); err != nil {
		return err
	}
	if have != "ok" {
		return fmt.Errorf("%w: %s", errBroken, have)
	}
	return nil
}
