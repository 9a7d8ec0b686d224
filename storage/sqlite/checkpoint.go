package sqlite

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A checkpointer keeps the write-ahead log short.
//
// SQLite's automatic checkpoints copy the log into the file. The log restarts when a writer finds that all of it was
// copied and that no reader uses it. While Views overlap there is always such a reader, and the log grows without
// bound. So what the checkpointer does depends on the size of the log:
//
//   - Each time the log has grown by logCopied, it copies as much as it can on a connection of its own, while
//     writers and readers continue (PASSIVE). If updates write much more than it can copy, each one is delayed.
//   - If the log has logShort or more, it then makes the updates of this process wait, for about patience at most.
//     Readers that begin meanwhile do not use the log. When the older readers have ended, the log restarts (RESTART).
//   - If the log has logLong or more, it first makes new Views wait until the running ones have ended, for longView at
//     most: a View may take longer than an update should wait.
//   - If the log has logFull or more, because updates write faster than that, the next commit waits until the log has
//     restarted. So it is the last one that the log can take before.
//
// It does not wait for a View that has run for longView already, such as a backup: the log cannot restart before that
// ends.
//
// The last step is part of the commit. The others run in a goroutine. A commit starts the goroutine when there is
// enough to copy; the goroutine ends when the log is shorter than logLong.
type checkpointer struct {
	path    string
	w       *writer
	readers *pool
	page    int64         // bytes
	closing chan struct{} // closed when the store is closed
	runs    sync.WaitGroup

	c    *conn      // nil before the first copy
	one  sync.Mutex // held during a checkpoint
	full int64      // bytes of the log at which a commit waits; belongs to the writer

	running atomic.Bool
	// bytes that updates may write during the running copy before each is delayed; 0 = no copy runs
	most   atomic.Int64
	pages  atomic.Int64 // of the log, after the last commit of this process
	copied atomic.Int64 // pages of the log when the last copy began
}

// Sizes of the log, in bytes.
const (
	logCopied = 4 << 20   // the log is copied each time that it has grown by this
	logShort  = 16 << 20  // a log of this size is made to restart while updates wait
	logLong   = 32 << 20  // and at this size new Views wait too
	logFull   = 48 << 20  // a commit that finds the log at this size waits until it has restarted
	logKept   = 64 << 20  // a longer log file is truncated to this when it restarts
	logLeft   = 512 << 10 // at most this is copied while updates wait
)

const (
	patience = 15 * time.Millisecond  // the longest that updates wait for the log to restart
	longView = 250 * time.Millisecond // the longest that new Views wait, and the age from which nobody waits for a View
	delay    = 32 * time.Millisecond  // of each commit while the disk is too slow to copy the log
)

// committed is called by the writer after each transaction, always before the store is closed.
func (k *checkpointer) committed(pages int64) {
	k.pages.Store(pages)
	if most := k.most.Load(); most > 0 && k.written() > most {
		time.Sleep(delay)
	}
	if k.written() >= logCopied && k.running.CompareAndSwap(false, true) {
		k.runs.Go(k.run)
	}
	switch size := k.size(); {
	case size < logFull:
		k.full = logFull
	case size >= k.full:
		k.stop()
	}
}

// stop makes the log restart while updates wait. It does nothing while a View runs that has taken longView: the first
// commit after its end calls stop again. If a View or another process prevents the restart, the commit calls it that
// finds the log grown by logShort.
func (k *checkpointer) stop() {
	if _, _, age := k.readers.count(); age > longView {
		return
	}
	k.full = k.size() + logShort
	k.readers.pause(longView, func() { k.restart() }) // after an I/O error the next commit fails, too
}

// size returns how many bytes of the log are in use.
func (k *checkpointer) size() int64 { return k.pages.Load() * k.page }

// written returns how many bytes were written to the log since the last copy began. A log with fewer pages than then
// has restarted.
func (k *checkpointer) written() int64 {
	pages, copied := k.pages.Load(), k.copied.Load()
	if pages < copied {
		copied = 0
	}
	return (pages - copied) * k.page
}

