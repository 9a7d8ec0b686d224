package ondisk

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage"
)

// An update that has nothing to do with them waits for one of the large changes that many callers make, and not for
// all.
func TestAnUnrelatedUpdateHasItsTurnBetweenLargeChanges(t *testing.T) {
	db, _ := open(t)
	s := assets.New(db, nil)
	var all sync.WaitGroup
	var done, stop atomic.Int64
	for c := range 8 {
		all.Go(func() {
			by := vitrine.Caller{URN: fmt.Sprint(network, ":user=m", c), Moderates: []string{network}}
			for round := 0; stop.Load() == 0; round++ {
				var in assets.ChangeAssetsRequest
				for i := range 257 {
					in.Add = append(in.Add,
						assets.NewAsset{ID: fmt.Sprint(round, " ", i), Generator: assets.Generator{ID: "g"},
							Content: fmt.Appendf(nil, `{"content":"some words of a post and number%d"}`, i)})
				}
				if _, err := s.As(by).ChangeAssets(ctx, assets.Library{Network: lib.Network, ID: fmt.Sprint("l", c)},
					in); err != nil {
					t.Error(err)
					return
				}
				done.Add(1)
			}
		})
	}
	for done.Load() < 8 { // all are under way
		time.Sleep(time.Millisecond)
	}
	longest := int64(0)
	for range 20 {
		before := done.Load()
		if err := db.Update(ctx, "other", storage.UpdateOptions{}, func(tx storage.Tx) error {
			return tx.Put(ctx, storage.Entry{Key: "other key"})
		}); err != nil {
			t.Fatal(err)
		}
		longest = max(longest, done.Load()-before)
		time.Sleep(time.Millisecond)
	}
	stop.Store(1)
	all.Wait()
	if longest > 3 { // the one under way, one that ended meanwhile and one that has just begun
		t.Errorf("an update has waited for %d large changes", longest)
	}
}
