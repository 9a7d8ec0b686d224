package webhook

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
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

// NotArchived returns what the keys begin with that no archive has (see archive.Without): a copy of a store must not deliver again.
func NotArchived() []string { return []string{space + " "} }

func positionKey(name string) string { return record.Key(space, "position/", name) }

// Of the processes that share a store, the one that holds the lease delivers. The holder counts the lease up every few seconds. A
// process that has seen the same count for a while concludes that the holder is dead and takes the lease. So nobody compares the
// clocks of two machines.
//
// The holder stops when it could not renew the lease for leaseValid, which ends before another process may take it. A
// holder that was stalled and does not know that its time is over still cannot move a position: each of its writes tests that the
// lease is its own.
const (
	renewEvery  = 8 * time.Second
	leaseValid  = 18 * time.Second // from the beginning of the last renewal
	leaseDead   = 20 * time.Second // how long the count stays the same before another process takes the lease
	watchEvery  = 4 * time.Second  // how often a process without the lease looks at it
	releaseWait = 5 * time.Second  // how long the holder tries to give the lease back when it ends
	storeRetry  = time.Second      // the time between two attempts to write
)

// errLost means that another process delivers now.
var errLost = errors.New("another process has taken over the deliveries")

// leaseRecord is the lease as it is stored. Without a holder it was given back.
type leaseRecord struct {
	Holder string `json:"holder"` // random, another one each time that a process takes the lease
	Count  int64  `json:"count"`
}

// lease is the lease while this process holds it, and while it tries to take it.
type lease struct {
	db     storage.Store
	log    *slog.Logger
	holder string
	begun  time.Time // just before the last write of the record; leaseValid counts from here
}

// acquire waits until this process holds the lease: until the holder has given it back, or has not counted for leaseDead. It returns
// an error only when ctx is done.
func acquire(ctx context.Context, db storage.Store, log *slog.Logger) (*lease, error) {
	l := &lease{db: db, log: log, holder: rand.Text()}
	var seen leaseRecord
	var since time.Time
	for attempt := 0; ; attempt++ {
		l.begun = time.Now()
		var now leaseRecord
		err := db.View(ctx, func(r storage.Reader) (err error) {
			now, err = readLease(ctx, r)
			return err
		})
		switch {
		case err != nil:
			if ctx.Err() == nil && attempt%15 == 0 {
				log.Warn("webhooks: the store cannot be asked which process delivers, trying again", "cause", err.Error())
			}
		case now.Holder == "", now.Holder == l.holder, now == seen && l.begun.Sub(since) >= leaseDead:
			// If the outcome of this write is not known, the next look may find this process as the holder.
			if l.replace(ctx, now, l.holder) == nil {
				return l, nil
			}
		case now != seen:
			seen, since = now, time.Now()
		}
		if err := sleep(ctx, watchEvery); err != nil {
			return nil, err
		}
	}
}

func readLease(ctx context.Context, r storage.Reader) (l leaseRecord, err error) {
	_, err = read(ctx, r, leaseKey, &l)
	return l, err
}

// replace makes holder the holder if the lease is still as it was seen, and returns errLost otherwise.
func (l *lease) replace(ctx context.Context, seen leaseRecord, holder string) error {
	return l.db.Update(ctx, space, storage.UpdateOptions{}, func(t storage.Tx) error {
		now, err := readLease(ctx, t)
		if err == nil && now != seen {
			err = errLost
		}
		if err != nil {
			return err
		}
		return write(ctx, t, leaseKey, leaseRecord{holder, now.Count + 1})
	})
}

// update carries out fn in an update of the records, with the lease as it is, or returns errLost if another process holds the lease.
// While the store fails, it tries again until ctx is done, so fn may run after an attempt whose outcome was not known.
func (l *lease) update(ctx context.Context, fn func(t storage.Tx, now leaseRecord) error) error {
	for attempt := 0; ; attempt++ {
		err := l.db.Update(ctx, space, storage.UpdateOptions{}, func(t storage.Tx) error {
			now, err := readLease(ctx, t)
			if err == nil && now.Holder != l.holder {
				err = errLost
			}
			if err != nil {
				return err
			}
			return fn(t, now)
		})
		if err == nil || errors.Is(err, errLost) {
			return err
		}
		if ctx.Err() == nil && attempt%60 == 0 {
			l.log.Warn("webhooks: the store cannot be written, trying again", "cause", err.Error())
		}
		if err := sleep(ctx, storeRetry); err != nil {
			return err
		}
	}
}

// while runs fn with a context that ends when the lease is lost, and gives the lease back when fn has returned. The context
// does not end with ctx, so that fn can complete its deliveries and store their positions when the process is told to stop.
func (l *lease) while(ctx context.Context, fn func(held context.Context, lose context.CancelCauseFunc)) {
	held, lose := context.WithCancelCause(context.WithoutCancel(ctx))
	expiry := time.AfterFunc(time.Until(l.begun.Add(leaseValid)), func() { lose(errLost) })
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		for sleep(held, renewEvery) == nil {
			begun := time.Now()
			if err := l.update(held, func(t storage.Tx, now leaseRecord) error {
				return write(held, t, leaseKey, leaseRecord{l.holder, now.Count + 1})
			}); err != nil {
				lose(err)
				return
			}
			expiry.Reset(time.Until(begun.Add(leaseValid)))
		}
	}()
	fn(held, lose)
	lose(context.Canceled)
	<-renewed
	expiry.Stop()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWait)
	defer cancel()
	// If this fails, another process takes the lease after leaseDead.
	_ = l.update(within, func(t storage.Tx, now leaseRecord) error {
		return write(within, t, leaseKey, leaseRecord{"", now.Count + 1})
	})
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

// write puts a record.
func write(ctx context.Context, t storage.Tx, key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return t.Put(ctx, storage.Entry{Key: key, Value: text})
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
