package agree

import (
	"flag"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/sqlite"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

// A long run: go test ./storage/internal/agree -timeout 0 -sequences 1000000
var sequences = flag.Uint64("sequences", 6, "how many sequences of operations to compare")

// operations is how long a sequence is.
const operations = 60

func TestAppsInMemoryAndSQLiteAgree(t *testing.T) {
	for seed := range *sequences {
		ok := t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			options := []*sqlite.Options{nil, {Cache: -1}}
			db, err := sqlite.Open(filepath.Join(t.TempDir(), "vitrine.db"), options[seed%2])
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			storagetest.AppsEqual(t, memory.NewApps(), db.Apps(), seed, operations)
		})
		if !ok {
			return
		}
	}
}
