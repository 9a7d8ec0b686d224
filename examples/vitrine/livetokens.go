package main

import (
	"net/http"
	"sync/atomic"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// liveTokens verifies tokens by keys that may change while the server runs: SIGHUP reads them again.
type liveTokens struct {
	now atomic.Pointer[httpapi.Tokens]
}

func newLiveTokens(first *httpapi.Tokens) *liveTokens {
	var t liveTokens
	t.now.Store(first)
	return &t
}

// Authenticate is for httpapi.Config.
func (t *liveTokens) Authenticate(r *http.Request) (httpapi.Principal, error) {
	return t.now.Load().Authenticate(r)
}

// read takes the tokens that by returns. An error changes nothing.
func (t *liveTokens) read(by func() (*httpapi.Tokens, error)) error {
	tokens, err := by()
	if err == nil {
		t.now.Store(tokens)
	}
	return err
}
