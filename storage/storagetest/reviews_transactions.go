package storagetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews/reviewstore"
)

var reviewTransactionRules = []reviewRule{
	// errors.Is must find the error of fn in what Update returns, because the Service finds its own errors by it.
	// Afterwards the same writes succeed, so nothing of the first attempt is left.
	{"an Update that returns an error commits nothing, and returns that error", func(t *testing.T, s oneNetwork) {
		fillReviews(t, s)
		want := errors.New("fn's own")
		err := s.Update(ctx, func(w reviewTx) error {
			if err := changeReviews(w); err != nil {
				return err
			}
			return fmt.Errorf("wrapped: %w", want)
		})
		checkError(t, err, want, "Update")
		checkFilledReviews(t, s)
		updateReviews(t, s, changeReviews)
	}},
	// The same value must come out, on the goroutine of the caller. No lock, connection or transaction stays open: the
	// next Update must not wait.
	{"an Update that panics commits nothing, the caller gets the panic, and the store stays usable", func(t *testing.T, s oneNetwork) {
		fillReviews(t, s)
		want := new(int)
		got := panicOf(func() {
			_ = s.Update(ctx, func(w reviewTx) error {
				if err := changeReviews(w); err != nil {
					return err
				}
				panic(want)
			})
		})
		if got != any(want) {
			t.Errorf("the panic came out as %v", got)
		}
		checkFilledReviews(t, s)
		updateReviews(t, s, changeReviews)
	}},
	// It is only a hint about locks. Keys may be absent and may be given twice.
	{"Announce changes nothing", func(t *testing.T, s oneNetwork) {
		fillReviews(t, s)
		updateReviews(t, s, func(w reviewTx) error {
			keys := []reviewstore.Key{{Source: "not there", ID: "a"}}
			for c, err := range w.Collections(ctx) {
				if err != nil {
					return err
				}
				keys = append(keys, c.Key, c.Key)
			}
			if err := w.Announce(ctx, keys); err != nil {
				return err
			}
			return w.Announce(ctx, nil)
		})
		checkFilledReviews(t, s)
		updateReviews(t, s, changeReviews)
	}},
	// No snapshot or connection stays open, and the writes after it succeed.
	{"a View passes on errors and panics, and the store stays usable", func(t *testing.T, s oneNetwork) {
		fillReviews(t, s)
		want := errors.New("fn's own")
		checkError(t, s.View(ctx, func(reviewReader) error { return want }), want, "View")
		if got := panicOf(func() { _ = s.View(ctx, func(reviewReader) error { panic(want) }) }); got != any(want) {
			t.Errorf("the panic came out as %v", got)
		}
		checkFilledReviews(t, s)
		updateReviews(t, s, changeReviews)
	}},
	// An import reads the tally that it wrote a moment before.
	{"the reads of an Update see its own writes, and a later View sees them too", func(t *testing.T, s oneNetwork) {
		fillReviews(t, s)
		updateReviews(t, s, func(w reviewTx) error {
			return errors.Join(changeReviews(w), hasChanged(w))
		})
		if err := s.View(ctx, hasChanged); err != nil {
			t.Error(err)
		}
	}},
	// The Service may go on after this error. In PostgreSQL, for example, a failed statement ends the transaction, so a driver
	// must not find out by one that a row does not exist.
	{"after a write that returns ErrNotFound the transaction goes on", func(t *testing.T, s oneNetwork) {
		fillReviews(t, s)
		updateReviews(t, s, func(w reviewTx) error {
			checkError(t, w.PutReviews(ctx, key("s", "absent"), many(0, 1, "")), vitrine.ErrNotFound, "PutReviews")
			_, err := w.Collection(ctx, key("s", "absent"))
			checkError(t, err, vitrine.ErrNotFound, "Collection")
			return changeReviews(w)
		})
		if err := s.View(ctx, hasChanged); err != nil {
			t.Error(err)
		}
	}},
	// A driver that numbers rows in memory must give the numbers back or skip them.
	{"a rolled back Update leaves no trace in the order of collections and reviews", func(t *testing.T, s oneNetwork) {
		putCollections(t, s, newCollection(key("s", "a"), ""))
		gone := errors.New("rolled back")
		for i := range 5 {
			err := s.Update(ctx, func(w reviewTx) error {
				return errors.Join(w.PutCollection(ctx, newCollection(key("s", "gone"), "")), w.PutReviews(ctx, key("s", "a"), many(i, 9, "gone")), gone)
			})
			checkError(t, err, gone, "Update")
			putReviews(t, s, key("s", "a"), newReview(fmt.Sprint(i), ""))
		}
		checkCollections(t, s, newCollection(key("s", "a"), ""))
		checkReviews(t, s, key("s", "a"), many(0, 5, "")...)
	}},
	// An Update may read its own uncommitted rows. A cache that keeps them would show other callers what never
	// happened.
	{"reads inside an Update that is rolled back leave no trace in any cache", func(t *testing.T, s oneNetwork) {
		fillReviews(t, s)
		// Each round writes the same keys with another content, and reads all of them.
		everything := func(w reviewTx, text string) error {
			return errors.Join(
				w.PutCollection(ctx, newCollection(key("s", "b"), text)), w.PutCollection(ctx, newCollection(key("s", "new"), text)),
				w.PutReviews(ctx, key("s", "b"), many(0, 3, text)), w.PutReviews(ctx, key("s", "new"), many(0, 3, text)), hasText(w, text),
			)
		}
		gone := errors.New("rolled back")
		for round := range 3 {
			err := s.Update(ctx, func(w reviewTx) error { return errors.Join(everything(w, fmt.Sprint("round", round)), gone) })
			if err == nil || err.Error() != gone.Error() {
				t.Errorf("Update: error %v, want %v alone", err, gone)
			}
			checkFilledReviews(t, s)
		}
		updateReviews(t, s, func(w reviewTx) error { return everything(w, "kept") })
		if err := s.View(ctx, func(r reviewReader) error { return hasText(r, "kept") }); err != nil {
			t.Error(err)
		}
	}},
	// A client that has gone away must not hold a connection, and errors.Is must find context.Canceled.
	{"with a context that is done Update commits nothing, and Update and View return the context's error", func(t *testing.T, s oneNetwork) {
		fillReviews(t, s)
		over, cancel := context.WithCancel(ctx)
		cancel()
		checkError(t, s.Update(over, changeReviews), context.Canceled, "Update")
		err := s.View(over, func(r reviewReader) error {
			_, err := r.Collection(over, key("s", "a"))
			return err
		})
		checkError(t, err, context.Canceled, "View")
		checkFilledReviews(t, s)
	}},
}

