package appsvc

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// Bounds of a schemaCache: schemas, and bytes of their texts. A compiled schema takes some forty
// times its text.
const (
	maxCachedSchemas = 512
	maxCachedBytes   = 2 << 20
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
	size     int
	once     sync.Once
	compiled *compiledSchema
	err      error
}

// get returns the compiled form of schema. However many ask for it at a time, it is compiled once.
func (c *schemaCache) get(schema []byte, compile func([]byte) (*compiledSchema, error)) (*compiledSchema, error) {
	entry := c.entry(schema)
	entry.once.Do(func() { entry.compiled, entry.err = compile(schema) })
	if entry.err != nil {
		c.forget(entry)
	}
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
	entry := &schemaEntry{key: key, size: len(schema)}
	if c.entries == nil {
		c.entries = map[[sha256.Size]byte]*list.Element{}
	}
	c.entries[key] = c.recent.PushFront(entry)
	c.bytes += entry.size
	for c.recent.Len() > 1 && (c.recent.Len() > maxCachedSchemas || c.bytes > maxCachedBytes) {
		c.remove(c.recent.Back())
	}
	return entry
}

// forget removes entry, unless it is gone already.
func (c *schemaCache) forget(entry *schemaEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.entries[entry.key]; ok && at.Value == entry {
		c.remove(at)
	}
}

func (c *schemaCache) remove(at *list.Element) {
	entry := c.recent.Remove(at).(*schemaEntry)
	delete(c.entries, entry.key)
	c.bytes -= entry.size
}
