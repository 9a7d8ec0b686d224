package convert_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews/convert"
)

// mappingOf is a mapping as a file has it.
func mappingOf(t *testing.T, text string) (m convert.Mapping) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

const votes = "nr,first,last,nick,vote,value,state,answer,answered\n" +
	"1,Ann,Lee,,Thumbs Up,80,live,Thanks,04/03/2019\n" +
	"2,,,Benny,down,50,SPAM ,,\n" +
	"3,Cy,,Cyril,3,20,,So so,sometime\n" +
	"4,,,,down,7.5,pending,,\n" +
	"5,,,,down,101,live,,\n"

func TestValuesOfMappings(t *testing.T) {
	mapping := mappingOf(t, `{"collection_id": "=lamp", "collection_title": "=A lamp", "review_id": "nr",
		"created": "=2019-04-03", "author_name": [{"columns": ["first", "last"], "join": " "}, "nick", "=Anonymous"],
		"rating": {"column": "vote", "map": {"thumbs up": 100, "down": 1}},
		"rating:value": {"column": "value", "scale": 100}, "reply": "answer", "reply_created": "answered",
		"reply_author": "=The shop", "skip": [{"column": "state", "is": ["Spam", "pending", "hidden"]}]}`)
	list, result, _ := converted(t, convert.Request{Source: "shop", Mapping: mapping}, votes)
	want := []record{{"shop", "bGFtcA==", "A lamp", "2019-04-03T00:00:00Z", []string{"default", "value"}, []review{
		{ID: "1", Created: "2019-04-03T00:00:00Z", Ratings: []int{100, 80}, Name: "Ann Lee",
			Subparts: map[string]string{"reply": "Thanks", "reply_created": "2019-04-03T00:00:00Z",
				"reply_author": "The shop"}},
		{ID: "3", Created: "2019-04-03T00:00:00Z", Ratings: []int{60, 20}, Name: "Cy",
			Subparts: map[string]string{"reply": "So so", "reply_created": "sometime", "reply_author": "The shop"}},
	}}}
	if !reflect.DeepEqual(list, want) {
		t.Errorf("%+v\nwant %+v", list, want)
	}
	if result.Converted != 2 || result.Skipped != 2 || result.RejectedTotal != 1 ||
		!strings.Contains(result.Rejected[0].Reason, "value: the rating 101 is above 100") ||
		!slices.Contains(result.Notes, `skip: no row has "hidden" in column "state"`) {
		t.Errorf("%+v", result)
	}
}

// A constant for a reply without a text says nothing, and rows that a lost quote has swallowed are counted once.
func TestRowsThatAreLeftOutAreCountedOnce(t *testing.T) {
	mapping := mappingOf(t, `{"collection_id": "p", "created": "=2019-04-03", "author_name": "=A", "rating": "r",
		"reply": "a", "reply_author": "=Shop", "skip": [{"column": "s", "is": ["spam"]}]}`)
	list, result, _ := converted(t, convert.Request{Mapping: mapping}, "p,r,a,s\n\"x\",5,,\nx,5,b,spam\nx,4,c\",spam\n"+
		"\"x\",4,,spam\n\"x\",3,,\n")
	if len(list) != 1 || len(list[0].Reviews) != 1 || len(list[0].Reviews[0].Subparts) != 0 || result.Skipped != 1 ||
		result.RejectedTotal != 1 || result.Rejected[0].Line != 2 || result.Rejected[0].Last != 4 {
		t.Errorf("%+v, %+v", list, result)
	}
}

func TestMistakesOfMappings(t *testing.T) {
	for text, reason := range map[string]string{
		`{"title": 1}`:                  "title: want the name of a column",
		`{"title": null}`:               "title: want the name of a column",
		`{"title": []}`:                 "the list is empty",
		`{"title": ["=a", "nick"]}`:     "a constant may stand last",
		`{"title": ["nick", ["last"]]}`: "a constant may stand last",
		`{"title": ["nick", "none"]}`:   `no column "none"`,
		`{"title": {}}`:                 "want column or columns",
		`{"title": {"column": "nick", "columns": ["last"]}}`:  "want column or columns",
		`{"title": {"column": "nick", "colour": 1}}`:          "/colour",
		`{"title": {"column": "nick", "scale": 5}}`:           "only ratings",
		`{"rating": {"column": "vote", "scale": 101}}`:        "at most 100",
		`{"rating": {"column": "vote", "scale": true}}`:       "the name of a column",
		`{"rating": {"column": "vote", "scale": "best"}}`:     `no column "best"`,
		`{"title": {"column": "nick", "scale": "vote"}}`:      "only ratings",
		`{"rating": {"column": "vote", "map": {"up": 0}}}`:    "0 is no rating",
		`{"rating": {"column": "vote", "map": {"up": true}}}`: "want a text or a number",
		`{"skip": [{"column": "none", "is": ["x"]}]}`:         `no column "none"`,
		`{"skip": {"column": "nick"}}`:                        "skip: ",
		`{"scale": "ten"}`:                                    "scale: ",
		`{"reply": "nick", "subpart:reply": "last"}`:          "are the same",
	} {
		_, err := convert.Convert(t.Context(), convert.Request{File: strings.NewReader(votes), To: &bytes.Buffer{},
			Mapping: mappingOf(t, text)})
		var e *vitrine.Error
		if !errors.As(err, &e) || e.Parameter != "mapping" || !strings.Contains(e.Reason, reason) {
			t.Errorf("%s: %v, want %s", text, err, reason)
		}
	}
}

