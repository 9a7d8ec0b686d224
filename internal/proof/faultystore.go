package proof

import (
	"context"
	"sync"

	"github.com/vitrine-go/vitrine/storage"
)

// FaultyStore is a store that one process can lose, while others go on to use the store below it.
type FaultyStore struct {
	storage.Store

	mu      sync.Mutex
	err     error
	wait    chan struct{}
	unknown int
}

// Fail makes every call return an error; nil ends that.
func (s *FaultyStore) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// Unknown makes the next n updates return storage.ErrUnknown, although they are committed.
func (s *FaultyStore) Unknown(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unknown = n
}

// Stall makes every call wait until resume is called, even if its context is done, as if the process stood still.
func (s *FaultyStore) Stall() (resume func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := make(chan struct{})
	s.wait = wait
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.wait = nil
		close(wait)
	}
}

func (s *FaultyStore) enter() error {
	s.mu.Lock()
	wait := s.wait
	s.mu.Unlock()
	if wait != nil {
		<-wait
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// View is View of the store below.
func (s *FaultyStore) View(ctx context.Context, fn func(storage.Reader) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	return s.Store.View(ctx, fn)
}

// Update is Update of the store below.
func (s *FaultyStore) Update(
	ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error,
) error {
	if err := s.enter(); err != nil {
		return err
	}
	err := s.Store.Update(ctx, space, o, fn)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unknown > 0 {
		s.unknown--
		return storage.ErrUnknown
	}
	return err
}
