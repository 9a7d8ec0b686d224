package assets

import (
	"sync"

	"github.com/vitrine-go/vitrine/internal/lru"
)

// trees is a cache of the trees of folders. Every request needs the whole tree of its library, since permissions are inherited along it.
// Reading and linking it anew would cost more than most requests.
//
// The cache needs no invalidation. Every change of a folder or a permission gives State.Tree a new random number, and a request reads
// that number in its own transaction. A cached tree with the same number is therefore the tree of that transaction, also if another
// process has changed the library since, or the change was rolled back.
type trees struct {
	known *lru.Cache[Library, knownTree] // one of each library

	mu      sync.Mutex
	reading map[int64]chan struct{} // the numbers of trees that are being read; closed at the end
}

type knownTree struct {
	number int64
	*tree
}

// The trees that a Service caches have at most maxCached folders and permissions together, which are some 300 bytes
// each. A small tree counts as one with a 256th of that, so there are at most 256 trees. Tests change it.
var maxCached = 1 << 19

func newTrees() *trees {
	return &trees{known: lru.New[Library, knownTree](maxCached), reading: map[int64]chan struct{}{}}
}

// of returns the tree of a library. Requests that need the same tree at the same time read it once: the first one reads it, and
// the others wait. Callers share the tree and do not change it.
//
// In an update nobody waits, and nobody is waited for: updates that share a transaction go on one after the other.
func (c *trees) of(r *records) (*tree, error) {
	for {
		if k, _ := c.known.Get(r.lib); k.tree != nil && k.number == r.state.Tree {
			return k.tree, nil
		}
		if r.tx != nil {
			return newTree(r.folders())
		}
		c.mu.Lock()
		other := c.reading[r.state.Tree]
		if other == nil {
			c.reading[r.state.Tree] = make(chan struct{})
		}
		c.mu.Unlock()
		if other == nil {
			return c.read(r)
		}
		select {
		case <-other: // it may have failed, maybe since its client has gone
		case <-r.ctx.Done():
			return nil, r.ctx.Err()
		}
	}
}

// read reads a tree into the cache.
func (c *trees) read(r *records) (*tree, error) {
	defer func() { // also if reading panics
		c.mu.Lock()
		defer c.mu.Unlock()
		close(c.reading[r.state.Tree])
		delete(c.reading, r.state.Tree)
	}()
	t, err := newTree(r.folders())
	if err == nil {
		c.known.Put(r.lib, knownTree{r.state.Tree, t}, max(len(t.nodes)+t.permissions, maxCached/256))
	}
	return t, err
}
