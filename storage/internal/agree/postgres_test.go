package agree

import (
	"context"
	"fmt"
	"testing"

	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/postgres"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestAppsInMemoryAndPostgreSQLAgree(t *testing.T) {
	withPostgreSQL(t, func(t *testing.T, db *postgres.DB, seed uint64) {
		storagetest.AppsEqual(t, memory.NewApps(), db.Apps(), seed, operations)
	})
}

func TestAssetsInMemoryAndPostgreSQLAgree(t *testing.T) {
	withPostgreSQL(t, func(t *testing.T, db *postgres.DB, seed uint64) {
		storagetest.AssetsEqual(t, memory.NewAssets(), db.Assets(), seed, operations)
	})
}

func TestReviewsInMemoryAndPostgreSQLAgree(t *testing.T) {
	withPostgreSQL(t, func(t *testing.T, db *postgres.DB, seed uint64) {
		storagetest.ReviewsEqual(t, memory.NewReviews(), db.Reviews(), seed, operations)
	})
}

// withPostgreSQL runs a comparison for each seed, with an empty store.
func withPostgreSQL(t *testing.T, compare func(*testing.T, *postgres.DB, uint64)) {
	t.Parallel()
	for seed := range compared() {
		ok := t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			db, err := postgres.Open(context.Background(), cluster.Schema(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			compare(t, db, seed)
		})
		if !ok {
			return
		}
	}
}
