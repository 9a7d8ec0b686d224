package memory

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/webhook/webhookstore"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/reviews/reviewstore"
	"github.com/vitrine-go/vitrine/storage/internal/wake"
)

// DB is a store in memory, open until Close. It may be used by many goroutines. It has the methods of
// the DBs of the other drivers, so that a program changes its store in one line.
type DB struct {
	closed   atomic.Bool
	apps     *appStore
	assets   *assetStore
	reviews  *reviewStore
	webhooks *webhookStore
	origin   atomic.Pointer[origin]
}

// New returns an empty store.
func New() *DB {
	db := new(DB)
	db.origin.Store(newOrigin())
	db.apps, db.assets, db.reviews = newAppStore(db), newAssetStore(db), newReviewStore(db)
	db.webhooks = &webhookStore{db: db, values: map[string][]byte{}}
	return db
}

// Apps returns the store of apps.
func (db *DB) Apps() appsvc.Store { return db.apps }

// Assets returns the store of assets.
func (db *DB) Assets() assetstore.Store { return db.assets }

// Reviews returns the store of reviews.
func (db *DB) Reviews() reviewstore.Store { return db.reviews }

// Webhooks returns the store of the positions of webhooks.
func (db *DB) Webhooks() webhookstore.Store { return db.webhooks }

// ResetFeed gives the feeds of changes of apps and assets another identity, which makes all earlier cursors invalid. It
// wakes those who wait for changes.
func (db *DB) ResetFeed(ctx context.Context) error {
	if err := db.Ping(ctx); err != nil {
		return err
	}
	db.origin.Store(&origin{db.origin.Load().key, randomBytes()})
	db.apps.bell.Ring()
	db.assets.bell.Ring()
	return nil
}

// Ping returns an error that wraps vitrine.ErrClosed if the store is closed, and the error of ctx if ctx is done.
func (db *DB) Ping(ctx context.Context) error {
	if db.closed.Load() {
		return errClosed
	}
	return ctx.Err()
}

// changed returns a channel that is closed when the bell rings next, at once if the store is closed.
func (db *DB) changed(bell *wake.Bell) <-chan struct{} {
	next := bell.Wait()
	if db.closed.Load() {
		bell.Ring()
	}
	return next
}

// Close closes the store and wakes those who wait for changes. Calls that begin later return an error that wraps
// vitrine.ErrClosed. A View or an Update that has begun goes on to its end. The data is lost. Close returns nil.
func (db *DB) Close() error {
	db.closed.Store(true)
	db.apps.bell.Ring()
	db.assets.bell.Ring()
	return nil
}

var errClosed = fmt.Errorf("memory: %w", vitrine.ErrClosed)
