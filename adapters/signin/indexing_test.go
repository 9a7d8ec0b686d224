package signin_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// together is a store whose next writes begin together. It counts the entries of an index that are written.
type together struct {
	storage.Store
	left    atomic.Int64 // how many still have to come before the first one begins
	all     chan struct{}
	written atomic.Int64
}

func (s *together) Update(ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	if s.left.Load() > 0 {
		if s.left.Add(-1) == 0 {
			close(s.all)
		}
		select {
		case <-s.all:
		case <-time.After(10 * time.Second):
		}
	}
	return s.Store.Update(ctx, space, o, func(t storage.Tx) error { return fn(counting{t, &s.written}) })
}

type counting struct {
	storage.Tx
	written *atomic.Int64
}

func (t counting) Put(ctx context.Context, all ...storage.Entry) error {
	for _, e := range all {
		if strings.HasPrefix(e.Key, "people reading/") {
			t.written.Add(1)
		}
	}
	return t.Tx.Put(ctx, all...)
}

// Who comes first to a store of v0.2.0 makes the indices, however many come at the same time.
func TestIndicesAreMadeOnce(t *testing.T) {
	const keys, callers = 30, 10
	db := &together{Store: memory.New(), all: make(chan struct{})}
	defer func() { _ = db.Close() }()
	w := newWorldOver(t, db, localBase)
	for i := range keys {
		w.put(oldKey(i, "k", network))
	}
	db.left.Store(callers)
	var done sync.WaitGroup
	for range callers {
		nobody := w.as(user(network))
		done.Go(func() { nobody.send("GET", "/x/keys/", nil) })
	}
	done.Wait()
	if n := db.written.Load(); n != keys {
		t.Errorf("%d entries were written for %d keys", n, keys)
	}
}
