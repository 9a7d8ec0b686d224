package memory

import (
	"bytes"
	"context"
	"sync"
)

// webhookStore is a webhookstore.Store.
type webhookStore struct {
	db     *DB
	mu     sync.Mutex
	values map[string][]byte
}

// Get returns the value of a name.
func (s *webhookStore) Get(ctx context.Context, name string) ([]byte, error) {
	if err := s.db.Ping(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.values[name]), nil
}

// Swap replaces the value of a name if it is prev.
func (s *webhookStore) Swap(ctx context.Context, name string, prev, next []byte) (bool, error) {
	if err := s.db.Ping(ctx); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !bytes.Equal(s.values[name], prev) {
		return false, nil
	}
	if len(next) == 0 {
		delete(s.values, name)
	} else {
		s.values[name] = bytes.Clone(next)
	}
	return true, nil
}
