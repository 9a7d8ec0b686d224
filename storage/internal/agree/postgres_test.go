package agree

import (
	"context"
	"fmt"
	"testing"

	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/internal/proof/services"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/postgres"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestAppsInMemoryAndPostgreSQLAgree(t *testing.T) {
	withPostgreSQL(t, func(t *testing.T, db *postgres.DB, seed uint64) {
		storagetest.AppsEqual(t, memory.New().Apps(), db.Apps(), seed, operations)
	})
}

func TestAssetsInMemoryAndPostgreSQLAgree(t *testing.T) {
	withPostgreSQL(t, func(t *testing.T, db *postgres.DB, seed uint64) {
		services.AssetsEqual(t, memory.New().Assets(), db.Assets(), seed, operations)
	})
}

func TestReviewsInMemoryAndPostgreSQLAgree(t *testing.T) {
	withPostgreSQL(t, func(t *testing.T, db *postgres.DB, seed uint64) {
		services.ReviewsEqual(t, memory.New().Reviews(), db.Reviews(), seed, operations)
	})
}

func TestFeedsInMemoryAndPostgreSQLAgree(t *testing.T) {
	withPostgreSQL(t, func(t *testing.T, db *postgres.DB, seed uint64) {
		storagetest.AppFeedsEqual(t, memory.New().Apps(), db.Apps(), seed, operations)
		storagetest.AssetFeedsEqual(t, memory.New().Assets(), db.Assets(), seed, operations)
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
