package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// pool has the connections of Views. It opens them when needed and keeps them for later Views. A connection has one
// View at a time, since it has one snapshot.
type pool struct {
	dial func() (*conn, error)
	used chan struct{} // has a token for each View that has a connection or is about to get one

	mu     sync.Mutex
	idle   []*conn
	busy   map[*conn]time.Time // since when each connection has its View
	begun  int                 // Views that have a connection or open one
	pauses int                 // how many callers of pause let no View begin
	resume *sync.Cond          // tells the waiting Views that pauses is 0
}

// mostReaders is how many connections Views may have at a time.
func mostReaders() int { return max(64, 8*runtime.GOMAXPROCS(0)) }

// readersPages is the limit of the page caches of all Views together in KiB, and pagesOfReader the limit of one of
// them. SQLite allocates about twice as much for them, which Go's memory limit does not count. A connection that is
// idle keeps its cache.
const (
	readersPages  = 48 << 10
	pagesOfReader = 2000
)

// readerCache is the pragma that limits the page cache of one View's connection.
func readerCache() string {
	return fmt.Sprintf("cache_size=-%d", min(pagesOfReader, readersPages/mostReaders()))
}

// newPool returns a pool of the connections that dial opens.
func newPool(dial func() (*conn, error)) *pool {
	p := &pool{dial: dial, busy: map[*conn]time.Time{}, used: make(chan struct{}, mostReaders())}
	p.resume = sync.NewCond(&p.mu)
	return p
}

// get returns a connection for a View: the idle one that was used last, whose page cache is the warmest, or a new one.
// It waits if all are in use, and while Views may not begin. It returns the error of ctx if ctx ends before. The caller
// calls put later.
func (p *pool) get(ctx context.Context) (c *conn, err error) {
	select {
	case p.used <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.pauses > 0 { // for a fraction of a second
		p.resume.Wait()
	}
	p.begun++
	if n := len(p.idle); n > 0 {
		c, p.idle = p.idle[n-1], p.idle[:n-1]
	} else {
		p.mu.Unlock()
		c, err = p.dial()
		p.mu.Lock()
	}
	if err != nil {
		p.begun--
		<-p.used
		return nil, err
	}
	p.busy[c] = time.Now()
	return c, nil
}

// put returns a connection to the pool, or closes it if it is not usable.
func (p *pool) put(c *conn, usable bool) {
	p.mu.Lock()
	delete(p.busy, c)
	p.begun--
	if usable {
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
	if !usable {
		c.close() // its error has been reported already
	}
	<-p.used
}

// pause lets no View begin until do has returned. It calls do when the running Views have ended, after limit, or when
// one of them has run for limit.
func (p *pool) pause(limit time.Duration, do func()) {
	p.mu.Lock()
	p.pauses++
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.pauses--; p.pauses == 0 {
			p.resume.Broadcast()
		}
	}()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, busy, age := p.count(); busy == 0 || age > limit {
			break
		}
	}
	do()
}

// count returns how many connections are open, how many of them have a View, and the age of the oldest of these Views.
func (p *pool) count() (open, busy int, age time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, since := range p.busy {
		age = max(age, time.Since(since))
	}
	return len(p.idle) + len(p.busy), p.begun, age
}

// close closes all connections. It is called when no View runs any more and none can begin.
func (p *pool) close() error {
	var err error
	for _, c := range p.idle {
		err = errors.Join(err, c.close())
	}
	return err
}
