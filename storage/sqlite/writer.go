package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

// maxBatch is how many updates share a commit at most. It bounds the time that the first of them waits.
const maxBatch = 256

// writer owns the one connection that updates run on, one after the other, each in the goroutine of its caller. An
// update begins a transaction if none is open. Then it leaves the transaction to the next update that waits for the
// connection. If none waits, it commits for all updates that have shared the transaction.
//
// Writes of updates are collected and executed in few statements before the commit. An update that fails before that is
// rolled back by discarding its writes. Only an update that has to execute writes earlier, for instance to read a
// range, has a savepoint.
type writer struct {
	c         *conn
	path      string
	file      fs.FileInfo   // of path when it was opened
	busy      time.Duration // how long to wait for the lock of another process
	bells     *storage.Bells
	committed func(pages int64) // called after each transaction with the size of the log
	counters  counters

	free chan struct{} // has a token while no goroutine uses the connection
	// has a token while an update without a shared commit waits or runs, so that others run between two of them
	large   chan struct{}
	waiting atomic.Int32   // how many updates wait for the token of free
	givenUp sync.WaitGroup // those of them whose callers wait no longer

	// The fields below belong to the goroutine that has the connection.
	batch    *batch // of the open transaction, nil if there is none
	failed   error  // why the last transaction could not begin
	failedAt time.Time
	others   int64 // changes with each commit of another connection; see lookForOthers
}

// batch is a transaction, and the updates that share it.
type batch struct {
	run     int      // how many updates have run
	spaces  []string // of those that have not failed
	pending pending  // those of their writes that are not in SQLite yet
	lost    error    // the error that has ended the transaction
	done    chan struct{}
	err     error // of all updates; set before done is closed
}

var errNoReturn = errors.New("sqlite: the update's function did not return")

func newWriter(c *conn, busy time.Duration, bells *storage.Bells) *writer {
	w := &writer{c: c, busy: busy, bells: bells, free: make(chan struct{}, 1), large: make(chan struct{}, 1)}
	w.free <- struct{}{}
	return w
}

