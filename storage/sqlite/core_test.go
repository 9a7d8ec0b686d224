package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// openTest opens a new store that does not wait for the disk, and closes it when the test ends.
func openTest(t testing.TB, opts *Options) *DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "vitrine.db")
	if err := os.WriteFile(path, emptyStore(), 0o600); err != nil {
		t.Fatal(err)
	}
	if opts == nil {
		opts = &Options{Busy: time.Minute} // on a busy machine
	}
	db := openAt(t, path, opts)
	if err := db.writer.c.script("PRAGMA synchronous=OFF"); err != nil {
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

// emptyStore is the content of a store that was just built.
var emptyStore = sync.OnceValue(func() []byte {
	dir, err := os.MkdirTemp("", "vitrine")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "vitrine.db")
	if err := create(path); err != nil {
		panic(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return content
})

// mark writes a row, and marks counts them.
func mark(c *conn, name string) error {
	_, err := c.insert("INSERT INTO component (id, name, version, main, manifest) VALUES ($1, $1, '', '', x'')", name)
	return err
}

func marks(t testing.TB, db *DB) int64 {
	t.Helper()
	var n int64
	err := db.view(context.Background(), func(c *conn) (err error) {
		n, err = c.value("SELECT count(*) FROM component")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
