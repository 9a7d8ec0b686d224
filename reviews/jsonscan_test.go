package reviews_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// roundTrip marshals a value, reads it back and returns the text.
func roundTrip[T any](t *testing.T, v T) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var back T
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(v, back) {
		t.Errorf("%s\nis read as %+v, want %+v; error %v", text, back, v, err)
	}
	return string(text)
}

func TestValuesMarshalAndComeBack(t *testing.T) {
	store := memory.New()
	report := importInto(t, store, record+"\n{}\nno JSON\n", nil)
	if len(report.Problems) < 2 {
		t.Fatalf("%+v", report)
	}
	roundTrip(t, report)
	roundTrip(t, importInto(t, store, record, &reviews.ImportRequest{DryRun: true}))
	if got, want := roundTrip(t,
		reviews.Problem{Line: 2, Column: 8, Offset: 7, Pointer: "/id", Rule: "text-empty",
			Severity: reviews.SeverityError, Message: "m"}),
		`{"line":2,"column":8,"offset":7,"pointer":"/id","rule":"text-empty","severity":"error",`+
			`"message":"m"}`; got != want {
		t.Errorf("a problem is %s, want %s", got, want)
	}
	full := reviews.Problem{File: "f", Line: 1, Column: 2, Offset: 1, Severity: reviews.SeverityError, Collection: "YQ",
		Review: "r", Value: `"v"`}
	if got, want := roundTrip(t, full),
		`{"file":"f","line":1,"column":2,"offset":1,"pointer":"","rule":"","severity":"error","message":"",`+
			`"collection":"YQ","review":"r","value":"\"v\""}`; got != want {
		t.Errorf("a problem is %s, want %s", got, want)
	}
	if got, want := roundTrip(t, reviews.Rules()),
		`[{"id":"json","severity":"error","text":"A line holds one JSON value and nothing after it.",`+
			`"source":"format",`; !strings.HasPrefix(got, want) {
		t.Errorf("rules are %s, want %s", got, want)
	}
	stats := collectionNamed(t, store, recordKey.ID)
	text := roundTrip(t, stats)
	if want := `{"id":"` + stats.ID + `","source":"` + stats.Source +
		`","title":"t","created":"2020-01-02T03:04:05Z","count":1,` +
		`"dimensions":[{"name":"default","mean":50,"histogram":[0,0,0,0,1,0,0,0,0,0]}]}`; text != want {
		t.Errorf("a collection is %s, want %s", text, want)
	}
	page, err := reviews.New(store, nil).As(operator).ListReviews(ctx,
		reviews.ListReviewsRequest{Network: network, Collection: recordKey.ID})
	if err != nil || len(page.Items) != 1 {
		t.Fatal(page, err)
	}
	if got, want := roundTrip(t, page.Items[0]),
		`{"id":"r","title":"t","body_html":"b","created":"2020-01-02T03:04:05","ratings":[50],`+
			`"imported_display_name":"n"}`; got != want {
		t.Errorf("a review is %s, want %s", got, want)
	}
	roundTrip(t,
		reviews.ReviewRecord{ID: "r", AuthorID: "a", URL: "https://a", Subparts: map[string]string{"a": "b"},
			ParentID: "p"})
}

func TestAReportWithoutProblemsHasAnEmptyArray(t *testing.T) {
	text, err := json.Marshal(reviews.Report{})
	if err != nil || !strings.Contains(string(text), `"problems":[]`) {
		t.Errorf("%s, %v", text, err)
	}
}
