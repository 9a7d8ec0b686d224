package agree

import (
	"context"
	"flag"
	"path/filepath"
	"testing"

	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/internal/proof/services"
	"github.com/vitrine-go/vitrine/storage/postgres"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// A long run: go test ./storage/internal/agree -run TheServiceOfAssets -timeout 0 -args -histories 1000
var histories = flag.Int("histories", 6, "random histories that the service of assets goes through on each store")

func TestTheServiceOfAssetsOnSQLiteAgreesWithItsModel(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "vitrine.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	services.Assets(t, db.Assets(), *histories)
}

func TestTheServiceOfAssetsOnPostgreSQLAgreesWithItsModel(t *testing.T) {
	t.Parallel()
	db, err := postgres.Open(context.Background(), cluster.Schema(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	services.Assets(t, db.Assets(), *histories)
}
