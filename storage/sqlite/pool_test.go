package sqlite

import (
	"context"
	"path/filepath"
	"testing"
)

// Go's memory limit does not see SQLite's pages, so all readers together have a bound of their own.
func TestReadersKeepBoundedPages(t *testing.T) {
	db, err := Open(filepath.Join(t.TempDir(), "store.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	kept := int64(0)
	err = db.view(context.Background(), func(c *conn) error {
		kept, err = c.value("PRAGMA cache_size")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	const most = 48 << 10 // KiB
	if all := -kept * int64(cap(db.readers.free)); kept >= 0 || all > most {
		t.Errorf("cache_size is %d for each of %d readers, want at most %d KiB for all", kept, cap(db.readers.free), most)
	}
}
