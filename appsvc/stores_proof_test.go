//go:build proof

package appsvc_test

import (
	"testing"

	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/postgres"
)

// moreStores returns stores of drivers that need a server.
func moreStores(t *testing.T) map[string]storage.Store {
	db, err := postgres.Open(t.Context(), cluster.Schema(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return map[string]storage.Store{"PostgreSQL": db}
}
