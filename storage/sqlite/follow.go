package sqlite

import (
	"sync"
	"time"

	"github.com/vitrine-go/vitrine/storage/internal/wake"
)

// changed wakes those who follow a feed of changes. Updates of this process ring the bell after their commit. While
// somebody waits, a goroutine compares the stamp of the store, so that commits of other processes ring it too.
type changed struct {
	bell wake.Bell

	mu      sync.Mutex
	looking bool // the goroutine runs
}

const (
	lookEvery = 100 * time.Millisecond
	lookOn    = 50 // times that the goroutine goes on looking after the last one who waited
)

// Changed returns a channel that is closed after the next commit of a process.
func (s appStore) Changed() <-chan struct{} { return s.db.wait() }

func (db *DB) wait() <-chan struct{} {
	wait := db.changed.bell.Wait()
	db.changed.mu.Lock()
	defer db.changed.mu.Unlock()
	if db.changed.looking {
		return wait
	}
	if db.enter() != nil { // the store is closed: who waits shall find out
		db.changed.bell.Ring()
		return wait
	}
	db.changed.looking = true
	go db.look(db.watch.now())
	return wait
}

// look rings the bell when the stamp is another one than before. It ends some time after nobody waits, and when the
// store is closed.
func (db *DB) look(before stamp) {
	defer db.users.Done()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for alone := 0; ; {
		select {
		case <-tick.C:
		case <-db.log.closing:
			db.changed.mu.Lock()
			db.changed.looking = false
			db.changed.mu.Unlock()
			db.changed.bell.Ring()
			return
		}
		if now := db.watch.now(); now != before {
			before = now
			db.changed.bell.Ring()
		}
		alone++
		if db.changed.bell.Awaited() {
			alone = 0
		}
		if alone > lookOn && db.stopLooking() {
			return
		}
	}
}

// stopLooking reports whether nobody waits; then the next one who does starts another goroutine.
func (db *DB) stopLooking() bool {
	db.changed.mu.Lock()
	defer db.changed.mu.Unlock()
	db.changed.looking = db.changed.bell.Awaited()
	return !db.changed.looking
}
