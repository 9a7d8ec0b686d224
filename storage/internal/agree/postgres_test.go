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
	for seed := range *sequences {
		ok := t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			db, err := postgres.Open(context.Background(), cluster.Schema(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			storagetest.AppsEqual(t, memory.NewApps(), db.Apps(), seed, operations)
		})
		if !ok {
			return
		}
	}
}
