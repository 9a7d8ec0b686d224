package appsvc

import (
	"bytes"
	"context"
	"maps"
	"sync"

	"github.com/vitrine-go/vitrine/internal/lru"
)

// componentCache keeps the versions of components that patches used last, so that a patch reads components only in its
// transaction. They may have changed since: another Service may have deleted a component, and added another one with the
// same name and version. So no error is returned because of a cached component. It is read again first.
// The zero value is empty.
type componentCache struct {
	mu      sync.Mutex
	entries *lru.Cache[ComponentRef, Component] // nil before the first
}

// Bounds of a componentCache: bytes, and the size of a component at least, which bounds their number.
const (
	maxComponentBytes = 8 << 20
	leastComponent    = 4 << 10
)

func (c *componentCache) put(used map[ComponentRef]Component) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = lru.New[ComponentRef, Component](maxComponentBytes)
	}
	for ref, component := range used {
		c.entries.Put(ref, component, max(leastComponent, len(component.Manifest)+len(component.Main)))
	}
}

func (c *componentCache) drop(used map[ComponentRef]Component) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ref := range used {
		c.entries.Remove(ref)
	}
}

// of returns the components of the written elements of a draft. ok is false unless all are cached.
func (c *componentCache) of(d draft) (used map[ComponentRef]Component, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	used = map[ComponentRef]Component{}
	for _, e := range d.elements {
		if _, known := used[e.ref]; known || !e.written() {
			continue
		}
		if c.entries == nil {
			return nil, false
		}
		component, found := c.entries.Get(e.ref)
		if !found {
			return nil, false
		}
		used[e.ref] = component
	}
	return used, true
}

// completeCached is complete with cached components, if all of them are cached; then cached is true. An error that cached
// components lead to is returned only if they are unchanged in the store.
func (s *Service) completeCached(ctx context.Context, at string, d draft) (_ draft, used map[ComponentRef]Component, cached bool, err error) {
	used, cached = s.components.of(d)
	if cached {
		completed, err := s.completeWith(used, at, d)
		if err == nil {
			return completed, used, true, nil
		}
		now, readErr := s.readComponents(ctx, at, d)
		if readErr != nil {
			s.components.drop(used)
			return draft{}, nil, false, readErr
		}
		if maps.EqualFunc(now, used, func(a, b Component) bool { return bytes.Equal(a.Manifest, b.Manifest) }) {
			return draft{}, nil, false, err
		}
	}
	completed, used, err := s.complete(ctx, at, d)
	if err == nil {
		s.components.put(used)
	}
	return completed, used, false, err
}
