// Package wake tells those who follow a feed that it may have grown.
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

// Ring wakes everybody who waits. It reports whether somebody did.
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

// Awaited reports whether somebody waits.
func (b *Bell) Awaited() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.next != nil
}
