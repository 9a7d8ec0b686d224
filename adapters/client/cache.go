package client

import "github.com/vitrine-go/vitrine/internal/lru"

// cache keeps the bodies of the responses that were used last, by address, up to a number of bytes. The client asks for
// each of them again with If-None-Match, so that the service decides each time who may read it. A nil cache keeps
// nothing. It is safe for concurrent use.
type cache struct {
	most int // bytes
	by   *lru.Cache[string, kept]
}

// kept is one entry of the cache.
type kept struct {
	url, etag string
	body      []byte
}

// overhead is about what an entry takes beside its texts.
const overhead = 200

// size is what an entry counts of the bytes of the cache.
func (k kept) size() int { return len(k.url) + len(k.etag) + len(k.body) + overhead }

// newCache returns a cache of so many bytes, nil for none.
func newCache(bytes int) *cache {
	if bytes <= 0 {
		return nil
	}
	return &cache{most: bytes, by: lru.New[string, kept](bytes)}
}

// get returns the entry of an address. Its etag is empty if there is none.
func (c *cache) get(url string) kept {
	if c == nil {
		return kept{}
	}
	k, _ := c.by.Get(url)
	return k
}

// put keeps a body under its address, in place of an older one. A response without an ETag is not kept, since nothing could
// be asked about it, and neither is a body that is larger than the whole cache.
func (c *cache) put(k kept) {
	if c == nil || k.etag == "" {
		return
	}
	if k.size() > c.most { // it would push out all the others
		c.by.Remove(k.url)
		return
	}
	c.by.Put(k.url, k, k.size())
}
