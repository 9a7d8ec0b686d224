package sqlite

import (
	"sync"
	"time"

	"github.com/vitrine-go/vitrine/storage/internal/wake"
)

// changed wakes the followers of feeds of changes. Updates of this process ring the bell after their commit. While a follower
// waits, a goroutine polls the stamp of the store, and rings the bell after commits of other processes.
type changed struct {
	bell wake.Bell

	mu      sync.Mutex
	polling bool // the goroutine runs
}

const (
	pollEvery = 100 * time.Millisecond
	idlePolls = 50 // the goroutine ends after about this many polls without a follower: five seconds
)

// Changed returns a channel that is closed after the next commit of any process, as DB.wait says.
func (s appStore) Changed() <-chan struct{} { return s.db.wait() }

// wait returns a channel that is closed after the next commit: at once after a commit of this process, and within about pollEvery
// after one of another process. If the store is closed, or is closed before, the channel is closed too. wait starts the goroutine
// that polls, unless it runs.
func (db *DB) wait() <-chan struct{} {
	wait := db.changed.bell.Wait()
	db.changed.mu.Lock()
	defer db.changed.mu.Unlock()
	if db.changed.polling {
		return wait
	}
	if db.enter() != nil { // the store is closed, which followers find out when they are woken
		db.changed.bell.Ring()
		return wait
	}
	db.changed.polling = true
	go db.poll(db.watch.now())
	return wait
}

// poll rings the bell each time that the stamp has changed. It ends after idlePolls polls without a follower, and when the
// store is closed.
func (db *DB) poll(before stamp) {
	defer db.users.Done()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for idle := 0; ; {
		select {
		case <-tick.C:
		case <-db.log.closing:
			db.changed.mu.Lock()
			db.changed.polling = false
			db.changed.mu.Unlock()
			db.changed.bell.Ring()
			return
		}
		if now := db.watch.now(); now != before {
			before = now
			db.changed.bell.Ring()
		}
		idle++
		if db.changed.bell.Awaited() {
			idle = 0
		}
		if idle > idlePolls && db.stopPolling() {
			return
		}
	}
}

// stopPolling reports whether no follower waits. Then the next follower starts another goroutine.
func (db *DB) stopPolling() bool {
	db.changed.mu.Lock()
	defer db.changed.mu.Unlock()
	db.changed.polling = db.changed.bell.Awaited()
	return !db.changed.polling
}