// update runs fn on the writer's connection. When update returns nil, the writes of fn are on the disk. If fn returns
// an error or panics, its writes are rolled back, and update returns the error or panics. If the whole transaction
// fails, for instance at the commit, update returns the error of the transaction instead of that of fn. If alone is
// true, the update shares its commit with no other.
//
// fn runs at most once. It does not run if ctx ends before its turn, or if the transaction cannot begin.
func (w *writer) update(ctx context.Context, space string, alone bool, fn func(*tx) error) error {
	came := time.Now()
	if alone {
		select {
		case w.large <- struct{}{}:
			defer func() { <-w.large }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := w.enter(ctx); err != nil {
		return err
	}
	if alone {
		w.commit()
	}
	first := w.batch == nil
	if first {
		if err := w.begin(ctx, came); err != nil {
			w.leave(alone)
			return err
		}
	}
	b, err := w.batch, errNoReturn
	func() {
		t := &tx{b: b, first: first}
		t.reader = reader{c: w.c, flush: t.flush}
		defer func() {
			b.run++
			b.lost = w.settle(t, space, err)
			w.leave(alone || t.sql != nil)
		}()
		err = fn(t)
	}()
	<-b.done // also if fn has failed: its error may depend on writes of others that are not committed yet
	if b.err != nil {
		return b.err
	}
	return err
}

// enter waits for the connection.
func (w *writer) enter(ctx context.Context) error {
	w.waiting.Add(1)
	select {
	case <-w.free:
		w.waiting.Add(-1)
		return nil
	case <-ctx.Done():
	}
	w.givenUp.Go(func() { // the previous update may have left its commit to this one
		<-w.free
		w.waiting.Add(-1)
		w.leave(false)
	})
	return ctx.Err()
}

// leave gives the connection to the next update. It commits first if now is true, if the transaction has failed, after
// maxBatch updates, and if no update waits. Before it decides that none waits, it lets other goroutines run, so that
// their updates can join this commit.
func (w *writer) leave(now bool) {
	if b := w.batch; b != nil {
		if w.waiting.Load() == 0 {
			runtime.Gosched()
		}
		if now || b.lost != nil || b.run >= maxBatch || w.waiting.Load() == 0 {
			w.commit()
		}
	}
	w.free <- struct{}{}
}

// outside runs do while no transaction is open.
func (w *writer) outside(do func()) {
	w.enter(context.Background())
	w.commit()
	do()
	w.leave(false)
}

// settle keeps the writes of an update, or rolls them back if err is not nil. It returns an error if the whole
// transaction has failed.
func (w *writer) settle(t *tx, space string, err error) error {
	switch {
	case w.c.broken != nil:
		return w.c.broken
	case err == nil:
		t.b.spaces = append(t.b.spaces, space)
		t.b.pending.add(t.own)
	case t.first:
		if _, err := w.c.exec("ROLLBACK"); err != nil {
			return err
		}
		w.batch = nil
		close(t.b.done)
		return nil
	case t.saved:
		if _, err := w.c.exec("ROLLBACK TO one"); err != nil {
			return err
		}
	}
	if t.saved {
		if _, err := w.c.exec("RELEASE one"); err != nil {
			return err
		}
	}
	if t.b.pending.size > mostPending {
		return t.b.flush(w.c)
	}
	return nil
}

// begin acquires the file's write lock and begins a transaction, for an update that came at a time. It returns errNewer
// if the format is newer, an error for which isBusy is true if the lock was not free in time, and the error of ctx if
// ctx ends before. If begin has failed for another update after this one came, it returns the same error at once.
//
// It retries every millisecond. SQLite's busy handler retries more and more rarely, so it may never get the lock while
// another process commits without a pause.
func (w *writer) begin(ctx context.Context, came time.Time) (err error) {
	if came.Before(w.failedAt) {
		return w.failed
	}
	for deadline := time.Now().Add(w.busy); ; time.Sleep(time.Millisecond) {
		w.c.broken = nil // there is no transaction to protect
		_, err = w.c.exec("BEGIN IMMEDIATE")
		if err == nil || !isBusy(err) || time.Now().After(deadline) {
			break
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err == nil {
		var have int64
		if have, err = w.c.value("PRAGMA user_version"); err == nil && have != format {
			err = fmt.Errorf("%w: its format is %d, this process knows %d", errNewer, have, format)
		}
	}
	if err == nil {
		err = moved(w.path, w.file)
	}
	if err != nil {
		w.failed, w.failedAt = w.undo(err), time.Now()
		return w.failed
	}
	w.batch = &batch{done: make(chan struct{})}
	return nil
}

// commit commits the open transaction, if there is one, or rolls it back if it has failed, and tells its updates.
func (w *writer) commit() {
	b := w.batch
	if b == nil {
		return
	}
	w.batch = nil
	err := b.lost
	if err == nil {
		err = b.flush(w.c)
	}
	if err == nil {
		if _, err = w.c.exec("COMMIT"); err != nil && !undone(err) {
			err = fmt.Errorf("sqlite: %w: %w", storage.ErrUnknown, err)
		}
	}
	if err != nil {
		err = w.undo(err)
	}
	if err == nil {
		w.counters.commit(uint64(len(b.spaces)))
	}
	if err == nil || errors.Is(err, storage.ErrUnknown) {
		for _, space := range b.spaces {
			w.bells.Ring(space)
		}
	}
	b.err = err
	close(b.done)
	if _, pages, _, err := w.c.checkpoint("NOOP"); err == nil {
		w.committed(pages)
	}
}

// undo rolls back a transaction that failed with err, or could not begin. If the outcome of the commit is unknown, it
// returns err. Otherwise it returns an error that wraps err and says that nothing was committed.
func (w *writer) undo(err error) error {
	w.c.broken = nil
	w.c.exec("ROLLBACK") // fails if SQLite has rolled back already
	if isFull(err) {
		// If the content of the log fits into free pages of the file, the log can begin again and needs no more room.
		w.c.script("PRAGMA wal_checkpoint(PASSIVE)")
	}
	if errors.Is(err, storage.ErrUnknown) {
		return err
	}
	return fmt.Errorf("nothing was committed: %w", err)
}

// lookForOthers rings all bells if another connection has committed since the last look. It may wait for an update of
// this process: nobody else can commit while that runs.
func (w *writer) lookForOthers() {
	w.outside(func() {
		now, err := w.c.value("PRAGMA data_version") // not changed by commits of the writer itself
		if err == nil && now != w.others {
			w.others = now
			w.bells.Ring("")
		}
	})
}
