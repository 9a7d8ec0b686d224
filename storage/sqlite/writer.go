package sqlite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"time"
)

// maxBatch bounds how many updates share a commit, so that the first does not wait for ever.
const maxBatch = 256

// writer owns the one connection that writes. Of the updates that want it, one leads: it begins a
// transaction, does its own work, lends the connection to those that wait, one after the other,
// and commits for all of them. Each runs in the goroutine of its caller, and one that is alone
// waits for no other goroutine.
type writer struct {
	c     *conn
	cache *cache
	busy  time.Duration // how long to wait for a lock
	// free holds a token when nobody leads.
	free chan struct{}
	// queue hands the connection on: the leader receives from it when the connection is to be had.
	// It is not buffered, so an update whose context ends just stops to wait.
	queue chan *follower
	// lost is what cost the running transaction. Only whoever has the connection looks.
	lost error
}

// follower is an update that another one commits.
type follower struct {
	ran     chan struct{} // closed when it gives the connection back
	settled chan error    // tells it what became of the commit
}

var errNoReturn = errors.New("sqlite: the update's function did not return")

func newWriter(c *conn, cache *cache, busy time.Duration) *writer {
	w := &writer{c: c, cache: cache, busy: busy, free: make(chan struct{}, 1), queue: make(chan *follower)}
	w.free <- struct{}{}
	return w
}

// update runs fn on the writer's connection. All it wrote is on the disk when update returns nil,
// none of it is kept when fn returns an error or panics; both come out here. fn runs once, in the
// goroutine of the caller, and not at all when ctx ends before its turn.
func (db *DB) update(ctx context.Context, fn func(*conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := db.enter(); err != nil {
		return err
	}
	defer db.users.Done()
	f := &follower{ran: make(chan struct{}), settled: make(chan error, 1)}
	select {
	case <-db.writer.free:
		return db.writer.lead(ctx, fn)
	case db.writer.queue <- f:
		return db.writer.follow(f, fn)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// follow runs fn and waits for the leader's commit. An error of fn waits as well, since it may
// tell of neighbours that are not committed yet.
func (w *writer) follow(f *follower, fn func(*conn) error) error {
	err := func() error {
		defer close(f.ran)
		return w.run(fn)
	}()
	if lost := <-f.settled; lost != nil {
		return lost
	}
	return err
}

// lead runs fn, then the functions of those that wait, and commits. It does the rest of that also
// when fn panics or ends its goroutine.
func (w *writer) lead(ctx context.Context, fn func(*conn) error) (err error) {
	defer func() { w.free <- struct{}{} }()
	others, err := w.begin(ctx)
	if err != nil {
		if ctx.Err() == nil { // else it is the leader's own, and the next one may have more patience
			w.refuse(err)
		}
		return err
	}
	w.c.at, w.c.earlier, w.lost = w.cache.hold(), map[any]effect{}, nil
	defer func() {
		followers := w.serve()
		lost := w.commit(others)
		for _, f := range followers {
			f.settled <- lost
		}
		if lost != nil {
			err = lost
		}
	}()
	return w.run(fn)
}

// begin takes the file's write lock. It returns a number that changes when anybody else commits.
//
// SQLite's own way to wait looks rarely after a while, and never gets the lock of a process that
// writes without a pause. A look each millisecond meets the moment between two of its commits.
func (w *writer) begin(ctx context.Context) (others int64, err error) {
	for deadline := time.Now().Add(w.busy); ; time.Sleep(time.Millisecond) {
		w.c.broken = nil // there is no transaction to protect
		_, err = w.c.exec("BEGIN IMMEDIATE")
		if !isBusy(err) || time.Now().After(deadline) {
			break
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
	if err == nil {
		others, err = w.othersVersion()
	}
	if err != nil {
		err = w.undo(err)
	}
	return others, err
}

// othersVersion is a number that changes with every commit of another connection.
func (w *writer) othersVersion() (int64, error) { return w.c.value("PRAGMA data_version") }

// refuse answers those that have waited while the transaction could not begin.
func (w *writer) refuse(err error) {
	w.lost = err
	for f := w.next(); f != nil; f = w.next() {
		f.settled <- err
	}
}

// serve lends the connection to those that wait, and returns them.
func (w *writer) serve() []*follower {
	var served []*follower
	for len(served) < maxBatch && w.lost == nil {
		f := w.next()
		if f == nil {
			// Whoever can run and is on the way here shall share this commit. On one core they could
			// not get here before it is over.
			runtime.Gosched()
			if f = w.next(); f == nil {
				break
			}
		}
		served = append(served, f)
	}
	return served
}

// next lends the connection to one that waits and returns it when it has run, nil without one.
func (w *writer) next() *follower {
	select {
	case f := <-w.queue:
		<-f.ran
		return f
	default:
		return nil
	}
}

// run runs fn in a savepoint, unless the transaction is lost already.
func (w *writer) run(fn func(*conn) error) error {
	if w.lost != nil {
		return w.lost
	}
	w.c.effects = map[any]effect{}
	if _, err := w.c.exec("SAVEPOINT one"); err != nil {
		w.lost = err
		return err
	}
	err := errNoReturn
	defer func() { w.lost = w.settle(err) }()
	err = fn(w.c)
	return err
}

// settle keeps or undoes what was done since the savepoint. The error is one that costs the whole
// transaction.
func (w *writer) settle(err error) error {
	w.c.closeRows()
	if w.c.broken != nil {
		return w.c.broken
	}
	if err == nil {
		maps.Copy(w.c.earlier, w.c.effects)
	} else if _, err := w.c.exec("ROLLBACK TO one"); err != nil {
		return err
	}
	_, err = w.c.exec("RELEASE one")
	return err
}

// commit ends the transaction and carries the cache on. The error is for all that had a part in it.
func (w *writer) commit(others int64) error {
	err := w.lost
	if err == nil {
		_, err = w.c.exec("COMMIT")
	}
	if err != nil {
		err = w.undo(err)
	}
	now := w.cache.present()
	since, versionErr := w.othersVersion()
	w.cache.release(now, err == nil && versionErr == nil && since == others, w.c.earlier)
	return err
}

// undo ends a transaction that err has cost.
func (w *writer) undo(err error) error {
	w.c.broken = nil
	w.c.exec("ROLLBACK") // fails when SQLite has done it already
	if isFull(err) {
		// What the log holds may fit where the file has room, and the log can begin anew then.
		w.c.script("PRAGMA wal_checkpoint(PASSIVE)")
	}
	return fmt.Errorf("nothing was kept: %w", err)
}