// The mapping has the scale and the order of dates, which a request may overrule.
func TestSettingsOfMappings(t *testing.T) {
	mapping := mappingOf(t, `{"collection_id": "p", "created": "d", "author_name": "=A", "rating": "r", "scale": 10,
		"dates": "dmy"}`)
	for name, c := range map[string]struct {
		scale   float64
		dates   string
		rating  int
		created string
	}{
		"mapping": {-1, "", 50, "2019-04-03"},
		"request": {5, "mdy", 100, "2019-03-04"},
	} {
		list, _, _ := converted(t, convert.Request{Mapping: mapping, Scale: c.scale, Dates: c.dates},
			"p,r,d\nx,5,03/04/2019\n")
		if got := list[0].Reviews[0]; got.Ratings[0] != c.rating || !strings.HasPrefix(got.Created, c.created) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Without a scale the ratings of the file decide, and what they contradict is not converted.
func TestScaleOfTheFile(t *testing.T) {
	for name, c := range map[string]struct {
		ratings []string
		want    []int // nil = nothing is written
		note    string
	}{
		"five":                 {[]string{"5", "4,5", "1"}, []int{100, 90, 20}, "scale: 5, guessed"},
		"ten":                  {[]string{"10", "4", "8"}, []int{100, 40, 80}, "scale: 10, guessed"},
		"a hundred":            {[]string{"90", "4", "80"}, []int{90, 4, 80}, "scale: 100, guessed"},
		"their own":            {[]string{"9/10", "★★★★☆", "80%"}, []int{90, 80, 80}, "no column has ids"},
		"one that is too long": {[]string{"5", "4", "5", "3", "50"}, nil, ""},
		"a later one":          {append(slices.Repeat([]string{"4"}, 1000), "8"), nil, ""},
		"a later one, out of five": {append(slices.Repeat([]string{"4"}, 1000), "5"), slices.Repeat([]int{80}, 1000),
			"scale: 5"},
		"a later one with its scale": {append(slices.Repeat([]string{"4"}, 1000), "8/10"),
			slices.Repeat([]int{80}, 1001), "scale: 5"},
	} {
		file := "product,rating,date,author\n"
		for i, r := range c.ratings {
			file += fmt.Sprintf("lamp,%q,2019-04-03,Ann %d\n", r, i)
		}
		var out bytes.Buffer
		result, err := convert.Convert(t.Context(),
			convert.Request{Source: "shop", File: strings.NewReader(file), To: &out})
		if c.want == nil {
			var e *vitrine.Error
			if !errors.As(err, &e) || e.Parameter != "scale" || out.Len() != 0 {
				t.Errorf("%s: %v, %d bytes", name, err, out.Len())
			}
			continue
		}
		var r record
		if err != nil || json.Unmarshal(out.Bytes(), &r) != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, want := range c.want {
			if got := r.Reviews[i].Ratings[0]; got != want {
				t.Errorf("%s: rating %d is %d, want %d", name, i, got, want)
			}
		}
		if notes := strings.Join(result.Notes, "; "); (notes != "") != (c.note != "") ||
			!strings.Contains(notes, c.note) {
			t.Errorf("%s: %q", name, notes)
		}
	}
}

func TestEmptyDimensions(t *testing.T) {
	const file = "p,a,b,c\nx,5,,4\nx,,,\nx,5,5,5\n"
	mapping := mappingOf(t, `{"collection_id": "p", "created": "=2019-04-03", "author_name": "=A", "rating:a": "a",
		"rating:b": "b", "rating:c": "c"}`)
	if _, result, _ := converted(t, convert.Request{Mapping: mapping}, file); result.RejectedTotal != 2 ||
		result.Rejected[0].Reason != "b: the rating is empty" {
		t.Errorf("%+v", result)
	}
	list, result, _ := converted(t, convert.Request{Mapping: mapping, Fill: true}, file)
	if result.RejectedTotal != 1 || result.Rejected[0].Reason != "all ratings are empty" ||
		!slices.Equal(list[0].Reviews[0].Ratings, []int{100, 90, 80}) ||
		!slices.Contains(result.Notes, "empty ratings that became the mean of the others: 1") {
		t.Errorf("%+v, %+v", list, result)
	}
}
