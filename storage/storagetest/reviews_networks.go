package storagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews/reviewstore"
)

type reviewStoreRule = rule[reviewstore.Store]

// reviewNetworkRules are about the networks of a store. A transaction on one network reads and changes nothing in
// another.
var reviewNetworkRules = []reviewStoreRule{
	// Networks has nothing to list, and that is no error.
	{"a new store has no networks", func(t *testing.T, s reviewstore.Store) {
		checkNetworks(t, s)
	}},
	// Networks are never created by a call of their own.
	{"a network exists once it has a collection, not after a read or a rolled back write", func(t *testing.T, s reviewstore.Store) {
		undone := errors.New("undone")
		read, undoneIn, there := oneNetwork{s, "read"}, oneNetwork{s, "undone"}, oneNetwork{s, "there"}
		checkCollections(t, read)
		updateReviews(t, read, func(w reviewTx) error { return hasCollections(w) })
		err := undoneIn.Update(ctx, func(w reviewTx) error {
			return errors.Join(w.PutCollection(ctx, newCollection(key("s", "a"), "")), undone)
		})
		checkError(t, err, undone, "Update")
		checkNetworks(t, s)
		putCollections(t, there, newCollection(key("s", "a"), ""))
		checkNetworks(t, s, "there")
		checkCollections(t, undoneIn)
		putCollections(t, read, newCollection(key("s", "a"), ""), newCollection(key("s", "b"), ""))
		checkNetworks(t, s, "read", "there")
	}},
	// A customer who has left is not to be found in a list of customers.
	{"a network whose last collection is deleted is not listed any more", func(t *testing.T, s reviewstore.Store) {
		for _, name := range []string{"n", strings.Repeat("long", 500)} {
			network := oneNetwork{s, name}
			putCollections(t, network, newCollection(key("s", "a"), ""), newCollection(key("s", "b"), ""))
			putReviews(t, network, key("s", "b"), newReview("1", ""))
			updateReviews(t, network, func(w reviewTx) error { return w.DeleteCollection(ctx, key("s", "a")) })
			checkNetworks(t, s, name)
			updateReviews(t, network, func(w reviewTx) error { return w.DeleteCollection(ctx, key("s", "b")) })
			checkNetworks(t, s)
		}
	}},
	// Names may be empty, long, invalid UTF-8 or contain NUL.
	{"networks are compared byte by byte and listed in byte order", func(t *testing.T, s reviewstore.Store) {
		long := strings.Repeat("é\x00long", 20_000)
		names := append([]string{long, long + "b"}, oddKeys...)
		for i, name := range slices.Backward(names) {
			putCollections(t, oneNetwork{s, name}, newCollection(key("s", "a"), fmt.Sprint(i)))
			putReviews(t, oneNetwork{s, name}, key("s", "a"), newReview("1", fmt.Sprint(i)))
		}
		for i, name := range names {
			checkCollections(t, oneNetwork{s, name}, newCollection(key("s", "a"), fmt.Sprint(i)))
			checkReviews(t, oneNetwork{s, name}, key("s", "a"), newReview("1", fmt.Sprint(i)))
		}
		slices.Sort(names)
		checkNetworks(t, s, names...)
	}},
	// A driver that joins them into one key must not confuse ("ab", "") with ("a", "b").
	{"network, source and id are three values, never one joined text", func(t *testing.T, s reviewstore.Store) {
		parts := [][3]string{{"ab", "", ""}, {"a", "b", ""}, {"a", "", "b"}, {"", "ab", ""}, {"", "a", "b"}, {"", "", "ab"}, {"a\x00b", "", ""}, {"a", "\x00b", ""}}
		for i, p := range parts {
			putCollections(t, oneNetwork{s, p[0]}, newCollection(key(p[1], p[2]), fmt.Sprint(i)))
			putReviews(t, oneNetwork{s, p[0]}, key(p[1], p[2]), newReview("1", fmt.Sprint(i)))
		}
		for i, p := range parts {
			err := s.View(ctx, p[0], func(r reviewReader) error {
				c, err := r.Collection(ctx, key(p[1], p[2]))
				if want := newCollection(key(p[1], p[2]), fmt.Sprint(i)); err == nil && !equalCollections(c, want) {
					err = fmt.Errorf("got %q, want %q", c, want)
				}
				return errors.Join(err, hasReviews(r, key(p[1], p[2]), newReview("1", fmt.Sprint(i))))
			})
			if err != nil {
				t.Errorf("%q: %v", p, err)
			}
		}
	}},
	// A customer must never see or change the reviews of another. A collection of another network counts as absent.
	{"the same source and id in two networks are two collections, with separate reviews", func(t *testing.T, s reviewstore.Store) {
		a, b := oneNetwork{s, "a"}, oneNetwork{s, "b"}
		k := key("s", "a")
		putCollections(t, a, newCollection(k, "of a"))
		checkCollections(t, b)
		checkReviews(t, b, k)
		err := b.Update(ctx, func(w reviewTx) error { return w.PutReviews(ctx, k, many(0, 3, "of b")) })
		checkError(t, err, vitrine.ErrNotFound, "PutReviews into a collection of another network")
		putReviews(t, a, k, many(0, 3, "of a")...)
		putCollections(t, b, newCollection(k, "of b"))
		checkReviews(t, b, k)
		putReviews(t, b, k, many(1, 5, "of b")...)
		checkCollections(t, a, newCollection(k, "of a"))
		checkCollections(t, b, newCollection(k, "of b"))
		checkReviews(t, a, k, many(0, 3, "of a")...)
		checkReviews(t, b, k, many(1, 5, "of b")...)
	}},
	// Numbers that a driver assigns may be shared by networks, as long as the order within each network is right.
	{"each network has its own order of collections", func(t *testing.T, s reviewstore.Store) {
		want := map[string][]reviewstore.Collection{}
		var listed []reviewstore.Review
		for i := range 12 {
			name := []string{"a", "b", "c"}[i%3]
			c := newCollection(key("s", fmt.Sprint(100-i)), name)
			want[name] = append(want[name], c)
			putCollections(t, oneNetwork{s, name}, c)
			if i%3 == 0 {
				r := newReview(fmt.Sprint(100-i), "")
				listed = append(listed, r)
				putReviews(t, oneNetwork{s, "a"}, key("s", "100"), r)
			}
		}
		for name, list := range want {
			checkCollections(t, oneNetwork{s, name}, list...)
		}
		checkReviews(t, oneNetwork{s, "a"}, key("s", "100"), listed...)
	}},
	// The neighbour has collections and reviews under the same keys.
	{"an Update of one network that is rolled back changes no other network", func(t *testing.T, s reviewstore.Store) {
		network, neighbour := beside(t, s)
		undone := errors.New("undone")
		err := network.Update(ctx, func(w reviewTx) error { return errors.Join(changeAll(w), undone) })
		checkError(t, err, undone, "Update")
		checkCollections(t, network)
		checkNeighbour(t, neighbour)
	}},
	// Nothing is lost and nothing lands in another network.
	{"parallel Updates of several networks are all committed, each in its network", func(t *testing.T, s reviewstore.Store) {
		together(t, workers, func(worker int) error {
			name := fmt.Sprint("network ", worker%3)
			for round := range rounds {
				err := s.Update(ctx, name, func(w reviewTx) error {
					k := key("s", fmt.Sprintf("%d in round %d", worker, round))
					return errors.Join(w.PutCollection(ctx, newCollection(k, name)), w.PutReviews(ctx, k, many(0, 2, name)))
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		for n := range 3 {
			name := fmt.Sprint("network ", n)
			err := s.View(ctx, name, func(r reviewReader) error {
				count := 0
				for c, err := range r.Collections(ctx) {
					if err != nil {
						return err
					}
					if !equalCollections(c, newCollection(c.Key, name)) {
						return fmt.Errorf("%q is not as it was put", c)
					}
					if err := hasReviews(r, c.Key, many(0, 2, name)...); err != nil {
						return err
					}
					count++
				}
				if want := rounds * ((workers + 2 - n) / 3); count != want {
					return fmt.Errorf("%d collections, want %d", count, want)
				}
				return nil
			})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		checkNetworks(t, s, "network 0", "network 1", "network 2")
	}},
	// With a context that is done no name is yielded before the error.
	{"Networks can be left early and ranged over again, and yields the error of a context that is done", func(t *testing.T, s reviewstore.Store) {
		for _, name := range []string{"c", "a", "b"} {
			putCollections(t, oneNetwork{s, name}, newCollection(key("s", "a"), ""))
		}
		list := s.Networks(ctx)
		for _, stop := range []int{1, 2, 3, 4, 1} {
			if got, err := countUpTo(errorsOf(list), stop); got != min(stop, 3) || err != nil {
				t.Errorf("left after %d: %d names, error %v", stop, got, err)
			}
		}
		over, cancel := context.WithCancel(ctx)
		cancel()
		names, err := collect(s.Networks(over))
		if len(names) > 0 {
			t.Errorf("a context that is over: %q", names)
		}
		checkError(t, err, context.Canceled, "Networks")
	}},
}

// changeAll writes all keys of the neighbour in another network, with other content.
func changeAll(w reviewTx) error {
	for _, c := range neighbourCollections {
		err := errors.Join(w.PutCollection(ctx, newCollection(c.Key, "changed")), w.PutReviews(ctx, c.Key, many(0, 30, "changed")))
		if err != nil {
			return err
		}
	}
	return nil
}

// checkNetworks fails unless the store lists exactly these networks.
func checkNetworks(t *testing.T, s reviewstore.Store, want ...string) {
	t.Helper()
	got, err := collect(s.Networks(ctx))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("networks: got %.2000q, error %v, want %.2000q", got, err, want)
	}
}

// checkNeighbour fails if the neighbour that beside made has changed.
func checkNeighbour(t *testing.T, neighbour oneNetwork) {
	t.Helper()
	checkCollections(t, neighbour, neighbourCollections...)
	for _, c := range neighbourCollections {
		checkReviews(t, neighbour, c.Key, neighbourReviews...)
	}
}
