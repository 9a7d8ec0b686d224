package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// A store with a table of the program's own beside it. What the update writes to both is committed together.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "vitrine")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(filepath.Join(dir, "vitrine.db"), &sqlite.Options{
		Migrate: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS job (id INTEGER PRIMARY KEY, note TEXT UNIQUE)")
			return err
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	for range 2 {
		err := db.Update(ctx, "notes", storage.UpdateOptions{}, func(t storage.Tx) error {
			if err := t.Put(ctx, storage.Entry{Key: "notes a", Value: []byte("apples")}); err != nil {
				return err
			}
			tx, err := sqlite.SQL(t)
			if err == nil {
				_, err = tx.ExecContext(ctx, "INSERT INTO job (note) VALUES ($1)", "a")
			}
			return err
		})
		fmt.Println(err)
	}
	fmt.Println(db.OwnTables(ctx))
	// Output:
	// <nil>
	// constraint failed: UNIQUE constraint failed: job.note (2067)
	// [job] <nil>
}
