//go:build proof

package kill

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

var wantedKills = flag.Int("kills", 0, "how often the server is killed; 0 = the short form")

const (
	module   = "../../.."
	perStore = 50 // kills before a new store is begun
)

// writer makes changes and knows what the store must hold.
type writer interface {
	user() string
	// step makes one change. errCut: the server ended before it answered.
	step(c *client) error
	// verify holds the store against all that was answered. all: also against what is long done.
	verify(ctx context.Context, s *opened, all bool) error
}

// tally counts what was done and found.
type tally struct {
	kills, cut, imports int
	acknowledged        atomic.Int64
}

func TestKills(t *testing.T) {
	kills := *wantedKills
	if kills == 0 {
		kills = 8
		if testing.Short() {
			kills = 4
		}
	}
	binary, err := program.Build{Module: module, Package: "./examples/vitrine"}.Run(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var n tally
	for n.kills < kills {
		if err := oneStore(t.Context(), binary, t.TempDir(), min(perStore, kills-n.kills), &n); err != nil {
			t.Fatalf("after %d kills: %v", n.kills, err)
		}
	}
	t.Logf("%d kills, %d acknowledged changes and %d acknowledged imports, %d changes without an answer; lost: 0",
		n.kills, n.acknowledged.Load(), n.imports, n.cut)
	if n.cut == 0 || n.acknowledged.Load() < int64(kills)/2 {
		t.Error("hardly anything was written: this shows nothing")
	}
}

// A server that acknowledges too early is found out, so a loss would be seen.
func TestALossIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("the control is made without -short")
	}
	binary, err := program.Build{Module: module, Package: "./examples/vitrine", Edits: []program.Edit{{
		File: "storage/sqlite/writer.go",
		Old:  "lost := w.commit(others)\n",
		New: "for _, f := range followers { f.settled <- nil }\n\t\ttime.Sleep(200 * time.Millisecond)\n" +
			"\t\tlost := w.commit(others)\n",
	}}}.Run(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var n tally
	for i := 0; i < 5 && err == nil; i++ { // a kill may come before anything is acknowledged
		err = oneStore(t.Context(), binary, t.TempDir(), perStore, &n)
	}
	if !errors.Is(err, errLost) {
		t.Errorf("after %d kills of a server that acknowledges before it commits: %v", n.kills, err)
	}
	t.Log(err)
}

// oneStore kills servers on one store.
func oneStore(ctx context.Context, binary, dir string, kills int, n *tally) error {
	db := filepath.Join(dir, "kill.db")
	tokens, err := httpapi.NewTokens([]byte(signingKey), nil)
	if err != nil {
		return err
	}
	var writers []writer
	for i := range 8 {
		writers = append(writers, newAppWriter(i))
	}
	for i := range 3 {
		writers = append(writers, newAssetWriter(i))
	}
	for i := range kills {
		if err := oneLife(ctx, binary, db, tokens, writers, n); err != nil {
			return err
		}
		if err := checkInvariants(ctx, db); err != nil {
			return err
		}
		if err := verify(ctx, db, writers, i == kills-1); err != nil {
			return err
		}
	}
	return nil
}

// oneLife starts a server, has the writers write, and kills it.
func oneLife(ctx context.Context, binary, db string, tokens *httpapi.Tokens, writers []writer, n *tally) error {
	server, err := program.StartServer([]string{"VITRINE_KEY=" + signingKey}, binary, "serve", "-addr", "127.0.0.1:0", "-db", db)
	if err != nil {
		return err
	}
	defer server.Kill()
	imports, err := startImport(binary, db, filepath.Dir(db), n.kills)
	if err != nil {
		return err
	}
	transport := &http.Transport{MaxIdleConnsPerHost: len(writers)}
	defer transport.CloseIdleConnections()
	before := n.acknowledged.Load()
	errs := make([]error, len(writers))
	var wg sync.WaitGroup
	for i, w := range writers {
		c, err := newClient(tokens, &http.Client{Transport: transport}, server.URL, w.user())
		if err != nil {
			return err
		}
		wg.Go(func() {
			for errs[i] == nil {
				if errs[i] = w.step(c); errs[i] == nil {
					n.acknowledged.Add(1)
				}
			}
		})
	}
	time.Sleep(time.Duration(20+rand.IntN(280)) * time.Millisecond)
	if n.kills%2 == 1 { // on a busy machine nothing may be acknowledged yet
		for end := time.Now().Add(time.Minute); n.acknowledged.Load() == before && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}
	acknowledged := imports.kill()
	server.Kill()
	wg.Wait()
	n.kills++
	for i, err := range errs {
		if !errors.Is(err, errCut) {
			return fmt.Errorf("%s: %w; the server says: %s", writers[i].user(), err, server.Log())
		}
		n.cut++
	}
	if acknowledged {
		n.imports++
	}
	s, err := open(db)
	if err != nil {
		return err
	}
	return errors.Join(imports.verify(ctx, s, acknowledged), s.db.Close())
}

func verify(ctx context.Context, db string, writers []writer, all bool) error {
	s, err := open(db)
	if err != nil {
		return err
	}
	for _, w := range writers {
		if err := w.verify(ctx, s, all); err != nil {
			return errors.Join(err, s.db.Close())
		}
	}
	return s.db.Close()
}
