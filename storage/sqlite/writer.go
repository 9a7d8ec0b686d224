package sqlite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"time"

	"github.com/vitrine-go/vitrine/storage/internal/wake"
)

// maxBatch is how many waiting updates join the commit of the leader at most. It bounds the time that the first of them waits.
const maxBatch = 256

// writer owns the one connection that runs updates, and commits waiting updates as a batch. One update is the
// leader: it begins a transaction, runs its own function, lends the connection to the waiting updates one after the
// other, and commits for all of them. Each update runs in the goroutine of its caller. An update without others
// waits for no other goroutine, except for restartLog when the log is restarted just then.
type writer struct {
	c     *conn
	cache *cache
	busy  time.Duration // how long to wait for the lock of another process
	// free holds a token while no goroutine leads or restarts the log.
	free chan struct{}
	// queue has the waiting updates. The leader receives from it when it can lend the connection. It is not
	// buffered, so an update whose context ends just stops waiting.
	queue chan *follower
	// lost is the error that ended the running transaction. Only the goroutine that has the connection reads it.
	lost error
	// schema is the user_version that this process writes. checked is the value of othersVersion when the file was
	// last checked to have that version.
	schema, checked int64
	committed       func(now stamp) // called after each transaction, also one that was rolled back
	kept            uint64          // updates of the running transaction that have not failed
	counters        counters
	bell            *wake.Bell // rung after each transaction; what it committed can be read by then
}

// follower is an update that is committed by a leader.
type follower struct {
	ran     chan struct{} // closed when the follower returns the connection
	settled chan error    // receives the result of the commit
}

var errNoReturn = errors.New("sqlite: the update's function did not return")

func newWriter(c *conn, cache *cache, busy time.Duration, schema int64) *writer {
	w := &writer{c: c, cache: cache, busy: busy, schema: schema, checked: -1, free: make(chan struct{}, 1), queue: make(chan *follower)}
	w.free <- struct{}{}
	return w
}

// update runs fn on the writer's connection. When update returns nil, the writes of fn are on the disk. If fn returns an error or
// panics, its writes are rolled back, and update returns the error or panics. If the whole transaction fails, for instance at the
// commit, update returns the error of the transaction instead of that of fn.
//
// fn runs at most once, in the goroutine of the caller. It does not run if the store is closed, if ctx ends before its turn, if
// the transaction cannot begin, or if an earlier update of the batch has ended the transaction, as a full disk does.
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

// follow runs fn and waits for the leader's commit. It waits even if fn failed: the error may depend on writes of
// the same batch that are not committed yet.
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

// lead runs fn, then the functions of the waiting updates, and commits. If fn panics or calls runtime.Goexit, its own writes
// are rolled back, and the waiting updates still run and are committed.
func (w *writer) lead(ctx context.Context, fn func(*conn) error) (err error) {
	defer func() { w.free <- struct{}{} }()
	others, err := w.begin(ctx)
	if err != nil {
		if ctx.Err() == nil { // if only the leader's context has ended, another update can lead
			w.refuse(err)
		}
		return err
	}
	w.c.at, w.c.earlier, w.lost, w.kept = w.cache.hold(), map[any]effect{}, nil, 0
	defer func() {
		followers := w.serve()
		lost := w.commit(others)
		if lost == nil && w.kept > 0 {
			w.counters.commit(w.kept)
		}
		for _, f := range followers {
			f.settled <- lost
		}
		if lost != nil {
			err = lost
		}
	}()
	return w.run(fn)
}

// begin takes the file's write lock and begins a transaction. It returns migration.ErrNewer if the schema is newer, an error for
// which isBusy is true if the lock was not free in time, and the error of ctx if ctx ends before. others is a number that changes
// when another connection commits.
//
// It retries every millisecond. SQLite's busy handler retries more and more rarely, so it may never get the lock while another
// process commits without a pause.
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
	if err == nil {
		err = w.checkSchema(others)
	}
	if err != nil {
		err = w.undo(err)
	}
	return others, err
}

// othersVersion returns a number that changes with every commit of another connection.
func (w *writer) othersVersion() (int64, error) { return w.c.value("PRAGMA data_version") }

// refuse gives err to the updates that have waited while the transaction could not begin; their functions do not run.
func (w *writer) refuse(err error) {
	w.lost = err
	for f := w.next(); f != nil; f = w.next() {
		f.settled <- err
	}
}

// serve lends the connection to the waiting updates one after the other, and returns them. It ends when none waits, after
// maxBatch of them, and when the transaction has failed.
func (w *writer) serve() []*follower {
	var served []*follower
	for len(served) < maxBatch && w.lost == nil {
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

// run runs fn in a savepoint, which is rolled back if fn returns an error or does not return. If the transaction has failed
// already, it returns lost and does not run fn.
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

// settle releases the savepoint, or rolls back to it if err is not nil. It returns an error if the whole
// transaction has failed.
func (w *writer) settle(err error) error {
	w.c.closeRows()
	if w.c.broken != nil {
		return w.c.broken
	}
	if err == nil {
		maps.Copy(w.c.earlier, w.c.effects)
		w.kept++
	} else if _, err := w.c.exec("ROLLBACK TO one"); err != nil {
		return err
	}
	_, err = w.c.exec("RELEASE one")
	return err
}

// commit commits the transaction, or rolls it back if it has failed. After a commit it moves the cache to the new state, unless
// another process has committed too. If it returns an error, every update of the batch returns that error.
func (w *writer) commit(others int64) error {
	err := w.lost
	if err == nil {
		if _, err = w.c.exec("COMMIT"); err != nil && !undone(err) {
			err = fmt.Errorf("%w: %w", errUnknown, err)
		}
	}
	if err != nil {
		err = w.undo(err)
	}
	now := w.cache.present()
	w.committed(now)
	since, versionErr := w.othersVersion()
	w.cache.release(now, err == nil && versionErr == nil && since == others, w.c.earlier)
	w.bell.Ring()
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
	if errors.Is(err, errUnknown) {
		return err
	}
	return fmt.Errorf("nothing was committed: %w", err)
}
