//go:build proof

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof"
)

// load is readers and writers that never pause, for a while.
type load struct {
	readers int
	view    time.Duration // how long a View lasts
	updates int           // after which it ends
	enough  func() bool   // whether it ends after this update; nil = not before the last one
	size    int           // bytes that an update writes
}

// figures are what was measured under a load.
type figures struct {
	written int64         // bytes, to the log
	log     int64         // the longest that the log was, in bytes
	waited  time.Duration // the longest that an update took
	stalled time.Duration // the longest that updates were kept waiting for the log
	view    time.Duration // the longest that a View took
	took    time.Duration // all of it
}

func (f figures) String() string {
	return fmt.Sprintf("%d MiB written in %v; log at most %d MiB; longest update %v, of that waiting for the log %v; longest View %v",
		f.written/mib, f.took, f.log/mib, f.waited, f.stalled, f.view)
}

// run runs the load on a store.
func (l load) run(tb testing.TB, db *DB) (f figures) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	views := make([]time.Duration, l.readers)
	for i := range l.readers {
		wg.Go(func() {
			for ctx.Err() == nil {
				begun := time.Now()
				err := db.view(ctx, func(c *conn) error {
					time.Sleep(l.view)
					_, err := c.value("SELECT count(*) FROM component WHERE key < 10")
					return err
				})
				if err != nil && !errors.Is(err, context.Canceled) {
					tb.Error(err)
				}
				views[i] = max(views[i], time.Since(begun))
			}
		})
	}
	page, err := db.writer.c.value("PRAGMA page_size")
	if err != nil {
		tb.Fatal(err)
	}
	blob, start := make([]byte, l.size), time.Now()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range l.updates {
		for at := 0; at+8 < len(blob); at += 512 {
			blob[at] = byte(random.Uint32())
		}
		begun := time.Now()
		err := db.update(ctx, func(c *conn) error {
			_, err := c.insert("INSERT OR REPLACE INTO component (key, id, name, version, main, manifest) VALUES ($1, $2, $2, '', '', $3)", i%200, fmt.Sprint(i%200), blob)
			return err
		})
		if err != nil {
			tb.Fatal(err)
		}
		f.waited = max(f.waited, time.Since(begun))
		f.written += int64(l.size) + page
		if info, err := os.Stat(db.path + "-wal"); err == nil {
			f.log = max(f.log, info.Size())
		}
		if l.enough != nil && l.enough() {
			break
		}
	}
	f.took = time.Since(start)
	f.stalled = time.Duration(db.log.stalled.Load())
	cancel()
	wg.Wait()
	for _, v := range views {
		f.view = max(f.view, v)
	}
	return f
}

const mib = 1 << 20

// While Views overlap and updates go on, the log restarts again and again. How long it is until then depends on the
// machine: that is for BenchmarkLogWhileViewsOverlap.
func TestTheLogRestartsWhileViewsOverlap(t *testing.T) {
	restarts := 3
	if proof.Short() {
		restarts = 2
	}
	for _, view := range []time.Duration{5 * time.Millisecond, 100 * time.Millisecond} {
		t.Run(fmt.Sprint("32 readers of ", view), func(t *testing.T) {
			db := openTest(t, nil)
			begun, n, frames := time.Now(), 0, uint32(0)
			l := load{readers: 32, view: view, updates: math.MaxInt, size: 100_000}
			l.enough = func() bool {
				before := frames
				now := db.watch.now()
				if frames = now.frames(); frames < before {
					n++
				}
				if waiting := int64(frames)*db.log.page > 256*mib; waiting { // the disk need not take all that is written in vain
					time.Sleep(50 * time.Millisecond)
				}
				return n == restarts || time.Since(begun) > mostWait
			}
			t.Log(l.run(t, db))
			if n < restarts {
				t.Errorf("the log has restarted %d times in %v, want %d", n, time.Since(begun), restarts)
			}
			if info, err := os.Stat(db.path + "-wal"); err != nil || info.Size() > logKept {
				t.Errorf("the file of the log keeps %d MiB: %v", info.Size()/mib, err)
			}
		})
	}
}

// A View that lasts long, a backup for instance, lets the log grow. It keeps neither updates nor other Views waiting, and
// the log is short again soon after it has ended.
func TestALongViewDelaysNobody(t *testing.T) {
	db := openTest(t, nil)
	err := db.view(context.Background(), func(*conn) error {
		time.Sleep(longView + 10*time.Millisecond)
		f := load{readers: 4, view: time.Millisecond, updates: 800, size: 100_000}.run(t, db)
		t.Log(f)
		if f.log < logKept {
			t.Errorf("the log had %d MiB only: this shows nothing", f.log/mib)
		}
		if held := db.log.heldUp.Load(); f.stalled > 0 || held > 0 {
			t.Errorf("an update waited %v and Views were held up %d times for a View that does not end", f.stalled, held)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return !db.log.running.Load() })
	if err := db.update(context.Background(), func(c *conn) error { return mark(c, "next") }); err != nil { // the log begins anew with it
		t.Fatal(err)
	}
	if info, err := os.Stat(db.path + "-wal"); err != nil || info.Size() > logKept {
		t.Errorf("the file of the log keeps %d MiB: %v", info.Size()/mib, err)
	}
	if frames := db.watch.now(); int64(frames.frames())*db.log.page > logShort {
		t.Errorf("the log has %d frames in the end", frames.frames())
	}
}

// The size of the log while Views overlap, and how long updates wait for it.
func BenchmarkLogWhileViewsOverlap(b *testing.B) {
	for _, l := range []load{
		{readers: 0, size: 20_000}, {readers: 4, view: 5 * time.Millisecond, size: 20_000},
		{readers: 32, view: 5 * time.Millisecond, size: 20_000}, {readers: 32, view: 100 * time.Millisecond, size: 20_000},
	} {
		b.Run(fmt.Sprint(l.readers, " readers of ", l.view), func(b *testing.B) {
			db := openAt(b, b.TempDir()+"/store.db", nil)
			l.updates = b.N
			f := l.run(b, db)
			b.ReportMetric(float64(f.log)/mib, "log-MiB")
			b.ReportMetric(float64(f.written)/mib, "written-MiB")
			b.ReportMetric(float64(f.stalled.Microseconds())/1000, "stall-ms")
			b.ReportMetric(float64(f.waited.Microseconds())/1000, "longest-update-ms")
			b.ReportMetric(float64(f.view.Microseconds())/1000, "longest-view-ms")
		})
	}
}
