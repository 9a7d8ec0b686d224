//go:build proof

package faults

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/storage"
)

// gate stands between the services and the store. It counts the calls that the services make, each
// step of an iterator too, and fails those that it is told to.
type gate struct {
	w *world // whose ids are given again when an update is done again

	mu     sync.Mutex
	calls  int
	fails  func(number int) bool // numbered from 1; nil = none
	late   bool                  // a call fails after it is done, and not before
	kind   kind
	again  bool // each function given to Update is called a second time
	failed int
}

// kind is what a call fails with: a sentinel or an error that nobody knows.
type kind int

const (
	unknown kind = iota
	busy
	noRoom
)

var errUnknown = errors.New("an error that nobody knows")

// sentinels are the errors of each kind.
var sentinels = [...]error{errUnknown, vitrine.ErrBusy, vitrine.ErrFull}

// arm begins to count anew.
func (g *gate) arm(k kind, late bool, fails func(number int) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls, g.failed, g.kind, g.late, g.fails = 0, 0, k, late, fails
}

// pass counts a call. The error is that of a call that fails.
func (g *gate) pass() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.calls++; g.fails == nil || !g.fails(g.calls) {
		return nil
	}
	g.failed++
	return sentinels[g.kind]
}

// change puts the gate between the services of a world and its store.
func (g *gate) change(w *world, below storage.Store) storage.Store {
	g.w = w
	return gatedStore{below, g}
}

// through makes one call.
func (g *gate) through(fn func() error) error {
	late := g.late
	failed := g.pass()
	if failed != nil && !late {
		return failed
	}
	err := fn()
	if failed != nil { // whatever it was: that something is not there cannot be known then
		return failed
	}
	return err
}

// each passes every step of an iterator.
func each[T any](g *gate, seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if err := g.pass(); err != nil {
			yield(none, err)
			return
		}
		for v, err := range seq {
			if failed := g.pass(); failed != nil {
				err, v = failed, none
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// gatedStore is a store behind a gate.
type gatedStore struct {
	storage.Store
	*gate
}

func (g gatedStore) View(ctx context.Context, fn func(storage.Reader) error) error {
	return g.through(func() error {
		return g.Store.View(ctx, func(r storage.Reader) error { return fn(gatedReader{r, g.gate}) })
	})
}

// Update counts two calls: beginning it and committing it.
func (g gatedStore) Update(
	ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error,
) error {
	if err := g.pass(); err != nil {
		return err
	}
	within := func(t storage.Tx) error { return fn(gatedTx{gatedReader{t, g.gate}, t}) }
	g.mu.Lock()
	again := g.again
	g.mu.Unlock()
	if again {
		ids := g.w.ids.Load()
		err := g.Store.Update(ctx, space, o, func(t storage.Tx) error { return errors.Join(within(t), errUnknown) })
		if !errors.Is(err, errUnknown) {
			return err
		}
		g.w.ids.Store(ids)
	}
	return g.Store.Update(ctx, space, o, func(t storage.Tx) error {
		if err := within(t); err != nil {
			return err
		}
		return g.pass()
	})
}

type gatedReader struct {
	storage.Reader
	*gate
}

func (g gatedReader) Get(ctx context.Context, keys ...string) (values [][]byte, err error) {
	err = g.through(func() (err error) {
		values, err = g.Reader.Get(ctx, keys...)
		return err
	})
	return values, err
}

func (g gatedReader) Scan(ctx context.Context, ranges ...storage.Range) iter.Seq2[storage.Entry, error] {
	return each(g.gate, g.Reader.Scan(ctx, ranges...))
}

func (g gatedReader) Estimate(ctx context.Context, in storage.Range) (n int, err error) {
	err = g.through(func() (err error) {
		n, err = g.Reader.Estimate(ctx, in)
		return err
	})
	return n, err
}

func (g gatedReader) Spaces(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return each(g.gate, g.Reader.Spaces(ctx, prefix))
}

type gatedTx struct {
	gatedReader
	tx storage.Tx
}

func (g gatedTx) Put(ctx context.Context, entries ...storage.Entry) error {
	return g.through(func() error { return g.tx.Put(ctx, entries...) })
}

func (g gatedTx) Delete(ctx context.Context, keys ...string) error {
	return g.through(func() error { return g.tx.Delete(ctx, keys...) })
}

func (g gatedTx) DeleteRange(ctx context.Context, r storage.Range) error {
	return g.through(func() error { return g.tx.DeleteRange(ctx, r) })
}
