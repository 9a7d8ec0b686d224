// Package lru is a cache that is bounded by the total size of its values. It evicts the least recently used values
// first.
package lru

import (
	"container/list"
	"sync"
)

// Cache keeps values up to a total size. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu     sync.Mutex
	limit  int
	size   int
	values map[K]*list.Element
	recent list.List // of *entry, most recently used first
}

// entry is a cached value, with its key, so that evicting it finds the key in the map.
type entry[K comparable, V any] struct {
	key   K
	value V
	size  int
}

// New returns an empty cache. limit is the maximum total size of its values.
func New[K comparable, V any](limit int) *Cache[K, V] {
	return &Cache[K, V]{limit: limit, values: map[K]*list.Element{}}
}

// Get returns the value of a key, if it is cached, and marks it as used.
func (c *Cache[K, V]) Get(key K) (value V, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, found := c.values[key]
	if !found {
		return value, false
	}
	c.recent.MoveToFront(at)
	return at.Value.(*entry[K, V]).value, true
}

// Put caches a value and its size, in place of one with the same key. It evicts the least recently used values until
// the total size is within the limit. It never evicts the new value.
func (c *Cache[K, V]) Put(key K, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, found := c.values[key]; found {
		c.remove(at)
	}
	c.values[key] = c.recent.PushFront(&entry[K, V]{key, value, size})
	c.size += size
	for c.size > c.limit && c.recent.Len() > 1 {
		c.remove(c.recent.Back())
	}
}

// remove removes a value. The caller must have locked mu.
func (c *Cache[K, V]) remove(at *list.Element) {
	e := c.recent.Remove(at).(*entry[K, V])
	delete(c.values, e.key)
	c.size -= e.size
}

// Len returns the number of values.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.values)
}

// Size returns the total size of all values.
func (c *Cache[K, V]) Size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}
