package appsvc

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/lru"
	"github.com/vitrine-go/vitrine/internal/required"
	"github.com/vitrine-go/vitrine/internal/rule"
	"github.com/vitrine-go/vitrine/storage"
)

// Package internal/records has the keys and the encoding of what is stored. Caches only contain what never changes and
// is committed: an Update may be rolled back, and may have read writes of another one that is rolled back too.

// Bytes of the caches of a store.
const (
	versionCacheSize  = 32 << 20
	nameCacheSize     = 4 << 20
	deliveryCacheSize = 16 << 20
)

// store reads and writes the records of a Service.
type store struct {
	db         storage.Store
	feeds      *feed.Feeds
	feed       feed.Feed
	versions   *lru.Cache[versionName, keptVersion]
	deliveries *lru.Cache[deliveryName, Delivery]
	complete   atomic.Bool // every tag has a record of published/
	tries      bool        // updates are rolled back
}

// versionName names a version of an app.
type versionName struct {
	app    string
	number int64
}

// deliveryName names a version as pages get it. reading is "" or says how its texts are answered.
type deliveryName struct {
	versionName
	reading string
}

// newStore returns the records of a store. keepChanges is how long it keeps entries of the feed.
func newStore(db storage.Store, keepChanges time.Duration) *store {
	return &store{
		db: db, feeds: feed.New(db, keepChanges),
		feed:       feed.Feed{Space: records.Space, Names: feed.NewNames(nameCacheSize)},
		versions:   lru.New[versionName, keptVersion](versionCacheSize),
		deliveries: lru.New[deliveryName, Delivery](deliveryCacheSize),
	}
}

// view calls fn with a reader of one snapshot.
func (s *store) view(ctx context.Context, fn func(*reader) error) error {
	required.Made(s != nil, "appsvc.Service")
	return s.db.View(ctx, func(r storage.Reader) error {
		return fn(&reader{records.Reader{Snapshot: &keyval.Reader{Reader: r}}, records.HeadKind, s, nil})
	})
}

// update calls fn with a transaction, perhaps several times: only the effects of the last call remain.
func (s *store) update(ctx context.Context, fn func(*writer) error) error {
	return s.updateAs(ctx, storage.UpdateOptions{}, fn)
}

// errDryRun rolls back what a store that only tries would write.
var errDryRun = errors.New("a dry run")

func (s *store) updateAs(ctx context.Context, o storage.UpdateOptions, fn func(*writer) error) error {
	required.Made(s != nil, "appsvc.Service")
	err := rule.Outside(ctx)
	if err == nil {
		err = s.feeds.Identify(ctx) // before the first change, so that a backup with it has the identity
	}
	if err != nil {
		return err
	}
	err = keyval.Update(ctx, s.db, records.Space, o, func(t *keyval.Tx) error {
		rows := records.Reader{Snapshot: t}
		err := fn(&writer{&reader{rows, records.HeadKind, s, t}, records.Writer{Rows: rows, Tx: t}})
		if err == nil && s.tries {
			err = errDryRun // so that nothing of it is cached
		}
		return err
	})
	if s.tries {
		err = ignore(err, errDryRun)
	}
	return err
}

// trying returns the store, with updates that are rolled back once they would succeed.
func (s *store) trying() *store {
	return &store{db: s.db, feeds: s.feeds, feed: s.feed, versions: s.versions, deliveries: s.deliveries, tries: true}
}

// changed returns a channel that is closed when there may be new records.
func (s *store) changed() <-chan struct{} { return s.db.Changed(records.Space) }

// reader reads records, and apps in the form for callers.
type reader struct {
	records.Reader
	headKind string // the kind of heads that it reads: records.HeadKind, or records.DeletedKind for deleted apps alone
	s        *store
	tx       *keyval.Tx // nil in a View
}

// ofDeleted returns a reader of deleted apps.
func (r *reader) ofDeleted() *reader {
	other := *r
	other.headKind = records.DeletedKind
	return &other
}

// writer reads and writes records in a transaction.
type writer struct {
	*reader
	records.Writer
}

// readAhead reads the records for a patch of an app in one round trip.
func (t *writer) readAhead(ctx context.Context, app, by string, used map[ComponentRef]string) error {
	_, cached := t.s.versions.Get(versionName{app, ofLatest})
	ahead := append(t.s.feed.Keys(by, app), t.latestKeys(app, cached)...)
	for c := range used {
		ahead = append(ahead, records.ComponentKey(c.Name, c.Version))
	}
	return t.tx.Ahead(ctx, ahead...)
}
