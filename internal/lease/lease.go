// Package lease lets one of the processes that share a store do some work, such as deliveries, and stores how far the
// work is.
//
// A process waits for the lease with [Acquire], works until the lease is lost or it is told to stop, and then calls
// [Lease.Release]. Of the processes that wait, one acquires the lease when its holder has released it, or has died.
//
// The holder renews the lease every few seconds: it raises a count. A process that has seen the same count for a while
// acquires the lease, since the holder is dead. So the clocks of two machines are never compared. The holder stops if
// it could not renew the lease for a while, which ends before another process may acquire it. A holder that stalled and
// does not know that it lost the lease still cannot store a position: each of its writes checks the lease.
//
// A copy of a store, such as one restored from a backup, has the lease that the original had at that moment. Nobody
// holds it in the copy, so a process there acquires it at once.
//
// What the work is, and when a part of it that failed is tried again, is up to the caller.
package lease

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

const (
	renewEvery  = 8 * time.Second
	validFor    = 18 * time.Second // from the beginning of the last renewal
	deadAfter   = 20 * time.Second // how long the count stays the same before another process acquires the lease
	watchEvery  = 4 * time.Second  // how often a process without the lease looks at it
	releaseWait = 5 * time.Second  // how long the holder tries to release the lease
	storeRetry  = time.Second      // the time between two attempts to write
)

// ErrLost means that another process has acquired the lease.
var ErrLost = errors.New("another process has acquired the lease")

// record is the lease as it is stored. Without a holder it was released.
type record struct {
	Holder string `json:"holder"` // random, another one each time that a process acquires the lease
	Count  int64  `json:"count"`
	Store  string `json:"store,omitempty"` // name of the store's identity, in hex; "" in leases of v0.2.0
}

// Lease is the lease while this process has it. It is safe for concurrent use.
type Lease struct {
	db       storage.Store
	key      string
	log      *slog.Logger
	holder   string
	lose     context.CancelFunc // ends the context that Acquire returned
	renewing sync.WaitGroup
}

// Acquire waits until this process has the lease that is stored under a key. It returns a context that is done when the
// lease is lost or was released. That context does not end with ctx, so that work that is under way can be completed
// and its position stored. Acquire returns nil if ctx is done before this process has the lease.
//
// The log gets a warning from time to time while the store cannot be read or written.
func Acquire(ctx context.Context, db storage.Store, key string, log *slog.Logger) (*Lease, context.Context) {
	l := &Lease{db: db, key: key, log: log.With("lease", key), holder: rand.Text()}
	valid, lose := context.WithCancel(context.WithoutCancel(ctx))
	l.lose = lose
	var seen record
	var since time.Time
	for attempt := 0; ctx.Err() == nil; attempt++ {
		begun := time.Now()
		// If the outcome of the write is unknown, the next read may find this process as the holder.
		err := l.count(ctx, l.holder, func(now record) bool {
			if now != seen {
				seen, since = now, time.Now()
			}
			return now.Holder == "" || now.Holder == l.holder || begun.Sub(since) >= deadAfter
		})
		if err == nil {
			l.renewing.Go(func() { l.renew(valid, begun) })
			return l, valid
		}
		if !errors.Is(err, ErrLost) && ctx.Err() == nil && attempt%15 == 0 {
			l.log.Warn("lease: the store cannot be asked who has it, trying again", "cause", err.Error())
		}
		Wait(ctx, watchEvery)
	}
	lose()
	return nil, valid
}

// count raises the count of the lease, sets its holder, and puts entries, if may allows it for the stored lease. Else
// it returns ErrLost and changes nothing.
func (l *Lease) count(
	ctx context.Context, holder string, may func(now record) bool, entries ...storage.Entry,
) error {
	return l.db.Update(ctx, storage.SpaceOf(l.key), storage.UpdateOptions{}, func(t storage.Tx) error {
		values, err := t.Get(ctx, storage.IdentityName, l.key)
		if err != nil {
			return err
		}
		var now record
		if values[1] != nil {
			if err := keyval.Decode(storage.Entry{Key: l.key, Value: values[1]}, &now); err != nil {
				return err
			}
		}
		store := hex.EncodeToString(values[0])
		if now.Store != "" && now.Store != store {
			now.Holder = ""
		}
		if !may(now) {
			return ErrLost
		}
		return t.Put(ctx, append(entries, keyval.JSON(l.key, record{holder, now.Count + 1, store}))...)
	})
}

// renew renews the lease until valid is done. The lease is lost if that has not succeeded for validFor, first from
// begun on.
func (l *Lease) renew(valid context.Context, begun time.Time) {
	expiry := time.AfterFunc(time.Until(begun.Add(validFor)), l.lose)
	defer expiry.Stop()
	for Wait(valid, renewEvery) {
		begun = time.Now()
		if l.put(valid, l.holder) == nil {
			expiry.Reset(time.Until(begun.Add(validFor)))
		}
	}
}

// Release releases the lease, so that another process need not wait, and ends the context that Acquire returned. If the
// store cannot be written, another process acquires the lease when it takes this one for dead.
func (l *Lease) Release(ctx context.Context) {
	l.lose()
	l.renewing.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWait)
	defer cancel()
	_ = l.put(ctx, "")
}

// Store stores a position under a key of the lease's space, as JSON. While the store fails, it tries again until ctx is
// done. It returns ErrLost, and stores nothing, if this process no longer has the lease.
func (l *Lease) Store(ctx context.Context, key string, position any) error {
	return l.put(ctx, l.holder, keyval.JSON(key, position))
}

// put is count for the process that has the lease. While the store fails, it tries again until ctx is done, so an
// attempt may follow one whose outcome is unknown.
func (l *Lease) put(ctx context.Context, holder string, entries ...storage.Entry) error {
	for attempt := 0; ; attempt++ {
		err := l.count(ctx, holder, func(now record) bool { return now.Holder == l.holder }, entries...)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrLost):
			l.lose()
			return err
		case ctx.Err() == nil && attempt%60 == 0:
			l.log.Warn("lease: the store cannot be written, trying again", "cause", err.Error())
		}
		if !Wait(ctx, storeRetry) {
			return ctx.Err()
		}
	}
}

// Read decodes the position under a key into to, and reports whether there is one.
func Read(ctx context.Context, db storage.Store, key string, to any) (found bool, err error) {
	var values [][]byte
	err = db.View(ctx, func(r storage.Reader) (err error) {
		values, err = r.Get(ctx, key)
		return err
	})
	if err != nil || values[0] == nil {
		return false, err
	}
	return true, keyval.Decode(storage.Entry{Key: key, Value: values[0]}, to)
}

// Begin stores a position under a key unless there is one. No lease is needed: whoever holds it goes on from there.
func Begin(ctx context.Context, db storage.Store, key string, position any) error {
	return db.Update(ctx, storage.SpaceOf(key), storage.UpdateOptions{}, func(t storage.Tx) error {
		if values, err := t.Get(ctx, key); err != nil || values[0] != nil {
			return err
		}
		return t.Put(ctx, keyval.JSON(key, position))
	})
}

// Wait waits for d, and reports whether ctx was not done before.
func Wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
