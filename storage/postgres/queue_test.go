//go:build proof

package postgres

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/cluster"
)

var library = assets.Library{Network: "network", ID: "library"}

// While one writer of a library is at work, and more of them wait than there are connections, the
// others take none: reads go on, and so do writers of other libraries.
func TestWritersThatWaitForALibraryHoldNoConnection(t *testing.T) {
	db := openTest(t, &Options{Connections: 3, Busy: time.Minute})
	s := db.Assets()
	set := func(tx assets.Tx) error { return tx.SetState(ctx, assets.State{Last: 1}) }
	const writers = 8
	working, finish := make(chan bool, writers), make(chan bool)
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			err := s.Update(ctx, library, func(tx assets.Tx) error {
				working <- true
				<-finish
				return set(tx)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	<-working
	for db.libraries.waiting(library) < writers {
		time.Sleep(time.Millisecond)
	}
	if in := db.pool.Stat().AcquiredConns(); in != 1 {
		t.Errorf("%d connections are taken, want that of the writer at work", in)
	}
	if err := db.Ping(ctx); err != nil {
		t.Errorf("a read: %v", err)
	}
	if err := s.Update(ctx, assets.Library{Network: "network", ID: "other"}, set); err != nil {
		t.Errorf("a writer of another library: %v", err)
	}
	close(finish)
	group.Wait()
	if left := len(db.libraries.used); left != 0 {
		t.Errorf("%d libraries are remembered that nobody writes", left)
	}
}

// waiting is how many writers of a library wait or work.
func (q *queues) waiting(lib assets.Library) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if own := q.used[libraryKey(lib)]; own != nil {
		return own.users
	}
	return 0
}

// Whatever updates wait for, they leave a connection to reads.
func TestUpdatesLeaveConnectionsToReads(t *testing.T) {
	address := cluster.Schema(t)
	db, other := openAt(t, address, &Options{Connections: 4, Busy: time.Minute}), openAt(t, address, nil)
	put := func(tx appsvc.Tx) error { return putApp(tx, "app") }
	if err := other.Apps().Update(ctx, put); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	err := other.update(ctx, func(c *conn) error {
		if err := c.query(ctx, "SELECT FROM app FOR UPDATE").err; err != nil {
			return err
		}
		for range 8 {
			group.Go(func() {
				err := db.Apps().Update(ctx, func(tx appsvc.Tx) error { _, err := tx.Head(ctx, "app"); return err })
				if err != nil {
					t.Error(err)
				}
			})
		}
		other.waitFor(t, "SELECT count(*) / 3 FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')")
		return db.Ping(ctx)
	})
	if err != nil {
		t.Errorf("a read: %v", err)
	}
	group.Wait()
}

func TestWaitingInAQueueTimesOut(t *testing.T) {
	var q queues
	leave, err := q.enter(ctx, "a", time.Minute, "others")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.enter(ctx, "a", time.Millisecond, "others"); !isBusy(err) {
		t.Errorf("after the wait: %v", err)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := q.enter(over, "a", time.Minute, "others"); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that is over: %v", err)
	}
	leave()
	if leave, err = q.enter(ctx, "a", time.Minute, "others"); err != nil {
		t.Errorf("when it is empty: %v", err)
	}
	leave()
	if len(q.used) != 0 {
		t.Error("an empty queue is remembered")
	}
}

// An update that waits too long for another one of its library says so, and does not speak of connections: there are free ones.
func TestAnUpdateSaysThatItWaitedForItsLibrary(t *testing.T) {
	s := openTest(t, &Options{Busy: time.Second}).Assets()
	var waited error
	err := s.Update(ctx, library, func(assets.Tx) error {
		waited = s.Update(ctx, library, func(assets.Tx) error { return nil })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = "the store is not available at the moment: timed out: other updates of this library did not end within 1s"
	if !errors.Is(waited, vitrine.ErrBusy) || waited.Error() != want {
		t.Errorf("got %v, want %s", waited, want)
	}
}

func TestAnIdleTransactionIsEndedAndReleasesItsLocks(t *testing.T) {
	address := cluster.Schema(t)
	db := openAt(t, address, &Options{Busy: 50 * time.Millisecond})
	other := openAt(t, address, &Options{Busy: time.Minute})
	runs := 0
	err := appErrors.wrap(db.update(ctx, func(c *conn) error {
		runs++
		c.claim("thing", "key")
		if err := c.query(ctx, "SELECT set_config('idle_in_transaction_session_timeout', '100', true)").err; err != nil {
			return err
		}
		err := other.update(ctx, func(c *conn) error { // waits for the server to end the transaction of db
			c.claim("thing", "key")
			return c.query(ctx, "SELECT 1").err
		})
		if err != nil {
			t.Errorf("whoever waited: %v", err)
		}
		return c.query(ctx, "SELECT 1").err
	}))
	if !errors.Is(err, vitrine.ErrBusy) || errors.Is(err, vitrine.ErrUnknown) {
		t.Errorf("after %d runs: %v, want ErrBusy", runs, err)
	}
}
