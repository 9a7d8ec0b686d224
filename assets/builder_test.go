package assets_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/assets"
)

// While the index of a store of v0.2.0 is built by the rules of now, step by step and by whichever process, searches
// find what they found, changes are found at once, and both indices are right at every moment.
func TestAnIndexIsBuiltBesideTheOneThatIsSearched(t *testing.T) {
	assets.SmallSteps(t)
	rng := rand.New(rand.NewPCG(5, 1))
	for round := range 12 {
		d := newRecordDesk(t)
		a, _ := d.folder("a", "", true)
		b, _ := d.folder("b", "", true)
		d.asset("secret", "confidential", b)
		all := map[string]string{} // the ids of the assets with the word old, by their foreign ids
		put := func(n int) {
			id := fmt.Sprint("n", n)
			all[id] = d.asset(id, fmt.Sprint("old e-mail ", rng.IntN(9)), a)
		}
		for n := range 40 {
			put(n)
		}
		if err := assets.Outdate(ctx, d.db, lib); err != nil {
			t.Fatal(err)
		}
		steps := 0
		for more := true; more; steps++ {
			var err error
			if more, err = assets.BuildStep(ctx, d.db, lib); err != nil {
				t.Fatal(err)
			}
			d.Service = assets.New(d.db, nil) // another process
			for range round % 4 {
				id := fmt.Sprint("n", rng.IntN(60))
				switch rng.IntN(4) {
				case 0:
					if all[id] != "" {
						if _, err := d.desk.change(moderator,
							assets.ChangeAssetsRequest{Remove: []string{all[id]}}); err != nil {
							t.Fatal(err)
						}
						delete(all, id)
					}
				case 1:
					if all[id] != "" {
						d.label(all[id], assets.Attribute{Key: "k", Value: fmt.Sprint("wi-fi", rng.IntN(3))})
					}
				default:
					put(rng.IntN(60))
				}
			}
			if n := d.total(moderator, assets.SearchRequest{Query: "old", Folder: a}); n != int64(len(all)) {
				t.Fatalf("step %d: %d are found, want %d", steps, n, len(all))
			}
			if faults := d.faults(); faults != nil {
				t.Fatalf("step %d: %q", steps, faults)
			}
			if steps == round {
				_, err := d.purge(moderator, assets.ChangeFoldersRequest{Delete: []string{b}, Purge: []string{b}})
				if err != nil || strings.Contains(d.dump(), "confidential") {
					t.Fatalf("step %d: something is left of what was purged (%v)", steps, err)
				}
			}
		}
		if steps < 8 {
			t.Errorf("%d steps", steps)
		}
	}
}
