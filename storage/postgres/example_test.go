//go:build proof

package postgres_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/postgres"
)

// A store in the database that the environment names, with a table of the program's own beside it. What the update
// writes to both is committed together.
func Example() {
	if err := notes(context.Background(), os.Getenv("DATABASE_URL")); err != nil {
		fmt.Println(err)
	}
}

func notes(ctx context.Context, address string) error {
	db, err := postgres.Open(ctx, address, &postgres.Options{Migrate: func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS job (id bigserial PRIMARY KEY, note text)")
		return err
	}})
	if err != nil {
		return err
	}
	defer db.Close()
	err = db.Update(ctx, "notes", storage.UpdateOptions{}, func(t storage.Tx) error {
		if err := t.Put(ctx, storage.Entry{Key: "notes a", Value: []byte("apples")}); err != nil {
			return err
		}
		tx, err := postgres.SQL(t)
		if err == nil {
			_, err = tx.Exec(ctx, "INSERT INTO job (note) VALUES ($1)", "a")
		}
		return err
	})
	if err != nil {
		return err
	}
	names, err := db.OwnTables(ctx)
	fmt.Println(names)
	return err
}

// The example has no output to compare, since it needs a database.
func TestTheExample(t *testing.T) {
	t.Setenv("DATABASE_URL", cluster.Schema(t))
	Example()
	if err := notes(t.Context(), os.Getenv("DATABASE_URL")); err != nil {
		t.Error(err)
	}
}
