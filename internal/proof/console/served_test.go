package console

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/console"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// served is a world whose server runs in this process, over a store that can be made to fail, and replaced.
type served struct {
	*world
	*httptest.Server
	tokens  *httpapi.Tokens
	handler atomic.Pointer[http.Handler]
	streams *httpapi.Streams
	store   *failing
	apps    *appsvc.Service
}

func newServed(t *testing.T) *served {
	t.Helper()
	begin(t)
	tokens, err := httpapi.NewTokens([]byte(signingKey), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &served{tokens: tokens}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(*s.handler.Load()).ServeHTTP(w, r)
	}))
	s.world = &world{t, s.Server.URL}
	s.open()
	t.Cleanup(func() {
		s.streams.Close()
		s.Server.Close()
	})
	return s
}

// open has the server serve a new store from now on, in place of the one before.
func (s *served) open() {
	s.store = &failing{Store: memory.New()}
	s.apps = appsvc.New(s.store, nil)
	before := s.streams
	s.streams = httpapi.NewStreams()
	api, err := httpapi.New(httpapi.Config{Apps: s.apps, Authenticate: s.tokens.Authenticate,
		Log: slog.New(slog.DiscardHandler), Streams: s.streams})
	if err != nil {
		s.t.Fatal(err)
	}
	handler := console.Before(api, "/", console.New(console.Config{}))
	s.handler.Store(&handler)
	if before != nil {
		before.Close()
	}
}

// failing is a store that fails while it is told to. What fails changes nothing.
type failing struct {
	storage.Store
	reads, writes atomic.Pointer[error] // what a read and a write fail with; nil = they do not
}

func (s *failing) View(ctx context.Context, fn func(storage.Reader) error) error {
	if err := s.reads.Load(); err != nil {
		return *err
	}
	return s.Store.View(ctx, fn)
}

func (s *failing) Update(ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	if err := s.writes.Load(); err != nil {
		return *err
	}
	return s.Store.Update(ctx, space, o, fn)
}
