//go:build proof

package linear

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// Uploads to three libraries of a network race for room for ten files, through several openings of a store, beside
// uploads that break off. Exactly ten get it, each time.
func TestFilesHaveTheRoomOfTheirNetwork(t *testing.T) {
	t.Run("memory", func(t *testing.T) { inRoom(t, 20, memory.New()) })
	t.Run("SQLite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "room.db")
		var all []storage.Store
		for range 2 {
			db, err := sqlite.Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			all = append(all, db)
		}
		inRoom(t, 3, all...)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		cluster.Need(t)
		var all []storage.Store
		for _, db := range openDatabase(t) {
			all = append(all, db)
		}
		inRoom(t, 5, all...)
	})
}

func inRoom(t *testing.T, rounds int, stores ...storage.Store) {
	const network, room = "room.test", 10
	body := "%PDF-1.7\n" + strings.Repeat("0123456789abcde\n", 64)
	by := vitrine.Caller{URN: "urn:vitrine:room.test:user=ann", Moderates: []string{"urn:vitrine:room.test"}}
	limits := assets.Limits{Files: int64(room*len(body) + len(body)/2)}
	var all []*assets.Session
	for _, db := range stores {
		all = append(all, assets.New(db, &assets.Options{Limits: limits}).As(by))
	}
	libraries := []assets.Library{{Network: network, ID: network}, {Network: network, ID: "posters"},
		{Network: network, ID: "sounds"}}
	for round := range rounds {
		var wait sync.WaitGroup
		var got, broken atomic.Int64
		var made [3]sync.Map
		for i := range 8 * room {
			wait.Go(func() {
				lib, from := i%3, io.Reader(strings.NewReader(body))
				if i%8 == 7 {
					from = io.MultiReader(strings.NewReader(body[:500]), iotest.ErrReader(errBroken))
				}
				a, err := all[i%len(all)].Upload(t.Context(), libraries[lib], assets.UploadRequest{}, from)
				switch {
				case err == nil:
					got.Add(1)
					made[lib].Store(a.ID, true)
				case errors.Is(err, errBroken):
					broken.Add(1)
				case !errors.Is(err, vitrine.ErrUnprocessable):
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if got.Load() != room || broken.Load() > room {
			t.Fatalf("round %d: %d files are there, want %d", round, got.Load(), room)
		}
		for lib := range made {
			in := assets.ChangeAssetsRequest{}
			for id := range made[lib].Range {
				in.Remove = append(in.Remove, id.(string))
			}
			if len(in.Remove) == 0 {
				continue
			}
			if _, err := all[0].ChangeAssets(t.Context(), libraries[lib], in); err != nil {
				t.Fatal(err)
			}
		}
	}
	for fault, err := range assets.Maintenance(limits, nil).Audit(context.Background(), stores[0]) {
		t.Errorf("%v, %v", fault, err)
	}
}

var errBroken = errors.New("the client has gone away")
