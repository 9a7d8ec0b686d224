// Package intact looks at a store's file as a whole: SQLite's own check, the rules that an archive of it must keep, and what its indices
// must have.
package intact

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/archive"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// ErrBroken is the error for a file that breaks an invariant.
var ErrBroken = errors.New("the file is not whole")

// Check holds the store at a path against its invariants. Errors wrap ErrBroken when one of them does not hold.
func Check(ctx context.Context, path string) (err error) {
	if err := integrity(ctx, path); err != nil {
		return err
	}
	db, err := sqlite.Open(path, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for fault, err := range assets.Audit(ctx, db) {
		if err == nil {
			err = fmt.Errorf("%w: %s", ErrBroken, fault)
		}
		return err
	}
	in, out := io.Pipe()
	go func() {
		_, err := archive.Export(ctx, archive.StoresIn(db), out)
		out.CloseWithError(err)
	}()
	_, err = archive.Check(ctx, in, nil)
	in.CloseWithError(err)
	if errors.Is(err, archive.ErrDamaged) {
		err = fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return err
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
		return fmt.Errorf("%w: %s", ErrBroken, have)
	}
	return nil
}
