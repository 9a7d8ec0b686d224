package appsvc_test

import (
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestRecords(t *testing.T) {
	storagetest.Apps(t, func(t *testing.T) appsvc.Store {
		db := memory.New()
		t.Cleanup(func() { db.Close() })
		return appsvc.NewRecords(db)
	})
}
