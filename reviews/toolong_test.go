package reviews_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// What is longer than what is stored of it is one error, however it goes on, and what follows is judged as ever.
func TestWhatIsTooLongIsReadOver(t *testing.T) {
	if proof.Short() {
		t.Skip("the files have some 20 MiB each")
	}
	filler := strings.Repeat("long ", reviews.MaxStored/5+20_000)
	long := review("1", 0, `,"subparts":{"s":"`+filler+`"},"imported_url":7`)
	after := review("1", 5, "") + "," + review("2", 0, "")
	for _, test := range []struct {
		name, file string
		want       []string
	}{
		{"a review", collection("YQ", single, long, after),
			[]string{"/reviews/0/ratings/0 rating-range", "/reviews/1 review-repeated", "/reviews/2/ratings/0 rating-range"}},
		{"a review without another error", collection("YQ", single, strings.Replace(long, "[0]", "[5]", 1), after),
			[]string{"/reviews/0 stored-size", "/reviews/1 review-repeated", "/reviews/2/ratings/0 rating-range"}},
		{"a review whose id stands behind that", collection("YQ", single, strings.Replace(strings.Replace(long, "[0]", "[5]", 1), `"id":"1",`, "", 1), after),
			[]string{"/reviews/0 stored-size", "/reviews/2/ratings/0 rating-range"}},
		{"a review that is no JSON", collection("YQ", single, long+"x", after), []string{" json"}},
		{"a title", strings.Replace(collection("YQ", single, after), `"title":"t"`, `"title":"`+filler+`"`, 1),
			[]string{" stored-size", "/reviews/1/ratings/0 rating-range"}},
		{"an unknown member", strings.Replace(collection("YQ", single, after), `"title"`, `"colour":["`+filler+`",{"a":1,"a":1}],"title"`, 1),
			[]string{"/colour member-unknown", "/reviews/1/ratings/0 rating-range"}},
		{"a name", strings.Replace(collection("YQ", single, after), `"title"`, `"`+filler+`":1,"title"`, 1),
			[]string{" stored-size", "/reviews/1/ratings/0 rating-range"}},
		{"an element of an array", collection("YWI", single) + `[{"a":1,"a":1},"` + filler + `\u0000",{"b":1,"b":1}]`, []string{" record-object", "/0/a member-repeated", "/2/b member-repeated"}},
		{"a string", collection("YWI", single) + `"` + filler + `\u0000"`, []string{" record-object"}},
	} {
		var got, stored []string
		for _, p := range check(t, []byte(test.file), nil) {
			got = append(got, p.Pointer+" "+p.Rule)
			line := []byte(strings.TrimSuffix(test.file, "\n"))
			before := bytes.LastIndexByte(line, '\n') + 1
			if column, value := whereAndWhat(line[before:], p.Offset-int64(before), p.Rule); p.Column != column || p.Value != value {
				t.Errorf("%s: %+v, want column %d and value %q", test.name, p, column, value)
			}
		}
		importInto(t, memory.New(), test.file, &reviews.ImportRequest{Problem: func(p reviews.Problem) {
			stored = append(stored, p.Pointer+" "+p.Rule)
		}})
		if !slices.Equal(got, test.want) || !slices.Equal(stored, test.want) {
			t.Errorf("%s:\ncheck  %q\nimport %q\nwant   %q", test.name, got, stored, test.want)
		}
	}
}
