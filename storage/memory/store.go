// Package memory keeps a store in memory, for tests and for programs that need no durable data. Updates run one at a
// time, and no View waits for them.
//
//	apps := appsvc.New(memory.New(), nil)
//
// Options with a clock, ids and a seed make the same calls write the same bytes in each run, for golden tests.
package memory

import (
	"context"
	"crypto/sha512"
	"iter"
	"sync/atomic"
	"time"

	"github.com/tidwall/btree"

	"github.com/vitrine-go/vitrine/storage"
)

// entries is an ordered map. Copying one takes no time: what the copies share is copied when it is written.
type entries = btree.Map[string, []byte]

// store keeps a tree of entries. A View reads the tree of the last commit. Updates write a copy of it, one update after
// the other.
type store struct {
	storage.Bells
	turn chan struct{}           // has a token while no update runs
	last atomic.Pointer[entries] // is never written
}

// Store is a store in memory.
type Store struct {
	storage.Store
	defaults storage.Defaults
}

// Options make a store whose services write the same bytes in each run, for golden tests.
type Options struct {
	Now   func() time.Time // the clock of services whose options name none; nil = time.Now
	NewID func() string    // returns a new id for services whose options name no such function; nil = random ids
	Seed  string           // the keys that seal the cursors of feeds are derived from it; "" = random keys
}

// New returns an empty store. Its data are lost when the process ends. Options are for tests; most programs pass none.
func New(options ...Options) *Store {
	in := &store{turn: make(chan struct{}, 1)}
	in.turn <- struct{}{}
	in.last.Store(new(entries))
	s := &Store{Store: storage.Checked(in)}
	for _, o := range options {
		s.defaults.Now, s.defaults.NewID = o.Now, o.NewID
		if o.Seed != "" {
			sum := sha512.Sum512([]byte(o.Seed))
			s.defaults.Identity = storage.Identity{Secret: sum[:32], Name: sum[32:48]}
		}
	}
	return s
}

// Defaults returns the options for services.
func (s *Store) Defaults() storage.Defaults { return s.defaults }

func (s *store) View(_ context.Context, fn func(storage.Reader) error) error {
	return fn(&tx{list: s.last.Load()})
}

func (s *store) Update(ctx context.Context, space string, _ storage.UpdateOptions, fn func(storage.Tx) error) error {
	select {
	case <-s.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { s.turn <- struct{}{} }()
	t := &tx{list: s.last.Load().Copy(), writes: true}
	if err := fn(t); err != nil {
		return err
	}
	s.last.Store(t.list)
	s.Ring(space)
	return nil
}

func (s *store) Close() error {
	s.Bells.Close()
	return nil
}

// tx is for an update or, as a Reader, for a View.
type tx struct {
	list   *entries
	writes bool
}

func (t *tx) Get(_ context.Context, keys ...string) ([][]byte, error) {
	values := make([][]byte, len(keys))
	for i, key := range keys {
		values[i], _ = t.list.Get(key)
	}
	return values, nil
}

func (t *tx) Scan(_ context.Context, ranges ...storage.Range) iter.Seq2[storage.Entry, error] {
	return storage.Merge(ranges, t.scan)
}

// scan yields the entries of the moment at which the loop begins.
func (t *tx) scan(in storage.Range) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		list, left := t.list, in.Limit
		if t.writes {
			list = list.Copy()
		}
		out := func(key string, value []byte) bool {
			left--
			return yield(storage.Entry{Key: key, Value: value}, nil) && left != 0
		}
		down := func(key string, value []byte) bool {
			return key == in.To || key >= in.From && out(key, value)
		}
		switch {
		case !in.Reverse:
			list.Ascend(in.From, func(key string, value []byte) bool {
				return (in.To == "" || key < in.To) && out(key, value)
			})
		case in.To == "":
			list.Reverse(down)
		default:
			list.Descend(in.To, down)
		}
	}
}

func (t *tx) Spaces(_ context.Context, prefix string) iter.Seq2[string, error] {
	return storage.Spaces(prefix, t.scan)
}

// Estimate counts up to a thousand entries. Which of two longer ranges is shorter hardly matters.
func (t *tx) Estimate(_ context.Context, in storage.Range) (n int, err error) {
	if in.Limit == 0 || in.Limit > 1000 {
		in.Limit = 1000
	}
	for range t.scan(in) {
		n++
	}
	return n, nil
}

func (t *tx) Put(_ context.Context, list ...storage.Entry) error {
	for _, e := range list {
		if e.Value == nil {
			e.Value = []byte{}
		}
		t.list.Set(e.Key, e.Value)
	}
	return nil
}

func (t *tx) Delete(_ context.Context, keys ...string) error {
	for _, key := range keys {
		t.list.Delete(key)
	}
	return nil
}

func (t *tx) DeleteRange(_ context.Context, r storage.Range) error {
	r.Reverse = false
	for e := range t.scan(r) {
		t.list.Delete(e.Key)
	}
	return nil
}
