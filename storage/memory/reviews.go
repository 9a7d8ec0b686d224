package memory

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews/reviewstore"
)

// reviewStore is a reviewstore.Store. Each network has its own state and its own lock.
type reviewStore struct {
	db       *DB
	mu       sync.Mutex
	networks map[string]*reviewNetwork // those of which an Update was ever begun; some may be empty
}

// reviewNetwork has the data of one network. Networks share nothing, so updates of two networks do not wait for each
// other.
type reviewNetwork struct {
	now    atomic.Pointer[reviewState]
	writer sync.Mutex // locked by the Update that builds the next state
}

// reviewState is one state of a network. It does not change after the Update that builds it.
type reviewState struct {
	collections tree[*collection] // by key
	byID        tree[*collection] // by id, then source
	order       tree[*collection] // by place
	added       int               // number of collections ever added
}

// collection is a collection with its reviews. It does not change once it is in a state; a write puts a changed copy in
// its place.
type collection struct {
	reviewstore.Collection
	place  int
	byID   tree[*review]
	byTime tree[*review] // the latest first
	order  tree[*review] // by place
	added  int           // number of reviews ever added
}

// review is a review with its place in the collection.
type review struct {
	reviewstore.Review
	place int
}

func newReviewStore(db *DB) *reviewStore {
	return &reviewStore{db: db, networks: map[string]*reviewNetwork{}}
}

// noReviews is the state of a network to which nothing was written. The trees of all other states are made from its trees, so
// they have the same orders.
var noReviews = &reviewState{
	collections: tree[*collection]{compare: func(a, b *collection) int { return compareKeys(a.Key, b.Key) }},
	byID: tree[*collection]{compare: func(a, b *collection) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Source, b.Source))
	}},
	order: tree[*collection]{compare: func(a, b *collection) int { return cmp.Compare(a.place, b.place) }},
}

// newestFirst is the order of ReviewsByTime: the highest time first, and reviews of the same time by id.
func newestFirst(a, b reviewstore.Position) int {
	return cmp.Or(cmp.Compare(b.Time, a.Time), strings.Compare(a.ID, b.ID))
}

func (r *review) position() reviewstore.Position { return reviewstore.Position{Time: r.Time, ID: r.ID} }

// Networks yields the names of the networks that have collections.
func (s *reviewStore) Networks(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := s.db.Ping(ctx); err != nil {
			yield("", err)
			return
		}
		s.mu.Lock()
		var names []string
		for name, n := range s.networks {
			if n.now.Load().order.root != nil {
				names = append(names, name)
			}
		}
		s.mu.Unlock()
		slices.Sort(names)
		out := limited(ctx, 0, yield)
		for _, name := range names {
			if !out(name) {
				return
			}
		}
	}
}

