package sqlite

import (
	"bytes"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

// logTest is a store in a bubble of package synctest. There no time passes while updates run, so the disk is infinitely
// fast: if updates do not wait for the log to restart, it never does.
type logTest struct {
	*testing.T
	db *DB
	n  byte
}

// mebibyte is what put writes to the log at most.
const mebibyte = 1<<20 + 64<<10

func inBubble(t *testing.T, test func(t logTest)) {
	synctest.Test(t, func(t *testing.T) { test(logTest{T: t, db: openTest(t, nil)}) })
}

// put replaces an entry of 1 MiB, and returns the size of the log.
func (t *logTest) put() int64 {
	t.Helper()
	t.n++
	value := bytes.Repeat([]byte{t.n}, 1<<20) // SQLite does not write a page that has not changed
	err := t.db.Update(ctx, "a", storage.UpdateOptions{Large: true}, func(tx storage.Tx) error {
		return tx.Put(ctx, storage.Entry{Key: "a key", Value: value})
	})
	if err != nil {
		t.Fatal(err)
	}
	return t.db.Stats().LogBytes
}

// view reads from the log, and ends when do has returned.
func (t *logTest) view(do func()) {
	err := t.db.View(ctx, func(r storage.Reader) error {
		_, err := r.Get(ctx, "a key")
		do()
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Views follow each other so that one is always running, and each takes as long as a View may take that updates wait
// for.
func TestTheLogIsBoundedWhileViewsNeverPause(t *testing.T) {
	inBubble(t, func(t logTest) {
		t.put()
		done := make(chan struct{})
		var views sync.WaitGroup
		defer views.Wait()
		defer close(done)
		for i := range 8 {
			views.Go(func() {
				for time.Sleep(time.Duration(i) * longView / 8); ; {
					select {
					case <-done:
						return
					default:
						t.view(func() { time.Sleep(longView) })
					}
				}
			})
		}
		time.Sleep(longView)
		for range 150 {
			if n := t.put(); n > logKept {
				t.Fatalf("the log has %d MiB", n>>20)
			}
		}
		if file, err := os.Stat(t.db.store.path + "-wal"); err != nil || file.Size() > logKept+mebibyte {
			t.Errorf("the log's file: %v, %v", file, err)
		}
	})
}

// Nobody waits for a View that has run for longer, and the log is short again soon after it has ended.
func TestTheLogIsBoundedAfterALongView(t *testing.T) {
	inBubble(t, func(t logTest) {
		t.put()
		t.view(func() {
			time.Sleep(longView + time.Second)
			begun := time.Now()
			for range 100 {
				t.put()
			}
			// A commit may be delayed while the log is copied, and waits for no View.
			if n, took := t.put(), time.Since(begun); n < 100<<20 || took > 100*delay {
				t.Errorf("beside a View that has run for a second, 100 updates have taken %v, and the log has %d MiB",
					took, n>>20)
			}
		})
		t.put()
		if n := t.put(); n > 2*mebibyte {
			t.Errorf("the log has %d MiB after an update that no View was in the way of", n>>20)
		}
	})
}

// A reader of another process cannot be made to wait. Each update waits for it for a short time at most, and most
// updates not at all.
func TestUpdatesContinueWhileAnotherProcessReads(t *testing.T) {
	inBubble(t, func(t logTest) {
		t.put()
		other, err := dial(t.db.store.path, "mode=ro")
		if err != nil {
			t.Fatal(err)
		}
		defer other.close()
		snapshot := other.query("SELECT key FROM kv")
		if !snapshot.next() {
			t.Fatal(snapshot.err)
		}
		begun := time.Now()
		for range 150 {
			t.put()
		}
		if took := time.Since(begun); took > 150*delay {
			t.Errorf("150 updates have taken %v", took)
		}
		snapshot.close()
		for n := int64(0); ; {
			before := n
			if n = t.put(); n < before {
				break
			} else if n > 150*mebibyte+logShort+logKept {
				t.Fatalf("no reader is left, and the log has %d MiB", n>>20)
			}
		}
	})
}
