//go:build proof

package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage"
)

// await waits on the channels of Changed until done says so, or one is late.
func await(t *testing.T, s storage.Store, done func() bool) {
	t.Helper()
	for {
		c := s.Changed("a")
		if done() {
			return
		}
		select {
		case <-c:
		case <-time.After(20 * time.Second):
			t.Error("the channel of Changed was not closed")
			return
		}
	}
}

func TestAStandbyIsReadAndTakesOver(t *testing.T) {
	primary := cluster.New(t, nil)
	db := openAt(t, primary.URL("postgres"), nil)
	if err := put(db, "a 1", "before"); err != nil {
		t.Fatal(err)
	}
	server := primary.Standby(t, nil)
	standby := openAt(t, server.URL("postgres"), &Options{Busy: 300 * time.Millisecond})
	if got := value(t, standby, "a 1"); got != "before" {
		t.Errorf("the standby has %q", got)
	}
	for i := range 3 {
		want := fmt.Sprint("later ", i)
		arrived := make(chan bool)
		go func() {
			await(t, standby, func() bool { return value(t, standby, "a 1") == want })
			close(arrived)
		}()
		if err := put(db, "a 1", want); err != nil {
			t.Error(err)
		}
		<-arrived
	}
	for _, o := range []storage.UpdateOptions{{}, {Large: true}, {Exclusive: true}} {
		err := standby.Update(ctx, "a", o, func(tx storage.Tx) error { return tx.Put(ctx, storage.Entry{Key: "a 2"}) })
		if !errors.Is(err, storage.ErrBusy) || errors.Is(err, storage.ErrUnknown) {
			t.Errorf("an update of a standby, %+v: %v, want ErrBusy", o, err)
		}
	}
	if err := primary.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := server.Promote(ctx); err != nil {
		t.Fatal(err)
	}
	if err := put(standby, "a 2", "after"); err != nil ||
		value(t, standby, "a 1")+value(t, standby, "a 2") != "later 2after" {
		t.Errorf("after the promotion: %v", err)
	}
}

// silently runs do against a server that has fallen silent, and returns its error and how long it took.
func silently(t *testing.T, do func(db opened, silence func()) error) (took time.Duration, err error) {
	db, _, cutter := openCut(t, &Options{Busy: 300 * time.Millisecond})
	db.s.responseWait = time.Second
	if err := put(db, "a 1", "x"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // so that Close need not wait
		cutter.Silence(false)
		cutter.CutAll()
	})
	at := time.Now()
	err = do(db, func() { cutter.Silence(true) })
	return time.Since(at), err
}

func TestASilentServer(t *testing.T) {
	get := func(c context.Context, db opened) error {
		return db.View(c, func(r storage.Reader) error {
			_, err := r.Get(c, "a 1")
			return err
		})
	}
	scan := func(c context.Context, db opened) error {
		return db.View(c, func(r storage.Reader) error {
			for _, err := range r.Scan(c, storage.Prefix("a ")) {
				return err
			}
			return nil
		})
	}
	update := func(large bool, then func()) func(context.Context, opened) error {
		return func(c context.Context, db opened) error {
			return db.Update(c, "a", storage.UpdateOptions{Large: large}, func(tx storage.Tx) error {
				if _, err := tx.Get(c, "a 1"); err != nil {
					return err
				}
				then()
				return tx.Put(c, storage.Entry{Key: "a 2"})
			})
		}
	}
	for _, test := range []struct {
		name string
		do   func(context.Context, opened) error
	}{{"Get", get}, {"Scan", scan}, {"an update", update(false, func() {})},
		{"a large update", update(true, func() {})}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, want := range []error{context.DeadlineExceeded, storage.ErrBusy} {
				took, err := silently(t, func(db opened, silence func()) error {
					silence()
					if want == storage.ErrBusy {
						return test.do(ctx, db)
					}
					short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
					defer cancel()
					return test.do(short, db)
				})
				if !errors.Is(err, want) || errors.Is(err, storage.ErrUnknown) || took > 5*time.Second ||
					want != storage.ErrBusy && took > 500*time.Millisecond {
					t.Errorf("%v after %s, want %v", err, took, want)
				}
			}
		})
	}
	for _, large := range []bool{false, true} {
		t.Run(fmt.Sprintf("the commit, large %t", large), func(t *testing.T) {
			t.Parallel()
			for _, limit := range []time.Duration{500 * time.Millisecond, time.Minute} {
				took, err := silently(t, func(db opened, silence func()) error {
					short, cancel := context.WithTimeout(ctx, limit)
					defer cancel()
					return update(large, silence)(short, db)
				})
				if !errors.Is(err, storage.ErrUnknown) || took > 5*time.Second || limit < time.Second &&
					took > 900*time.Millisecond {
					t.Errorf("%v after %s, want ErrUnknown", err, took)
				}
			}
		})
	}
}

