package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

// maxBatch is how many waiting updates join the commit of the leader at most. It bounds the time that the first of them waits.
const maxBatch = 256

// writer owns the one connection that runs updates, and commits waiting updates as a batch. One update is the
// leader: it runs its own function, lends the connection to the waiting updates one after the other, and commits for all of
// them. Each update runs in the goroutine of its caller. An update without others waits for no other goroutine, except for
// restartLog when the log is restarted just then.
//
// The transaction begins with the first update that runs. What updates write is collected and given to SQLite in few statements before
// the commit, so that undoing an update is to forget its writes. Only an update that has to write earlier, for instance to read a range,
// has a savepoint. If the first one fails, all is rolled back, and the next one begins a transaction.
type writer struct {
	c    *conn
	busy time.Duration // how long to wait for the lock of another process
	// free holds a token while no goroutine uses the connection.
	free chan struct{}
	// queue has the waiting updates. The leader receives from it when it can lend the connection. It is not
	// buffered, so an update whose context ends just stops waiting.
	queue chan *follower
	// alone holds a token while an update that shares its commit with no other waits or runs, so that between two of them others have
	// their turn.
	alone chan struct{}
	bells *storage.Bells
	// committed is called after each commit with the size of the log in pages.
	committed func(pages int64)
	counters  counters

	// The fields below are those of the running transaction. Only the goroutine that has the connection uses them.
	begun   bool
	spaces  []string // of the updates that have not failed
	pending pending  // their writes, as far as SQLite has not got them yet
	lost    error    // has ended the transaction, or has kept it from beginning
	others  int64    // changes with each commit of another connection; see lookForOthers
}

// follower is an update that is committed by a leader.
type follower struct {
	ran     chan struct{} // closed when the follower returns the connection
	settled chan error    // receives the result of the commit
}

var errNoReturn = errors.New("sqlite: the update's function did not return")

func newWriter(c *conn, busy time.Duration, bells *storage.Bells) *writer {
	w := &writer{c: c, busy: busy, bells: bells, free: make(chan struct{}, 1), alone: make(chan struct{}, 1), queue: make(chan *follower)}
	w.free <- struct{}{}
	return w
}

