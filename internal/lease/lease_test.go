package lease

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

const leaseKey, positionKey = "jobs lease/", "jobs position/a"

var quiet = slog.New(slog.DiscardHandler)

// office is a store, and the processes that work while they have its lease.
type office struct {
	t  *testing.T
	db storage.Store

	now, most, begun atomic.Int64 // processes that work now, at the same time at most, and that have begun
}

func newOffice(t *testing.T) *office {
	o := &office{t: t, db: memory.New()}
	t.Cleanup(func() { _ = o.db.Close() })
	return o
}

// start starts a process on the store, or on another one before it, and returns what ends it.
func (o *office) start(db storage.Store) (end func()) {
	ctx, stop := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() {
		for ctx.Err() == nil {
			l, valid := Acquire(ctx, db, leaseKey, quiet)
			if l == nil {
				return
			}
			o.begun.Add(1)
			o.most.Store(max(o.most.Load(), o.now.Add(1)))
			select {
			case <-ctx.Done():
			case <-valid.Done():
			}
			o.now.Add(-1)
			l.Release(ctx)
		}
	})
	return func() {
		stop()
		ended.Wait()
	}
}

// expect checks how many processes have begun to work, and that one works, and none beside another.
func (o *office) expect(when string, begun int64) {
	o.t.Helper()
	synctest.Wait()
	if o.begun.Load() != begun || o.now.Load() != 1 || o.most.Load() != 1 {
		o.t.Errorf("%s: %d have begun, want %d; %d work, and %d did at the same time", when, o.begun.Load(), begun,
			o.now.Load(), o.most.Load())
	}
}

func text(t *testing.T, db storage.Store, key string) (text string) {
	t.Helper()
	err := db.View(t.Context(), func(r storage.Reader) error {
		values, err := r.Get(t.Context(), key)
		if err == nil {
			text = string(values[0])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func put(t *testing.T, db storage.Store, key, text string) {
	t.Helper()
	err := db.Update(t.Context(), "jobs", storage.UpdateOptions{}, func(tx storage.Tx) error {
		return tx.Put(t.Context(), storage.Entry{Key: key, Value: []byte(text)})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// One of several processes has the lease. When it ends, another goes on soon; when it dies, within 30 seconds.
func TestOneOfSeveralProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		first := o.start(o.db)
		synctest.Wait()
		second := o.start(o.db)
		time.Sleep(10 * time.Minute)
		o.expect("two processes", 1)
		first()
		time.Sleep(watchEvery + time.Second)
		o.expect("the second alone", 2)
		second()
		dead := &proof.FaultyStore{Store: o.db}
		third := o.start(dead)
		synctest.Wait()
		fourth := o.start(o.db)
		time.Sleep(time.Minute)
		o.expect("the third", 3)
		resume := dead.Stall() // as if it were killed
		time.Sleep(30 * time.Second)
		o.expect("the fourth", 4)
		resume()
		time.Sleep(time.Hour)
		o.expect("the third is back", 4)
		fourth()
		third()
	})
}

// A holder that cannot reach the store stops before another process begins, at whatever moment between two renewals the
// store is lost.
func TestAHolderThatCannotRenewStopsInTime(t *testing.T) {
	for offset := range renewEvery / time.Second {
		for phase := range watchEvery / time.Second {
			synctest.Test(t, func(t *testing.T) {
				o := newOffice(t)
				lost := &proof.FaultyStore{Store: o.db}
				first := o.start(lost)
				time.Sleep(time.Second/2 + phase*time.Second)
				second := o.start(o.db)
				time.Sleep(2*renewEvery - phase*time.Second + offset*time.Second)
				lost.Fail(errors.New("unreachable"))
				time.Sleep(5 * time.Minute)
				o.expect("the second", 2)
				first()
				second()
			})
		}
	}
}

// Each write tests the lease: one that comes late, after another process has acquired it, changes nothing.
func TestWritesTestTheLease(t *testing.T) {
	ctx, db := t.Context(), memory.New()
	defer db.Close()
	l, valid := Acquire(ctx, db, leaseKey, quiet)
	if err := l.Store(ctx, positionKey, 1); err != nil {
		t.Fatal(err)
	}
	put(t, db, leaseKey, `{"holder":"second","count":7}`)
	if err := l.Store(ctx, positionKey, 2); !errors.Is(err, ErrLost) || valid.Err() == nil {
		t.Errorf("the first writes without the lease: %v, %v", err, valid.Err())
	}
	l.Release(ctx)
	if p := text(t, db, positionKey); p != "1" || text(t, db, leaseKey) != `{"holder":"second","count":7}` {
		t.Errorf("the first has written %s, and %s", p, text(t, db, leaseKey))
	}
}

// A write that comes through when the process goes on after it stood still changes nothing either.
func TestAStalledHolderMovesNoPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, db := t.Context(), memory.New()
		defer db.Close()
		stalled := &proof.FaultyStore{Store: db}
		first, _ := Acquire(ctx, stalled, leaseKey, quiet)
		resume := stalled.Stall()
		written := make(chan error)
		go func() { written <- first.Store(ctx, positionKey, 1) }()
		second, _ := Acquire(ctx, db, leaseKey, quiet)
		if err := second.Store(ctx, positionKey, 2); err != nil {
			t.Error(err)
		}
		resume()
		if err := <-written; !errors.Is(err, ErrLost) || text(t, db, positionKey) != "2" {
			t.Errorf("%v, and the position is %s", err, text(t, db, positionKey))
		}
		first.Release(ctx)
		second.Release(ctx)
	})
}

// After a write of unknown outcome the process looks at what is stored: the write is not lost, and is not taken for one
// of another process.
func TestUnknownOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, db := t.Context(), memory.New()
		defer db.Close()
		s := &proof.FaultyStore{Store: db}
		s.Unknown(1)
		l, valid := Acquire(ctx, s, leaseKey, quiet)
		for range 5 {
			s.Unknown(1)
			if err := l.Store(ctx, positionKey, 3); err != nil || text(t, db, positionKey) != "3" {
				t.Errorf("%v, and the position is %s", err, text(t, db, positionKey))
			}
			s.Unknown(1)
			time.Sleep(time.Minute)
		}
		if valid.Err() != nil {
			t.Error("the lease is lost")
		}
		l.Release(ctx)
	})
}

