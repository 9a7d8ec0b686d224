package webhook

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/vitrine-go/vitrine/adapters/webhook/webhookstore"
)

// errLost means that another process has changed a value that this one was to change: it delivers now.
var errLost = errors.New("another process has taken over the deliveries")

// storeRetry is the time between two attempts to reach the store.
const storeRetry = time.Second

// put replaces the value prev of a name by next. While the store fails, put tries again until ctx is done. It returns errLost
// if the value is neither prev nor next. next must be a value that no other process ever stores: then a store that has it
// tells that an attempt of this put, whose outcome was not known, has succeeded.
func put(ctx context.Context, store webhookstore.Store, log *slog.Logger, name string, prev, next []byte) error {
	for attempt := 0; ; attempt++ {
		swapped, err := store.Swap(ctx, name, prev, next)
		if err == nil && !swapped {
			var now []byte
			// An earlier attempt with an unknown outcome may have stored next.
			if now, err = store.Get(ctx, name); err == nil && !bytes.Equal(now, next) {
				return errLost
			}
		}
		if err == nil {
			return nil
		}
		if ctx.Err() == nil && attempt%60 == 0 {
			log.Warn("webhooks: the store cannot be written, trying again", "cause", err.Error())
		}
		if err := sleep(ctx, storeRetry); err != nil {
			return err
		}
	}
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
