// Package wake tells those who follow a feed that it may have new entries.
package wake

import "sync"

// Bell wakes everybody who waits for it. The zero Bell is ready. While nobody waits, ringing costs one
// uncontended lock, and a waiter costs nothing but the shared channel.
type Bell struct {
	mu   sync.Mutex
	next chan struct{} // closed by the next Ring; nil = nobody waits
}

// Wait returns a channel that the next Ring closes.
func (b *Bell) Wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

// Ring closes the channel that Wait returned last. It reports whether there was one: whether Wait was called since the
// Ring before. Perhaps nobody waits for that channel any more; a Bell cannot tell.
func (b *Bell) Ring() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		return false
	}
	close(b.next)
	b.next = nil
	return true
}

// Awaited reports whether the next Ring would return true. It rings nothing.
func (b *Bell) Awaited() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.next != nil
}