// Neither a lock that somebody holds nor an update that stands still stops a space for long.
func TestALaneGoesOn(t *testing.T) {
	db := openTest(t, nil)
	hasty := openAt(t, db.address, &Options{Busy: 300 * time.Millisecond})
	patient := openAt(t, db.address, &Options{Busy: time.Minute})
	if err := put(db, "a 1", "x"); err != nil {
		t.Fatal(err)
	}
	holder, err := db.s.pool.Begin(ctx)
	if err == nil {
		_, err = holder.Exec(ctx, "SELECT FROM vitrine_space FOR UPDATE")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := put(hasty, "a 1", "y"); !errors.Is(err, storage.ErrBusy) {
		t.Errorf("below a lock: %v, want ErrBusy", err)
	}
	if err := put(hasty, "b 1", "y"); err != nil {
		t.Errorf("another space: %v", err)
	}
	if err := holder.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	if err := put(hasty, "a 1", "y"); err != nil {
		t.Errorf("without the lock: %v", err)
	}
	for _, large := range []bool{false, true} {
		entered, leave, left := make(chan bool), make(chan bool), make(chan error, 1)
		runs := 0
		go func() {
			left <- db.Update(ctx, "a", storage.UpdateOptions{Large: large}, func(tx storage.Tx) error {
				runs++
				values, err := tx.Get(ctx, "a 1")
				if err == nil && runs == 1 {
					close(entered)
					<-leave
				}
				return errors.Join(err, tx.Put(ctx, storage.Entry{Key: "a 1", Value: append(values[0], 'z')}))
			})
		}()
		<-entered
		at := time.Now()
		if err := put(patient, "a 1", "w"); err != nil || time.Since(at) > idleUpdate+5*time.Second {
			t.Errorf("beside an update that stands still: %v after %s", err, time.Since(at))
		}
		close(leave)
		if err := <-left; !errors.Is(err, storage.ErrBusy) || value(t, db, "a 1") != "w" {
			t.Errorf("the update that has stood still: %v, want ErrBusy; %q", err, value(t, db, "a 1"))
		}
	}
}

func TestChangedIsToldSoon(t *testing.T) {
	db := openTest(t, nil)
	other := openAt(t, db.address, nil)
	var waits []time.Duration
	for i := range 20 {
		here, there := db.Changed("a"), other.Changed("a")
		if i == 0 { // its first look closes all channels, unless it was before this one was taken
			select {
			case <-there:
			case <-time.After(4 * lookEvery):
			}
			there = other.Changed("a")
		}
		time.Sleep(rand.N(lookEvery))
		if err := put(db, "a 1", strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
		at := time.Now()
		select {
		case <-here:
		default:
			t.Error("an update of this process is acknowledged and not told")
		}
		select {
		case <-there:
			waits = append(waits, time.Since(at))
		case <-time.After(10 * time.Second):
			t.Fatal("another process is not told")
		}
	}
	var sum, most time.Duration
	for _, w := range waits {
		sum, most = sum+w, max(most, w)
	}
	if t.Logf("another process is told after %s, at most %s", sum/time.Duration(len(waits)), most); most > lookEvery+
		time.Second {
		t.Errorf("another process is told after %s", most)
	}
}

// Every new value of a head leaves a dead one, in TOAST too. Autovacuum makes their room free again, and later updates
// take it.
func TestTablesStaySmall(t *testing.T) {
	const heads, updates = 1000, 2500
	c := cluster.New(t, &cluster.Options{Settings: []string{"autovacuum_naptime = 1s"}})
	db := openAt(t, c.URL("postgres"), nil)
	number := func(query string) (n int) {
		text, err := c.Value(ctx, "postgres", query)
		if err == nil {
			n, err = strconv.Atoi(text)
		}
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	write := func(updates int) {
		var all sync.WaitGroup
		for i := range 32 {
			all.Go(func() {
				body := make([]byte, 5000)
				for n := i; n < updates; n += 32 {
					for k := 0; k < len(body); k += 8 {
						binary.NativeEndian.PutUint64(body[k:], rand.Uint64())
					}
					if err := put(db, fmt.Sprintf("a head/%03d", n%heads), string(body)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
	}
	for range 10 {
		write(updates)
		// A connection reports its dead rows with its first transaction after a second.
		time.Sleep(1100 * time.Millisecond)
		write(320)
		const dead = "SELECT sum(n_dead_tup) FROM pg_stat_all_tables, pg_class c WHERE c.relname = 'vitrine_record' " +
			"AND relid IN (c.oid, c.reltoastrelid)"
		for begun := time.Now(); number(dead) > heads; time.Sleep(50 * time.Millisecond) {
			if time.Since(begun) > time.Minute {
				t.Fatalf("a minute after the updates there are %d dead rows", number(dead))
			}
		}
	}
	size := number("SELECT pg_total_relation_size('vitrine_record') / 1000000")
	t.Logf("%d heads of 5 KB take %d MB after %d updates", heads, size, 10*updates)
	if size > 40 { // without autovacuum it is 147
		t.Errorf("the table has %d MB", size)
	}
}
