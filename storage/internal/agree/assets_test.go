package agree

import (
	"testing"

	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/sqlite"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestAssetsInMemoryAndSQLiteAgree(t *testing.T) {
	agree(t, func(t *testing.T, db *sqlite.DB, seed uint64) {
		storagetest.AssetsEqual(t, memory.NewAssets(), db.Assets(), seed, operations)
	})
}
