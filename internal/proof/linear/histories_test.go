//go:build proof

package linear

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// How many histories are made of each kind; 0 = the short form.
var (
	inMemory = flag.Int("memory", 0, "histories in memory")
	inSQLite = flag.Int("sqlite", 0, "histories in SQLite")
	inShared = flag.Int("shared", 0, "histories in two openings of one SQLite file")
)

// count is the number of histories to make.
func count(wanted *int, usual int) int {
	if *wanted > 0 {
		return *wanted
	}
	if testing.Short() {
		return max(usual/4, 1)
	}
	return usual
}

// tally counts what was looked at.
type tally struct{ histories, operations atomic.Int64 }

func (n *tally) add(h *history) {
	n.histories.Add(1)
	n.operations.Add(int64(len(h.ops)))
}

func (n *tally) log(t *testing.T) {
	t.Logf("linearizable: %d histories, %d operations", n.histories.Load(), n.operations.Load())
}

func TestHistories(t *testing.T) {
	t.Run("memory", func(t *testing.T) { inProcess(t, count(inMemory, 120), openMemory) })
	t.Run("sqlite", func(t *testing.T) {
		inProcess(t, count(inSQLite, 60), func(t *testing.T) []storage.Store { return openSQLite(t, nil) })
	})
	t.Run("shared", func(t *testing.T) { inProcess(t, count(inShared, 40), openShared) })
	t.Run("library-memory", func(t *testing.T) {
		inLibraries(t, count(inMemory, 60), []storage.Store{memory.New()})
	})
	t.Run("library-sqlite", func(t *testing.T) { inLibraries(t, count(inSQLite, 30), libraries(openFile(t, nil))) })
	t.Run("library-shared", func(t *testing.T) {
		inLibraries(t, count(inShared, 20), libraries(openFile(t, nil, nil)))
	})
}

// libraries are the stores of assets of some openings.
func libraries(opened []*sqlite.DB) (all []storage.Store) {
	for _, db := range opened {
		all = append(all, db)
	}
	return all
}

func openMemory(*testing.T) []storage.Store { return []storage.Store{memory.New()} }

// openShared opens one file twice.
func openShared(t *testing.T) []storage.Store {
	return openSQLite(t, nil, nil)
}

// openSQLite opens one file as often as there are options.
func openSQLite(t *testing.T, options ...*sqlite.Options) (all []storage.Store) {
	for _, db := range openFile(t, options...) {
		all = append(all, db)
	}
	return all
}

func openFile(t *testing.T, options ...*sqlite.Options) (all []*sqlite.DB) {
	path := filepath.Join(t.TempDir(), "linear.db")
	if options == nil {
		options = []*sqlite.Options{nil}
	}
	for _, o := range options {
		db, err := sqlite.Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		all = append(all, db)
	}
	return all
}

// inProcess makes histories against services on stores that hold the same data. Some run at the
// same time, so that updates of several share a commit.
func inProcess(t *testing.T, histories int, open func(*testing.T) []storage.Store) {
	const together, perStore = 4, 1000 // a store that grows without end would slow the rest down
	var n tally
	defer n.log(t)
	for begun := 0; begun < histories && !t.Failed(); begun += perStore {
		t.Run("", func(t *testing.T) {
			stores := open(t)
			var who []direct
			for _, s := range stores {
				who = append(who, direct{appsvc.New(jitter{s}, &appsvc.Options{Now: unsteady})})
			}
			setup := appsvc.New(stores[0], &appsvc.Options{Now: unsteady})
			if err := addComponent(t.Context(), setup); err != nil {
				t.Fatal(err)
			}
			var next atomic.Int64
			var wg sync.WaitGroup
			for range together {
				wg.Go(func() {
					for !t.Failed() {
						i := int(next.Add(1)) - 1 + begun
						if i >= min(histories, begun+perStore) {
							return
						}
						name := fmt.Sprintf("h%d", i)
						w, err := newWorld(context.Background(), setup, name)
						if err != nil {
							t.Error(err)
							return
						}
						one(t, w, name, who, &n)
					}
				})
			}
			wg.Wait()
		})
	}
}

// one makes one history and checks it.
func one(t *testing.T, w *world, name string, who []direct, n *tally) {
	h := &history{world: w, name: name}
	seed := rand.Uint64()
	svc := who[len(who)-1].svc
	followers := w.follow(context.Background(), svc)
	if err := h.run(context.Background(), seed, who); err != nil {
		t.Errorf("history %s (seed %d): %v", name, seed, err)
		return
	}
	for i, f := range followers {
		events, err := f.wait(context.Background(), svc, w.ids[i])
		if err == nil {
			err = h.checkFeed(i, events)
		}
		if err != nil {
			t.Errorf("history %s (seed %d): the feed of app %d: %v\n%s", name, seed, i, err, tell(events))
			return
		}
	}
	if err := h.check(); err != nil {
		t.Errorf("seed %d: %v", seed, err)
		return
	}
	n.add(h)
}
