package main

import (
	"net/http"
	"sync/atomic"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// liveTokens verifies tokens by keys that can be replaced while the server runs, which SIGHUP does. It is safe for
// concurrent use.
type liveTokens struct {
	now atomic.Pointer[httpapi.Tokens]
}

// newLiveTokens returns liveTokens that verify with the keys of first until read replaces them.
func newLiveTokens(first *httpapi.Tokens) *liveTokens {
	var t liveTokens
	t.now.Store(first)
	return &t
}

// Authenticate is for httpapi.Config.
func (t *liveTokens) Authenticate(r *http.Request) (httpapi.Principal, error) {
	return t.now.Load().Authenticate(r)
}

// read replaces the keys by those that the function by returns. If it returns an error, nothing changes. Then read calls recheck,
// which has open streams authenticated again.
func (t *liveTokens) read(by func() (*httpapi.Tokens, error), recheck func()) error {
	defer recheck()
	tokens, err := by()
	if err == nil {
		t.now.Store(tokens)
	}
	return err
}
