package archive_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/archive"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// What was erased is in no archive that is made afterwards, and what is left makes up a store with the same answers.
func TestErasedReviewsAreInNoArchive(t *testing.T) {
	from, to := memory.New(), memory.New()
	stores := func(db storage.Store) archive.Stores {
		return archive.Stores{Apps: appsvc.NewRecords(db), Assets: assets.NewRecords(db), Reviews: reviews.NewRecords(db)}
	}
	file := `{"source":"s","title":"T","created":"2020-01-02T03:04:05Z","id":"YQ==","dimensions":["default"],"reviews":[` +
		`{"id":"1","author_id":"erased","title":"t","body_html":"","created":"2020-01-02T03:04:05Z","ratings":[50]},` +
		`{"id":"2","author_id":"u","parent_id":"1","title":"t","body_html":"","created":"2021-01-02T03:04:05.5+01:00","ratings":[60]},` +
		`{"id":"3","author_id":"u","parent_id":"2","title":"t","body_html":"","created":"2019-01-02T03:04:05Z","ratings":[70]}]}`
	operator := vitrine.Caller{Operator: true}
	service := reviews.New(from, nil)
	_, err := service.Import(t.Context(), operator, reviews.ImportRequest{Network: "n", File: strings.NewReader(file)})
	check(t, err)
	done, err := service.Delete(t.Context(), operator, reviews.DeleteRequest{Network: "n", Author: "erased"})
	check(t, err)
	if done != (reviews.Deleted{Reviews: 1, Replies: 1}) {
		t.Fatalf("%+v", done)
	}
	var out bytes.Buffer
	_, err = archive.Export(t.Context(), stores(from), &out)
	check(t, err)
	if strings.Contains(out.String(), "erased") {
		t.Errorf("%s", &out)
	}
	_, err = archive.Import(t.Context(), stores(to), &out, nil)
	check(t, err)
	var answers []string
	for _, s := range []*reviews.Service{service, reviews.New(to, nil)} {
		var text strings.Builder
		check(t, s.Export(t.Context(), operator, reviews.ExportRequest{Network: "n", To: &text}))
		for r, err := range s.AllReviews(t.Context(), operator, reviews.ListReviewsRequest{Network: "n", Collection: "YQ=="}) {
			check(t, err)
			text.WriteString(r.ID + " ")
		}
		answers = append(answers, text.String())
	}
	if answers[0] != answers[1] || !strings.HasSuffix(answers[0], "2 3 ") {
		t.Errorf("before %s, after %s", answers[0], answers[1])
	}
}
