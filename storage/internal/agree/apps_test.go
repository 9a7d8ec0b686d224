package agree

import (
	"testing"

	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/sqlite"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestAppsInMemoryAndSQLiteAgree(t *testing.T) {
	agree(t, func(t *testing.T, db *sqlite.DB, seed uint64) {
		storagetest.AppsEqual(t, memory.NewApps(), db.Apps(), seed, operations)
	})
}
