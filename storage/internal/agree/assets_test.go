package agree

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/sqlite"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestAssetsInMemoryAndSQLiteAgree(t *testing.T) {
	for seed := range *sequences {
		ok := t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			db, err := sqlite.Open(filepath.Join(t.TempDir(), "vitrine.db"), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			storagetest.AssetsEqual(t, memory.NewAssets(), db.Assets(), seed, operations)
		})
		if !ok {
			return
		}
	}
}
