package appsvc

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// Bounds of a schemaCache: schemas, and bytes of memory that they take by the guard's estimate.
const (
	maxCachedSchemas = 512
	maxCachedBytes   = 64 << 20
)

// schemaCache keeps the schemas that were used last, by their content, so that two components can
// share an entry only where they have the same schema. The zero value is empty.
type schemaCache struct {
	mu      sync.Mutex
	entries map[[sha256.Size]byte]*list.Element
	recent  list.List // of *schemaEntry, the last used first
	bytes   int
}

type schemaEntry struct {
	key      [sha256.Size]byte
	weight   int // 0 until it is compiled
	once     sync.Once
	compiled *compiledSchema
	err      error
}

// get returns the compiled form of schema. However many ask for it at a time, it is compiled once.
func (c *schemaCache) get(schema []byte, compile func([]byte) (*compiledSchema, error)) (*compiledSchema, error) {
	entry := c.entry(schema)
	entry.once.Do(func() {
		entry.compiled, entry.err = compile(schema)
		c.weigh(entry)
	})
	return entry.compiled, entry.err
}

func (c *schemaCache) entry(schema []byte) *schemaEntry {
	key := sha256.Sum256(schema)
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.entries[key]; ok {
		c.recent.MoveToFront(at)
		return at.Value.(*schemaEntry)
	}
	entry := &schemaEntry{key: key}
	if c.entries == nil {
		c.entries = map[[sha256.Size]byte]*list.Element{}
	}
	c.entries[key] = c.recent.PushFront(entry)
	c.shrink()
	return entry
}

// weigh counts an entry that was compiled, unless it is gone already, or drops it if it was not.
func (c *schemaCache) weigh(entry *schemaEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.entries[entry.key]
	if !ok || at.Value != entry {
		return
	}
	if entry.err != nil {
		c.remove(at)
		return
	}
	entry.weight = entry.compiled.guard.Weight()
	c.bytes += entry.weight
	c.shrink()
}

// shrink removes what was not used for the longest time while there is too much.
func (c *schemaCache) shrink() {
	for c.recent.Len() > 1 && (c.recent.Len() > maxCachedSchemas || c.bytes > maxCachedBytes) {
		c.remove(c.recent.Back())
	}
}

func (c *schemaCache) remove(at *list.Element) {
	entry := c.recent.Remove(at).(*schemaEntry)
	delete(c.entries, entry.key)
	c.bytes -= entry.weight
}
