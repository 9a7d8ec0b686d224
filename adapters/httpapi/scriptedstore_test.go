package httpapi_test

import (
	"context"
	"strings"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// scripted is a store that a test makes slow or broken, or whose calls it counts, so that the services of the test are
// real ones. A nil function does nothing.
type scripted struct {
	storage.Store
	view   func(context.Context) error // is called before each View; its error is that of the View
	update func(context.Context) error // is called before each Update; its error is that of the Update
	get    func(keys []string) error   // is called before each Get of a View; its error is that of the Get
}

// broken returns an app service on a store that calls do before each View and Update. do returns an error or panics.
func broken(do func(context.Context) error) *appsvc.Service {
	return appsvc.New(&scripted{Store: memory.New(), view: do, update: do}, nil)
}

// panicking returns an app service on a store that panics with a value.
func panicking(cause any) *appsvc.Service {
	return broken(func(context.Context) error { panic(cause) })
}

func (s *scripted) View(ctx context.Context, fn func(storage.Reader) error) error {
	if s.view != nil {
		if err := s.view(ctx); err != nil {
			return err
		}
	}
	return s.Store.View(ctx, func(r storage.Reader) error { return fn(scriptedReader{r, s}) })
}

func (s *scripted) Update(
	ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error,
) error {
	if s.update != nil {
		if err := s.update(ctx); err != nil {
			return err
		}
	}
	return s.Store.Update(ctx, space, o, fn)
}

type scriptedReader struct {
	storage.Reader
	script *scripted
}

func (r scriptedReader) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	if r.script.get != nil {
		if err := r.script.get(keys); err != nil {
			return nil, err
		}
	}
	return r.Reader.Get(ctx, keys...)
}

// ofReviews returns a function for scripted.get that calls do only when reviews are read. An export reads those of one
// collection after the other, 256 at a time.
func ofReviews(do func() error) func(keys []string) error {
	return func(keys []string) error {
		if strings.Contains(keys[0], " review/") {
			return do()
		}
		return nil
	}
}
