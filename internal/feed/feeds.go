package feed

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

const (
	// MaxWalked is the maximum number of entries that are read for one page of a feed, whether or not they are on the
	// page. It limits the work for a page.
	MaxWalked = 10_000
	// defaultKeep is how long entries are kept by default.
	defaultKeep = 30 * 24 * time.Hour
	// With every removeEach-th entry that it adds, a service removes up to removeMost old ones.
	removeEach, removeMost = 64, 256
)

// Feeds is what the feeds of one service have in common.
type Feeds struct {
	db         storage.Store
	keep       time.Duration // how long entries are kept; negative = for ever
	identified atomic.Bool   // the store has an identity
	added      atomic.Uint32 // how many entries this service has added, unless it keeps all
}

// New returns the Feeds of a service on a store, which keeps entries for this time; 0 = 30 days, negative = for
// ever.
func New(db storage.Store, keep time.Duration) *Feeds {
	return &Feeds{db: db, keep: cmp.Or(keep, defaultKeep)}
}

// Identify gives the store an identity, which cursors need, if it has none yet.
func (s *Feeds) Identify(ctx context.Context) error {
	if s.identified.Load() {
		return nil
	}
	err := storage.EnsureIdentity(ctx, s.db)
	s.identified.Store(err == nil)
	return err
}

// Add adds entries to a feed. The first entry that a service adds, and every 64th after it, also remove up to 256 old
// entries of the same feed; now is the time in milliseconds since the epoch. So no separate task has to remove them,
// and no write takes long because of it. More are removed than added, so a feed that has grown gets shorter again.
func (s *Feeds) Add(ctx context.Context, t storage.Tx, to Feed, now int64, entries ...Entry) error {
	if err := to.Add(ctx, t, entries...); err != nil {
		return err
	}
	n := uint32(len(entries))
	if s.keep < 0 || (s.added.Add(n)-1)%removeEach >= n {
		return nil
	}
	return to.Remove(ctx, t, now-s.keep.Milliseconds(), removeMost)
}
