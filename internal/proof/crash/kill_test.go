//go:build proof

package crash

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/proof/program"

	_ "modernc.org/sqlite"
)

var wantedKills = flag.Int("kills", 0, "how often the server is killed; 0 = the short form")

const (
	perStore = 50 // kills before a new store is begun
)

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
	t.Logf("%d kills, %d acknowledged changes and %d acknowledged imports, %d changes without a response; lost: 0",
		n.kills, n.acknowledged.Load(), n.imports, n.cut)
	if n.cut == 0 || n.acknowledged.Load() < int64(kills)/2 {
		t.Error("hardly anything was written: this shows nothing")
	}
}

// A server that acknowledges too early is found out, so a loss would be seen.
func TestALossByAKillIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("the control is made without -short")
	}
	binary, err := program.Build{Module: module, Package: "./examples/vitrine", Edits: []program.Edit{{
		File: "storage/sqlite/writer.go",
		Old:  "\tw.batch = nil\n\terr := b.lost\n",
		New:  "\tw.batch = nil\n\tclose(b.done)\n\ttime.Sleep(200 * time.Millisecond)\n\terr := b.lost\n",
	}, {
		File: "storage/sqlite/writer.go",
		Old:  "\tb.err = err\n\tclose(b.done)\n",
		New:  "\tb.err = err\n",
	}}}.Run(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var n tally
	for i := 0; i < 5 && err == nil; i++ { // a kill may come before anything is acknowledged
		err = oneStore(t.Context(), binary, t.TempDir(), perStore, &n)
	}
	if !errors.Is(err, ErrLost) {
		t.Errorf("after %d kills of a server that acknowledges before it commits: %v", n.kills, err)
	}
	t.Log(err)
}

// oneStore kills servers on one store.
func oneStore(ctx context.Context, binary, dir string, kills int, n *tally) error {
	tokens, err := httpapi.NewTokens([]byte(signingKey), nil)
	if err != nil {
		return err
	}
	h := &killedHouse{binary: binary, db: filepath.Join(dir, "kill.db"), tokens: tokens, tally: n}
	for i := range 8 {
		h.writers = append(h.writers, NewApps(urn, i))
	}
	for i := range 3 {
		h.writers = append(h.writers, NewAssets(urn, library, i))
	}
	for range kills {
		if err := h.live(ctx); err != nil {
			return err
		}
	}
	return h.serve(func(server *program.Server, direct *http.Client) error { return h.verify(server, direct, true) })
}

// killedHouse is a store with those who write to it.
type killedHouse struct {
	binary, db string
	tokens     *httpapi.Tokens
	writers    []Writer
	*tally
}

// serve starts a server, and kills it when fn has ended.
func (h *killedHouse) serve(fn func(*program.Server, *http.Client) error) error {
	server, err := program.StartServer([]string{"VITRINE_KEY=" + signingKey}, h.binary, "serve", "-addr", "127.0.0.1:0",
		"-db", h.db)
	if err != nil {
		return err
	}
	defer server.Kill()
	transport := &http.Transport{MaxIdleConnsPerHost: len(h.writers)}
	defer transport.CloseIdleConnections()
	return fn(server, &http.Client{Transport: transport})
}

// verify holds a server that nobody writes to against what the writers know. all: also against what is long done.
func (h *killedHouse) verify(server *program.Server, http *http.Client, all bool) error {
	for _, w := range h.writers {
		c, err := newDirect(h.tokens, http, server.URL, w.User(), !w.Owns())
		if err != nil {
			return err
		}
		if err := errors.Join(w.Settle(c, true), w.Verify(c, all)); err != nil {
			return fmt.Errorf("%s: %w", w.User(), err)
		}
	}
	return nil
}

// live starts a server, compares it with what the writers know of the one before, has them write, and kills it.
func (h *killedHouse) live(ctx context.Context) error {
	return h.serve(func(server *program.Server, http *http.Client) error {
		if err := h.verify(server, http, false); err != nil {
			return err
		}
		imports, err := startImport(h.binary, h.db, filepath.Dir(h.db), h.kills)
		if err != nil {
			return err
		}
		if err := h.write(server, http, imports.kill); err != nil {
			return err
		}
		if imports.acknowledged {
			h.imports++
		}
		if err := checkInvariants(ctx, h.binary, h.db); err != nil {
			return err
		}
		return imports.verify(ctx, h.db)
	})
}

// write has everybody write until the server is killed at a random moment, and others are by also.
func (h *killedHouse) write(server *program.Server, http *http.Client, also func()) error {
	before := h.acknowledged.Load()
	errs := make([]error, len(h.writers))
	var wg sync.WaitGroup
	for i, w := range h.writers {
		c, err := newDirect(h.tokens, http, server.URL, w.User(), true)
		if err != nil {
			return err
		}
		wg.Go(func() {
			for errs[i] == nil {
				if errs[i] = w.Step(c); errs[i] == nil {
					h.acknowledged.Add(1)
				}
			}
		})
	}
	time.Sleep(time.Duration(20+rand.IntN(280)) * time.Millisecond)
	if h.kills%2 == 1 { // on a busy machine nothing may be acknowledged yet
		for end := time.Now().Add(time.Minute); h.acknowledged.Load() == before && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}
	also()
	server.Kill()
	wg.Wait()
	h.kills++
	for i, err := range errs {
		if !errors.Is(err, ErrUnknown) {
			return fmt.Errorf("%s: %w; the server says: %s", h.writers[i].User(), err, server.Log())
		}
		h.cut++
	}
	return nil
}

// checkInvariants looks at the file as a whole: SQLite's own check, and that of the program.
func checkInvariants(ctx context.Context, binary, path string) (err error) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=rw")
	if err != nil {
		return err
	}
	var have string
	err = errors.Join(db.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&have), db.Close())
	if err != nil {
		return err
	}
	if have != "ok" {
		return Lost("SQLite says: %s", have)
	}
	if said, err := exec.CommandContext(ctx, binary, "check", "-db", path).CombinedOutput(); err != nil {
		return Lost("the file is not whole: %w: %s", err, said)
	}
	return nil
}
