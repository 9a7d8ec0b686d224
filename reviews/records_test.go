package reviews

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/reviews/internal/format"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// model is what the records of a network should be: collections in the order in which they were first put, with their
// reviews.
type model []modelled

type modelled struct {
	stored
	reviews []format.Review
}

func (m model) find(key CollectionKey) int {
	return slices.IndexFunc(m, func(c modelled) bool { return c.CollectionKey == key })
}

func collect[T any](list iter.Seq2[T, error]) (all []T, err error) {
	for v, err := range list {
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

func reviewsOf(t *testing.T, list iter.Seq2[row, error]) (all []format.Review) {
	t.Helper()
	rows, err := collect(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		all = append(all, r.Review)
	}
	return all
}

func equalReviews(a, b []format.Review) bool {
	return slices.EqualFunc(a, b, func(a, b format.Review) bool {
		return a.ID == b.ID && a.Time == b.Time && bytes.Equal(a.Data, b.Data)
	})
}

func byKey(a, b modelled) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.ID, b.ID))
}

// limited yields the first values of list, up to limit.
func limited[T any](limit int, list iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		n := 0
		for v, err := range list {
			n++
			if !yield(v, err) || n == limit {
				return
			}
		}
	}
}

func byTime(a, b format.Review) int {
	return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.ID, b.ID))
}

