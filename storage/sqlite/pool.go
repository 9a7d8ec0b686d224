package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// pool has the connections of readers. It opens them when needed and keeps them for later Views. One View has a connection at a
// time, since a connection has one snapshot.
type pool struct {
	dial func() (*conn, error)
	free chan struct{} // has a token for each further connection that may be used

	mu   sync.Mutex
	idle []*conn
	busy map[*conn]time.Time // since when each connection has had its snapshot
	held chan struct{}       // closed when Views may begin again; nil while they may
}

// mostReaders is how many connections readers may have at a time.
func mostReaders() int { return max(64, 8*runtime.GOMAXPROCS(0)) }

// readersPages is how many KiB of pages the connections of all readers keep together at most, and pagesOfReader how many
// KiB one of them keeps at most. SQLite allocates about twice as much for them, which Go's memory limit does not count. A
// connection that is idle keeps its pages.
const (
	readersPages  = 48 << 10
	pagesOfReader = 2000
)

// readerCache is the pragma that bounds the pages of one reader's connection.
func readerCache() string {
	return fmt.Sprintf("cache_size=-%d", min(pagesOfReader, readersPages/mostReaders()))
}

// newPool returns a pool of the connections that dial opens.
func newPool(dial func() (*conn, error)) *pool {
	p := &pool{dial: dial, busy: map[*conn]time.Time{}, free: make(chan struct{}, mostReaders())}
	for range cap(p.free) {
		p.free <- struct{}{}
	}
	return p
}

// get returns a connection for a View, and waits for one if all are in use. It returns the error of ctx if ctx ends before. The
// caller calls put later.
func (p *pool) get(ctx context.Context) (*conn, error) {
	select {
	case <-p.free:
	default:
		select {
		case <-p.free:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	c, err := p.take(ctx)
	if err != nil {
		p.free <- struct{}{}
	}
	return c, err
}

// count returns how many connections are open, and how many of them have a View.
func (p *pool) count() (open, busy int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle) + len(p.busy), len(p.busy)
}

// take waits while Views may not begin. It returns the idle connection that was used last, whose page cache is the
// warmest, or a new one.
func (p *pool) take(ctx context.Context) (*conn, error) {
	p.mu.Lock()
	for p.held != nil {
		held := p.held
		p.mu.Unlock()
		select {
		case <-held:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		p.mu.Lock()
	}
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.busy[c] = time.Now()
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	c, err := p.dial()
	if err == nil {
		p.mu.Lock()
		p.busy[c] = time.Now()
		p.mu.Unlock()
	}
	return c, err
}

// hold makes new Views wait until release is called.
func (p *pool) hold() (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	held := make(chan struct{})
	p.held = held
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.held = nil
		close(held)
	}
}

// running returns the number of Views that have a connection.
func (p *pool) running() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.busy)
}

// longest returns the age of the oldest running View, 0 if none runs.
func (p *pool) longest() (age time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, since := range p.busy {
		age = max(age, time.Since(since))
	}
	return age
}

// put returns a connection to the pool, or closes it if it is not usable.
func (p *pool) put(c *conn, usable bool) {
	p.mu.Lock()
	delete(p.busy, c)
	if usable {
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
	if !usable {
		c.close() // its error has been reported already
	}
	p.free <- struct{}{}
}

// close closes all connections. It is called when no View runs any more and none can begin.
func (p *pool) close() error {
	var errs []error
	for _, c := range p.idle {
		errs = append(errs, c.close())
	}
	p.idle = nil
	return errors.Join(errs...)
}

// view runs fn once, on a reader's connection and in one snapshot. fn must not keep the connection.
func (db *DB) view(ctx context.Context, fn func(*conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := db.enter(); err != nil {
		return err
	}
	defer db.users.Done()
	c, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer db.end(c)
	return fn(c)
}

// begin takes a snapshot, which has every update that was acknowledged before begin was called. The caller must call end.
func (db *DB) begin(ctx context.Context) (*conn, error) {
	c, err := db.readers.get(ctx)
	if err != nil {
		return nil, err
	}
	before := db.watch.now()
	_, err = c.exec("BEGIN")
	if err == nil {
		_, err = c.value("SELECT 1 FROM sqlite_schema") // the first read takes the snapshot
	}
	if err != nil {
		db.readers.put(c, false)
		return nil, err
	}
	c.at = before
	if db.watch.now() != before {
		c.at = stamp{} // a commit came in between, and may be in the snapshot or not
	} else {
		db.cache.adopt(before)
	}
	return c, nil
}

// end ends a snapshot and returns its connection to the pool. It closes the rows that the View has left open.
func (db *DB) end(c *conn) {
	c.closeRows()
	_, err := c.exec("ROLLBACK")
	db.readers.put(c, err == nil)
}
