package agree

import (
	"flag"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// A long run, which prints its figures: go test ./storage/internal/agree -v -timeout 0 -args -sequences 100000
var sequences = flag.Uint64("sequences", 6, "how many sequences of operations to compare")

// operations is how long a sequence is.
const operations = 60

// compared is how many sequences there are. With -short they are two: the first is of a store with a
// cache, the second of one without.
func compared() uint64 {
	if proof.Short() {
		return min(*sequences, 2)
	}
	return *sequences
}

// agree has check compare an empty store with another one, once for each seed. Every second store has
// no cache.
func agree(t *testing.T, check func(t *testing.T, db *sqlite.DB, seed uint64)) {
	t.Parallel()
	ok := t.Run("sequences", func(t *testing.T) {
		for seed := range compared() {
			ok := t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
				options := []*sqlite.Options{nil, {Cache: -1}}
				db, err := sqlite.Open(filepath.Join(t.TempDir(), "vitrine.db"), options[seed%2])
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				check(t, db, seed)
			})
			if !ok {
				return
			}
		}
	})
	if ok {
		t.Logf("%d sequences of %d operations, no difference", compared(), operations)
	}
}
