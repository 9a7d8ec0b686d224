package webhook

import (
	"bytes"
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"github.com/vitrine-go/vitrine/adapters/webhook/webhookstore"
)

// Of the processes that share a store, the one that holds the lease delivers. The lease is a value in the store that its
// holder replaces every few seconds by another random one. A process that has seen the same value for a while
// concludes that the holder is dead and replaces the value by its own. So nobody compares the clocks of two machines.
//
// The holder stops when it could not renew the lease for leaseValid, which ends before another process may take it. A
// holder that was stalled and does not know that its time is over still cannot move a position: the new
// holder has changed the value of each (see position.Term).
const (
	leaseName   = "lease"
	renewEvery  = 8 * time.Second
	leaseValid  = 18 * time.Second // from the beginning of the last renewal
	leaseDead   = 20 * time.Second // how long the value stays the same before another process takes the lease
	watchEvery  = 4 * time.Second  // how often a process without the lease looks at the value
	releaseWait = 5 * time.Second  // how long the holder tries to give the lease back when it ends
)

// lease is the lease while this process holds it.
type lease struct {
	store webhookstore.Store
	log   *slog.Logger
	value []byte    // what the store has
	begun time.Time // just before the store was asked to store value; leaseValid counts from here
}

// acquire waits until this process holds the lease: until the store has no value, because the holder has given it back, or
// has had the same value for leaseDead. It returns an error only when ctx is done.
func acquire(ctx context.Context, store webhookstore.Store, log *slog.Logger) (*lease, error) {
	var seen []byte
	var since time.Time
	for attempt := 0; ; attempt++ {
		begun := time.Now()
		value, err := store.Get(ctx, leaseName)
		switch {
		case err != nil:
			if ctx.Err() == nil && attempt%15 == 0 {
				log.Warn("webhooks: the store cannot be asked which process delivers, trying again", "cause", err.Error())
			}
		case len(value) > 0 && !bytes.Equal(value, seen): // the value is new to this process: the holder lives, or this is the first look
			seen, since = value, time.Now()
		case len(value) == 0 || begun.Sub(since) >= leaseDead: // nobody delivers, or the process that did is dead
			l := &lease{store, log, beat(), begun}
			// If the outcome of Swap is not known, the store may have l.value. It is then watched like the value of another
			// process, and replaced after leaseDead.
			if taken, err := store.Swap(ctx, leaseName, value, l.value); err == nil && taken {
				return l, nil
			}
		}
		if err := sleep(ctx, watchEvery); err != nil {
			return nil, err
		}
	}
}

// beat returns a random value, which the lease has never had.
func beat() []byte { return []byte(rand.Text()) }

// while runs fn with a context that ends when the lease is lost, and gives the lease back when fn has returned. The context
// does not end with ctx, so that fn can complete its deliveries and store their positions when the process is told to stop.
func (l *lease) while(ctx context.Context, fn func(held context.Context, lose context.CancelCauseFunc)) {
	held, lose := context.WithCancelCause(context.WithoutCancel(ctx))
	expiry := time.AfterFunc(time.Until(l.begun.Add(leaseValid)), func() { lose(errLost) })
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		l.renew(held, lose, expiry)
	}()
	fn(held, lose)
	lose(context.Canceled)
	<-renewed
	expiry.Stop()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWait)
	defer cancel()
	// If this fails, another process takes the lease after leaseDead.
	_, _ = l.store.Swap(within, leaseName, l.value, nil)
}

// renew renews the lease until held is done. It calls lose if another process has taken the lease. While the store does not
// answer, put tries again, and expiry ends held when leaseValid is over.
func (l *lease) renew(held context.Context, lose context.CancelCauseFunc, expiry *time.Timer) {
	for sleep(held, renewEvery) == nil {
		begun, next := time.Now(), beat()
		if err := put(held, l.store, l.log, leaseName, l.value, next); err != nil {
			lose(err)
			return
		}
		l.value, l.begun = next, begun
		expiry.Reset(time.Until(begun.Add(leaseValid)))
	}
}
