package reviews_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// What the oracle of one line does not know: lines that are no JSON, records that come again, and stored reviews.
func TestProblemsNameTheRecordAndWhatIsWrong(t *testing.T) {
	good := collection("YQ", `,"dimensions":["a","b"]`, review("1", "1,2", ""))
	for _, test := range []struct {
		name, file string
		want       reviews.Problem
	}{
		{"a byte order mark is no character", "\ufeffé\n",
			reviews.Problem{Line: 1, Column: 1, Offset: 3, Rule: "json"}},
		{"a column counts characters",
			good + `  {"source":"é😀","title":7,"created":"2020-01-02T03:04:05Z","id":"Yg","dimensions":["default"],` +
				`"reviews":[]}`,
			reviews.Problem{Line: 2, Column: 26, Rule: "value-type", Pointer: "/title", Collection: "Yg", Value: "7"}},
		{"the collection of a line that is no JSON", strings.TrimSuffix(good, "}]}\n") + "\n",
			reviews.Problem{Line: 1, Column: int64(len(good) - 3), Rule: "json", Collection: "YQ"}},
		{"a carriage return belongs to the end of the line", `{"id":"YQ"` + "\r\n",
			reviews.Problem{Line: 1, Column: 11, Rule: "json", Collection: "YQ"}},
		{"a collection that comes again", good + " " + good,
			reviews.Problem{Line: 2, Column: 2, Rule: "collection-repeated", Collection: "YQ", Value: good[:80]}},
		{"a long id and a long value",
			strings.Replace(good, `"id":"1"`,
				`"id":"`+strings.Repeat("é", 200)+`","extra`+strings.Repeat("é", 100)+`":1`, 1),
			reviews.Problem{Line: 1, Rule: "member-unknown", Pointer: "/reviews/0/extra" + strings.Repeat("é", 100),
				Collection: "YQ",
				Review:     strings.Repeat("é", 128) + "…", Value: `"extra` + strings.Repeat("é", 74)}},
		{"stored reviews with other dimensions", strings.Replace(collection("YWI", single), "]", "]\t", 1),
			reviews.Problem{Line: 1, Rule: "stored-dimensions", Pointer: "/dimensions", Collection: "YWI",
				Value: `["default"]`}},
		{"and without", strings.Replace(collection("YWI", ""), "{", " {", 1),
			reviews.Problem{Line: 1, Column: 2, Rule: "stored-dimensions", Collection: "YWI"}},
	} {
		for _, buffer := range []int{32, 100, 1 << 20} {
			store := memory.New()
			importInto(t, store, collection("YWI", `,"dimensions":["a","b"]`, review("1", "1,2", "")), nil)
			var last reviews.Problem
			importInto(t, store, test.file,
				&reviews.ImportRequest{ReadOptions: *reviews.WithBuffer(reviews.ReadOptions{}, buffer),
					Problem: func(p reviews.Problem) {
						if p.Severity == reviews.SeverityError {
							last = p
						}
					}})
			line := bytes.Split([]byte(test.file), []byte("\n"))[last.Line-1]
			before := int64(len(strings.Join(strings.SplitAfter(test.file, "\n")[:last.Line-1], "")))
			if test.want.Column == 0 {
				test.want.Column, _ = whereAndWhat(line, last.Offset-before, last.Rule)
			}
			got := last
			if got.Message == "" {
				t.Errorf("%s: no message", test.name)
			}
			got.Message, got.Severity = "", ""
			if test.want.Offset == 0 {
				got.Offset = 0
			}
			if got != test.want {
				t.Errorf("%s, buffer %d:\n got %+v\nwant %+v", test.name, buffer, got, test.want)
			}
		}
	}
}

func TestWithoutEmailRemovesWhatMayHoldAnAddress(t *testing.T) {
	const email = "ann@example.test"
	file := collection("YQ", single, `{"id":"1","imported_email":"`+email+`","imported_display_name":"N"}`,
		review("1", 0, ""),
		`{"id":"2","imported_email":["`+email+`"],"imported_email":1}`,
		`{"id":"2","author_id":"a","imported_email":{"x":"`+email+`\u0000"}}`, `["`+email+`"]`) +
		"[{\"imported_email\":\"" + email + "\"}]\n" +
		strings.Replace(collection("YQ", single), `"t"`, `{"imported_email":"`+email+`"}`, 1) +
		strings.Replace(collection("YWI", single), `:[]}`, `:{"imported_email":"`+email+`"}}`, 1)
	report := importInto(t, memory.New(), file, nil)
	if !strings.Contains(fmt.Sprint(report), email) {
		t.Error("no problem has a value with an address")
	}
	public := report.WithoutEmail()
	if strings.Contains(fmt.Sprint(public), email) || len(public.Problems) != len(report.Problems) {
		t.Errorf("%+v", public)
	}
	if !slices.ContainsFunc(public.Problems, func(p reviews.Problem) bool { return p.Value == "0" }) {
		t.Errorf("the rating is not shown: %+v", public)
	}
}
