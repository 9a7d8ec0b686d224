package convert_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews/convert"
)

// The same reviews in many shapes of JSON.
func TestShapesOfJSON(t *testing.T) {
	const one, two = `{"id": 1, "rating": 10, "date": "2019-04-03", "user": {"name": "Ann"}, "text": "So\nso"}`,
		`{"id": 2, "rating": 4, "date": "2019-04-04", "user": {"name": "Ben"}, "text": null, "tags": ["a", "b"]}`
	flat := func(text string) string { return strings.ReplaceAll(text, `{"id"`, `{"product": "lamp", "id"`) }
	for name, c := range map[string]struct{ file, rows, id string }{
		"array":           {flat("[" + one + ",\n" + two + "]"), "", ""},
		"lines":           {flat(one + "\n" + two + "\n"), "", ""},
		"byte order mark": {"\ufeff" + flat("["+one+","+two+"]"), "", ""},
		"member": {flat(`{"page": {"next": 2}, "total": 2, "items": [` + one + "," + two + "]}"), "/items",
			""},
		"keyed": {flat(`{"r1": ` + one + `, "r2": ` + two + "}"), "/*", ""},
		"products": {`{"shop": "x", "products": [{"sku": "lamp", "reviews": [` + one + "," + two +
			`]}, {"sku": "none", "reviews": []}]}`, "/products/*/reviews", "../sku"},
		"behind": {`[{"reviews": [` + one + "," + two + `], "sku": "lamp"}]`, "/*/reviews", "../sku"},
		"lines of lists": {`{"sku": "lamp", "reviews": [` + one + "]}\n" + `{"sku": "lamp", "reviews": [` + two +
			"]}", "/reviews", "../sku"},
		"above in two": {`{"sku": "lamp", "pages": [{"n": 1, "reviews": [` + one + "," + two + "]}]}",
			"/pages/*/reviews", "../sku"},
		"keyed products": {`{"lamp": {"reviews": [` + flat(one) + `]}, "none": {"reviews": []}, "x": {"reviews": [` +
			flat(two) + "]}}", "/*/reviews", ""},
		"names of columns": {`{"a/b": {"reviews": [` + flat(one+","+two) + "]}}", "/a~1b/reviews", ""},
	} {
		s, err := convert.Look(strings.NewReader(c.file), "")
		want := convert.Mapping{"review_id": "/id", "rating": "/rating", "created": "/date",
			"author_name": "/user/name",
			"body":        "/text", "collection_id": "/product"}
		if c.rows != "" {
			want["rows"] = c.rows
		}
		if c.id != "" {
			want["collection_id"] = c.id
		}
		if err != nil || !reflect.DeepEqual(s.Mapping, want) || s.Scale != 10 || s.Separator != "" {
			t.Errorf("%s: %+v, %v\nwant %v", name, s, err, want)
			continue
		}
		for _, mapping := range []convert.Mapping{want, nil} {
			list, result, _ := converted(t, convert.Request{Source: "shop", Mapping: mapping, Scale: -1}, c.file)
			reviews := []review{{ID: "1", Created: "2019-04-03T00:00:00Z", Ratings: []int{100}, Name: "Ann",
				Body: "<p>So</p><p>so</p>"},
				{ID: "2", Created: "2019-04-04T00:00:00Z", Ratings: []int{40}, Name: "Ben"}}
			if len(list) != 1 || list[0].ID != "bGFtcA==" || !reflect.DeepEqual(list[0].Reviews, reviews) ||
				result.Converted != 2 || result.RejectedTotal != 0 {
				t.Errorf("%s: %+v, %+v", name, list, result)
			}
		}
	}
}

