//go:build proof

package linear

import (
	"flag"
	"testing"

	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/postgres"
)

var inPostgreSQL = flag.Int("postgres", 0, "histories in three openings of one PostgreSQL database")

func TestHistoriesInPostgreSQL(t *testing.T) {
	cluster.Need(t)
	inProcess(t, count(inPostgreSQL, 40), func(t *testing.T) (all []storage.Store) {
		for _, db := range openDatabase(t) {
			all = append(all, db)
		}
		return all
	})
}

func TestLibrariesInPostgreSQL(t *testing.T) {
	cluster.Need(t)
	var all []storage.Store
	for _, db := range openDatabase(t) {
		all = append(all, db)
	}
	inLibraries(t, count(inPostgreSQL, 20), all)
}

// openDatabase opens one database three times, as three processes would.
func openDatabase(t *testing.T) (all []*postgres.DB) {
	address := cluster.Schema(t)
	for range 3 {
		db, err := postgres.Open(t.Context(), address, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		all = append(all, db)
	}
	return all
}