// update runs fn on the writer's connection. When update returns nil, the writes of fn are on the disk. If fn returns an error or
// panics, its writes are rolled back, and update returns the error or panics. If the whole transaction fails, for instance at the
// commit, update returns the error of the transaction instead of that of fn. If alone is true, the update shares its commit with
// no other.
//
// fn runs at most once, in the goroutine of the caller. It does not run if ctx ends before its turn, if the transaction cannot
// begin, or if an earlier update of the batch has ended the transaction, as a full disk does.
func (w *writer) update(ctx context.Context, space string, alone bool, fn func(*tx) error) error {
	if alone {
		select {
		case w.alone <- struct{}{}:
			defer func() { <-w.alone }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	select {
	case <-w.free:
		return w.lead(ctx, space, alone, fn)
	default:
	}
	f, queue := &follower{ran: make(chan struct{}), settled: make(chan error, 1)}, w.queue
	if alone {
		queue = nil
	}
	select {
	case <-w.free:
		return w.lead(ctx, space, alone, fn)
	case queue <- f:
		return w.follow(ctx, f, space, fn)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// follow runs fn and waits for the leader's commit. It waits even if fn failed: the error may depend on writes of
// the same batch that are not committed yet.
func (w *writer) follow(ctx context.Context, f *follower, space string, fn func(*tx) error) error {
	err := func() error {
		defer close(f.ran)
		return w.run(ctx, space, fn)
	}()
	if lost := <-f.settled; lost != nil {
		return lost
	}
	return err
}

// lead runs fn, then the functions of the waiting updates, and commits. If fn panics or calls runtime.Goexit, its own writes
// are rolled back, and the waiting updates still run and are committed.
func (w *writer) lead(ctx context.Context, space string, alone bool, fn func(*tx) error) (err error) {
	defer func() { w.free <- struct{}{} }()
	w.begun, w.spaces, w.pending, w.lost = false, w.spaces[:0], pending{}, nil
	defer func() {
		var followers []*follower
		if !alone {
			followers = w.serve()
		}
		lost := w.commit()
		for _, f := range followers {
			f.settled <- lost
		}
		if lost != nil {
			err = lost
		}
	}()
	return w.run(ctx, space, fn)
}

// serve lends the connection to the waiting updates one after the other, and returns them. It ends when none waits, after
// maxBatch of them, and when the transaction has failed. If the transaction could not begin, they all get its error.
func (w *writer) serve() (served []*follower) {
	for len(served) < maxBatch && (w.lost == nil || !w.begun) {
		f := w.next()
		if f == nil {
			// Let other goroutines run, so that their updates can join this commit. On a single core they could not
			// run before it ends.
			runtime.Gosched()
			if f = w.next(); f == nil {
				break
			}
		}
		served = append(served, f)
	}
	return served
}

// next lends the connection to one waiting update, and returns that update after its function has run. It returns nil if
// none waits.
func (w *writer) next() *follower {
	select {
	case f := <-w.queue:
		<-f.ran
		return f
	default:
		return nil
	}
}

// run runs fn in the transaction, and undoes its writes if it returns an error or does not return. If the transaction has failed
// already, it returns lost and does not run fn.
func (w *writer) run(ctx context.Context, space string, fn func(*tx) error) error {
	if w.lost != nil {
		return w.lost
	}
	t := &tx{reader: reader{c: w.c}, w: w, first: !w.begun}
	if t.first {
		if err := w.begin(ctx); err != nil {
			if ctx.Err() == nil { // if only this update's context has ended, another one can begin
				w.lost = err
			}
			return err
		}
	}
	w.begun = true
	err := errNoReturn
	defer func() { w.lost = w.settle(t, space, err) }()
	err = fn(t)
	return err
}

// settle keeps the writes of an update, or undoes them if err is not nil. It returns an error if the whole transaction has failed.
func (w *writer) settle(t *tx, space string, err error) error {
	w.c.closeRows()
	switch {
	case w.c.broken != nil:
		return w.c.broken
	case err == nil:
		w.spaces = append(w.spaces, space)
		w.pending.add(t.own)
	case t.first:
		w.begun = false
		_, err = w.c.exec("ROLLBACK")
		return err
	case t.saved:
		if _, err := w.c.exec("ROLLBACK TO one"); err != nil {
			return err
		}
	}
	if t.saved {
		if _, err = w.c.exec("RELEASE one"); err != nil {
			return err
		}
	}
	if w.pending.size > mostPending {
		return w.flush()
	}
	return nil
}

// begin takes the file's write lock and begins a transaction. It returns errNewer if the format is newer, an error for
// which isBusy is true if the lock was not free in time, and the error of ctx if ctx ends before.
//
// It retries every millisecond. SQLite's busy handler retries more and more rarely, so it may never get the lock while another
// process commits without a pause.
func (w *writer) begin(ctx context.Context) (err error) {
	for deadline := time.Now().Add(w.busy); ; time.Sleep(time.Millisecond) {
		w.c.broken = nil // there is no transaction to protect
		_, err = w.c.exec("BEGIN IMMEDIATE")
		if !isBusy(err) || time.Now().After(deadline) {
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
	if err != nil {
		err = w.undo(err)
	}
	return err
}

// commit commits the transaction, or rolls it back if it has failed. If it returns an error, every update of the batch returns
// that error.
func (w *writer) commit() error {
	if !w.begun && w.lost == nil {
		return nil
	}
	err := w.lost
	if err == nil {
		err = w.flush()
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
		w.counters.commit(uint64(len(w.spaces)))
	}
	if err == nil || errors.Is(err, storage.ErrUnknown) {
		for _, space := range w.spaces {
			w.bells.Ring(space)
		}
	}
	if pages, logErr := w.c.logSize(); logErr == nil {
		w.committed(pages)
	}
	return err
}

// undo rolls back a transaction that failed with err, or could not begin. If the outcome of the commit is unknown, it returns
// err. Otherwise it returns an error that wraps err and says that nothing was committed.
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

// lookForOthers rings all bells if another connection has committed since the last look. While an update of this process runs,
// nobody else can commit, so that the look may wait for it.
func (w *writer) lookForOthers() {
	<-w.free
	defer func() { w.free <- struct{}{} }()
	now, err := w.c.value("PRAGMA data_version") // not changed by commits of the writer itself
	if err == nil && now != w.others {
		w.others = now
		w.bells.RingAll()
	}
}
