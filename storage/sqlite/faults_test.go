package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

func TestBusy(t *testing.T) {
	db := openTest(t, &Options{Busy: 50 * time.Millisecond})
	if _, err := nextVersion(db.Apps(), "app"); err != nil {
		t.Fatal(err)
	}
	other, err := dial(db.path, "mode=rw")
	if err != nil {
		t.Fatal(err)
	}
	defer other.close()
	if err := other.script("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := nextVersion(db.Apps(), "app"); !errors.Is(err, vitrine.ErrBusy) {
				t.Errorf("while another process writes: %v", err)
			}
		})
	}
	wg.Wait()
	if v, err := look(db.Apps(), "app"); err != nil || v != 0 {
		t.Errorf("reading meanwhile: version %d, %v", v, err)
	}
	patient := openAt(t, db.path, &Options{Busy: time.Minute})
	time.AfterFunc(20*time.Millisecond, func() { other.script("ROLLBACK") })
	if v, err := nextVersion(patient.Apps(), "app"); err != nil || v != 1 {
		t.Errorf("an update that waits long enough: version %d, %v", v, err)
	}
}

func TestFull(t *testing.T) { synctest.Test(t, full) }

func full(t *testing.T) {
	db := openTest(t, nil)
	s, ctx := db.Apps(), context.Background()
	if _, err := nextVersion(s, "app"); err != nil {
		t.Fatal(err)
	}
	pages, err := db.writer.c.value("PRAGMA page_count")
	if err != nil {
		t.Fatal(err)
	}
	if err := db.writer.c.script(fmt.Sprintf("PRAGMA max_page_count=%d", pages+4)); err != nil {
		t.Fatal(err)
	}
	errs := together(t, db,
		func(c *conn) error { return mark(c, "first") },
		func(c *conn) error {
			_, err := c.exec("UPDATE component SET manifest = zeroblob(1000000)")
			if !isFull(err) {
				t.Errorf("writing more than there is room for: %v", err)
			}
			mark(c, "stray") // what follows such an error must not be kept by itself
			return nil
		},
	)
	for i, err := range errs {
		if !isFull(err) {
			t.Errorf("update %d of the lost commit: %v", i, err)
		}
	}
	h, body := benchApp("big", 0, 1<<20)
	err = s.Update(ctx, func(t appsvc.Tx) error { return t.AddVersion(ctx, h, body) })
	if !errors.Is(err, vitrine.ErrFull) {
		t.Errorf("adding an app: %v", err)
	}
	if got := names(t, db); got != "" {
		t.Errorf("kept: %s", got)
	}
	if r := db.writer.c.query("PRAGMA wal_checkpoint(NOOP)"); !r.next() || r.int(1) != r.int(2) || r.int(2) == 0 {
		t.Errorf("the log was not moved into the file, which has room for it: %v", r.values)
	} else {
		r.close()
	}
	if v, err := look(s, "app"); err != nil || v != 0 {
		t.Errorf("reading: version %d, %v", v, err)
	}
	if v, err := nextVersion(s, "app"); err != nil || v != 1 {
		t.Errorf("an update that there is room for: version %d, %v", v, err)
	}
	if err := db.writer.c.script("PRAGMA max_page_count=1000000"); err != nil {
		t.Fatal(err)
	}
	addApp(t, s, h, body)
}

// limitFiles is another process whose files may not grow any more for a while: writing to them
// fails in the middle, with an error that is not the one of a full disk.
func limitFiles(path string) error {
	signal.Ignore(syscall.SIGXFSZ)
	db, err := Open(path, nil)
	if err != nil {
		return err
	}
	s, ctx := db.Apps(), context.Background()
	if _, err := nextVersion(s, "app"); err != nil {
		return err
	}
	h, body := benchApp("big", 0, 1<<20)
	add := func() error { return s.Update(ctx, func(t appsvc.Tx) error { return t.AddVersion(ctx, h, body) }) }
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	for room := range uint64(40) {
		// An empty log, and a file that has room for what is in it: only the log has to grow.
		if err := db.writer.c.script("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			return err
		}
		low := syscall.Rlimit{Cur: 100 + room*2048, Max: limit.Max}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &low); err != nil {
			return err
		}
		if err := add(); err == nil {
			return errors.New("a megabyte was written into some kilobytes")
		}
		if v, err := look(s, "app"); err != nil || v != int(room) {
			return fmt.Errorf("reading meanwhile: version %d, %w", v, err)
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			return err
		}
		if v, err := nextVersion(s, "app"); err != nil || v != int(room)+1 {
			return fmt.Errorf("writing again: version %d, %w", v, err)
		}
	}
	return errors.Join(add(), db.Close())
}

func TestUpdatesSucceedAfterWriteErrors(t *testing.T) {
	db := openTest(t, nil)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	other, _ := process(t, "limit", db.path)
	if err := other.Wait(); err != nil {
		t.Fatal(err)
	}
	again := openAt(t, db.path, nil)
	if v, err := look(again.Apps(), "app"); err != nil || v != 40 {
		t.Errorf("version %d in the end: %v", v, err)
	}
}
