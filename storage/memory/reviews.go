package memory

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vitrine-go/vitrine/reviews"
)

// Reviews is a reviews.Store.
type Reviews struct {
	now    atomic.Pointer[reviewState]
	writer sync.Mutex // held by the one Update that builds the next state
}

// reviewState is everything the store holds at one moment. It never changes once it is in place.
type reviewState struct {
	collections tree[*collection] // by key
	order       tree[*collection] // by place
	added       int               // collections ever
}

// collection is a collection with its reviews.
type collection struct {
	reviews.Collection
	place int
	byID  tree[*review]
	order tree[*review] // by place
	added int           // reviews ever
}

// review is a review with its place in the collection.
type review struct {
	reviews.Review
	place int
}

// NewReviews returns an empty store.
func NewReviews() *Reviews {
	r := new(Reviews)
	r.now.Store(&reviewState{
		collections: tree[*collection]{compare: func(a, b *collection) int { return compareKeys(a.Key, b.Key) }},
		order:       tree[*collection]{compare: func(a, b *collection) int { return cmp.Compare(a.place, b.place) }},
	})
	return r
}

// View calls fn with the state of now.
func (s *Reviews) View(ctx context.Context, fn func(reviews.Reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return fn(s.now.Load())
}

// Update calls fn with a copy of the state, and puts the copy in place when fn returns nil.
func (s *Reviews) Update(ctx context.Context, fn func(reviews.Tx) error) error {
	s.writer.Lock()
	defer s.writer.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	next := *s.now.Load() // shares every tree
	if err := fn(reviewTx{&next}); err != nil {
		return err
	}
	s.now.Store(&next)
	return nil
}

// Collection returns a collection.
func (s *reviewState) Collection(_ context.Context, key reviews.Key) (reviews.Collection, error) {
	c, found := s.find(key)
	if !found {
		return reviews.Collection{}, noCollection(key)
	}
	return c.Collection, nil
}

// Collections yields all collections in the order of adding.
func (s *reviewState) Collections(context.Context) iter.Seq2[reviews.Collection, error] {
	order := s.order // of now, whatever is put meanwhile
	return func(yield func(reviews.Collection, error) bool) {
		order.ascend(nil, func(c *collection) bool { return yield(c.Collection, nil) })
	}
}

// Reviews yields the reviews of a collection in the order of adding.
func (s *reviewState) Reviews(_ context.Context, key reviews.Key) iter.Seq2[reviews.Review, error] {
	c, found := s.find(key)
	return func(yield func(reviews.Review, error) bool) {
		if found {
			c.order.ascend(nil, func(r *review) bool { return yield(r.Review, nil) })
		}
	}
}

// ReviewsByID yields the reviews with the given ids that are there.
func (s *reviewState) ReviewsByID(_ context.Context, key reviews.Key, ids []string) iter.Seq2[reviews.Review, error] {
	c, found := s.find(key)
	return func(yield func(reviews.Review, error) bool) {
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

func (s *reviewState) find(key reviews.Key) (*collection, bool) {
	return s.collections.find(func(c *collection) int { return compareKeys(c.Key, key) })
}

func (c *collection) find(id string) (*review, bool) {
	return c.byID.find(func(r *review) int { return strings.Compare(r.ID, id) })
}

// reviewTx is the next state while it is made.
type reviewTx struct{ *reviewState }

// PutCollection adds a collection or replaces what is said of it.
func (t reviewTx) PutCollection(_ context.Context, c reviews.Collection) error {
	next := &collection{
		place: t.added,
		byID:  tree[*review]{compare: func(a, b *review) int { return strings.Compare(a.ID, b.ID) }},
		order: tree[*review]{compare: func(a, b *review) int { return cmp.Compare(a.place, b.place) }},
	}
	if old, found := t.find(c.Key); found {
		*next = *old
	} else {
		t.added++
	}
	next.Collection = reviews.Collection{Key: c.Key, Fields: bytes.Clone(c.Fields), Tally: bytes.Clone(c.Tally)}
	t.put(next)
	return nil
}

// PutReviews adds reviews, or replaces them in their place.
func (t reviewTx) PutReviews(_ context.Context, key reviews.Key, list []reviews.Review) error {
	old, found := t.find(key)
	if !found {
		return noCollection(key)
	}
	next := *old
	for _, r := range list {
		put := &review{reviews.Review{ID: r.ID, Data: bytes.Clone(r.Data)}, next.added}
		if old, found := next.find(r.ID); found {
			put.place = old.place
		} else {
			next.added++
		}
		next.byID, next.order = next.byID.put(put), next.order.put(put)
	}
	t.put(&next)
	return nil
}

func (t reviewTx) put(c *collection) {
	t.collections, t.order = t.collections.put(c), t.order.put(c)
}

func compareKeys(a, b reviews.Key) int {
	return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.ID, b.ID))
}

func noCollection(key reviews.Key) error {
	return fmt.Errorf("%w: collection %q of %q", reviews.ErrNotFound, key.ID, key.Source)
}