// run works until the log is short, or until the disk fails. Then updates fail too, and a later commit starts run
// again.
func (k *checkpointer) run() {
	defer k.running.Store(false)
	for pause := longView; ; pause = min(2*pause, 16*longView) {
		done, err := k.shorten(k.size())
		if done || err != nil {
			return
		}
		if _, _, age := k.readers.count(); age > longView {
			pause = longView
		}
		select {
		case <-time.After(pause):
		case <-k.closing:
			return
		}
	}
}

// shorten does what a log of this size needs. done is true if the log has restarted, or was shorter than logLong.
func (k *checkpointer) shorten(size int64) (done bool, err error) {
	_, err = k.copy(logShort)
	if err != nil || size < logShort {
		return true, err
	}
	if _, _, age := k.readers.count(); age > longView {
		return size < logLong, nil
	}
	if size < logLong {
		_, err = k.converge()
		return true, err
	}
	k.readers.pause(longView, func() { done, err = k.converge() })
	return done, err
}

// converge copies the log while updates continue, and then makes it restart. It gives up if too much is left to copy.
func (k *checkpointer) converge() (done bool, err error) {
	left := int64(0)
	// Each copy copies what was written during the one before, and allows fewer writes meanwhile.
	for most := int64(logShort / 2); most >= logLeft && err == nil; most /= 2 {
		if left, err = k.copy(most); left < logLeft {
			break
		}
	}
	if err == nil && left <= logCopied {
		k.w.outside(func() { done, err = k.restart() })
	}
	return done, err
}

// copy copies the part of the log that no reader blocks. When updates have written most bytes meanwhile, each commit is
// delayed. It returns how many bytes are left to copy, including those that were written meanwhile.
func (k *checkpointer) copy(most int64) (left int64, err error) {
	k.copied.Store(k.pages.Load())
	k.most.Store(most)
	defer k.most.Store(0)
	if k.c == nil {
		if k.c, err = dialLog(k.path, 0); err != nil {
			return 0, err
		}
	}
	_, left, err = k.checkpoint(k.c, "PASSIVE")
	if err == nil {
		k.w.counters.checkpoints.Add(1)
	}
	return left*k.page + k.written(), err
}

// restart copies the rest of the log and makes it restart, on the writer's connection, while all updates of this
// process wait. It gives up after patience. The next commit writes to the beginning of the same file, and truncates it
// to logKept (journal_size_limit).
//
// Each attempt copies as much as it can and checks all readers. SQLite's own busy handler would wait for the same
// reader slot all the time, which new readers may have taken over meanwhile.
func (k *checkpointer) restart() (done bool, err error) {
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		done, _, err = k.checkpoint(k.w.c, "RESTART")
		if done || err != nil || time.Since(begun) > patience {
			return done, err
		}
	}
}

// checkpoint runs a checkpoint on one of the connections of this process when no other one of this process runs.
func (k *checkpointer) checkpoint(c *conn, mode string) (done bool, left int64, err error) {
	k.one.Lock()
	defer k.one.Unlock()
	done, _, left, err = c.checkpoint(mode)
	return done, left, err
}

// close waits for run and closes the connection. It is called when run cannot start again.
func (k *checkpointer) close() error {
	close(k.closing)
	k.runs.Wait()
	if k.c == nil {
		return nil
	}
	return k.c.close()
}

// dialLog opens a connection for checkpoints. They wait for the disk: when the copied log is overwritten, only the file
// has its updates.
func dialLog(path string, busy time.Duration) (*conn, error) {
	return dial(path, "mode=rw", busyPragma(busy), "synchronous=FULL", "checkpoint_fullfsync=1", "trusted_schema=0")
}

// checkpoint runs a checkpoint of this mode. done is false if a reader kept a RESTART or TRUNCATE from emptying the
// log, or if another checkpoint is running. A PASSIVE one copies what it can and is done with that, and a NOOP copies
// nothing. pages is how many pages of the log are in use, and left how many of these are not copied yet.
func (c *conn) checkpoint(mode string) (done bool, pages, left int64, err error) {
	c.broken = nil // there is no transaction to protect
	row, err := c.row("PRAGMA wal_checkpoint(" + mode + ")")
	if err != nil {
		return false, 0, 0, fmt.Errorf("checkpoint: %w", err)
	}
	pages = row[1].(int64)
	return row[0] == int64(0), pages, pages - row[2].(int64), nil
}
