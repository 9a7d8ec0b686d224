package assets_test

import (
	"testing"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestRecords(t *testing.T) {
	storagetest.Assets(t, func(t *testing.T) assets.Store {
		db := memory.Open()
		t.Cleanup(func() { db.Close() })
		return assets.NewRecords(db)
	})
}
