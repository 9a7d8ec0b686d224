package sqlite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"
)

// maxBatch bounds how many updates share a commit, so that the first does not wait for ever.
const maxBatch = 256

// writer owns the one connection that writes. Its goroutine lends the connection to one waiting
// update after the other and commits them together.
type writer struct {
	c     *conn
	cache *cache
	busy  time.Duration // how long to wait for a lock
	queue chan *job
	ended chan error
}

// job is an update that waits for its turn.
type job struct {
	ctx context.Context
	// turn hands the connection to the goroutine of the update. It is not buffered: an update
	// whose context has ended never takes it.
	turn chan *conn
	// ran tells the writer how the update's function ended.
	ran chan error
	// settled tells the update what became of the commit.
	settled chan error
}

var errNoReturn = errors.New("sqlite: the update's function did not return")

func newWriter(c *conn, cache *cache, busy time.Duration) *writer {
	w := &writer{c: c, cache: cache, busy: busy, queue: make(chan *job, maxBatch), ended: make(chan error, 1)}
	go func() {
		for j := range w.queue {
			w.batch(j)
		}
		w.ended <- w.c.close()
	}()
	return w
}

// close ends the writer. Nobody may be waiting any more.
func (w *writer) close() error {
	close(w.queue)
	return <-w.ended
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
	j := &job{ctx: ctx, turn: make(chan *conn), ran: make(chan error, 1), settled: make(chan error, 1)}
	select {
	case db.writer.queue <- j:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case c := <-j.turn:
		err := j.run(c, fn)
		// An error may tell of neighbours that are not committed yet, so it waits as well.
		if lost := <-j.settled; lost != nil {
			return lost
		}
		return err
	case err := <-j.settled:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run gives the turn back whatever fn does, be it a panic or the end of its goroutine.
func (j *job) run(c *conn, fn func(*conn) error) error {
	err := errNoReturn
	defer func() { j.ran <- err }()
	err = fn(c)
	return err
}

// batch commits first and what waits behind it.
func (w *writer) batch(first *job) {
	others, err := w.begin()
	if err != nil {
		w.refuse(first, err)
		return
	}
	w.c.at, w.c.earlier = w.cache.hold(), map[any]effect{}
	served, err := w.serveAll(first)
	if err == nil {
		_, err = w.c.exec("COMMIT")
	}
	if err != nil {
		err = w.undo(err)
	}
	now := w.cache.present()
	since, versionErr := w.othersVersion()
	w.cache.release(now, err == nil && versionErr == nil && since == others, w.c.earlier)
	for _, j := range served {
		j.settled <- err
	}
}

// begin takes the file's write lock. It returns a number that changes when anybody else commits.
//
// SQLite's own way to wait looks rarely after a while, and never gets the lock of a process that
// writes without a pause. A look each millisecond meets the moment between two of its commits.
func (w *writer) begin() (others int64, err error) {
	for deadline := time.Now().Add(w.busy); ; time.Sleep(time.Millisecond) {
		w.c.broken = nil // there is no transaction to protect
		_, err = w.c.exec("BEGIN IMMEDIATE")
		if !isBusy(err) || time.Now().After(deadline) {
			break
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

// refuse answers an update that could not begin, and those that have waited for it.
func (w *writer) refuse(first *job, err error) {
	for j := first; j != nil; j = w.next() {
		j.settled <- err
	}
}

// next returns an update that is waiting already.
func (w *writer) next() *job {
	select {
	case j := <-w.queue:
		return j
	default:
		return nil
	}
}

// serveAll lends the connection to first and to those that wait behind it. It returns who had it.
// The error is one that cost the whole transaction.
func (w *writer) serveAll(first *job) (served []*job, err error) {
	for j := first; j != nil; j = w.next() {
		took, err := w.serve(j)
		if took {
			served = append(served, j)
		}
		if err != nil || len(served) == maxBatch {
			return served, err
		}
	}
	return served, nil
}

// serve lends the connection to j. took is false when j no longer wants it.
func (w *writer) serve(j *job) (took bool, err error) {
	w.c.effects = map[any]effect{}
	if _, err := w.c.exec("SAVEPOINT one"); err != nil {
		return true, err
	}
	select {
	case j.turn <- w.c:
		took = true
		err = <-j.ran
		w.c.closeRows()
	case <-j.ctx.Done():
	}
	if w.c.broken != nil {
		return took, w.c.broken
	}
	if err == nil {
		maps.Copy(w.c.earlier, w.c.effects)
	} else if _, err := w.c.exec("ROLLBACK TO one"); err != nil {
		return took, err
	}
	_, err = w.c.exec("RELEASE one")
	return took, err
}
