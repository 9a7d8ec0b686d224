package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/sqlite"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func openApps(t *testing.T, opts *sqlite.Options) appsvc.Store {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "vitrine.db"), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db.Apps()
}

func TestApps(t *testing.T) {
	storagetest.Apps(t, func(t *testing.T) appsvc.Store { return openApps(t, nil) })
}

func TestAppsWithoutCache(t *testing.T) {
	storagetest.Apps(t, func(t *testing.T) appsvc.Store { return openApps(t, &sqlite.Options{Cache: -1}) })
}
