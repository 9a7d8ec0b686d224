package storagetest

import (
	"bytes"
	"context"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/webhook"
	"github.com/vitrine-go/vitrine/adapters/webhook/webhookstore"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// brokenWebhooks is a good store whose Swap and Get have a fault.
type brokenWebhooks struct {
	webhookstore.Store
	get  func(good webhookstore.Store, ctx context.Context, name string) ([]byte, error)
	swap func(good webhookstore.Store, ctx context.Context, name string, prev, next []byte) (bool, error)
}

func (s brokenWebhooks) Get(ctx context.Context, name string) ([]byte, error) {
	if s.get != nil {
		return s.get(s.Store, ctx, name)
	}
	return s.Store.Get(ctx, name)
}

func (s brokenWebhooks) Swap(ctx context.Context, name string, prev, next []byte) (bool, error) {
	if s.swap != nil {
		return s.swap(s.Store, ctx, name, prev, next)
	}
	return s.Store.Swap(ctx, name, prev, next)
}

// Each fault is found by the suite.
func TestWebhookFaultsAreFound(t *testing.T) {
	shared := []byte("value")
	faults := map[string]brokenWebhooks{
		"the value that was there does not matter": {swap: func(good webhookstore.Store, ctx context.Context, name string, _, next []byte) (bool, error) {
			now, err := good.Get(ctx, name)
			if err != nil {
				return false, err
			}
			return good.Swap(ctx, name, now, next)
		}},
		"names are taken in lower case": {swap: func(good webhookstore.Store, ctx context.Context, name string, prev, next []byte) (bool, error) {
			return good.Swap(ctx, string(bytes.ToLower([]byte(name))), prev, next)
		}, get: func(good webhookstore.Store, ctx context.Context, name string) ([]byte, error) {
			return good.Get(ctx, string(bytes.ToLower([]byte(name))))
		}},
		"values end at NUL": {swap: func(good webhookstore.Store, ctx context.Context, name string, prev, next []byte) (bool, error) {
			next, _, _ = bytes.Cut(next, []byte{0})
			return good.Swap(ctx, name, prev, next)
		}},
		"nothing is removed": {swap: func(good webhookstore.Store, ctx context.Context, name string, prev, next []byte) (bool, error) {
			if len(next) == 0 {
				return true, nil
			}
			return good.Swap(ctx, name, prev, next)
		}},
		"no value is empty and not nil": {get: func(good webhookstore.Store, ctx context.Context, name string) ([]byte, error) {
			value, err := good.Get(ctx, name)
			return append([]byte{}, value...), err
		}},
		"a value is shared": {get: func(good webhookstore.Store, ctx context.Context, name string) ([]byte, error) {
			value, err := good.Get(ctx, name)
			if string(value) == "value" {
				return shared, err
			}
			return value, err
		}},
		"a context that is over goes unseen": {swap: func(good webhookstore.Store, _ context.Context, name string, prev, next []byte) (bool, error) {
			return good.Swap(context.Background(), name, prev, next)
		}},
	}
	for name, broken := range faults {
		found := false
		for _, r := range webhookRules {
			broken.Store = webhook.NewRecords(memory.New())
			var probe testing.T
			done := make(chan struct{})
			go func() { // a Fatal of the probe ends its goroutine
				defer close(done)
				r.check(&probe, broken)
			}()
			<-done
			found = found || probe.Failed()
		}
		if !found {
			t.Errorf("%s: no rule fails", name)
		}
	}
}
