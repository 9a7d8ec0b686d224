//go:build proof

package crash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

const (
	module    = "../../.."
	network   = "crash.test"
	urn       = "urn:vitrine:" + network
	library   = "/services/frontline/api/v4/assetManager//" + network + "/assetLibrary/" + network
	processes = 4

	signingKey = "a key for this test, nothing more"
)

// fleet is the processes that serve one store.
type fleet struct {
	servers [processes]*program.Server
	tokens  *httpapi.Tokens
	http    *http.Client
	acked   [processes]atomic.Int64 // writes that each process has acknowledged
}

// build builds the server, with lines of its source replaced.
func build(t *testing.T, edits ...program.Edit) string {
	t.Helper()
	binary, err := program.Build{Module: module, Package: "./examples/vitrine", Edits: edits}.Run(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// newFleet starts the processes, all at once. The store may be empty.
func newFleet(t *testing.T, binary, db string) *fleet {
	t.Helper()
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte(signingKey), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens, err := httpapi.NewTokens([]byte(signingKey), nil)
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{tokens: tokens, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}}
	if err := program.StartServers(f.servers[:], binary, "serve", "-addr", "127.0.0.1:0", "-db", db, "-key-file",
		keyFile); err != nil {
		t.Fatal(err)
	}
	for _, s := range f.servers {
		t.Cleanup(s.Kill)
	}
	t.Cleanup(f.http.CloseIdleConnections)
	return f
}

// client returns a client that asks as a user, who moderates the network or does not, through any
// process.
func (f *fleet) client(user string, moderates bool) (*client, error) {
	who := httpapi.Principal{Caller: vitrine.Caller{URN: user, Components: moderates}}
	if moderates {
		who.Moderates = []string{urn}
	}
	token, err := f.tokens.Sign(who, time.Now().Add(24*time.Hour))
	return &client{fleet: f, token: token, r: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}, err
}

// running returns an error unless all the processes run that were started.
func (f *fleet) running() (err error) {
	for i, s := range f.servers {
		if dead := s.Signal(syscall.Signal(0)); dead != nil {
			err = errors.Join(err, fmt.Errorf("process %d has ended: %w: %s", i, dead, s.Log()))
		}
	}
	return err
}