// Processes that start at the same time agree on one, and each that ends is followed by another.
func TestManyProcessesStartAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		var ends []func()
		for range 8 {
			ends = append(ends, o.start(o.db))
		}
		for i, end := range ends {
			time.Sleep(time.Minute)
			o.expect("before a process ends", o.begun.Load())
			if end(); i == len(ends)-1 && o.now.Load() != 0 {
				t.Error("somebody works")
			}
		}
	})
}

// A lease of the store of which this one is a copy is free, and a holder whose store becomes a copy loses the lease.
// One that was stored without the name of its store counts.
func TestTheLeaseOfTheOriginalIsFreeInACopy(t *testing.T) {
	for lease, wait := range map[string]time.Duration{
		`{"holder":"first","count":7,"store":"00ff"}`: 0,
		`{"holder":"first","count":7}`:                deadAfter,
	} {
		synctest.Test(t, func(t *testing.T) {
			db := memory.New()
			defer db.Close()
			put(t, db, leaseKey, lease)
			if err := storage.RenewIdentity(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			l, valid := Acquire(t.Context(), db, leaseKey, quiet)
			if waited := time.Since(begun); waited != wait {
				t.Errorf("%s is acquired after %v, want %v", lease, waited, wait)
			}
			if err := storage.RenewIdentity(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if err := l.Store(t.Context(), positionKey, 1); !errors.Is(err, ErrLost) || valid.Err() == nil {
				t.Errorf("the holder of the original stores a position in the copy: %v", err)
			}
			l.Release(t.Context())
		})
	}
}

// While the store fails, the log says so from time to time, and who waits can give up.
func TestAStoreThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		lost := &proof.FaultyStore{Store: o.db}
		lost.Fail(errors.New("unreachable"))
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		var log strings.Builder
		l, valid := Acquire(ctx, lost, leaseKey, slog.New(slog.NewTextHandler(&log, nil)))
		if l != nil || valid.Err() == nil {
			t.Error("the lease is acquired")
		}
		if n := strings.Count(log.String(), "cause=unreachable"); n != 2 {
			t.Errorf("%d warnings:\n%s", n, &log)
		}
	})
}

// The records are those of v0.2.0.
func TestRecords(t *testing.T) {
	ctx, db := t.Context(), memory.New()
	defer db.Close()
	put(t, db, leaseKey, `{"holder":"","count":12}`)
	l, _ := Acquire(ctx, db, leaseKey, quiet)
	if have, want := text(t, db, leaseKey), `{"holder":"`+l.holder+`","count":13}`; have != want {
		t.Errorf("the lease is %s, want %s", have, want)
	}
	l.Release(ctx)
	if have := text(t, db, leaseKey); have != `{"holder":"","count":14}` {
		t.Errorf("the released lease is %s", have)
	}
	var p struct{ After string }
	if found, err := Read(ctx, db, positionKey, &p); found || err != nil {
		t.Errorf("a position that is not there: %t, %v", found, err)
	}
	for _, after := range []string{"x", "y"} { // the second one is ignored
		if err := Begin(ctx, db, positionKey, map[string]string{"after": after}); err != nil {
			t.Error(err)
		}
	}
	if found, err := Read(ctx, db, positionKey, &p); !found || err != nil || p.After != "x" {
		t.Errorf("the position is %+v, %t, %v", p, found, err)
	}
	put(t, db, positionKey, "{")
	_, err := Read(ctx, db, positionKey, &p)
	if err == nil || !strings.Contains(err.Error(), `"jobs position/a" is damaged`) {
		t.Errorf("a damaged position: %v", err)
	}
}