// What is rejected is a table with the names of the same columns, and a mapping may name columns of later rows and
// keys.
func TestRowsOfJSON(t *testing.T) {
	mapping := mappingOf(t, `{"rows": "/lists/*/*", "collection_id": "../#", "review_id": "#", "rating": "/r",
		"created": "=2019-04-03", "author_name": ["/n", "=Anonymous"], "title": "/later"}`)
	file := `{"lists": {"lamp": {"a": {"r": 5}, "b": {"r": 6, "n": "B,\"b"},` + "\n" +
		`"c": {"r": 4, "later": "\u0000x", "more": true}}}}`
	list, result, rejects := converted(t, convert.Request{Mapping: mapping, Source: "shop"}, file)
	if len(list) != 1 || list[0].ID != "bGFtcA==" || len(list[0].Reviews) != 2 || list[0].Reviews[1].ID != "c" ||
		list[0].Reviews[1].Title != "x" || result.RejectedTotal != 1 || result.Rejected[0].Line != 1 {
		t.Errorf("%+v, %+v", list, result)
	}
	delete(mapping, "rows")
	list, result,
		_ = converted(t, convert.Request{Mapping: mapping, Source: "shop"}, strings.Replace(rejects, ",6,", ",3,", 1))
	if len(list) != 1 || list[0].Reviews[0].ID != "b" || list[0].Reviews[0].Name != `B,"b` ||
		result.RejectedTotal != 0 {
		t.Errorf("%q: %+v, %+v", rejects, list, result)
	}
	var rows strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&rows, `{"p": "x", "r": 5, "d": "2019-04-03", "n": "N %d"%s}`+"\n", i,
			strings.Repeat(`, "answer": "Thanks"`, i/2999))
	}
	mapping = convert.Mapping{"collection_id": "/p", "rating": "/r", "created": "/d", "author_name": "/n"}
	_, result, _ = converted(t, convert.Request{Mapping: mapping, Source: "shop"}, rows.String())
	if result.Converted != 3000 ||
		!strings.Contains(strings.Join(result.Notes, ";"), `not used, unless the mapping names them: "/answer"`) {
		t.Errorf("%+v", result)
	}
	mapping["reply"] = "/answer"
	list, _, _ = converted(t, convert.Request{Mapping: mapping, Source: "shop"}, rows.String())
	if got := list[0].Reviews[2999].Subparts["reply"]; got != "Thanks" {
		t.Errorf("%q", got)
	}
}

// Pages have reviews as schema.org says, several products in a list.
func TestReviewsOfSchemaOrg(t *testing.T) {
	product := func(sku, reviews string) string {
		return `{"@type": "Product", "sku": "` + sku + `", "name": "Kettle", "review": [` + reviews + `]}`
	}
	review := func(author, value string) string {
		return `{"@type": "Review", "author": {"@type": "Person", "name": "` + author + `"}, "reviewBody": "Good", ` +
			`"datePublished": "2019-04-03", "reviewRating": {"ratingValue": "` + value + `", "bestRating": "10"}}`
	}
	list, result, _ := converted(t, convert.Request{Scale: -1}, "["+product("k1", review("Ann", "4")+","+
		review("Ben", "10"))+","+product("k2", review("Cy", "5"))+"]")
	if len(list) != 2 || list[1].ID != "azI=" || list[1].Title != "Kettle" || list[1].Reviews[0].Name != "Cy" ||
		list[0].Reviews[0].Ratings[0] != 40 || list[0].Reviews[0].Created != "2019-04-03T00:00:00Z" ||
		result.Converted != 3 {
		t.Errorf("%+v, %+v", list, result)
	}
}

