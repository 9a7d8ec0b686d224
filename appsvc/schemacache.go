package appsvc

import (
	"crypto/sha256"
	"sync"

	"github.com/vitrine-go/vitrine/internal/lru"
)

// Bounds of a schemaCache: the number of schemas, and their bytes of memory as the guard estimates them. When one is exceeded,
// the schemas that were not used for the longest time are evicted.
const (
	maxCachedSchemas = 512
	maxCachedBytes   = 64 << 20
)

// schemaCache keeps the compiled schemas that were used last. Compiling takes much longer than validating one config, and
// a patch usually validates one. The keys are digests of the schemas, so two components share an entry only if they have
// the same schema, and a component that was deleted and created again gets no old entry. It is safe for concurrent use. The
// zero value is empty.
type schemaCache struct {
	mu      sync.Mutex
	entries *lru.Cache[[sha256.Size]byte, *schemaEntry] // nil before the first
}

// schemaEntry is a schema in the cache. Its once compiles it, so that all calls that want it at the same time wait for one
// compilation; the lock of the cache is not held meanwhile.
type schemaEntry struct {
	key      [sha256.Size]byte
	once     sync.Once
	compiled *compiledSchema
	err      error
}

// leastSize is the size that a schema counts at least, which bounds the number of schemas.
const leastSize = maxCachedBytes / maxCachedSchemas

// get returns the compiled form of schema, or the error of compiling it. Calls at the same time compile it only once. An
// error is not cached for later calls.
func (c *schemaCache) get(schema []byte, compile func([]byte) (*compiledSchema, error)) (*compiledSchema, error) {
	entry := c.entry(schema)
	entry.once.Do(func() {
		entry.compiled, entry.err = compile(schema)
		c.weigh(entry)
	})
	return entry.compiled, entry.err
}

// entry returns the entry of a schema. If there is none, it adds one, which is not compiled yet. It holds the lock only for the
// look-up: the caller compiles the schema without it.
func (c *schemaCache) entry(schema []byte) *schemaEntry {
	key := sha256.Sum256(schema)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = lru.New[[sha256.Size]byte, *schemaEntry](maxCachedBytes)
	}
	entry, found := c.entries.Get(key)
	if !found {
		entry = &schemaEntry{key: key}
		c.entries.Put(key, entry, leastSize) // its weight is known when it is compiled
	}
	return entry
}

// weigh gives a compiled entry its size, unless it was evicted meanwhile; then the calls that have it use it, and it is compiled
// again for later ones. It removes an entry that did not compile, so that an error does not stay.
func (c *schemaCache) weigh(entry *schemaEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch have, found := c.entries.Get(entry.key); {
	case !found || have != entry:
	case entry.err != nil:
		c.entries.Remove(entry.key)
	default:
		c.entries.Put(entry.key, entry, max(entry.compiled.guard.Weight(), leastSize))
	}
}