// fillReviews stores two collections, one with reviews.
func fillReviews(t *testing.T, s oneNetwork) {
	t.Helper()
	putCollections(t, s, newCollection(key("s", "b"), ""), newCollection(key("s", "a"), ""))
	putReviews(t, s, key("s", "a"), many(0, 3, "")...)
}

// checkFilledReviews checks that everything is as fillReviews left it.
func checkFilledReviews(t *testing.T, s oneNetwork) {
	t.Helper()
	checkCollections(t, s, newCollection(key("s", "b"), ""), newCollection(key("s", "a"), ""))
	checkReviews(t, s, key("s", "a"), many(0, 3, "")...)
	checkReviews(t, s, key("s", "b"))
	checkReviews(t, s, key("s", "new"))
}

// changeReviews changes each thing that fillReviews stored, and adds to it.
func changeReviews(w reviewTx) error {
	return errors.Join(
		w.PutCollection(ctx, newCollection(key("s", "new"), "")),
		w.PutCollection(ctx, newCollection(key("s", "b"), "changed")),
		w.PutReviews(ctx, key("s", "new"), many(0, 2, "new")),
		w.PutReviews(ctx, key("s", "a"), []reviewstore.Review{newReview("3", ""), newReview("1", "changed")}),
	)
}

// hasChanged returns an error unless r reads what changeReviews wrote.
func hasChanged(r reviewReader) error {
	return errors.Join(
		hasCollections(r, newCollection(key("s", "b"), "changed"), newCollection(key("s", "a"), ""), newCollection(key("s", "new"), "")),
		hasReviews(r, key("s", "a"), newReview("0", ""), newReview("1", "changed"), newReview("2", ""), newReview("3", "")),
		hasReviews(r, key("s", "new"), many(0, 2, "new")...),
	)
}

// hasText returns an error unless the collections "b" and "new" were made with this text, each with three reviews.
func hasText(r reviewReader, text string) error {
	return errors.Join(
		hasCollections(r, newCollection(key("s", "b"), text), newCollection(key("s", "a"), ""), newCollection(key("s", "new"), text)),
		hasReviews(r, key("s", "b"), many(0, 3, text)...), hasReviews(r, key("s", "new"), many(0, 3, text)...),
	)
}

