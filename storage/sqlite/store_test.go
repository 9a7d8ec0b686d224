package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/storetest"
)

func TestStore(t *testing.T) {
	open := func(t testing.TB) storage.Store { return openTest(t, nil) }
	again := func(t testing.TB, s storage.Store) storage.Store { return openAt(t, s.(*DB).store.path, nil) }
	storetest.Run(t, storetest.Driver{Open: open, Again: again, Beside: again})
}

// openTest opens a new store that does not wait for the disk, and closes it when the test ends.
func openTest(t testing.TB, opts *Options) *DB {
	t.Helper()
	if opts == nil {
		opts = &Options{Busy: time.Minute} // on a busy machine
	}
	db := openAt(t, filepath.Join(t.TempDir(), "vitrine.db"), opts)
	if err := db.store.writer.c.script("PRAGMA synchronous=OFF"); err != nil {
		t.Fatal(err)
	}
	return db
}

// openAt opens the store at path and closes it when the test ends.
func openAt(t testing.TB, path string, opts *Options) *DB {
	t.Helper()
	db, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
