//go:build proof

package archive_test

import (
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/archive"
	"github.com/vitrine-go/vitrine/storage/postgres"
)

// A program may give its store one connection, so an export must not open a transaction within another.
func TestPostgreSQLTakesAndGivesTheSameArchiveWithOneConnection(t *testing.T) {
	db, err := postgres.Open(ctx, cluster.Schema(t), &postgres.Options{Connections: 1, Busy: time.Minute})
	check(t, err)
	t.Cleanup(func() { db.Close() })
	comesBack(t, archive.Stores{Apps: appsvc.NewRecords(db), Assets: assets.NewRecords(db), Reviews: reviews.NewRecords(db)}, 1)
}
