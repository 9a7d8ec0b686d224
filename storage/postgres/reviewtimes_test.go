//go:build proof

package postgres

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/internal/migration"
)

// writtenTimes are times in all forms that the import takes.
var writtenTimes = []string{"2019-04-03T01:02:03Z", "2019-04-03T01:02:03", "2019-04-03T01:02:03.5", "2019-04-03T01:02:03.123456789Z", "2019-04-03T01:02:03.000001-00:30",
	"2019-04-03T01:02:03+23:59", "2019-04-03T01:02:03-23:59", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999999-23:59", "1969-12-31T23:59:59.999999Z",
	"2020-02-29T00:00:00.12345", "2019-04-03T01:02:03.1234567890123456789+01:00", "1900-03-01T12:00:00.9"}

// The migration gives reviews of earlier releases the time that an import gives them.
func TestMigrationReadsTheTimesOfReviews(t *testing.T) {
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(steps, func(m migration.Step) bool { return strings.Contains(m.Name, "reviewtimes") })
	pool := openPool(t, cluster.Database(t))
	tx, err := pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(ctx)
	if err := lockSchema(ctx, tx); err != nil {
		t.Fatal(err)
	}
	if err := runSteps(ctx, tx, steps[:at], 0); err != nil {
		t.Fatal(err)
	}
	var want []reviews.Review
	for i, text := range writtenTimes {
		r, err := reviews.StoredReview(fmt.Sprint(i), fmt.Appendf(nil, `{"body_html":"\"created\":\"x\"","created":%q,"id":"%d"}`, text, i))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, r)
		if _, err := tx.Exec(ctx, "INSERT INTO review (collection, key, place, id, data) VALUES ('c', $1::bytea, 1, $1::bytea, $2::bytea)", []byte(r.ID), r.Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := runSteps(ctx, tx, steps, steps[at-1].Number); err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		var got int64
		if err := tx.QueryRow(ctx, "SELECT time FROM review WHERE id = $1::bytea", []byte(w.ID)).Scan(&got); err != nil || got != w.Time {
			t.Errorf("%s: %d, want %d: %v", w.Data, got, w.Time, err)
		}
	}
}
