package storage

import (
	"strings"
	"sync"
)

// Bells are what a driver needs for Changed. The zero Bells are ready.
type Bells struct {
	mu     sync.Mutex
	wait   map[string]chan struct{} // by prefix: what the next Ring of a space below it closes
	closed bool
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

// Ring closes the channels of the prefixes of a space. A driver calls it after each commit, and when it does not know whether there was
// one.
func (b *Bells) Ring(space string) {
	b.ring(func(prefix string) bool { return strings.HasPrefix(space, prefix) })
}

// Awaited reports whether a channel that was asked for is not closed yet.
func (b *Bells) Awaited() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.wait) > 0
}

// RingAll closes all channels.
func (b *Bells) RingAll() { b.ring(func(string) bool { return true }) }

// Close closes all channels, and those that are asked for from now on.
func (b *Bells) Close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.RingAll()
}

func (b *Bells) ring(concerns func(prefix string) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for prefix, c := range b.wait {
		if concerns(prefix) {
			close(c)
			delete(b.wait, prefix)
		}
	}
}
