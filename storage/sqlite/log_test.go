package sqlite

import (
	"bytes"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

// Views follow each other so that one is always running, and each reads from the log.
func TestTheLogIsBoundedWhileViewsNeverPause(t *testing.T) {
	const most = 96 << 20 // 64 MiB, and what is written during a View
	db := openTest(t, nil)
	put := func(n byte) error {
		value := bytes.Repeat([]byte{n}, 1<<20) // SQLite does not write a page that has not changed
		return db.Update(ctx, "a", storage.UpdateOptions{Large: true}, func(tx storage.Tx) error {
			return tx.Put(ctx, storage.Entry{Key: "a key", Value: value})
		})
	}
	if err := put(0); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var views sync.WaitGroup
	defer views.Wait()
	defer close(done)
	for range 8 {
		views.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				err := db.View(ctx, func(r storage.Reader) error {
					_, err := r.Get(ctx, "a key")
					time.Sleep(40 * time.Millisecond)
					return err
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 120 {
		if err := put(byte(i + 1)); err != nil {
			t.Fatal(err)
		}
		if n := db.Stats().LogBytes; n > most {
			t.Fatalf("the log has %d MiB", n>>20)
		}
	}
	if file, err := os.Stat(db.store.path + "-wal"); err != nil || file.Size() > most+1<<20 {
		t.Errorf("the log's file: %v, %v", file, err)
	}
	if db.store.log.delayed.Load() == 0 {
		t.Error("no View had to wait: the test shows nothing")
	}
}
