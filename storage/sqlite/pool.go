package sqlite

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// pool keeps readers' connections. They are opened when needed and kept for the next.
type pool struct {
	dial func() (*conn, error)
	free chan struct{} // holds a token for each connection that may be in use

	mu   sync.Mutex
	idle []*conn
}

func newPool(dial func() (*conn, error)) *pool {
	p := &pool{dial: dial, free: make(chan struct{}, max(64, 8*runtime.GOMAXPROCS(0)))}
	for range cap(p.free) {
		p.free <- struct{}{}
	}
	return p
}

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
	if c := p.last(); c != nil {
		return c, nil
	}
	c, err := p.dial()
	if err != nil {
		p.free <- struct{}{}
	}
	return c, err
}

// last returns the connection that was used last, whose memory is the warmest; nil without one.
func (p *pool) last() *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	c := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return c
}

// put takes a connection back, or closes it when it is of no more use.
func (p *pool) put(c *conn, usable bool) {
	if usable {
		p.mu.Lock()
		p.idle = append(p.idle, c)
		p.mu.Unlock()
	} else {
		c.close() // what was wrong with it has been reported
	}
	p.free <- struct{}{}
}

func (p *pool) close() error {
	var errs []error
	for _, c := range p.idle {
		errs = append(errs, c.close())
	}
	p.idle = nil
	return errors.Join(errs...)
}

// view runs fn on a reader's connection, in one snapshot.
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

// begin takes a snapshot, which holds every update acknowledged before. Pair it with end.
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
		c.at = stamp{} // a commit came in between: before or after the snapshot?
	} else {
		db.cache.adopt(before)
	}
	return c, nil
}

// end gives a snapshot back.
func (db *DB) end(c *conn) {
	c.closeRows()
	_, err := c.exec("ROLLBACK")
	db.readers.put(c, err == nil)
}
