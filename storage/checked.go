package storage

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
)

// Checked returns a store that checks the calls of its users, so that no driver has to. It returns an error for
// malformed keys, values that are too large, writes outside of the space of an update, ranges of a Scan in different
// directions, every use of a Reader or a Tx after its function has returned, and calls after Close. It calls the Close
// of s once, when no other call of s runs any more.
func Checked(s Store) Store { return &checked{Store: s} }

type checked struct {
	Store
	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup
}

// begin registers a call for which Close waits. The caller calls s.calls.Done at its end.
func (s *checked) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.calls.Add(1)
	return nil
}

func (s *checked) Close() error {
	s.mu.Lock()
	before := s.closed
	s.closed = true
	s.mu.Unlock()
	if s.calls.Wait(); before {
		return nil
	}
	return s.Store.Close()
}

func (s *checked) View(ctx context.Context, fn func(Reader) error) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.calls.Done()
	return s.Store.View(ctx, func(r Reader) error {
		c := &reader{inner: r}
		defer c.ended.Store(true)
		return fn(c)
	})
}

func (s *checked) Update(ctx context.Context, space string, o UpdateOptions, fn func(Tx) error) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.calls.Done()
	if space == "" || len(space) >= MaxKey || strings.Contains(space, " ") {
		return fmt.Errorf("storage: %.60q is no space: want 1 to %d bytes without a blank", space, MaxKey-1)
	}
	return s.Store.Update(ctx, space, o, func(t Tx) error {
		c := &tx{reader{inner: t}, t, space}
		defer c.ended.Store(true)
		return fn(c)
	})
}

type reader struct {
	inner Reader
	ended atomic.Bool
}

func (r *reader) usable(ctx context.Context) error {
	if r.ended.Load() {
		return errors.New("storage: a Reader and a Tx end with their function")
	}
	return ctx.Err()
}

func (r *reader) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	if err := r.usable(ctx); err != nil {
		return nil, err
	}
	for _, key := range keys {
		if err := checkKey(key, ""); err != nil {
			return nil, err
		}
	}
	return r.inner.Get(ctx, keys...)
}

func (r *reader) Scan(ctx context.Context, ranges ...Range) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		err := r.usable(ctx)
		for _, in := range ranges {
			if in.Reverse != ranges[0].Reverse {
				err = errors.Join(err, errors.New("storage: the ranges of one Scan go in different directions"))
			}
		}
		if err != nil {
			yield(Entry{}, err)
			return
		}
		guarded(ctx, r, r.inner.Scan(ctx, ranges...))(yield)
	}
}

// guarded yields the values of a loop of the driver, as long as the Reader may be used.
func guarded[T any](ctx context.Context, r *reader, all iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for one, err := range all {
			if err == nil {
				err = r.usable(ctx)
			}
			if !yield(one, err) || err != nil {
				return
			}
		}
	}
}

func (r *reader) Estimate(ctx context.Context, in Range) (int, error) {
	if err := r.usable(ctx); err != nil {
		return 0, err
	}
	return r.inner.Estimate(ctx, in)
}

func (r *reader) Spaces(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := r.usable(ctx); err != nil {
			yield("", err)
			return
		}
		guarded(ctx, r, r.inner.Spaces(ctx, prefix))(yield)
	}
}

type tx struct {
	reader
	inner Tx
	space string
}

func (t *tx) Unwrap() Tx { return t.inner }

func (t *tx) Put(ctx context.Context, entries ...Entry) error {
	if err := t.usable(ctx); err != nil {
		return err
	}
	for _, e := range entries {
		if err := checkKey(e.Key, t.space); err != nil {
			return err
		}
		if len(e.Value) > MaxValue {
			return fmt.Errorf("storage: the value of %q has %d bytes, and %d are the most", e.Key, len(e.Value),
				MaxValue)
		}
	}
	return t.inner.Put(ctx, entries...)
}

func (t *tx) Delete(ctx context.Context, keys ...string) error {
	if err := t.usable(ctx); err != nil {
		return err
	}
	for _, key := range keys {
		if err := checkKey(key, t.space); err != nil {
			return err
		}
	}
	return t.inner.Delete(ctx, keys...)
}

func (t *tx) DeleteRange(ctx context.Context, r Range) error {
	if err := t.usable(ctx); err != nil {
		return err
	}
	whole := Prefix(t.space + " ")
	if r.From < whole.From || r.To == "" || r.To > whole.To {
		return fmt.Errorf("storage: an update of the space %q deletes from %.60q to %.60q, which is not in it", t.space,
			r.From, r.To)
	}
	if r.Limit != 0 || r.Skip != 0 {
		return errors.New("storage: a range to delete has a Limit or a Skip")
	}
	return t.inner.DeleteRange(ctx, r)
}

// checkKey returns an error unless key is a key, and one of the space that an update writes in; "" is any space.
func checkKey(key, space string) error {
	of := SpaceOf(key)
	if space != "" && of != space {
		return fmt.Errorf("storage: an update of the space %q writes the key %.60q, which is not in it", space, key)
	}
	if of == "" || len(key) > MaxKey {
		return fmt.Errorf("storage: %.60q, of %d bytes, is no key: want the name of a space, a blank, and %d bytes "+
			"at most", key, len(key), MaxKey)
	}
	return nil
}
