package agree

import (
	"testing"

	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/sqlite"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestAppsInMemoryAndSQLiteAgree(t *testing.T) {
	agree(t, func(t *testing.T, db *sqlite.DB, seed uint64) {
		storagetest.AppsEqual(t, memory.New().Apps(), db.Apps(), seed, operations)
	})
}

func TestFeedsInMemoryAndSQLiteAgree(t *testing.T) {
	agree(t, func(t *testing.T, db *sqlite.DB, seed uint64) {
		storagetest.AppFeedsEqual(t, memory.New().Apps(), db.Apps(), seed, operations)
		storagetest.AssetFeedsEqual(t, memory.New().Assets(), db.Assets(), seed, operations)
	})
}
