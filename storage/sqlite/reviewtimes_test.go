package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
)

// writtenTimes are times in all forms that the import takes.
var writtenTimes = []string{"2019-04-03T01:02:03Z", "2019-04-03T01:02:03", "2019-04-03T01:02:03.5", "2019-04-03T01:02:03.123456789Z", "2019-04-03T01:02:03.000001-00:30",
	"2019-04-03T01:02:03+23:59", "2019-04-03T01:02:03-23:59", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999999-23:59", "1969-12-31T23:59:59.999999Z",
	"2020-02-29T00:00:00.12345", "2019-04-03T01:02:03.1234567890123456789+01:00", "2019-04-03T01:02:03.12345-1", "1900-03-01T12:00:00.9"}

// The migration gives reviews of earlier releases the time that an import gives them.
func TestMigrationReadsTheTimesOfReviews(t *testing.T) {
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	c, err := dial(filepath.Join(t.TempDir(), "x.db"), "mode=rwc", fmt.Sprintf("application_id=%d", applicationID))
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	var want []reviews.Review
	for _, step := range steps {
		if strings.Contains(step.Name, "reviewtimes") {
			for i, text := range writtenTimes {
				data := fmt.Appendf(nil, `{"body_html":"\"created\":\"x\"","created":%q,"id":"%d"}`, text, i)
				r, err := reviews.StoredReview(fmt.Sprint(i), data)
				if err != nil {
					continue // no time
				}
				want = append(want, r)
				if _, err := c.exec("INSERT INTO review (key, collection, id, data) VALUES ($1, 1, $2, $3)", firstReview(1)+int64(i), r.ID, data); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := c.apply(step); err != nil {
			t.Fatal(err)
		}
	}
	if len(want) != len(writtenTimes)-1 {
		t.Fatalf("%d times, one of them none", len(want))
	}
	for _, w := range want {
		if got, err := c.value("SELECT time FROM review WHERE id = $1", w.ID); err != nil || got != w.Time {
			t.Errorf("%s: %d, want %d: %v", w.Data, got, w.Time, err)
		}
	}
}
