package storage

import (
	"strings"
	"sync"
	"time"
)

// Bells implements Store.Changed for a driver. The zero value is ready.
type Bells struct {
	mu     sync.Mutex
	wait   map[string]chan struct{} // by prefix: the channel that the next Ring of a space below it closes
	closed bool

	looking bool          // the goroutine of Watch runs
	quit    chan struct{} // ends it; nil before the first Watch
	looks   sync.WaitGroup
}

// Watch polls: it calls look at this interval while somebody waits, until Close. In look a driver rings for the commits
// of other processes. A driver calls Watch after Changed; if the polling goroutine runs already, Watch does nothing.
func (b *Bells) Watch(every time.Duration, look func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.looking {
		return
	}
	if b.looking = true; b.quit == nil {
		b.quit = make(chan struct{})
	}
	b.looks.Go(func() {
		for on := true; on; {
			select {
			case <-time.After(every):
			case <-b.quit:
				return
			}
			look()
			b.mu.Lock()
			b.looking = len(b.wait) > 0
			on = b.looking
			b.mu.Unlock()
		}
	})
}

// Changed is the method of Store.
func (b *Bells) Changed(prefix string) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.wait[prefix]
	if c == nil {
		c = make(chan struct{})
		if b.closed {
			close(c)
			return c
		}
		if b.wait == nil {
			b.wait = map[string]chan struct{}{}
		}
		b.wait[prefix] = c
	}
	return c
}

// Ring closes the channels of all prefixes of a space, and with "" all channels. A driver calls it after each commit,
// and when the outcome of one is unknown.
func (b *Bells) Ring(space string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for prefix, c := range b.wait {
		if space == "" || strings.HasPrefix(space, prefix) {
			close(c)
			delete(b.wait, prefix)
		}
	}
}

// Close closes all channels, and those that Changed returns from now on. It waits for a look that runs.
func (b *Bells) Close() {
	b.mu.Lock()
	b.closed = true
	if b.quit != nil {
		close(b.quit)
	}
	b.mu.Unlock()
	b.Ring("")
	b.looks.Wait()
}
