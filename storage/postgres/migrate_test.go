//go:build proof

package postgres

import (
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/internal/cluster"
)

// Who opens a store of an older release is told of each step, once. A new store has no older release.
func TestMigrationsAreTold(t *testing.T) {
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	address := cluster.Database(t)
	var told []string
	open := func(address string) {
		t.Helper()
		told = nil
		db, err := Open(ctx, address, &Options{Migrated: func(step string) { told = append(told, step) }})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	open(cluster.Database(t))
	if len(told) > 0 {
		t.Errorf("a new store: %q", told)
	}
	tx, err := openPool(t, address).Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(ctx)
	if err := lockSchema(ctx, tx); err != nil {
		t.Fatal(err)
	}
	if err := runSteps(ctx, tx, steps[:len(steps)-2], 0); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if open(address); !slices.Equal(told, []string{steps[len(steps)-2].Name, steps[len(steps)-1].Name}) {
		t.Errorf("an older store: %q", told)
	}
	if open(address); len(told) > 0 {
		t.Errorf("a store of this release: %q", told)
	}
}
