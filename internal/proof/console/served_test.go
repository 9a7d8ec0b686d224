package console

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/console"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// served is a world whose server runs in this process, over a store that can be made to fail.
type served struct {
	*world
	*httptest.Server
	store *failing
	apps  *appsvc.Service
}

func newServed(t *testing.T) *served {
	t.Helper()
	if testing.Short() {
		t.Skip("the page is tried in a browser without -short")
	}
	t.Parallel()
	tokens, err := httpapi.NewTokens([]byte(signingKey), nil)
	if err != nil {
		t.Fatal(err)
	}
	store := &failing{Store: memory.New().Apps()}
	apps := appsvc.New(store, nil)
	streams := httpapi.NewStreams()
	api, err := httpapi.New(httpapi.Config{Apps: apps, Authenticate: tokens.Authenticate, Log: slog.New(slog.DiscardHandler), Streams: streams})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(console.Before(api, "/", console.New(console.Config{})))
	t.Cleanup(func() {
		streams.Close()
		server.Close()
	})
	return &served{&world{t, server.URL}, server, store, apps}
}

// caller is ann to the service.
var caller = appsvc.Caller{URN: ann.URN, Moderates: ann.Moderates}

// failing is a store that fails while it is told to. What fails changes nothing.
type failing struct {
	appsvc.Store
	reads, writes atomic.Pointer[error] // what a read and a write fail with; nil = they do not
}

func (s *failing) View(ctx context.Context, fn func(appsvc.Reader) error) error {
	if err := s.reads.Load(); err != nil {
		return *err
	}
	return s.Store.View(ctx, fn)
}

func (s *failing) Update(ctx context.Context, fn func(appsvc.Tx) error) error {
	if err := s.writes.Load(); err != nil {
		return *err
	}
	return s.Store.Update(ctx, fn)
}
