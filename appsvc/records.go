package appsvc

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/lru"
	rec "github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/internal/required"
	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/storage"
)

// The records of this package are entries of a storage.Store. These files read and write them:
//
//	storedkeys.go        all keys
//	records.go           transactions, and the numbers of lists
//	storedversions.go    heads, bodies and the history of apps
//	storedlists.go       lists of apps
//	storedtags.go        tags, their moves, restorations
//	storedcomponents.go  components
//	storedreleases.go    releases
//	storedchanges.go     the feed of changes, stored results of idempotent writes
//
// An index entry is written in the same function as its record. Caches only contain records that never change and are
// committed: an Update may be rolled back, and may have read writes of another one that is rolled back too.

// Bytes of the caches of a store.
const (
	versionCacheSize = 32 << 20
	nameCacheSize    = 4 << 20

	deliveryCacheSize = 16 << 20
)

// records reads and writes the records of a Service.
type records struct {
	db       storage.Store
	feeds    *feed.Feeds
	feed     feed.Feed
	versions *lru.Cache[versionName, keptVersion]

	deliveries *lru.Cache[versionName, Delivery]
}

// versionName names a version of an app.
type versionName struct {
	app    string
	number int64
}

// newRecords returns the records of a store. keepChanges is how long it keeps entries of the feed.
func newRecords(db storage.Store, keepChanges time.Duration) *records {
	return &records{
		db: db, feeds: feed.New(db, keepChanges),
		feed:       feed.Feed{Space: appSpace, Names: feed.NewNames(nameCacheSize)},
		versions:   lru.New[versionName, keptVersion](versionCacheSize),
		deliveries: lru.New[versionName, Delivery](deliveryCacheSize),
	}
}

// view calls fn with a reader of one snapshot.
func (s *records) view(ctx context.Context, fn func(*reader) error) error {
	required.Made(s != nil, "appsvc.Service")
	if err := s.feeds.Identify(ctx); err != nil {
		return err
	}
	return s.db.View(ctx, func(r storage.Reader) error { return fn(&reader{s: s, r: &rec.Reader{Reader: r}}) })
}

// update calls fn with a transaction, perhaps several times: only the effects of the last call remain.
func (s *records) update(ctx context.Context, fn func(*writer) error) error {
	return s.updateAs(ctx, storage.UpdateOptions{}, fn)
}

func (s *records) updateAs(ctx context.Context, o storage.UpdateOptions, fn func(*writer) error) error {
	required.Made(s != nil, "appsvc.Service")
	if err := s.feeds.Identify(ctx); err != nil {
		return err
	}
	return rec.Update(ctx, s.db, appSpace, o, func(t *rec.Tx) error {
		return fn(&writer{&reader{s: s, r: t, tx: t}})
	})
}

// changed returns a channel that is closed when there may be new records.
func (s *records) changed() <-chan struct{} { return s.db.Changed(appSpace) }

// reader reads records.
type reader struct {
	deleted bool // it reads only deleted apps
	s       *records
	r       interface {
		storage.Reader
		Ahead(ctx context.Context, keys ...string) error
	}
	tx *rec.Tx // nil in a View
}

// headKey returns the key of the head of an app.
func (r *reader) headKey(app string) string {
	if r.deleted {
		return keyOf(deletedKind, app)
	}
	return keyOf(headKind, app)
}

// ofDeleted returns a reader of deleted apps.
func (r *reader) ofDeleted() *reader {
	other := *r
	other.deleted = true
	return &other
}

// writer reads and writes records in a transaction.
type writer struct{ *reader }

// readAhead reads the records for a patch of an app in one round trip.
func (t *writer) readAhead(ctx context.Context, app, by string, used map[ComponentRef]string) error {
	_, cached := t.s.versions.Get(versionName{app, ofLatest})
	ahead := append(t.s.feed.Keys(by, app), t.latestKeys(app, cached)...)
	for c := range used {
		ahead = append(ahead, keyOf(componentKind, c.Name, c.Version))
	}
	return t.tx.Ahead(ctx, ahead...)
}

// value returns the value of a key, or nil if there is none.
func (r *reader) value(ctx context.Context, key string) ([]byte, error) {
	values, err := r.r.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	return values[0], nil
}

// listKeys returns the keys of the lists that an app is in, each once: that of its owner, and those of each group and
// of the network that has the group. Wider texts, such as urn:vendor, have no lists of their own.
func listKeys(h appHead) []string {
	deleted := h.DeletedAt != 0
	out := []string{listKey(ofOwner, h.Owner, deleted)}
	for _, g := range h.Groups {
		for _, outer := range urn.Containers(g) {
			if list := listKey(ofGroup, outer, deleted); (outer == g || !isWide(outer)) && !slices.Contains(out, list) {
				out = append(out, list)
			}
		}
	}
	return out
}

// listKey returns the key of the list of an owner or a group. Deleted apps are in lists of their own.
func listKey(kind, text string, deleted bool) string {
	if deleted {
		kind = ofDeleted + kind
	}
	return keyOf(listKind, kind, text)
}

// isWide reports whether a text is shorter than the URN of a network.
func isWide(group string) bool { return strings.Count(group, ":") < 2 }

// numbersOf returns the numbers of lists, or 0 for a list that never had an app.
func (r *reader) numbersOf(ctx context.Context, lists []string) ([]int64, error) {
	out := make([]int64, len(lists))
	if len(lists) == 0 {
		return out, nil
	}
	values, err := r.r.Get(ctx, lists...)
	if err != nil {
		return nil, err
	}
	for i, value := range values {
		if value != nil {
			if out[i], err = parseDecimal(lists[i], value); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// giveNumbers returns the numbers of lists. It assigns one to each list that has none yet.
func (t *writer) giveNumbers(ctx context.Context, lists []string) ([]int64, error) {
	out, err := t.numbersOf(ctx, lists)
	for i, n := range out {
		if n == 0 && err == nil {
			if out[i], err = t.giveNumber(ctx); err == nil {
				err = t.tx.Put(ctx, storage.Entry{Key: lists[i], Value: decimal(out[i])})
			}
		}
	}
	return out, err
}

// giveNumber assigns a new number.
func (t *writer) giveNumber(ctx context.Context) (n int64, err error) {
	counter := keyOf(counterKind)
	value, err := t.value(ctx, counter)
	if err == nil && value != nil {
		n, err = parseDecimal(counter, value)
	}
	if err != nil {
		return 0, err
	}
	return n + 1, t.tx.Put(ctx, storage.Entry{Key: counter, Value: decimal(n + 1)})
}

// damaged returns the error of a record that this package has not written.
func damaged(key string, err error) error {
	return fmt.Errorf("the record %q is damaged: %w", key, err)
}