// agree fails unless what can be read of a network is what the model has.
func (m model) agree(t *testing.T, db storage.Store, network string, r *rand.Rand) {
	t.Helper()
	err := view(t.Context(), db, network, func(s *rows) error {
		list, err := collect(s.all())
		same := func(list []stored, want model) bool {
			return slices.EqualFunc(list, want, func(a stored, b modelled) bool {
				return a.CollectionKey == b.CollectionKey && bytes.Equal(a.fields, b.fields)
			})
		}
		if err != nil || !same(list, m) {
			t.Fatalf("%d collections, want %d, %v", len(list), len(m), err)
		}
		sorted := slices.SortedFunc(slices.Values(m), byKey)
		if list, err = collect(s.byKey("", CollectionKey{}, 0)); err != nil || !same(list, sorted) {
			t.Fatalf("by key: %d collections, want %d, %v", len(list), len(m), err)
		}
		for i, c := range sorted {
			if list, err = collect(limited(2, s.byKey("", c.CollectionKey, 2))); err != nil ||
				!same(list, sorted[i+1:min(i+3, len(m))]) {
				t.Fatalf("after %.20q: %d collections, %v", c.ID, len(list), err)
			}
			with := slices.DeleteFunc(slices.Clone(sorted), func(other modelled) bool { return other.ID != c.ID })
			if list, err = collect(s.withID(c.ID)); err != nil || !same(list, with) {
				t.Fatalf("with the id %.20q: %d collections, want %d, %v", c.ID, len(list), len(with), err)
			}
			at, err := s.existing(c.CollectionKey)
			if err != nil {
				t.Fatal(err)
			}
			if got := reviewsOf(t, s.reviews(at)); !equalReviews(got, c.reviews) {
				t.Fatalf("%.20q has %.200v, want %.200v", c.ID, got, c.reviews)
			}
			sorted := slices.SortedFunc(slices.Values(c.reviews), byTime)
			if got := reviewsOf(t, s.byTime(at, nil, 0)); !equalReviews(got, sorted) {
				t.Fatalf("%.20q has by time %.200v, want %.200v", c.ID, got, sorted)
			}
			if len(sorted) == 0 {
				continue
			}
			n := r.IntN(len(sorted))
			after := place{sorted[n].Time, sorted[n].ID}
			if got := reviewsOf(t, s.byTime(at, &after, 0)); !equalReviews(got, sorted[n+1:]) {
				t.Fatalf("%.20q has after a place %.200v, want %.200v", c.ID, got, sorted[n+1:])
			}
			ids := []string{sorted[n].ID, "absent"}
			if got := reviewsOf(t, s.byID(at, ids)); !equalReviews(got, sorted[n:n+1]) {
				t.Fatalf("%.20q has by id %.200v", c.ID, got)
			}
		}
		if _, err := s.existing(CollectionKey{"absent", "absent"}); !errors.Is(err, vitrine.ErrNotFound) {
			t.Errorf("an absent collection: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// put puts reviews as an import does: it finds those that are stored.
func (s *rows) putAll(ctx context.Context, c stored, list []format.Review) error {
	found, err := s.collectionsOf([]CollectionKey{c.CollectionKey})
	now, ok := found[c.CollectionKey]
	if now.CollectionKey = c.CollectionKey; err == nil && !ok {
		err = s.create(&now)
	}
	if err != nil {
		return err
	}
	now.fields = c.fields
	var ids []string
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	before, err := collect(s.byID(now, ids))
	if err != nil {
		return err
	}
	puts := make([]row, len(list))
	for i, r := range list {
		for _, old := range before {
			if old.ID == r.ID {
				puts[i] = old
			}
		}
		puts[i].Review = r
	}
	if err := s.putReviews(&now, puts); err != nil {
		return err
	}
	return s.putCollection(now)
}

// Collections with few and with many reviews, with texts that are longer than a key keeps of them or than a record has,
// in two networks that have the same keys.
func TestRecordsAgreeWithAModel(t *testing.T) {
	long := strings.Repeat("é", 150)
	ids := []string{"a", "a ", "a\x00", "A", "é", "e\u0301", "!", "\xff", "b/c", long, long + "a", long + "b"}
	for i := range 300 {
		ids = append(ids, fmt.Sprint(i))
	}
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 1))
		db, names := memory.New(), []string{"n", strings.Repeat("long", 100)}
		models := map[string]model{}
		keys := []CollectionKey{{"s", "a"}, {"s", "b"}, {"sa", "a"}, {"t " + long, "a"}, {"t " + long + "a", long},
			{"t " + long, long + "b"}}
		if seed%2 == 0 { // no index is made but for many reviews
			ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return len(id) > 200 })
		}
		text := func() []byte {
			return bytes.Repeat([]byte{byte(r.IntN(256))},
				[]int{0, 5, 100, maxInline - 1, maxInline, 3 * maxInline}[r.IntN(6)])
		}
		for range 40 {
			name, key := names[r.IntN(2)], keys[r.IntN(len(keys))]
			m, rolledBack := slices.Clone(models[name]), r.IntN(5) == 0
			at := m.find(key)
			err := update(t.Context(), db, name, storage.UpdateOptions{}, func(s *rows) error {
				switch action := r.IntN(6); {
				case action < 4:
					c := stored{CollectionKey: key, fields: text()}
					if at < 0 {
						m, at = append(m, modelled{}), len(m)
					}
					m[at].stored, m[at].reviews = c, slices.Clone(m[at].reviews)
					var list []format.Review
					for _, i := range r.Perm(len(ids))[:r.IntN([]int{5, 30, len(ids)}[r.IntN(3)])] {
						list = append(list, format.Review{ID: ids[i], Time: r.Int64N(7) - 3, Data: text()})
						n := slices.IndexFunc(m[at].reviews, func(x format.Review) bool { return x.ID == ids[i] })
						if n < 0 {
							m[at].reviews = append(m[at].reviews, list[len(list)-1])
						} else {
							m[at].reviews[n] = list[len(list)-1]
						}
					}
					if err := s.putAll(t.Context(), c, list); err != nil {
						return err
					}
				case at < 0:
				case action == 4:
					c, err := s.existing(key)
					if err == nil {
						err = s.deleteCollection(c)
					}
					if err != nil {
						return err
					}
					m = slices.Delete(m, at, at+1)
				default:
					c, err := s.existing(key)
					if err != nil {
						return err
					}
					all, err := collect(s.reviews(c))
					if err != nil {
						return err
					}
					gone := slices.DeleteFunc(all, func(row) bool { return r.IntN(2) == 0 })
					m[at].reviews = slices.DeleteFunc(slices.Clone(m[at].reviews), func(x format.Review) bool {
						return slices.ContainsFunc(gone, func(g row) bool { return g.ID == x.ID })
					})
					if err := s.deleteReviews(c, gone); err != nil {
						return err
					}
				}
				if rolledBack {
					return context.Canceled
				}
				return nil
			})
			if rolledBack && errors.Is(err, context.Canceled) {
				err = nil
			} else {
				models[name] = m
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				models[name].agree(t, db, name, r)
			}
		}
		// Nothing is left of what was deleted.
		for _, name := range names {
			err := update(t.Context(), db, name, storage.UpdateOptions{}, func(s *rows) error {
				for _, c := range models[name] {
					c, err := s.existing(c.CollectionKey)
					if err != nil {
						return err
					}
					all, err := collect(s.reviews(c))
					if err == nil {
						err = s.deleteReviews(c, all)
					}
					if err != nil {
						return err
					}
					for _, prefix := range []string{" review/", " large/review/", " time/"} {
						if n, err := s.count(t.Context(), s.space+prefix+"b1"); n > 0 && c.Number == 1 || err != nil {
							t.Errorf("%d records%s are left, %v", n, prefix, err)
						}
					}
					if err := s.deleteCollection(c); err != nil {
						return err
					}
				}
				left := 0
				if keyval.SpaceCut(s.space) {
					left = 1 // the name of the network, for its feed
				}
				if n, err := s.count(t.Context(), s.space+" "); n != left || err != nil {
					t.Errorf("%d records are left, want %d, %v", n, left, err)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if left, err := New(db, nil).networks(t.Context(), false); err != nil || len(left) > 0 {
			t.Errorf("%d networks are left, %v", len(left), err)
		}
	}
}

func TestNetworksAreListedByName(t *testing.T) {
	db, want := memory.New(), []string{"", "A", "a", "a b", "b/c", strings.Repeat("n", 300), "\xff"}
	for _, name := range want {
		err := update(t.Context(), db, name, storage.UpdateOptions{}, func(s *rows) error {
			return s.putAll(t.Context(), stored{CollectionKey: CollectionKey{"s", "a"}}, nil)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, err := New(db, nil).networks(t.Context(), true); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

// portions is a store that notes how many bytes one Get of a View has returned at most.
type portions struct {
	storage.Store
	most int
}

type portionsReader struct {
	storage.Reader
	store *portions
}

func (s *portions) View(ctx context.Context, fn func(storage.Reader) error) error {
	return s.Store.View(ctx, func(r storage.Reader) error { return fn(portionsReader{r, s}) })
}

func (r portionsReader) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	values, err := r.Reader.Get(ctx, keys...)
	r.store.most = max(r.store.most, len(bytes.Join(values, nil)))
	return values, err
}

// A stored review or collection may be very large, and lists of them are bounded by their callers, who count as they
// go.
func TestLargeRecordsAreReadOneByOne(t *testing.T) {
	const n, size = 80, 90 << 10
	db := &portions{Store: memory.New()}
	err := update(t.Context(), db, "n", storage.UpdateOptions{}, func(s *rows) error {
		var list []format.Review
		for i := range n {
			list = append(list, format.Review{ID: fmt.Sprint(i), Data: make([]byte, size)})
			if err := s.putAll(t.Context(),
				stored{CollectionKey: CollectionKey{"t", fmt.Sprint(i)}, fields: make([]byte, size)}, nil); err != nil {
				return err
			}
		}
		return s.putAll(t.Context(), stored{CollectionKey: CollectionKey{"s", "0"}}, list)
	})
	if err != nil {
		t.Fatal(err)
	}
	err = view(t.Context(), db, "n", func(s *rows) error {
		c, err := s.existing(CollectionKey{"s", "0"})
		if err != nil {
			return err
		}
		all, err := collect(s.all())
		if err != nil || len(all) != n+1 || len(reviewsOf(t, s.reviews(c))) != n ||
			len(reviewsOf(t, s.byTime(c, nil, 0))) != n {
			t.Errorf("%d collections, %v", len(all), err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if db.most > size+100 {
		t.Errorf("one Get has returned %d bytes, and one record has %d", db.most, size)
	}
}

// count returns how many records begin with a prefix.
func (s *rows) count(ctx context.Context, prefix string) (n int, err error) {
	for _, err := range s.r.Scan(ctx, storage.Prefix(prefix)) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// update calls fn with the rows of a network in a transaction.
func update(
	ctx context.Context, db storage.Store, network string, o storage.UpdateOptions, fn func(*rows) error,
) error {
	space := spaceOf(network)
	return db.Update(ctx, space, o, func(t storage.Tx) error {
		return fn(&rows{ctx: ctx, space: space, network: network, r: t, t: t})
	})
}
