// Package memory keeps a store in memory, for tests and programs that need nothing later.
package memory

import (
	"context"
	"crypto/sha512"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/btree"
	"golang.org/x/sync/semaphore"

	"github.com/vitrine-go/vitrine/storage"
)

// entries are the entries of a space, and spaces those of all spaces, by their name with its blank. Copying one takes no time: what
// the copies share is copied when it is written.
type (
	entries = btree.Map[string, []byte]
	spaces  = btree.Map[string, space]
	space   struct{ list *entries } // hides the method Copy, which a tree calls on its values otherwise
)

// store keeps a tree of entries for each space. A View reads the trees of the last commits and keeps nobody waiting.
type store struct {
	storage.Bells
	alone *semaphore.Weighted // an update holds one of most, an exclusive one all

	mu    sync.Mutex
	locks map[string]chan struct{} // by space: has a token while no update of it runs
	seen  spaces                   // what Views read a copy of
}

const most = 1 << 30

// Store is a store in memory.
type Store struct {
	storage.Store
	defaults storage.Defaults
}

// Options make a store whose services give the same bytes in each run, for golden tests.
type Options struct {
	Now   func() time.Time // the clock of services whose options name none; nil = time.Now
	NewID func() string    // gives the ids of services whose options name none, each another one; nil = random ids
	Seed  string           // makes the keys of feeds, by which their cursors are sealed; "" = random ones
}

// New returns an empty store. Its data are lost when the process ends. Options are for tests; most programs pass none.
func New(options ...Options) *Store {
	s := &Store{Store: storage.Checked(&store{alone: semaphore.NewWeighted(most), locks: map[string]chan struct{}{}})}
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

// snapshot returns the trees of the last commits, which are never written.
func (s *store) snapshot() *spaces {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen.Copy()
}

func (s *store) View(_ context.Context, fn func(storage.Reader) error) error {
	return fn(&reader{all: s.snapshot()})
}

func (s *store) Update(ctx context.Context, name string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	others := int64(1)
	if o.Exclusive {
		others = most
	}
	if err := s.alone.Acquire(ctx, others); err != nil {
		return err
	}
	defer s.alone.Release(others)
	lock := s.lock(name)
	select {
	case <-lock:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { lock <- struct{}{} }()

	all := s.snapshot()
	own := new(entries)
	if before, ok := all.Get(name + " "); ok {
		own = before.list.Copy()
	}
	if err := fn(&tx{reader{all: all, space: name + " ", own: own}}); err != nil {
		return err
	}
	s.mu.Lock()
	if own.Len() > 0 {
		s.seen.Set(name+" ", space{own})
	} else {
		s.seen.Delete(name + " ")
	}
	s.mu.Unlock()
	s.Ring(name)
	return nil
}

// lock returns the lock of a space.
func (s *store) lock(space string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	lock := s.locks[space]
	if lock == nil {
		lock = make(chan struct{}, 1)
		lock <- struct{}{}
		s.locks[space] = lock
	}
	return lock
}

func (s *store) Close() error {
	s.Bells.Close()
	return nil
}

// reader is for a View or, if own is not nil, for an update of a space.
type reader struct {
	all   *spaces
	space string // with its blank
	own   *entries
}

func (r *reader) Get(_ context.Context, keys ...string) ([][]byte, error) {
	values := make([][]byte, len(keys))
	for i, key := range keys {
		if in := r.entries(storage.SpaceOf(key) + " "); in != nil {
			values[i], _ = in.Get(key)
		}
	}
	return values, nil
}

// entries returns the entries of a space, nil if there are none.
func (r *reader) entries(space string) *entries {
	if r.own != nil && space == r.space {
		return r.own
	}
	in, _ := r.all.Get(space)
	return in.list
}

func (r *reader) Scan(_ context.Context, ranges ...storage.Range) iter.Seq2[storage.Entry, error] {
	return storage.Merge(ranges, r.scan)
}

// scan yields the entries of the moment at which the loop begins.
func (r *reader) scan(in storage.Range) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		left := in.Limit
		for _, space := range r.spaces(in) {
			list := r.entries(space)
			if list == r.own {
				list = list.Copy()
			}
			ended := false
			out := func(key string, value []byte) bool {
				left--
				ended = !yield(storage.Entry{Key: key, Value: value}, nil) || left == 0
				return !ended
			}
			if in.Reverse {
				descend(list, in, out)
			} else {
				list.Ascend(in.From, func(key string, value []byte) bool {
					return (in.To == "" || key < in.To) && out(key, value)
				})
			}
			if ended {
				return
			}
		}
	}
}

// descend calls out with the entries of a range, the last first, until it returns false.
func descend(list *entries, in storage.Range, out func(string, []byte) bool) {
	step := func(key string, value []byte) bool {
		return key == in.To || key >= in.From && out(key, value)
	}
	if in.To == "" {
		list.Reverse(step)
	} else {
		list.Descend(in.To, step)
	}
}

// spaces returns the spaces that a range has a part in, with their blanks, in its direction.
func (r *reader) spaces(in storage.Range) (names []string) {
	if name := storage.SpaceOf(in.From) + " "; len(name) > 1 && in.To != "" && in.To <= storage.Prefix(name).To {
		if r.entries(name) != nil { // as in almost all cases
			names = append(names, name)
		}
		return names
	}
	for name := range r.names {
		if (in.To == "" || name < in.To) && (storage.Prefix(name).To > in.From) {
			names = append(names, name)
		}
	}
	if in.Reverse {
		slices.Reverse(names)
	}
	return names
}

// names yields the names of all spaces, with their blanks, in order.
func (r *reader) names(yield func(string) bool) {
	all := r.all
	if r.own != nil {
		all = all.Copy()
		if all.Delete(r.space); r.own.Len() > 0 {
			all.Set(r.space, space{r.own})
		}
	}
	all.Scan(func(name string, _ space) bool { return yield(name) })
}

func (r *reader) Spaces(_ context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for name := range r.names {
			if space := name[:len(name)-1]; strings.HasPrefix(space, prefix) && !yield(space, nil) {
				return
			}
		}
	}
}

// Estimate counts, up to a thousand: between two longer lists there is little to choose.
func (r *reader) Estimate(_ context.Context, in storage.Range) (n int, err error) {
	if in.Limit == 0 || in.Limit > 1000 {
		in.Limit = 1000
	}
	for range r.scan(in) {
		n++
	}
	return n, nil
}

type tx struct{ reader }

func (t *tx) Put(_ context.Context, list ...storage.Entry) error {
	for _, e := range list {
		if e.Value == nil {
			e.Value = []byte{}
		}
		t.own.Set(e.Key, e.Value)
	}
	return nil
}

func (t *tx) Delete(_ context.Context, keys ...string) error {
	for _, key := range keys {
		t.own.Delete(key)
	}
	return nil
}

func (t *tx) DeleteRange(_ context.Context, r storage.Range) error {
	r.Reverse = false
	for e := range t.scan(r) {
		t.own.Delete(e.Key)
	}
	return nil
}
