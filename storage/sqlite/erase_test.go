package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

// filesWith returns the names of the store's files in which a text is.
func filesWith(t *testing.T, db *DB, text string) (names []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Dir(db.store.path) + "/*")
	if err != nil || len(all) < 3 {
		t.Fatalf("the files are %q, %v", all, err)
	}
	for _, name := range all {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(content, []byte(text)) {
			names = append(names, filepath.Base(name))
		}
	}
	return names
}

// secrets fills a store with entries of many sizes, in an order that splits pages, half of which have a secret. It then
// deletes or replaces these.
func secrets(t *testing.T, db *DB) {
	t.Helper()
	const n = 3000
	for part := range 3 {
		err := db.Update(ctx, "a", storage.UpdateOptions{Large: true}, func(tx storage.Tx) error {
			for i := part; i < n; i += 3 {
				word := "public"
				if i%2 == 0 {
					word = "secret"
				}
				e := storage.Entry{Key: fmt.Sprintf("a %04d", i), Value: []byte(strings.Repeat(word, i%200))}
				if i%10 < 2 {
					e = storage.Entry{Key: fmt.Sprintf("a %04d %s", i, word)}
				}
				if err := tx.Put(ctx, e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	err := db.Update(ctx, "a", storage.UpdateOptions{}, func(tx storage.Tx) error {
		for i := 0; i < n; i += 2 {
			key := fmt.Sprintf("a %04d", i)
			if err := tx.Delete(ctx, key, key+" secret"); err != nil {
				return err
			}
			if i%4 == 0 {
				if err := tx.Put(ctx, storage.Entry{Key: key, Value: []byte("x")}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func erase(db *DB) error {
	return db.Update(ctx, "a", storage.UpdateOptions{Erase: true}, func(storage.Tx) error { return nil })
}

func TestErasingLeavesNoDeletedByteInAnyFile(t *testing.T) {
	db := openTest(t, nil)
	secrets(t, db)
	if filesWith(t, db, "secret") == nil {
		t.Error("nothing is left before it is erased: the test shows nothing")
	}
	if err := erase(db); err != nil {
		t.Fatal(err)
	}
	if names := filesWith(t, db, "secret"); names != nil {
		t.Errorf("%q have a secret", names)
	}
	if filesWith(t, db, "public") == nil {
		t.Error("what was not deleted is gone")
	}
}

func TestErasingIsBusyWhileAViewReadsFromTheLog(t *testing.T) {
	db := openTest(t, nil)
	db.store.eraseWait = 10 * time.Millisecond
	secrets(t, db)
	err := db.View(ctx, func(r storage.Reader) error {
		if _, err := r.Get(ctx, "a 0001"); err != nil {
			return err
		}
		if err := erase(db); !errors.Is(err, storage.ErrBusy) || !strings.Contains(err.Error(), "is committed") {
			t.Errorf("erasing beside a View: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	db.store.eraseWait = time.Minute
	if err := erase(db); err != nil {
		t.Error(err)
	}
	if names := filesWith(t, db, "secret"); names != nil {
		t.Errorf("%q have a secret", names)
	}
}

// Other updates split, join and renumber pages while the free parts are overwritten.
func TestErasingBesideUpdatesLeavesNoDeletedByte(t *testing.T) {
	db := openTest(t, nil)
	secrets(t, db)
	done, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				ended <- nil
				return
			default:
			}
			err := db.Update(ctx, "a", storage.UpdateOptions{}, func(tx storage.Tx) error {
				for i := range 20 {
					key := fmt.Sprintf("a %04d", (n*7919+i*151)%3000)
					e := storage.Entry{Key: key + " more", Value: []byte(strings.Repeat("public", n%80))}
					if err := errors.Join(tx.Delete(ctx, key+" more"), tx.Put(ctx, e)); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	err := erase(db)
	close(done)
	if err := errors.Join(err, <-ended); err != nil {
		t.Fatal(err)
	}
	if names := filesWith(t, db, "secret"); names != nil {
		t.Errorf("%q have a secret", names)
	}
}

// Erasing reads the pages of b-trees, and not those that have a part of a large value only.
func TestErasingReadsNoOverflowPages(t *testing.T) {
	db := openTest(t, nil)
	secrets(t, db)
	trees := func() (trees, all int64) {
		t.Helper()
		r := &reader{pool: db.store.readers} // the checkpointer uses the connection of the writer
		defer r.end()
		if err := r.ready(ctx); err != nil {
			t.Fatal(err)
		}
		for _, err := range r.c.treePages(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			trees++
		}
		all, err := r.c.value("PRAGMA page_count")
		if err != nil {
			t.Fatal(err)
		}
		return trees, all
	}
	before, all := trees()
	if before < all/2 || before > all {
		t.Errorf("%d of %d pages belong to b-trees", before, all)
	}
	for i := range 40 {
		err := db.Update(ctx, "b", storage.UpdateOptions{Large: true}, func(tx storage.Tx) error {
			value := bytes.Repeat([]byte("secret"), 1<<20/6)
			return tx.Put(ctx, storage.Entry{Key: fmt.Sprintf("b %02d", i), Value: value})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if now, _ := trees(); now-before > 200 {
		t.Errorf("40 values of 1 MiB have %d pages to read", now-before)
	}
	err := db.Update(ctx, "b", storage.UpdateOptions{Large: true, Erase: true}, func(tx storage.Tx) error {
		return tx.DeleteRange(ctx, storage.Prefix("b "))
	})
	if err != nil {
		t.Fatal(err)
	}
	if names := filesWith(t, db, "secret"); names != nil {
		t.Errorf("%q have a secret", names)
	}
}
