package client

import (
	"sync"

	"github.com/vitrine-go/vitrine/internal/lru"
)

// cache keeps answers by their address, the latest used ones, up to a number of bytes. What it gives is
// asked for again with If-None-Match, so that the service decides each time who may read it.
type cache struct {
	most int // bytes
	mu   sync.Mutex
	by   *lru.Cache[string, kept]
}

type kept struct {
	url, etag string
	body      []byte
}

// overhead is about what an entry takes beside its texts.
const overhead = 200

func (k kept) size() int { return len(k.url) + len(k.etag) + len(k.body) + overhead }

// newCache returns a cache of so many bytes, nil for none.
func newCache(bytes int) *cache {
	if bytes <= 0 {
		return nil
	}
	return &cache{most: bytes, by: lru.New[string, kept](bytes)}
}

// get returns what is kept of an address, with an empty etag when that is nothing.
func (c *cache) get(url string) kept {
	if c == nil {
		return kept{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k, _ := c.by.Get(url)
	return k
}

func (c *cache) put(k kept) {
	if c == nil || k.etag == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k.size() > c.most { // it would push out all the others
		c.by.Remove(k.url)
		return
	}
	c.by.Put(k.url, k, k.size())
}
