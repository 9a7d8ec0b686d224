package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// mostWait is how long tests wait for what must happen.
const mostWait = 5 * time.Minute

// An update is delayed while the log is copied on a slow disk, if enough was written meanwhile, and else not.
func TestUpdatesAreDelayedWhileACheckpointIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := openTest(t, nil)
		n := 0
		update := func() time.Duration {
			n++
			begun := time.Now()
			if err := db.update(context.Background(), func(c *conn) error { return mark(c, fmt.Sprint(n)) }); err != nil {
				t.Fatal(err)
			}
			return time.Since(begun)
		}
		update()
		now := db.watch.now()
		db.log.copied.Store(now.frames())
		db.log.most.Store(1 << 20)
		if took := update(); took != 0 {
			t.Errorf("an update that writes as much as it may is delayed by %v", took)
		}
		db.log.most.Store(1)
		if took := update(); took != delay {
			t.Errorf("an update that writes more is delayed by %v, want %v", took, delay)
		}
		if left, err := db.log.copy(1 << 30); err != nil || left != 0 {
			t.Errorf("%d bytes are left after a copy: %v", left, err)
		}
		if level, err := db.log.c.value("PRAGMA synchronous"); err != nil || level != 2 {
			t.Errorf("PRAGMA synchronous of checkpoints is %d, want 2 (FULL): %v", level, err)
		}
		if took := update(); took != 0 {
			t.Errorf("without a copy under way, an update is delayed by %v", took)
		}
	})
}

// grow makes the log longer than logLong while a View keeps it from beginning anew.
func grow(t *testing.T, db *DB) {
	t.Helper()
	blob := make([]byte, 1<<20)
	for i := range logLong/len(blob) + 8 {
		err := db.update(context.Background(), func(c *conn) error {
			_, err := c.insert("INSERT OR REPLACE INTO component (key, id, name, version, main, manifest) VALUES ($1, $2, $2, '', '', $3)", i, fmt.Sprint(i), blob)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheCacheSurvivesARestartOfTheLog(t *testing.T) {
	db := openTest(t, nil)
	if _, err := nextVersion(db.Apps(), "app"); err != nil {
		t.Fatal(err)
	}
	before := db.watch.now()
	if done, err := db.writer.restartLog(new(atomic.Int64)); !done || err != nil {
		t.Fatalf("the log did not begin anew: %v", err)
	}
	at, ok := db.cache.state()
	if _, found := db.cache.get(headKey("app"), at); !ok || !found {
		t.Error("the cache has forgotten what the commit put into it")
	}
	if err := db.update(context.Background(), func(c *conn) error { return mark(c, "next") }); err != nil {
		t.Fatal(err)
	}
	if now := db.watch.now(); now.frames() >= before.frames() {
		t.Fatalf("the log has %d frames, before it had %d", now.frames(), before.frames())
	}
	if v, err := look(db.Apps(), "app"); err != nil || v != 0 {
		t.Errorf("version %d, %v", v, err)
	}
}

func TestClosingDoesNotWaitForTheLog(t *testing.T) {
	path := t.TempDir() + "/store.db"
	db, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	other := openAt(t, path, nil)
	c, err := other.begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	grow(t, db)
	closed := make(chan error, 1)
	go func() { closed <- db.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(mostWait):
		t.Error("closing waits for a View of another process")
	}
	other.end(c)
}

func TestViewsThatAreHeldBackBeginAgain(t *testing.T) {
	db := openTest(t, nil)
	release := db.readers.hold()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := db.Ping(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a View that may not begin: %v", err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), mostWait)
	defer cancel()
	done := make(chan error)
	go func() { done <- db.Ping(ctx) }()
	waitFor(t, func() bool { return len(db.readers.free) < cap(db.readers.free) })
	release()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if free := len(db.readers.free); free != cap(db.readers.free) {
		t.Errorf("%d of %d places are free", free, cap(db.readers.free))
	}
}
