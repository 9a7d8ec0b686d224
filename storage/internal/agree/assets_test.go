package agree

import (
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof/services"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

func TestAssetsInMemoryAndSQLiteAgree(t *testing.T) {
	agree(t, func(t *testing.T, db *sqlite.DB, seed uint64) {
		services.AssetsEqual(t, memory.New().Assets(), db.Assets(), seed, operations)
	})
}