// View calls fn with the current state of the network.
func (s *reviewStore) View(ctx context.Context, network string, fn func(reviewstore.Reader) error) error {
	if err := s.db.Ping(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	n := s.networks[network]
	s.mu.Unlock()
	if n == nil {
		return fn(noReviews)
	}
	return fn(n.now.Load())
}

// Update calls fn with a copy of the network's state. If fn returns nil, the copy becomes the current state; otherwise it
// is dropped. Updates of one network run one after another.
func (s *reviewStore) Update(ctx context.Context, network string, fn func(reviewstore.Tx) error) error {
	n := s.network(network)
	n.writer.Lock()
	defer n.writer.Unlock()
	if err := s.db.Ping(ctx); err != nil {
		return err
	}
	next := *n.now.Load() // shares every tree
	if err := fn(reviewTx{&next}); err != nil {
		return err
	}
	n.now.Store(&next)
	return nil
}

// Scrub does nothing, since the store has no files.
func (s *reviewStore) Scrub(ctx context.Context) error { return s.db.Ping(ctx) }

// network returns a network, and adds it if it does not exist.
func (s *reviewStore) network(name string) *reviewNetwork {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.networks[name]
	if n == nil {
		n = new(reviewNetwork)
		n.now.Store(noReviews)
		s.networks[name] = n
	}
	return n
}

// Collection returns a collection.
func (s *reviewState) Collection(_ context.Context, key reviewstore.Key) (reviewstore.Collection, error) {
	c, found := s.find(key)
	if !found {
		return reviewstore.Collection{}, noCollection(key)
	}
	return c.Collection, nil
}

// Collections yields all collections in the order of adding.
func (s *reviewState) Collections(context.Context) iter.Seq2[reviewstore.Collection, error] {
	order := s.order // a tree is immutable, so the caller may write between the steps
	return func(yield func(reviewstore.Collection, error) bool) {
		order.ascend(nil, func(c *collection) bool { return yield(c.Collection, nil) })
	}
}

// CollectionsByKey yields collections by source and then by id. The zero q.After skips none, not even a collection whose
// source and id are empty.
func (s *reviewState) CollectionsByKey(ctx context.Context, q reviewstore.CollectionQuery) iter.Seq2[reviewstore.Collection, error] {
	all := s.collections
	return func(yield func(reviewstore.Collection, error) bool) {
		out := limited(ctx, q.Limit, yield)
		before := func(c *collection) bool { return compareKeys(c.Key, q.After) <= 0 }
		if q.After == (reviewstore.Key{}) {
			before = nil
		}
		all.ascend(before, func(c *collection) bool { return out(c.Collection) })
	}
}

// CollectionsWithID yields the collections of all sources with an id.
func (s *reviewState) CollectionsWithID(_ context.Context, id string) iter.Seq2[reviewstore.Collection, error] {
	all := s.byID
	return func(yield func(reviewstore.Collection, error) bool) {
		all.ascend(func(c *collection) bool { return c.ID < id }, func(c *collection) bool {
			return c.ID == id && yield(c.Collection, nil)
		})
	}
}

// ReviewsByTime yields reviews of a collection, the latest first.
func (s *reviewState) ReviewsByTime(ctx context.Context, q reviewstore.ReviewQuery) iter.Seq2[reviewstore.Review, error] {
	c, found := s.find(q.Collection)
	return func(yield func(reviewstore.Review, error) bool) {
		if !found {
			return
		}
		out := limited(ctx, q.Limit, yield)
		var before func(r *review) bool
		if q.After != nil {
			before = func(r *review) bool { return newestFirst(r.position(), *q.After) <= 0 }
		}
		c.byTime.ascend(before, func(r *review) bool { return out(r.Review) })
	}
}

// Reviews yields the reviews of a collection in the order of adding.
func (s *reviewState) Reviews(_ context.Context, key reviewstore.Key) iter.Seq2[reviewstore.Review, error] {
	c, found := s.find(key)
	return func(yield func(reviewstore.Review, error) bool) {
		if found {
			c.order.ascend(nil, func(r *review) bool { return yield(r.Review, nil) })
		}
	}
}

// ReviewsByID yields the reviews of a collection that have one of the ids.
func (s *reviewState) ReviewsByID(_ context.Context, key reviewstore.Key, ids []string) iter.Seq2[reviewstore.Review, error] {
	c, found := s.find(key)
	return func(yield func(reviewstore.Review, error) bool) {
		if !found {
			return
		}
		seen := make(map[string]bool, len(ids))
		for _, id := range ids {
			r, found := c.find(id)
			if found && !seen[id] && !yield(r.Review, nil) {
				return
			}
			seen[id] = true
		}
	}
}

// find returns the collection with this key.
func (s *reviewState) find(key reviewstore.Key) (*collection, bool) {
	return s.collections.find(func(c *collection) int { return compareKeys(c.Key, key) })
}

// find returns the review with this id.
func (c *collection) find(id string) (*review, bool) {
	return c.byID.find(func(r *review) int { return strings.Compare(r.ID, id) })
}

// reviewTx is the next state while an Update builds it.
type reviewTx struct{ *reviewState }

// Announce has nothing to lock: Updates run one after another.
func (t reviewTx) Announce(context.Context, []reviewstore.Key) error { return nil }

// PutCollection adds a collection, or replaces its fields and tally. A collection that is replaced keeps its place and its
// reviews.
func (t reviewTx) PutCollection(_ context.Context, c reviewstore.Collection) error {
	next := &collection{
		place:  t.added,
		byID:   tree[*review]{compare: func(a, b *review) int { return strings.Compare(a.ID, b.ID) }},
		byTime: tree[*review]{compare: func(a, b *review) int { return newestFirst(a.position(), b.position()) }},
		order:  tree[*review]{compare: func(a, b *review) int { return cmp.Compare(a.place, b.place) }},
	}
	if old, found := t.find(c.Key); found {
		*next = *old
	} else {
		t.added++
	}
	next.Collection = reviewstore.Collection{Key: c.Key, Fields: bytes.Clone(c.Fields), Tally: bytes.Clone(c.Tally)}
	t.put(next)
	return nil
}

// PutReviews adds reviews after those of the collection. A review that replaces one keeps its place.
func (t reviewTx) PutReviews(_ context.Context, key reviewstore.Key, list []reviewstore.Review) error {
	old, found := t.find(key)
	if !found {
		return noCollection(key)
	}
	next := *old
	for _, r := range list {
		put := &review{reviewstore.Review{ID: r.ID, Time: r.Time, Data: bytes.Clone(r.Data)}, next.added}
		if old, found := next.find(r.ID); found {
			put.place = old.place
			next.byTime = next.byTime.remove(old)
		} else {
			next.added++
		}
		next.byID, next.byTime, next.order = next.byID.put(put), next.byTime.put(put), next.order.put(put)
	}
	t.put(&next)
	return nil
}

// DeleteCollection removes a collection with its reviews.
func (t reviewTx) DeleteCollection(_ context.Context, key reviewstore.Key) error {
	old, found := t.find(key)
	if !found {
		return noCollection(key)
	}
	t.collections, t.byID, t.order = t.collections.remove(old), t.byID.remove(old), t.order.remove(old)
	return nil
}

// DeleteReviews removes reviews of a collection.
func (t reviewTx) DeleteReviews(_ context.Context, key reviewstore.Key, ids []string) error {
	old, found := t.find(key)
	if !found {
		return noCollection(key)
	}
	next := *old
	for _, id := range ids {
		if r, found := next.find(id); found {
			next.byID, next.byTime, next.order = next.byID.remove(r), next.byTime.remove(r), next.order.remove(r)
		}
	}
	t.put(&next)
	return nil
}

// put adds a collection to each tree, or replaces the one with the same key, which must have the same place.
func (t reviewTx) put(c *collection) {
	t.collections, t.byID, t.order = t.collections.put(c), t.byID.put(c), t.order.put(c)
}

func compareKeys(a, b reviewstore.Key) int {
	return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.ID, b.ID))
}

func noCollection(key reviewstore.Key) error {
	return fmt.Errorf("%w: collection %q of %q", vitrine.ErrNotFound, key.ID, key.Source)
}
