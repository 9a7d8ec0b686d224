package linear

import (
	"flag"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage/postgres"
)

var inPostgreSQL = flag.Int("postgres", 0, "histories in three openings of one PostgreSQL database")

func TestHistoriesInPostgreSQL(t *testing.T) {
	cluster.Need(t)
	inProcess(t, count(inPostgreSQL, 40), openPostgreSQL)
}

// openPostgreSQL opens one database three times, as three processes would.
func openPostgreSQL(t *testing.T) []appsvc.Store {
	address := cluster.Schema(t)
	var all []appsvc.Store
	for range 3 {
		db, err := postgres.Open(t.Context(), address, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		all = append(all, db.Apps())
	}
	return all
}
