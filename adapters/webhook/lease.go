package webhook

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// The records of webhooks are in a space of their own:
//
//	lease              the process that delivers: leaseRecord
//	position/<name>    how far the deliveries to the endpoint of this name are: position
const space = "webhooks"

var leaseKey = record.Key(space, "lease/")

// Maintenance says that no archive has records of webhooks: a copy of a store must not deliver again.
func Maintenance() storage.Maintenance {
	return storage.Maintenance{NotArchived: []string{space + " "}}
}

func positionKey(name string) string { return record.Key(space, "position/", name) }

// Of the processes that share a store, the one that has the lease, its holder, delivers. The holder renews the lease
// every few seconds: it raises the count. A process that has seen the same count for a while acquires the lease, since
// the holder is dead. So the clocks of two machines are never compared.
//
// The holder stops if it could not renew the lease for leaseValid, which ends before another process may acquire it. A
// holder that stalled and does not know that it lost the lease still cannot store a position: each of its writes checks
// the lease.
const (
	renewEvery  = 8 * time.Second
	leaseValid  = 18 * time.Second // from the beginning of the last renewal
	leaseDead   = 20 * time.Second // how long the count stays the same before another process acquires the lease
	watchEvery  = 4 * time.Second  // how often a process without the lease looks at it
	releaseWait = 5 * time.Second  // how long the holder tries to release the lease when it ends
	storeRetry  = time.Second      // the time between two attempts to write
)

// errLost means that another process delivers now.
var errLost = errors.New("another process has taken over the deliveries")

// leaseRecord is the lease as it is stored. Without a holder it was released.
type leaseRecord struct {
	Holder string `json:"holder"` // random, another one each time that a process acquires the lease
	Count  int64  `json:"count"`
}

// lease is the lease while this process has it.
type lease struct {
	db     storage.Store
	log    *slog.Logger
	holder string
	// valid is done when the lease is lost or was released. It does not end when Run is told to stop, so that
	// deliveries that are under way are completed and their positions stored.
	valid    context.Context
	lose     context.CancelFunc
	renewing sync.WaitGroup
}

// acquire waits until this process has the lease: until the holder has released it, or has not renewed it for
// leaseDead. It returns nil if ctx is done before. If the outcome of the write is not known, the next read may find
// this process as the holder.
func acquire(ctx context.Context, db storage.Store, log *slog.Logger) *lease {
	l := &lease{db: db, log: log, holder: rand.Text()}
	l.valid, l.lose = context.WithCancel(context.WithoutCancel(ctx))
	var seen leaseRecord
	var since time.Time
	for attempt := 0; ctx.Err() == nil; attempt++ {
		begun := time.Now()
		err := l.count(ctx, l.holder, func(now leaseRecord) bool {
			if now != seen {
				seen, since = now, time.Now()
			}
			return now.Holder == "" || now.Holder == l.holder || begun.Sub(since) >= leaseDead
		})
		if err == nil {
			l.renewing.Go(func() { l.renew(begun) })
			return l
		}
		if !errors.Is(err, errLost) && ctx.Err() == nil && attempt%15 == 0 {
			log.Warn("webhooks: the store cannot be asked which process delivers, trying again", "cause", err.Error())
		}
		_ = sleep(ctx, watchEvery)
	}
	l.lose()
	return nil
}

// count raises the count of the lease, sets its holder, and stores entries, if may allows it for the stored lease. Else
// it returns errLost and changes nothing.
func (l *lease) count(ctx context.Context, holder string, may func(now leaseRecord) bool, entries ...storage.Entry) error {
	return l.db.Update(ctx, space, storage.UpdateOptions{}, func(t storage.Tx) error {
		var now leaseRecord
		if _, err := read(ctx, t, leaseKey, &now); err != nil {
			return err
		}
		if !may(now) {
			return errLost
		}
		return t.Put(ctx, append(entries, stored(leaseKey, leaseRecord{holder, now.Count + 1}))...)
	})
}

// renew renews the lease until valid is done. The lease is lost if that has not succeeded for leaseValid, first from
// begun on.
func (l *lease) renew(begun time.Time) {
	expiry := time.AfterFunc(time.Until(begun.Add(leaseValid)), l.lose)
	defer expiry.Stop()
	for sleep(l.valid, renewEvery) == nil {
		begun = time.Now()
		if l.put(l.valid, l.holder) == nil {
			expiry.Reset(time.Until(begun.Add(leaseValid)))
		}
	}
}

// release releases the lease, so that another process need not wait. If this fails, another process acquires it after
// leaseDead.
func (l *lease) release(ctx context.Context) {
	l.lose()
	l.renewing.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWait)
	defer cancel()
	_ = l.put(ctx, "")
}

// put is count for the process that has the lease. While the store fails, it tries again until ctx is done, so an
// attempt may follow one whose outcome was not known.
func (l *lease) put(ctx context.Context, holder string, entries ...storage.Entry) error {
	for attempt := 0; ; attempt++ {
		err := l.count(ctx, holder, func(now leaseRecord) bool { return now.Holder == l.holder }, entries...)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, errLost):
			l.lose()
			return err
		case ctx.Err() == nil && attempt%60 == 0:
			l.log.Warn("webhooks: the store cannot be written, trying again", "cause", err.Error())
		}
		if err := sleep(ctx, storeRetry); err != nil {
			return err
		}
	}
}

// read decodes the record of a key into to, and reports whether there is one.
func read(ctx context.Context, r storage.Reader, key string, to any) (found bool, err error) {
	values, err := r.Get(ctx, key)
	if err != nil || values[0] == nil {
		return false, err
	}
	if err := json.Unmarshal(values[0], to); err != nil {
		return false, fmt.Errorf("the record %q is damaged: %w", key, err)
	}
	return true, nil
}

// stored returns the entry of a record. Equal records have equal texts, since the members of maps are sorted.
func stored(key string, record any) storage.Entry {
	text, err := json.Marshal(record)
	if err != nil {
		panic("webhook: " + err.Error()) // the records have nothing that cannot be marshaled
	}
	return storage.Entry{Key: key, Value: text}
}

// sleep waits for d, or returns the error of ctx when it is done before.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