var reviewParallelRules = []reviewRule{
	// Each Update reads a count from the tally and stores the next one. If two read the same count, one of them must wait or
	// run again.
	{"parallel Updates of one collection are all committed, one after the other", func(t *testing.T, s oneNetwork) {
		k := key("s", "a")
		putCollections(t, s, reviewstore.Collection{Key: k, Tally: []byte{0, 0}})
		together(t, workers, func(int) error {
			for range rounds {
				err := s.Update(ctx, func(w reviewTx) error {
					c, err := w.Collection(ctx, k)
					if err != nil {
						return err
					}
					n := int(c.Tally[0])<<8 + int(c.Tally[1])
					err = w.PutReviews(ctx, k, many(n, n+1, ""))
					n++
					return errors.Join(err, w.PutCollection(ctx, reviewstore.Collection{Key: k, Tally: []byte{byte(n >> 8), byte(n)}}))
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		checkReviews(t, s, k, many(0, workers*rounds, "")...)
	}},
	// Each Update reads all collections, changes all of them and adds one. Locks on the rows that exist do not stop a
	// new row, so a driver needs more than those.
	{"a list of all collections that an Update has read is still current at its commit", func(t *testing.T, s oneNetwork) {
		together(t, workers, func(int) error {
			for range rounds / 5 {
				err := s.Update(ctx, func(w reviewTx) error {
					all, err := collect(w.Collections(ctx))
					if err != nil {
						return err
					}
					for i := range all { // the tally says how many collections are from this one on
						all[i].Tally = fmt.Append(nil, len(all)-i)
						if err := w.PutCollection(ctx, all[i]); err != nil {
							return err
						}
					}
					return w.PutCollection(ctx, reviewstore.Collection{Key: key("s", fmt.Sprint(len(all)))})
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		var want []reviewstore.Collection
		for i := range workers * (rounds / 5) {
			c := reviewstore.Collection{Key: key("s", fmt.Sprint(i))}
			if left := workers*(rounds/5) - 1 - i; left > 0 {
				c.Tally = fmt.Append(nil, left)
			}
			want = append(want, c)
		}
		checkCollections(t, s, want...)
	}},
	// A writer replaces all reviews and the collection again and again. A reader must find all of them of the same
	// round, and of no round that is older than its start.
	{"a View sees one snapshot, with every Update that was acknowledged before it began", func(t *testing.T, s oneNetwork) {
		k := key("s", "a")
		putCollections(t, s, newCollection(k, "0"))
		putReviews(t, s, k, many(0, 20, "0")...)
		var acknowledged atomic.Int64
		together(t, 4, func(worker int) error {
			for round := range rounds {
				if worker == 0 {
					text := fmt.Sprint(round + 1)
					if err := s.Update(ctx, func(w reviewTx) error {
						return errors.Join(w.PutReviews(ctx, k, many(0, 20, text)), w.PutCollection(ctx, newCollection(k, text)))
					}); err != nil {
						return err
					}
					acknowledged.Store(int64(round + 1))
					continue
				}
				before := int(acknowledged.Load())
				err := s.View(ctx, func(r reviewReader) error {
					first, err := collect(r.Reviews(ctx, k))
					if err != nil {
						return err
					}
					for text := before; text <= rounds; text++ {
						if equalReviews(first[0], newReview("0", fmt.Sprint(text))) {
							return errors.Join(hasReviews(r, k, many(0, 20, fmt.Sprint(text))...), hasCollections(r, newCollection(k, fmt.Sprint(text))))
						}
					}
					return fmt.Errorf("update %d was acknowledged, but %q is read", before, first[0].Data)
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}},
}

var reviewIteratorRules = []reviewRule{
	// A page ends as soon as it is full. Rows and statements of the iterator must be closed then.
	{"a caller may leave an iterator early and range over it again, and the transaction goes on", func(t *testing.T, s oneNetwork) {
		fillForIterators(t, s)
		inBothReviews(t, s, func(r reviewReader) error {
			for name, list := range reviewLists(r, ctx) {
				for _, stop := range []int{1, 2, listed, listed + 1, 1} {
					if got, err := countUpTo(list, stop); got != min(stop, listed) || err != nil {
						return fmt.Errorf("%s, left after %d: %d pairs, error %v", name, stop, got, err)
					}
				}
			}
			_, err := r.Collection(ctx, key("s", "0"))
			return err
		})
	}},
	// A database connection often allows one open result at a time, so a driver may have to read ahead.
	{"iterators nest, and other reads may run between their steps", func(t *testing.T, s oneNetwork) {
		fillForIterators(t, s)
		inBothReviews(t, s, func(r reviewReader) error {
			seen := 0
			for c, err := range r.Collections(ctx) {
				if err != nil {
					return err
				}
				for review, err := range r.Reviews(ctx, key("s", "0")) {
					if err != nil {
						return err
					}
					if err := hasByID(r, key("s", "0"), []string{review.ID}, review); err != nil {
						return err
					}
					if _, err := r.Collection(ctx, c.Key); err != nil {
						return err
					}
					seen++
				}
			}
			if seen != listed*listed {
				return fmt.Errorf("%d steps, want %d", seen, listed*listed)
			}
			return nil
		})
	}},
	// The writes of this test go to another collection, so each review is seen once.
	{"writes may run between the steps of an iterator", func(t *testing.T, s oneNetwork) {
		fillForIterators(t, s)
		updateReviews(t, s, func(w reviewTx) error {
			seen := 0
			for review, err := range w.Reviews(ctx, key("s", "0")) {
				if err != nil {
					return err
				}
				if err := w.PutReviews(ctx, key("s", "1"), []reviewstore.Review{review}); err != nil {
					return err
				}
				seen++
			}
			if seen != listed {
				return fmt.Errorf("%d steps, want %d", seen, listed)
			}
			return nil
		})
		checkReviews(t, s, key("s", "1"), many(0, listed, "")...)
	}},
	// Delete gives the replies to what it erases another parent while it reads their collection.
	{"reviews may be replaced between the steps of the iterator that has yielded them", func(t *testing.T, s oneNetwork) {
		const rows = 200 // more than a driver reads at once
		fillForIterators(t, s)
		putReviews(t, s, key("s", "1"), many(0, rows, "")...)
		updateReviews(t, s, func(w reviewTx) error {
			seen, steps := map[string]bool{}, 0
			for review, err := range w.Reviews(ctx, key("s", "1")) {
				if err != nil {
					return err
				}
				if steps++; steps > 2*rows {
					return errors.New("the iterator does not end")
				}
				seen[review.ID] = true
				if err := w.PutReviews(ctx, key("s", "1"), []reviewstore.Review{newReview(review.ID, "replaced")}); err != nil {
					return err
				}
			}
			if len(seen) != rows {
				return fmt.Errorf("%d reviews, want %d", len(seen), rows)
			}
			return nil
		})
		checkReviews(t, s, key("s", "1"), many(0, rows, "replaced")...)
	}},
	// Callers stop at an error, and a list that ends without one counts as complete. A driver must never end a list
	// early without an error.
	{"an iterator yields an error once, as its last pair", func(t *testing.T, s oneNetwork) {
		fillForIterators(t, s)
		inBothReviews(t, s, func(r reviewReader) error {
			over, cancel := context.WithCancel(ctx)
			cancel()
			for name, list := range reviewLists(r, over) {
				pairs, failed := 0, error(nil)
				for err := range list {
					if failed != nil {
						return fmt.Errorf("%s: a pair follows the error %v", name, failed)
					}
					pairs, failed = pairs+1, err
				}
				// A driver may have read the whole list already, and need not check the context then.
				if failed == nil && pairs != listed || failed != nil && !errors.Is(failed, context.Canceled) {
					return fmt.Errorf("%s, with a context that is over: %d pairs, error %v", name, pairs, failed)
				}
			}
			return nil
		})
	}},
	// Twenty panics in a row would use up the connections or locks of a driver that does not release them.
	{"a panic between the steps of an iterator reaches the caller, and the store stays usable", func(t *testing.T, s oneNetwork) {
		fillForIterators(t, s)
		want := new(int)
		for range 20 {
			got := panicOf(func() {
				_ = s.View(ctx, func(r reviewReader) error {
					for range r.Reviews(ctx, key("s", "0")) {
						panic(want)
					}
					return nil
				})
			})
			if got != any(want) {
				t.Errorf("the panic came out as %v", got)
			}
		}
		putReviews(t, s, key("s", "1"), newReview("after", ""))
		checkReviews(t, s, key("s", "1"), newReview("after", ""))
	}},
}

// fillForIterators stores so much that each iterator of reviewLists yields as many items as listed says.
func fillForIterators(t *testing.T, s oneNetwork) {
	t.Helper()
	for i := range listed {
		putCollections(t, s, newCollection(key("s", fmt.Sprint(i)), ""))
	}
	putReviews(t, s, key("s", "0"), many(0, listed, "")...)
}

// reviewLists has the kinds of iterators that go over many rows. Each yields only the error of each pair.
func reviewLists(r reviewReader, ctx context.Context) map[string]iter.Seq[error] {
	return map[string]iter.Seq[error]{
		"Collections": errorsOf(r.Collections(ctx)),
		"Reviews":     errorsOf(r.Reviews(ctx, key("s", "0"))),
		"ReviewsByID": errorsOf(r.ReviewsByID(ctx, key("s", "0"), []string{"4", "3", "2", "1", "0"})),

		"CollectionsByKey": errorsOf(r.CollectionsByKey(ctx, reviewstore.CollectionQuery{})),
		"ReviewsByTime":    errorsOf(r.ReviewsByTime(ctx, reviewstore.ReviewQuery{Collection: key("s", "0")})),
	}
}

// inBothReviews runs fn in a View and in an Update.
func inBothReviews(t *testing.T, s oneNetwork, fn func(r reviewReader) error) {
	t.Helper()
	if err := s.View(ctx, fn); err != nil {
		t.Errorf("in a View: %v", err)
	}
	if err := s.Update(ctx, func(w reviewTx) error { return fn(w) }); err != nil {
		t.Errorf("in an Update: %v", err)
	}
}

var reviewRandomRules = []reviewRule{
	// The model is a list of collections with lists of reviews. About a quarter of the Updates are rolled back.
	{"random writes agree with a simple model", func(t *testing.T, s oneNetwork) {
		const seed = 21
		t.Logf("seed %d", seed)
		d := randomData{rand.New(rand.NewPCG(seed, 0))}
		var want reviewModel
		for range 40 {
			next := want.clone()
			rollback := d.IntN(4) == 0
			undone := errors.New("undone")
			err := s.Update(ctx, func(w reviewTx) error {
				next = want.clone()
				for range d.IntN(6) {
					if err := next.write(d, w); err != nil {
						return err
					}
				}
				if rollback {
					return undone
				}
				return next.compare(w)
			})
			if rollback && errors.Is(err, undone) {
				next, err = want, nil
			}
			if err != nil {
				t.Fatal(err)
			}
			want = next
			if err := s.View(ctx, want.compare); err != nil {
				t.Fatal(err)
			}
		}
	}},
}

// reviewModel is a simple implementation of a store.
type reviewModel []*modelCollection

// modelCollection is a collection with its reviews in the order in which they were first put.
type modelCollection struct {
	reviewstore.Collection
	reviews []reviewstore.Review
}

func (m reviewModel) clone() (out reviewModel) {
	for _, c := range m {
		copied := *c
		copied.reviews = append([]reviewstore.Review(nil), c.reviews...)
		out = append(out, &copied)
	}
	return out
}

// write makes the same random change to w and the model.
func (m *reviewModel) write(d randomData, w reviewTx) error {
	k := key(pick(d, oddKeys[:8]), pick(d, oddKeys[:4]))
	var to *modelCollection
	for _, c := range *m {
		if c.Key == k {
			to = c
		}
	}
	if to != nil && d.IntN(8) == 0 {
		*m = slices.DeleteFunc(*m, func(c *modelCollection) bool { return c == to })
		return w.DeleteCollection(ctx, k)
	}
	if to != nil && d.IntN(4) == 0 {
		ids := []string{pick(d, oddKeys), pick(d, oddKeys), "absent"}
		to.reviews = slices.DeleteFunc(to.reviews, func(r reviewstore.Review) bool { return slices.Contains(ids, r.ID) })
		return w.DeleteReviews(ctx, k, ids)
	}
	if to == nil || d.IntN(4) == 0 {
		c := newCollection(k, fmt.Sprint(d.IntN(100)))
		if to == nil {
			to = &modelCollection{}
			*m = append(*m, to)
		}
		to.Collection = c
		return w.PutCollection(ctx, c)
	}
	var list []reviewstore.Review
	for range d.IntN(5) {
		r := newReview(pick(d, oddKeys), fmt.Sprint(d.IntN(100)))
		list = append(list, r)
		to.put(r)
	}
	return w.PutReviews(ctx, k, list)
}

func (c *modelCollection) put(r reviewstore.Review) {
	for i := range c.reviews {
		if c.reviews[i].ID == r.ID {
			c.reviews[i] = r
			return
		}
	}
	c.reviews = append(c.reviews, r)
}

// compare returns an error unless r reads exactly what the model has.
func (m reviewModel) compare(r reviewReader) error {
	var list []reviewstore.Collection
	for _, c := range m {
		list = append(list, c.Collection)
		if err := hasReviews(r, c.Key, c.reviews...); err != nil {
			return err
		}
	}
	return hasCollections(r, list...)
}
