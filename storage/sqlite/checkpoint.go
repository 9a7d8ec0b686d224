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
//   - If the log has logShort or more, it then makes the updates of this process wait, for about patience at most. Readers
//     that begin meanwhile do not use the log. When the older readers have ended, the log restarts (RESTART).
//   - If the log has logLong or more, it first makes new Views wait until the running ones have ended, for longView at most:
//     a View may take longer than an update should wait.
//
// It does not wait for a View that has run for longView already, such as a backup: the log cannot restart before it ends.
//
// It runs in a goroutine. A commit starts the goroutine when there is enough to copy; the goroutine ends when the log is
// shorter than logLong.
type checkpointer struct {
	path    string
	w       *writer
	readers *pool
	page    int64         // bytes
	closing chan struct{} // closed when the store is closed
	runs    sync.WaitGroup
	c       *conn // nil before the first checkpoint

	running atomic.Bool
	most    atomic.Int64 // bytes that updates may write during the running copy before each is delayed; 0 = no copy runs
	pages   atomic.Int64 // of the log, after the last commit of this process
	copied  atomic.Int64 // pages of the log when the last copy began
	delayed atomic.Int32 // how often Views were made to wait
}

// Sizes of the log, in bytes.
const (
	logCopied = 4 << 20   // the log is copied each time that it has grown by this
	logShort  = 16 << 20  // a log of this size is made to restart while updates wait
	logLong   = 32 << 20  // and at this size new Views wait too
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

// run works until the log is short, or until the disk fails. Then updates fail too, and a later commit starts run again.
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
	left, err := k.copy(logShort)
	if err != nil || size < logShort {
		return true, err
	}
	if _, _, age := k.readers.count(); age > longView {
		return size < logLong, nil
	}
	if size >= logLong {
		k.delayed.Add(1)
		k.readers.gate.Lock()
		defer k.readers.gate.Unlock()
		for end := time.Now().Add(longView); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if _, busy, _ := k.readers.count(); busy == 0 {
				break
			}
		}
	}
	// Each copy copies what was written during the one before, and allows fewer writes meanwhile.
	for most := int64(logShort / 2); most >= logLeft && err == nil; most /= 2 {
		if left, err = k.copy(most); left < logLeft {
			break
		}
	}
	if err == nil && left <= logCopied {
		done, err = k.restart()
	}
	return done || size < logLong, err
}

// copy copies the part of the log that no reader blocks. When updates have written most bytes meanwhile, each commit is delayed. It
// returns how many bytes are left to copy, including those that were written meanwhile.
func (k *checkpointer) copy(most int64) (left int64, err error) {
	k.copied.Store(k.pages.Load())
	k.most.Store(most)
	defer k.most.Store(0)
	if k.c == nil {
		if k.c, err = dialLog(k.path, 0); err != nil {
			return 0, err
		}
	}
	_, _, pages, err := k.c.checkpoint("PASSIVE")
	if err == nil {
		k.w.counters.checkpoints.Add(1)
	}
	return pages*k.page + k.written(), err
}

// restart makes the log restart, while all updates of this process wait. It gives up after patience. The next commit
// writes to the beginning of the same file, and truncates it to logKept (journal_size_limit).
//
// Each attempt copies as much as it can and checks all readers. SQLite's own busy handler would wait for the same reader
// slot all the time, which new readers may have taken over meanwhile.
func (k *checkpointer) restart() (done bool, err error) {
	k.w.outside(func() {
		for begun := time.Now(); ; time.Sleep(time.Millisecond) {
			done, _, _, err = k.w.c.checkpoint("RESTART")
			if done || err != nil || time.Since(begun) > patience {
				return
			}
		}
	})
	return done, err
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

// dialLog opens a connection for checkpoints. They wait for the disk: when the copied log is overwritten, only the file has its
// updates.
func dialLog(path string, busy time.Duration) (*conn, error) {
	return dial(path, "mode=rw", busyPragma(busy), "synchronous=FULL", "checkpoint_fullfsync=1", "trusted_schema=0")
}

// checkpoint runs a checkpoint of this mode. done is false if a reader kept a RESTART or TRUNCATE from emptying the log, or if
// another checkpoint is running. A PASSIVE one copies what it can and is done with that, and a NOOP copies nothing. pages is how many
// pages of the log are in use, and left how many of these are not copied yet.
func (c *conn) checkpoint(mode string) (done bool, pages, left int64, err error) {
	c.broken = nil // there is no transaction to protect
	row, err := c.row("PRAGMA wal_checkpoint(" + mode + ")")
	if err != nil {
		return false, 0, 0, fmt.Errorf("checkpoint: %w", err)
	}
	pages = row[1].(int64)
	return row[0] == int64(0), pages, pages - row[2].(int64), nil
}
