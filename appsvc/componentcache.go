package appsvc

import (
	"bytes"
	"context"
	"maps"
	"sync"

	"github.com/vitrine-go/vitrine/internal/lru"
)

// componentCache keeps the versions of components that patches used last, so that a patch needs no View of its own to
// read them. On PostgreSQL this saves one of four round trips to the server: a tenth to a fifth of the time of a patch if
// a round trip takes half a millisecond. In memory and SQLite it saves too little to measure.
//
// A cached component may be out of date: another Service may have deleted it, and may have created another one
// with the same name and version. So a cached component decides nothing. The transaction of the patch reads all components
// again, and a patch that fails because of a cached one is tried again with the components as they are in the store.
//
// It is safe for concurrent use. The zero value is empty.
type componentCache struct {
	mu      sync.Mutex
	entries *lru.Cache[ComponentRef, Component] // nil before the first
}

// Bounds of a componentCache: its bytes, and the bytes that a component counts at least. The latter bounds the number of
// components to 2,048.
const (
	maxComponentBytes = 8 << 20
	leastComponent    = 4 << 10
)

// put adds components as they were read from the store, or replaces those that were cached. It evicts those that were not used
// for the longest time.
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

// drop removes components of which at least one is not as it is in the store. The caller does not know which one, so all are
// read again.
func (c *componentCache) drop(used map[ComponentRef]Component) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ref := range used {
		c.entries.Remove(ref)
	}
}

// of returns the components of the written elements of a draft. ok is false unless all are cached: if one must be read from the
// store, all are read there, in one View.
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

// validateDraftCached is validateDraft, with cached components if all that the draft needs are cached.
//
// cached is true if the result was made from cached components; the transaction may then find them changed. An error is
// returned only if the components in the store lead to it: if cached ones do, validateDraftCached reads them again. If the store
// has the same ones, the error stands; otherwise the draft is completed with those of the store.
func (s *Service) validateDraftCached(ctx context.Context, at string, d draft) (_ draft, used map[ComponentRef]Component, cached bool, err error) {
	used, cached = s.components.of(d)
	if cached {
		completed, err := s.validateDraftWith(used, at, d)
		if err == nil {
			return completed, used, true, nil
		}
		// The error stands if the components of the store are the same. Otherwise the configs are validated against those.
		stored, readErr := s.readComponents(ctx, at, d)
		if readErr != nil {
			s.components.drop(used)
			return draft{}, nil, false, readErr
		}
		if maps.EqualFunc(stored, used, func(a, b Component) bool { return bytes.Equal(a.Manifest, b.Manifest) }) {
			return draft{}, nil, false, err
		}
	}
	completed, used, err := s.validateDraft(ctx, at, d)
	if err == nil {
		s.components.put(used)
	}
	return completed, used, false, err
}
