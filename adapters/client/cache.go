package client

import (
	"container/list"
	"sync"
)

// cache keeps answers by their address, the latest used ones, up to a number of bytes. What it gives is
// asked for again with If-None-Match, so that the service decides each time who may read it.
type cache struct {
	mu    sync.Mutex
	most  int        // bytes
	room  int        // of these that are free
	order *list.List // of kept, the latest used first
	by    map[string]*list.Element
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
	return &cache{most: bytes, room: bytes, order: list.New(), by: map[string]*list.Element{}}
}

// get returns what is kept of an address, with an empty etag when that is nothing.
func (c *cache) get(url string) kept {
	if c == nil {
		return kept{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.by[url]
	if e == nil {
		return kept{}
	}
	c.order.MoveToFront(e)
	return e.Value.(kept)
}

func (c *cache) put(k kept) {
	if c == nil || k.etag == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.by[k.url]; e != nil {
		c.drop(e)
	}
	if k.size() > c.most { // it would push out all the others, and then itself
		return
	}
	c.by[k.url] = c.order.PushFront(k)
	for c.room -= k.size(); c.room < 0; {
		c.drop(c.order.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	k := c.order.Remove(e).(kept)
	delete(c.by, k.url)
	c.room += k.size()
}
