//go:build proof

package postgres

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
)

const network = "example.test"

// addReviews does what an import does for one collection.
func addReviews(tx reviews.Tx, source string, n int) error {
	key := reviews.Key{Source: source, ID: fmt.Sprint(n)}
	if _, err := tx.Collection(ctx, key); err == nil {
		return fmt.Errorf("collection %d of %s is there", n, source)
	}
	if err := tx.PutCollection(ctx, reviews.Collection{Key: key}); err != nil {
		return err
	}
	return tx.PutReviews(ctx, key, []reviews.Review{{ID: "a", Data: []byte("1")}, {ID: "b", Data: []byte("2")}})
}

// While an import is in the middle of a transaction, others add collections to the same network, and
// apps and assets are created: they all end while it has not.
func TestAnImportDoesNotDelayOtherUpdates(t *testing.T) {
	db := openTest(t, nil)
	add := func(source string) error {
		return db.Reviews().Update(ctx, network, func(tx reviews.Tx) error { return addReviews(tx, source, 1) })
	}
	if err := add("before"); err != nil {
		t.Fatal(err)
	}
	err := db.Reviews().Update(ctx, network, func(tx reviews.Tx) error {
		for n := range 300 {
			if err := addReviews(tx, "open", n); err != nil {
				return err
			}
		}
		for name, err := range map[string]error{
			"another import": add("other"),
			"an app":         db.Apps().Update(ctx, func(tx appsvc.Tx) error { return putApp(tx, "app") }),
			"an answer":      db.Apps().Update(ctx, func(tx appsvc.Tx) error { return putAnswer(tx, "key") }),
			"a library":      db.Assets().Update(ctx, library, func(tx assets.Tx) error { return tx.SetState(ctx, assets.State{Last: 1}) }),
		} {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	var order []string
	err = db.Reviews().View(ctx, network, func(r reviews.Reader) error {
		for c, err := range r.Collections(ctx) {
			if err != nil {
				return err
			}
			order = append(order, c.Source+" "+c.ID)
		}
		return nil
	})
	if err != nil || len(order) != 302 || order[1] != "other 1" || order[2] != "open 0" || order[301] != "open 299" {
		t.Errorf("%d collections, %v: want those of each import in a row, in the order of their ends", len(order), err)
	}
}

// importInParallel has four importers run six transactions each, and fails if one of these runs twice.
func importInParallel(t *testing.T, each func(tx reviews.Tx, importer, transaction int) error) {
	t.Helper()
	const importers, transactions = 4, 6
	db := openTest(t, nil)
	var runs atomic.Int64
	var group sync.WaitGroup
	for i := range importers {
		group.Go(func() {
			for n := range transactions {
				err := db.Reviews().Update(ctx, network, func(tx reviews.Tx) error {
					runs.Add(1)
					return each(tx, i, n)
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got := runs.Load(); got != importers*transactions {
		t.Errorf("%d runs of %d transactions", got, importers*transactions)
	}
}

// Imports that have no collection in common do not meet.
func TestDisjointImportsDoNotDeadlock(t *testing.T) {
	const collections = 100
	importInParallel(t, func(tx reviews.Tx, importer, transaction int) error {
		for c := range collections {
			if err := addReviews(tx, fmt.Sprint(importer), transaction*collections+c); err != nil {
				return err
			}
		}
		return nil
	})
}

// Imports that have all collections in common, each in an order of its own, wait for each other and take no deadlock.
func TestOverlappingImportsDoNotDeadlock(t *testing.T) {
	const collections = 50
	importInParallel(t, func(tx reviews.Tx, _, _ int) error {
		keys := make([]reviews.Key, collections)
		for i, n := range rand.Perm(collections) {
			keys[i] = reviews.Key{Source: "s", ID: fmt.Sprint(n)}
		}
		if err := tx.Announce(ctx, append(keys, keys[0])); err != nil { // one of them twice
			return err
		}
		for _, key := range keys {
			if _, err := tx.Collection(ctx, key); err != nil && !errors.Is(err, vitrine.ErrNotFound) {
				return err
			}
			if err := tx.PutCollection(ctx, reviews.Collection{Key: key}); err != nil {
				return err
			}
		}
		return nil
	})
}

// However many things an update adds, it takes only some locks in the server's table of them, which
// has room for max_locks_per_transaction (64) a connection.
func TestLocksDoNotGrowWithTheSizeOfAnUpdate(t *testing.T) {
	db := openTest(t, nil)
	err := db.update(ctx, func(c *conn) error {
		tx := &reviewTx{reviewReader: reviewReader{c: c, network: network, locks: map[string]bool{}, absent: map[string]bool{}}}
		for n := range 500 {
			if err := addReviews(tx, "source", n); err != nil {
				return err
			}
		}
		r := c.query(ctx, "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid()")
		if r.next() && r.int(0) > 48 {
			t.Errorf("%d locks", r.int(0))
		}
		return r.err
	})
	if err != nil {
		t.Error(err)
	}
}

// What an update claimed is free again after it, and nothing is left in the table of claims.
func TestClaimsEndWithTheUpdate(t *testing.T) {
	db := openTest(t, nil)
	for range 3 {
		err := db.update(ctx, func(c *conn) error {
			c.claim("thing", "key")
			return c.query(ctx, "SELECT").err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if n := db.list(t, "SELECT count(*)::text FROM claim"); n != "0" {
		t.Errorf("%s claims are left", n)
	}
}