func TestMistakesOfJSON(t *testing.T) {
	mapping := `{"rows": "/a", "collection_id": "/p", "rating": "/r", "created": "=2019-04-03", "author_name": "=A"}`
	for name, c := range map[string]struct{ mapping, file, reason string }{
		"no rows":   {mapping, `{"b": [{"p": 1}]}`, "no objects where rows are"},
		"texts":     {mapping, `{"a": ["x"]}`, "no objects where rows are"},
		"a pointer": {`{"rows": "a"}`, "{}", "want a JSON pointer"},
		"a column":  {strings.Replace(mapping, `"/r"`, `"r"`, 1), `{"a": [{"p": 1}]}`, `no column "r"`},
		"an end":    {mapping, `{"a": [{"p": 1},`, "line 1: this is no JSON"},
		"a later end": {mapping, `{"a": [` + strings.Repeat(`{"p": 1, "r": 5},`+"\n", 2000) + "]}",
			"line 2000: this is no JSON"},
		"a large value": {mapping, `{"a": [{"p": "` + strings.Repeat("x", 40<<20) + `"}]}`, "more than 16 MiB"},
		"many columns":  {mapping, `{"a": [{"0":1` + manyMembers(1001) + `}]}`, "columns"},
		"the import format": {"null", `{"source":"s","dimensions":["default"],"reviews":[{"id":"1"}]}`,
			"import format"},
	} {
		var out bytes.Buffer
		_, err := convert.Convert(t.Context(),
			convert.Request{File: strings.NewReader(c.file), To: &out, Mapping: mappingOf(t, c.mapping)})
		var e *vitrine.Error
		if !errors.As(err, &e) || !strings.Contains(e.Reason, c.reason) || out.Len() > 0 {
			t.Errorf("%s: %v, want %s", name, err, c.reason)
		}
	}
	deep := `{"a": [{"p": "x", "r": 5, "n": ` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}]}"
	if _, err := convert.Convert(t.Context(), convert.Request{File: strings.NewReader(deep), To: io.Discard,
		Mapping: mappingOf(t, mapping)}); err != nil {
		t.Error(err)
	}
}

// manyMembers returns so many members of an object.
func manyMembers(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, `,"m%d":1`, i)
	}
	return out.String()
}

// A row that is not an object is rejected, and a note names lists that are not read.
func TestJSONThatIsNotRead(t *testing.T) {
	const row = `{"product":"x","rating":5,"author":"Ann","date":"2019-04-03"}`
	for file, want := range map[string]struct{ reason, note string }{
		"[" + row + `,"` + strings.Repeat("ä", 90) + `"]`: {
			`row 2: this is no object: "` + strings.Repeat("ä", 79), ""},
		row + "\nnull\n7\n": {"this is no object: 7", ""},
		`{"reviews":[` + row + `],"old":[{"reviews":"none"}],"pages":[1]}`: {"", `list "/old" is not read`},
		`{"reviews":[` + row + `],"old":null}`:                             {"", ""},
		`[{"reviews":[` + row + `]},{"reviews":"none"},{"reviews":""},{}]`: {`row 2: this is no object: "none"`, ""},
	} {
		_, result, _ := converted(t, convert.Request{Source: "shop"}, file)
		reason, notes := "", strings.Join(result.Notes, ";")
		for _, rejected := range result.Rejected {
			reason += rejected.Reason
		}
		if result.Converted != 1 || reason != want.reason || !strings.Contains(notes, want.note) ||
			want.note == "" && strings.Contains(notes, "is not read") {
			t.Errorf("%s: %+v", file, result)
		}
	}
}

// Of rows in one line a reason says which is meant.
func TestRowsOfOneLine(t *testing.T) {
	_, result, _ := converted(t, convert.Request{Source: "shop"}, `[{"id":1,"product":"x","rating":5,"author":"Ann",`+
		`"date":"2019-04-03"},{"id":2,"product":"x","rating":5,"author":"","date":"2019-04-03"}`+",\n"+
		`{"id":3,"product":"x","rating":5,"author":"","date":"2019-04-03"}]`)
	if len(result.Rejected) != 2 || !strings.HasPrefix(result.Rejected[0].Reason, "row 2: the name of the author") ||
		!strings.HasPrefix(result.Rejected[1].Reason, "row 3: ") || result.Rejected[1].Line != 2 {
		t.Errorf("%+v", result)
	}
}
