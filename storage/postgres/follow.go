package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/vitrine-go/vitrine/storage/internal/wake"
)

// changed wakes those who follow a feed of changes. An update of this process rings the bell after its commit. While somebody
// waits, a goroutine polls the ends of the feeds and rings the bell when they move: after commits of other processes, and after
// commits of this process whose entries could not be read at once, because another transaction was open.
type changed struct {
	bell wake.Bell
	soon chan struct{} // has a token if the goroutine is to poll soon

	mu      sync.Mutex
	looking bool // the goroutine runs
}

const (
	lookSoon = 2 * time.Millisecond   // the first interval between two polls; each later one is twice as long
	lookLate = 200 * time.Millisecond // the longest interval
	lookOn   = 25                     // about how often the goroutine polls after nobody waits any more: five seconds
)

// Changed returns a channel that is closed when the feed may have new entries, as DB.wait says.
func (s appStore) Changed() <-chan struct{} { return s.db.wait() }

// wait returns a channel that is closed when a feed may have new entries: at once after a commit of this process, and within
// about lookLate after one of another process. If the store is closed, or is closed before, the channel is closed too. wait starts
// the goroutine that polls, unless it runs.
func (db *DB) wait() <-chan struct{} {
	wait := db.changed.bell.Wait()
	db.changed.mu.Lock()
	defer db.changed.mu.Unlock()
	if db.changed.looking {
		return wait
	}
	if db.enter() != nil { // the store is closed, which those who wait find out when they are woken
		db.changed.bell.Ring()
		return wait
	}
	db.changed.looking = true
	go db.look()
	return wait
}

// committed is called after each update, whether it was committed or not. If somebody waits, the goroutine polls soon, since the
// entries may become readable a little later.
func (c *changed) committed() {
	if c.bell.Ring() {
		select {
		case c.soon <- struct{}{}:
		default:
		}
	}
}

// look polls the ends of the feeds and rings the bell when they move. It returns some time after nobody waits any more, and
// when the store is closed.
func (db *DB) look() {
	defer db.users.Done()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-db.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	var before []row
	pause := lookSoon
	for alone := 0; ; {
		select {
		case <-time.After(pause):
			pause = min(2*pause, lookLate)
		case <-db.changed.soon:
			pause = lookSoon
		case <-ctx.Done():
			db.changed.mu.Lock()
			db.changed.looking = false
			db.changed.mu.Unlock()
			db.changed.bell.Ring()
			return
		}
		if now, err := db.feedEnds(ctx); err == nil && !sameRows(before, now) {
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

// feedEnds returns rows that change when a feed has new entries to read, or another identity, which makes all cursors
// invalid.
func (db *DB) feedEnds(ctx context.Context) (ends []row, err error) {
	const sql = "(SELECT round, number FROM app_change WHERE round < " + xmin + ` ORDER BY round DESC, number DESC LIMIT 1)
		UNION ALL (SELECT round, -number FROM asset_change WHERE round < ` + xmin + ` ORDER BY round DESC, number DESC LIMIT 1)
		UNION ALL SELECT hashtextextended(encode(identity, 'hex'), 0), 0 FROM feed`
	err = db.view(ctx, func(c *conn) error {
		found, ok := c.alone(ctx, sql)
		if !ok {
			found = c.query(ctx, sql)
		}
		ends = found.values
		return found.err
	})
	return ends, err
}

// stopLooking reports whether the goroutine may end, because nobody waits. The next one who waits starts another goroutine.
func (db *DB) stopLooking() bool {
	db.changed.mu.Lock()
	defer db.changed.mu.Unlock()
	db.changed.looking = db.changed.bell.Awaited()
	return !db.changed.looking
}
