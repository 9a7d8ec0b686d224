package convert_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/reviews/convert"
)

// record is a line of the output.
type record struct {
	Source, ID, Title, Created string
	Dimensions                 []string
	Reviews                    []review
}

type review struct {
	ID       string            `json:"id"`
	Parent   string            `json:"parent_id"`
	Title    string            `json:"title"`
	Body     string            `json:"body_html"`
	Created  string            `json:"created"`
	Ratings  []int             `json:"ratings"`
	Author   string            `json:"author_id"`
	Name     string            `json:"imported_display_name"`
	Email    string            `json:"imported_email"`
	URL      string            `json:"imported_url"`
	Subparts map[string]string `json:"subparts"`
}

// converted converts a file, checks the output, and returns it.
func converted(t *testing.T, in convert.Request, file string) ([]record, convert.Result, string) {
	t.Helper()
	var out, rejects bytes.Buffer
	in.File, in.To, in.Rejects = strings.NewReader(file), &out, &rejects
	in.Scale = max(cmp.Or(in.Scale, 5), 0) // -1 = guessed
	result, err := convert.Convert(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	accepted(t, out.Bytes(), result.Converted)
	var list []record
	for line := range bytes.Lines(out.Bytes()) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list, result, rejects.String()
}

// accepted fails unless a check finds no error in a file of so many reviews.
func accepted(t *testing.T, file []byte, count int64) {
	t.Helper()
	if len(file) == 0 && count == 0 {
		return
	}
	check := reviews.Check(bytes.NewReader(file), nil)
	for p, err := range check.Problems() {
		if err != nil || p.Severity == reviews.SeverityError {
			t.Fatalf("%v, %v", p, err)
		}
	}
	if report := check.Report(); report.Reviews != count || report.ReviewsRejected != 0 {
		t.Fatalf("%+v, want %d reviews", report, count)
	}
}

// simple is the mapping of most tests.
var simple = convert.Mapping{"collection_id": "product", "review_id": "id", "rating": "stars", "created": "date",
	"author_name": "name", "title": "title", "body": "text"}

const simpleHeader = "id,product,stars,date,name,title,text\n"

func TestRowsBecomeCollections(t *testing.T) {
	mapping := convert.Mapping{"collection_id": "sku", "collection_title": "product", "review_id": "nr",
		"rating:price": "price", "rating:quality": "quality", "created": "date", "author_name": "who",
		"author_email": "mail", "author_url": "web", "author_id": "user", "parent_id": "to", "title": "title",
		"body": "text", "subpart:size": "size"}
	list, result, _ := converted(t, convert.Request{Source: "shop.example.test", Mapping: mapping},
		strings.Join([]string{
			"nr,to,sku,product,price,quality,date,who,mail,web,user,title,text,size,unused",
			`2,1,kettle,,5,"4,5",2019-04-04,Berta,,example.test,,Re,"Yes, ""very"".` + "\r\n\r\n" + `Good <3",,x`,
			"3,,lamp,A lamp,1,2,2019-04-05,,,,user-7,,,L,",
			"1,,kettle,A kettle,4,3,2019-04-03,Anna,anna@example.test,,,Hot,Fine,,",
		}, "\n"))
	want := []record{
		{"shop.example.test", "a2V0dGxl", "A kettle", "2019-04-03T00:00:00Z", []string{"price", "quality"}, []review{
			{ID: "1", Title: "Hot", Body: "<p>Fine</p>", Created: "2019-04-03T00:00:00Z", Ratings: []int{80, 60},
				Name: "Anna", Email: "anna@example.test"},
			{ID: "2", Parent: "1", Title: "Re", Body: "<p>Yes, \"very\".</p><p>Good &lt;3</p>",
				Created: "2019-04-04T00:00:00Z", Ratings: []int{100, 90}, Name: "Berta", URL: "https://example.test"}}},
		{"shop.example.test", "bGFtcA==", "A lamp", "2019-04-05T00:00:00Z", []string{"price", "quality"}, []review{
			{ID: "3", Created: "2019-04-05T00:00:00Z", Ratings: []int{20, 40}, Author: "user-7",
				Subparts: map[string]string{"size": "L"}}}},
	}
	if !reflect.DeepEqual(list, want) || result.Converted != 3 || result.RejectedTotal != 0 {
		t.Errorf("%+v, %+v\nwant %+v", list, result, want)
	}
}

// A file gives the same reviews in every encoding, with every separator, and compressed.
func TestFormsOfFiles(t *testing.T) {
	plain := simpleHeader + "1,café,5,03/04/2019,Zoë,“Good” – €5,\"a\nb\"\n2,thé,4,15/04/2019,Åse,,\n"
	want, _, _ := converted(t, convert.Request{Mapping: simple}, plain)
	if len(want) != 2 || want[0].Reviews[0].Title != "“Good” – €5" ||
		want[0].Reviews[0].Created != "2019-04-03T00:00:00Z" {
		t.Fatalf("%+v", want)
	}
	encode := func(text string, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(plain)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	little, big := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
		unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	for name, file := range map[string]string{
		"byte order mark":      "\ufeff" + plain,
		"Windows-1252":         encode(charmap.Windows1252.NewEncoder().String(plain)),
		"UTF-16":               encode(little.NewEncoder().String(plain)),
		"UTF-16 without mark":  encode(big.NewEncoder().String(plain)),
		"semicolons":           strings.ReplaceAll(plain, ",", ";"),
		"tabs":                 strings.ReplaceAll(plain, ",", "\t"),
		"bars":                 strings.ReplaceAll(plain, ",", "|"),
		"sep":                  "sep=^\r\n" + strings.ReplaceAll(plain, ",", "^"),
		"CRLF":                 strings.ReplaceAll(plain, "\n", "\r\n"),
		"CR":                   strings.ReplaceAll(plain, "\n", "\r"),
		"no end":               strings.TrimSuffix(plain, "\n"),
		"blank rows":           strings.ReplaceAll(plain, "\n2", "\n\n,,,,,,\n2"),
		"cells behind the end": strings.ReplaceAll(plain, "\n2", ",,,\n2"),
		"gzip":                 packed.String(),
		"two encodings":        strings.Replace(plain, "thé", "th\xe9", 1),
	} {
		// the break inside of quotes is one of rows for the reader of a CR
		if name == "CR" || name == "cells behind the end" {
			file = strings.ReplaceAll(file, "\"a\nb\",,,", "\"a\nb\",,,")
		}
		got, result, _ := converted(t, convert.Request{Mapping: simple}, file)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %+v\nwant %+v", name, got, result, want)
		}
	}
}

// A character set that is named is used, and characters that it lacks are noted.
func TestCharsets(t *testing.T) {
	text, err := charmap.ISO8859_2.NewEncoder().String(simpleHeader + "1,lamp,5,2019-04-03,Žofie Ľahká,,\n")
	if err != nil {
		t.Fatal(err)
	}
	list, result, rejects := converted(t, convert.Request{Mapping: simple, Source: "shop", Charset: "ISO-8859-2"},
		text+"2,lamp,9,2019-04-03,\xbeofie,,\n")
	if len(list) != 1 || list[0].Reviews[0].Name != "Žofie Ľahká" || len(result.Notes) != 0 ||
		!strings.HasPrefix(rejects, "\ufeffid") || !strings.Contains(rejects, "žofie") {
		t.Errorf("%+v, %+v, %q", list, result, rejects)
	}
	_, result, _ = converted(t, convert.Request{Mapping: simple, Source: "shop", Charset: "utf-8"}, text)
	if want := "reviews with characters that utf-8 does not have: 1"; len(result.Notes) != 1 ||
		!strings.HasPrefix(result.Notes[0], want) {
		t.Errorf("%q", result.Notes)
	}
	var e *vitrine.Error
	_, err = convert.Look(strings.NewReader(text), "klingon")
	if !errors.As(err, &e) || e.Parameter != "charset" {
		t.Error(err)
	}
	if s, err := convert.Look(strings.NewReader("n\xe4me\n"), "cp850"); err != nil || s.Columns[0] != "nõme" {
		t.Errorf("%+v, %v", s, err)
	}
	s, err := convert.Look(strings.NewReader(text), "iso-8859-2")
	if err != nil || s.Charset != "iso-8859-2" || s.Rows[0][4] != "Žofie Ľahká" {
		t.Errorf("%+v, %v", s, err)
	}
}

// Each row has one fault, and the others around it are converted.
func TestRejectedRows(t *testing.T) {
	long := strings.Repeat("x", 1100<<10)
	for name, c := range map[string]struct{ row, reason string }{
		"no collection":         {"9,,5,2019-04-03,Ann,,", "the id of the collection is empty"},
		"a long collection":     {"9," + strings.Repeat("x", 113) + ",5,2019-04-03,Ann,,", "longer than 112 bytes"},
		"no id":                 {",lamp,5,2019-04-03,Ann,,", "the id of the review is empty"},
		"a repeated id":         {"1,lamp,5,2019-04-03,Ann,,", "came before in this collection, in line 2"},
		"no rating":             {"9,lamp,,2019-04-03,Ann,,", "the rating is empty"},
		"a rating of 0":         {"9,lamp,0,2019-04-03,Ann,,", "the rating is 0"},
		"a rating above":        {"9,lamp,5.5,2019-04-03,Ann,,", "the rating 5.5 is above 5"},
		"a rating below":        {"9,lamp,-1,2019-04-03,Ann,,", "the rating is not readable"},
		"a word for a rating":   {"9,lamp,good,2019-04-03,Ann,,", "the rating is not readable"},
		"a rating of infinity":  {"9,lamp,1e3,2019-04-03,Ann,,", "the rating is not readable"},
		"no date":               {"9,lamp,5,,Ann,,", "the date is empty"},
		"no real date":          {"9,lamp,5,2019-02-30,Ann,,", "there is no such date"},
		"a day number":          {"9,lamp,5,43558,Ann,,", "this is a number and no date"},
		"a day with a time":     {"9,lamp,5,43558.5,Ann,,", "this is a number and no date"},
		"zeros":                 {"9,lamp,5,0000-00-00,Ann,,", "is 0 or too high"},
		"no month":              {"9,lamp,5,2019-13-01,Ann,,", "there is no such date"},
		"no hour":               {"9,lamp,5,2019-01-01 25:00,Ann,,", "there is no such date"},
		"a word for a date":     {"9,lamp,5,yesterday,Ann,,", "the date is not readable"},
		"no name":               {"9,lamp,5,2019-04-03, ,,", "the name of the author is empty"},
		"few cells":             {"9,lamp,5,2019-04-03,Ann", "the row has 5 cells, and there are 7 columns"},
		"many cells":            {"9,lamp,5,2019-04-03,Ann,t,a,b", "the row has 8 cells, and there are 7 columns"},
		"a row that is too big": {"9,lamp,5,2019-04-03,Ann,," + long, "more than 1024 KiB"},
	} {
		list, result, rejects := converted(t, convert.Request{Mapping: simple},
			simpleHeader+"1,lamp,5,2019-04-03,Ann,first,\n"+c.row+"\n2,lamp,5,2019-04-03,Ben,last,\n")
		if len(list) != 1 || len(list[0].Reviews) != 2 || result.RejectedTotal != 1 || len(result.Rejected) != 1 ||
			result.Rejected[0].Line != 3 || !strings.Contains(result.Rejected[0].Reason, c.reason) {
			t.Errorf("%s: %.300v, %+v", name, list, result)
		}
		lines := 2
		if slices.Contains([]string{"few cells", "a row that is too big"}, name) {
			lines = 3 // the reason stands in a row of its own
		}
		const head = "id,product,stars,date,name,title,text,rejected_line,rejected_reason\n"
		if !strings.HasPrefix(rejects, head) || strings.Count(rejects, "\n") != lines ||
			!strings.Contains(rejects, ",3,") {
			t.Errorf("%s: the rejects are %.300q", name, rejects)
		}
	}
}

// A file of rejected rows can be mended and converted, and what is rejected again has the columns once.
func TestRejectedRowsCanBeConverted(t *testing.T) {
	_, _, rejects := converted(t, convert.Request{Mapping: simple},
		simpleHeader+"1,lamp,6,2019-04-03,\"Ann, B\",,\"a\nb\"\n2,lamp,7,2019-04-03,Ben,,\n")
	list, result, again := converted(t, convert.Request{Mapping: simple},
		strings.Replace(rejects, "lamp,6", "lamp,5", 1))
	if len(list) != 1 || list[0].Reviews[0].Name != "Ann, B" || list[0].Reviews[0].Body != "<p>a</p><p>b</p>" ||
		result.RejectedTotal != 1 {
		t.Errorf("%+v, %+v", list, result)
	}
	if strings.Count(again, "rejected_line") != 1 || strings.Count(again, "\n") != 2 {
		t.Errorf("%q", again)
	}
}

// A row with several faults is mended in one round.
func TestARejectedRowHasAllReasons(t *testing.T) {
	_, result, _ := converted(t, convert.Request{Mapping: simple}, simpleHeader+",,9,gestern,,,\n")
	reasons := strings.Split(result.Rejected[0].Reason, "; ")
	for i, begin := range []string{"the id of the collection is empty", "the id of the review is empty",
		"the name of the author is empty", `"gestern" in column "date": the date is not readable`,
		"the rating 9 is above 5"} {
		if len(reasons) != 5 || !strings.HasPrefix(reasons[i], begin) {
			t.Errorf("%q, want %s", reasons, begin)
		}
	}
}

// The notes say what somebody should know before the import.
func TestNotes(t *testing.T) {
	const good, bad = "1,lamp,5,03/04/2019,Ann,,\n", "2,lamp,9,04/05/2019,Ben,,\n"
	noIDs := convert.Mapping{"collection_id": "product", "rating": "stars", "created": "date", "author_name": "name"}
	const made = "no column has ids, so a review that is edited in the shop later becomes another one"
	for name, c := range map[string]struct {
		in   convert.Request
		file string
		want []string
	}{
		"nothing": {convert.Request{Mapping: simple}, simpleHeader + "1,lamp,5,2019-04-03,Ann,,\n", nil},
		"no date decides": {convert.Request{Mapping: simple}, simpleHeader + good,
			[]string{"dates: 03/04/2019 was taken for 4 March; dates=dmy or dates=mdy says otherwise"}},
		"a date decides": {convert.Request{Mapping: simple},
			simpleHeader + good + bad + "3,lamp,5,25/04/2019,Eve,,\n",
			[]string{"dates: the order was decided by 25/04/2019; give dates=dmy with the rejected rows"}},
		"nothing rejected": {convert.Request{Mapping: simple}, simpleHeader + good + "3,lamp,5,25/04/2019,Eve,,\n",
			nil},
		"separators agree": {convert.Request{Mapping: simple},
			simpleHeader + bad + "3,lamp,5,25.04.2019,Eve,,\n4,lamp,5,25/04/2019,Eve,,\n",
			[]string{"dates: the order was decided by 25.04.2019; give dates=dmy with the rejected rows"}},
		"several separators": {convert.Request{Mapping: simple},
			simpleHeader + bad + "3,lamp,5,25.04.2019,Eve,,\n4,lamp,5,04/25/2019,Eve,,\n", nil},
		"the request": {convert.Request{Mapping: simple, Dates: "dmy"}, simpleHeader + good + bad, nil},
		"later dates decide": {convert.Request{Mapping: simple},
			simpleHeader + strings.Repeat(bad, 2000) + "3,lamp,5,25/04/2019,Eve,,\n", []string{
				`most rows have "04/05/2019" in column "date": look whether it is created`,
				`most rows have "Ben" in column "name": look whether it is author_name`,
				"dates: 25/04/2019 in line 2002 shows that the day is first, and other dates were read with the " +
					"month first: convert the whole table again with dates=dmy"}},
		"later dates, with dots": {convert.Request{Mapping: simple},
			simpleHeader + strings.Repeat("1,lamp,9,01.04.2019,Ann,,\n", 2000) +
				"3,lamp,5,31.02.2019,Eve,,\n4,lamp,5,04.25.2019,Eve,,\n", []string{
				`most rows have "01.04.2019" in column "date": look whether it is created`,
				`most rows have "Ann" in column "name": look whether it is author_name`,
				"dates: 04.25.2019 in line 2003 shows that the month is first, and other dates were read with the " +
					"day first: convert the whole table again with dates=mdy"}},
		"a request stands": {convert.Request{Mapping: simple, Dates: "mdy"},
			simpleHeader + "3,lamp,5,25/04/2019,Eve,,\n", nil},
		"two encodings": {convert.Request{Mapping: simple},
			simpleHeader + "1,lamp,5,2019-04-03,Zoë,,\n2,lamp,5,2019-04-03,Zo\x81,,\n", []string{
				"line 3 is not UTF-8: such cells were read as Windows-1252, so look whether their letters are right"}},
		"unused columns": {convert.Request{Mapping: noIDs},
			"product,stars,date,name,Review State,\"a\tb\",rejected_line\nlamp,5,2019-04-03,Ann,spam,,\n", []string{
				`unused columns: "Review State", "a\tb"`,
				`"Review State" is not used, and may say which rows the shop has hidden ("spam"): all are converted,` +
					` so ` +
					`leave those out with skip`, made}},
		"no zone": {convert.Request{Mapping: simple},
			simpleHeader + "1,lamp,5,2019-04-03,Ann,,\n1,tea,5,2019-04-03 04:05 CEST,Ann,,\n" +
				"2,lamp,5,03.04.2019 14:05 Uhr,Ann,,\n", []string{
				"dates: 03.04.2019 14:05 Uhr was taken for 3 April; dates=dmy or dates=mdy says otherwise",
				`times that name no zone, such as 03.04.2019 14:05 Uhr, were taken for UTC; zone=Europe/Berlin ` +
					`says otherwise`}},
		"names that are the same": {convert.Request{Mapping: simple},
			"id,product,stars,date,name,title,text,x,x\n1,lamp,5,2019-04-03,Ann,,,,\n",
			[]string{`unused columns: "x", "x"`,
				`several columns are named "x", so none of them is used: give each a name of its own`}},
		"equal rows": {convert.Request{Mapping: noIDs},
			"product,stars,date,name\n" + strings.Repeat("lamp,5,2019-04-03,Ann\n", 3),
			[]string{made,
				"rows that are like an earlier one: 2; all are kept, since the table has no ids: see line 3, 4"}},
		"pictures": {convert.Request{Mapping: simple},
			simpleHeader + "1,lamp,5,2019-04-03,Ann,,<img src=a><IMG src=b>c\n",
			[]string{"texts with pictures or films, which are left out: 1"}},
		"no source": {convert.Request{Mapping: noIDs, Source: "none"}, "product,stars,date,name\n",
			[]string{`source: "import", since none was given; give the same one with every file of a site`}},
	} {
		c.in.Source = strings.TrimSuffix(cmp.Or(c.in.Source, "shop"), "none")
		if _, result, _ := converted(t, c.in, c.file); !slices.Equal(result.Notes, c.want) {
			t.Errorf("%s: %q, want %q", name, result.Notes, c.want)
		}
	}
}

func TestRejectedRowsOfSpreadsheets(t *testing.T) {
	const file = simpleHeader + "1,café,9,2019-04-03,Ann,,\n"
	latin, err := charmap.Windows1252.NewEncoder().String(file)
	if err != nil {
		t.Fatal(err)
	}
	for in, mark := range map[string]string{file: "", "\ufeff" + file: "\ufeff", latin: "\ufeff"} {
		if _, _, rejects := converted(t, convert.Request{Mapping: simple}, in); !strings.HasPrefix(rejects,
			mark+"id,product,") || !strings.Contains(rejects, "café") {
			t.Errorf("%q: %q", in, rejects)
		}
	}
}

func TestRatings(t *testing.T) {
	for text, want := range map[string]int{"5": 100, "1": 20, "4.5": 90, "4,5": 90, "0.5": 10, "0.01": 1, " 3 ": 60,
		"4/5": 80, "7/10": 70, "4 out of 5": 80, "4.0 out of 5 stars": 80, "80%": 80, "80 %": 80,
		"★★★★☆": 80, "★★★★★": 100, "⭐⭐⭐": 60, "4½": 90, "½": 10, "3 ¾": 75, "4½/5": 90,
		"★★★½": 70, "★★★★★★★★☆☆": 80, "4.5½": 0, "★½☆": 0, "4 stars": 80, "1 star": 20, "4 von 5 Sternen": 0,
		"4 von 5": 80,
		"11/10":   0, "5/0": 0, "★ good": 0, "NaN": 0, "٤": 0, "5.0.0": 0} {
		list, result, _ := converted(t, convert.Request{Mapping: simple},
			simpleHeader+"1,lamp,\""+text+"\",2019-04-03,Ann,,\n")
		switch {
		case want == 0 && result.RejectedTotal != 1, want > 0 &&
			(len(list) != 1 || list[0].Reviews[0].Ratings[0] != want):
			t.Errorf("%q: %+v, %+v, want %d", text, list, result, want)
		}
	}
	list, _, _ := converted(t, convert.Request{Mapping: simple, Scale: 10}, simpleHeader+"1,lamp,7,2019-04-03,Ann,,\n")
	if got := list[0].Reviews[0].Ratings; !slices.Equal(got, []int{70}) {
		t.Errorf("of 10: %d", got)
	}
}

// What spreadsheets and databases add to cells is taken off, and told where the file has to show it.
func TestArtefacts(t *testing.T) {
	list, result, rejects := converted(t, convert.Request{Mapping: simple, Source: "shop"}, simpleHeader+
		"\"=\"\"0012\"\"\",=\"007\",5,2019-04-03,Bj&ouml;rn,Salt &amp; pepper,a\\nb\n1.23E+12,\\N,5,2019-04-03,Ann,,\n"+
		"8,x,5,2019-04-03,Ann,It\\'s,a\\nb \\\\ c\n9,x,5,2019-04-03,NULL,NULL,\n")
	want := []review{{ID: "0012", Created: "2019-04-03T00:00:00Z", Ratings: []int{100}, Name: "Björn",
		Title: "Salt & pepper", Body: "<p>a</p><p>b</p>"}, {ID: "8", Created: "2019-04-03T00:00:00Z",
		Ratings: []int{100}, Name: "Ann", Title: "It's", Body: `<p>a</p><p>b \ c</p>`}}
	if len(list) != 2 || list[0].ID != "MDA3" ||
		!reflect.DeepEqual(append(list[0].Reviews, list[1].Reviews...), want) ||
		result.RejectedTotal != 2 || !strings.Contains(rejects, `1.23E+12,\N,5`) {
		t.Errorf("%+v, %+v, %q", list, result, rejects)
	}
	for i, note := range []string{"this is a dump of a database", `ids such as "1.23E+12" in line 3`} {
		if len(result.Notes) != 2 || !strings.HasPrefix(result.Notes[i], note) {
			t.Errorf("%q", result.Notes)
		}
	}
	list, result, _ = converted(t, convert.Request{Mapping: simple, Source: "shop"},
		simpleHeader+"1,x,5,2019-04-03,NULL,C:\\new,\n")
	if got := list[0].Reviews[0]; got.Name != "NULL" || got.Title != `C:\new` || result.Notes != nil {
		t.Errorf("no dump: %+v, %q", got, result.Notes)
	}
}

func TestDates(t *testing.T) {
	for text, want := range map[string]string{
		"2019-04-03": "2019-04-03T00:00:00Z", "2019/04/03": "2019-04-03T00:00:00Z", "20190403": "2019-04-03T00:00:00Z",
		"2019-4-3 4:05":        "2019-04-03T04:05:00Z",
		"2019-04-03T04:05:06Z": "2019-04-03T04:05:06Z", "2019-04-03T04:05:06.789+02:00": "2019-04-03T02:05:06.789Z",
		"2019-04-03 04:05:06 UTC":   "2019-04-03T04:05:06Z",
		"2019-04-03 04:05:06 -0430": "2019-04-03T08:35:06Z", "2019-04-03T04:05:06+02": "2019-04-03T02:05:06Z",
		"13/04/2019": "", "04/13/2019": "2019-04-13T00:00:00Z", "4/3/19": "2019-04-03T00:00:00Z",
		"04/03/2019 04:05 PM": "2019-04-03T16:05:00Z", "4/3/2019, 12:05:06 am": "2019-04-03T00:05:06Z",
		"03.04.2019": "2019-04-03T00:00:00Z", "3.4.99": "1999-04-03T00:00:00Z",
		"03-04-2019 23:59": "2019-04-03T23:59:00Z", "03-Apr-2019": "2019-04-03T00:00:00Z",
		"Apr 3, 2019": "2019-04-03T00:00:00Z", "April 3rd, 2019 at 4:05 pm": "2019-04-03T16:05:00Z",
		"3 April 2019": "2019-04-03T00:00:00Z", "3. März 2019": "2019-03-03T00:00:00Z",
		"3 mai 2019": "2019-05-03T00:00:00Z", "Wed, 03 Apr 2019 04:05:06 GMT": "2019-04-03T04:05:06Z",
		"Wed, 03 Apr 2019 04:05:06 +0200":                                  "2019-04-03T02:05:06Z",
		"Wed Apr 03 2019 04:05:06 GMT+0200 (Central European Summer Time)": "2019-04-03T02:05:06Z",
		"2019-04-03 14:05 (MESZ)":                                          "2019-04-03T12:05:00Z",
		"2019-04-03 04:05 pm CET":                                          "2019-04-03T15:05:00Z",
		"2019-04-03 14:05 UTC+2":                                           "2019-04-03T12:05:00Z",
		"Mittwoch, 3. April 2019":                                          "2019-04-03T00:00:00Z",
		"2019-04-03 14:05 EST":                                             "", "2019-04-03 14:05 Europe/Berlin": "",
		"43558.5":    "",
		"1554300300": "2019-04-03T14:05:00Z", "1554300300123": "2019-04-03T14:05:00.123Z",
		"29.02.2020": "2020-02-29T00:00:00Z", "29.02.2019": "", "2019": "", "04:05": "", "3 2019": "",
		"2019-04-03 04:05:06 13:00:00": "", "0000-01-01": "", "10000-01-01": "", "13:00 pm 2019-04-03": "",
		"2019-04-03 04:60": "", "1/2/3/4": "", "-": "", "2019-": "", "99999999": "", "3.4.": "", "2019-04-03T": "",
		"2019-04-03 +": "", "2019-04-03 1:2:3:4": "",
	} {
		list, result, _ := converted(t, convert.Request{Mapping: simple}, simpleHeader+"1,lamp,5,\""+text+"\",Ann,,\n")
		switch {
		case want == "" && text != "13/04/2019" && result.RejectedTotal != 1, want != "" &&
			(len(list) != 1 || list[0].Reviews[0].Created != want):
			t.Errorf("%q: %+v, %+v, want %s", text, list, result, want)
		}
	}
}

// Times that name no zone are of that of the mapping, and the reasons are those of the date.
func TestZones(t *testing.T) {
	in := convert.Mapping{"zone": "Europe/Berlin"}
	maps.Copy(in, simple)
	list, result, _ := converted(t, convert.Request{Mapping: in, Source: "shop"}, simpleHeader+
		"1,x,5,2019-04-03 14:05,Ann,,\n2,x,5,2019-12-03T14:05:00,Ann,,\n3,x,5,2019-04-03 14:05:00 UTC,Ann,,\n"+
		"4,x,5,2019-04-03T14:05:00Z,Ann,,\n5,x,5,2019-04-03,Ann,,\n6,x,5,2019-04-03 14:05 EST,Ann,,\n"+
		"7,x,5,2019-W14,Ann,,\n8,x,5,2019-04-31,Ann,,\n")
	for i, want := range []string{"2019-04-03T12:05:00Z", "2019-12-03T13:05:00Z", "2019-04-03T14:05:00Z",
		"2019-04-03T14:05:00Z", "2019-04-03T00:00:00Z"} {
		if got := list[0].Reviews[i].Created; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for i, want := range []string{`what "EST" says is not known`, "the date is not readable", "no such date"} {
		if !strings.Contains(result.Rejected[i].Reason, want) {
			t.Errorf("%+v, want %s", result.Rejected[i], want)
		}
	}
	if len(result.Notes) > 0 {
		t.Errorf("%q", result.Notes)
	}
	utc := convert.Mapping{"collection_id": "=x", "created": "Date (UTC)", "rating": "=5", "author_name": "=A",
		"zone": "Asia/Tokyo", "reply": "r", "reply_created": "at"}
	list, _, _ = converted(t, convert.Request{Mapping: utc, Zone: "Europe/Berlin"},
		"Date (UTC),r,at\n2019-04-03 14:05,x,2019-04-03 14:05\n")
	if got := list[0].Reviews[0]; got.Created != "2019-04-03T14:05:00Z" ||
		got.Subparts["reply_created"] != "2019-04-03T12:05:00Z" {
		t.Errorf("%+v", got)
	}
}

// What 03/04/2019 means is decided by the other rows, for each separator by itself, or by the request.
func TestOrderOfDates(t *testing.T) {
	for name, c := range map[string]struct{ dates, rows, want string }{
		"a day above 12":      {"", "25/04/2019", "2019-04-03"},
		"a month above 12":    {"", "04/25/2019", "2019-03-04"},
		"nothing":             {"", "04/04/2019", "2019-03-04"},
		"another separator":   {"", "25.04.2019", "2019-03-04"},
		"the request":         {"dmy", "04/04/2019", "2019-04-03"},
		"the request, though": {"mdy", "25/04/2019", "2019-03-04"},
	} {
		list, _, _ := converted(t, convert.Request{Mapping: simple, Dates: c.dates},
			simpleHeader+"1,lamp,5,03/04/2019,Ann,,\n2,tea,5,"+c.rows+",Ann,,\n")
		if got := list[0].Reviews[0].Created; !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestBodies(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"Good":                           "<p>Good</p>",
		"5 < 6 & 7 > 2 <3":               "<p>5 &lt; 6 &amp; 7 &gt; 2 &lt;3</p>",
		"one\r\n\r\n two \nthree":        "<p>one</p><p>two</p><p>three</p>",
		"<p>one<p>two</p>":               "<p>one</p><p>two</p>",
		"one <br/>":                      "<p>one</p>",
		"one<br/>two<BR>three":           "<p>one</p><p>two</p><p>three</p>",
		"<div><b>Bold</b> and <i>not":    "<p>Bold and not</p>",
		"<ul><li>a</li> <li>b</li></ul>": "<p>a</p><p>b</p>",
		"a &amp; b &lt;c&gt; &eacute;":   "<p>a &amp; b &lt;c&gt; é</p>",
		"<script>alert(1)</script>x":     "<p>x</p>",
		"<style>p{}</style><!-- c -->x":  "<p>x</p>",
		"<img src=x onerror=alert(1)>x":  "<p>x</p>",
		"I <b>really</b>\nlove it&#33;":  "<p>I really</p><p>love it!</p>",
		"<p>one\ntwo</p>":                "<p>one\ntwo</p>",
		"<tr><td>a</td><td>b</td></tr>":  "<p>a b</p>",
		"<o:p>a</o:p><?xml:x y = z />b":  "<p>ab</p>",
		// what only looks like a tag, or never ends, stays
		"I <so> <ann@e.test> <Update>":        "<p>I &lt;so&gt; &lt;ann@e.test&gt; &lt;Update&gt;</p>",
		"<ironie>ja</ironie> <https://a.b/c>": "<p>&lt;ironie&gt;ja&lt;/ironie&gt; &lt;https://a.b/c&gt;</p>",
		"if (a<b && c>d) p<s":                 "<p>if (a&lt;b &amp;&amp; c&gt;d) p&lt;s</p>",
		"a <title> b <i>c</i> <!-- d":         "<p>a &lt;title&gt; b &lt;i&gt;c&lt;/i&gt; &lt;!-- d</p>",
		"<![CDATA[a]]> <template>b":           "<p>&lt;![CDATA[a]]&gt; &lt;template&gt;b</p>",
		`<a href="https://example.test/?a=1&amp;b=2" ` +
			`onclick="x">l</a>`: `<p><a href="https://example.test/?a=1&amp;b=2">l</a></p>`,
		`<a href='mailto:a@example.test'>m<a ` +
			`href=http://b.test>n`: `<p><a href="mailto:a@example.test">m</a><a href="http://b.test">n</a></p>`,
		`<a href="javascript:alert(1)">x</a><a href="java&#10;script:x">y</a><a>z</a>`:            "<p>xyz</p>",
		`<a href="https:///x">x</a><a href="https://">y</a><a href="/z">z</a><a href="mailto:">m`: "<p>xyzm</p>",
		`<a href="https://e.test/&#34;&gt;&lt;b&gt;">x</a>`:                                       `<p><a href="https://e.test/&#34;&gt;&lt;b&gt;">x</a></p>`,
	} {
		list, result, _ := converted(t, convert.Request{Mapping: simple},
			simpleHeader+`1,lamp,5,2019-04-03,Ann,,"`+strings.ReplaceAll(text, `"`, `""`)+"\"\n")
		if len(list) != 1 || list[0].Reviews[0].Body != want {
			t.Errorf("%q: %+v, %+v, want %q", text, list, result, want)
		}
	}
}

func TestRepliesFollowReviews(t *testing.T) {
	mapping := convert.Mapping{"collection_id": "p", "review_id": "id", "rating": "r", "created": "d",
		"author_name": "n", "parent_id": "to"}
	list, result, _ := converted(t, convert.Request{Mapping: mapping},
		"id,to,p,r,d,n\n4,3,x,5,2019-04-03,a\n3,1,x,5,2019-04-03,a\n5,9,x,5,2019-04-03,a\n6,7,x,5,2019-04-03,a\n7,6,"+
			"x,5,2019-04-03,a\n"+
			"8,8,x,5,2019-04-03,a\n1,0,x,5,2019-04-03,a\n2,1,x,5,2019-04-03,a\n2,1,y,5,2019-04-03,a\n")
	var ids []string
	for _, r := range list[0].Reviews {
		ids = append(ids, r.ID)
	}
	if !slices.Equal(ids, []string{"1", "3", "2", "4"}) || result.RejectedTotal != 5 || result.Rejected[0].Line != 4 {
		t.Errorf("%q, %+v", ids, result)
	}
}

// Without a column of ids, the same file has the same ids again, and equal reviews are kept.
func TestIDsAreMade(t *testing.T) {
	mapping := convert.Mapping{"collection_id": "p", "rating": "r", "created": "d", "author_name": "n"}
	file := "p,r,d,n\nx,5,2019-04-03,a\nx,5,2019-04-03,a\ny,5,2019-04-03,a\nx,4,2019-04-03,a\n"
	list, _, _ := converted(t, convert.Request{Mapping: mapping}, file)
	again, _, _ := converted(t, convert.Request{Mapping: mapping}, file)
	x := list[0].Reviews
	if !reflect.DeepEqual(list, again) || len(x) != 3 || x[1].ID != x[0].ID+"-2" || x[2].ID == x[0].ID ||
		list[1].Reviews[0].ID != x[0].ID {
		t.Errorf("%+v", list)
	}
}

func TestMistakesOfRequests(t *testing.T) {
	file := simpleHeader + "1,lamp,5,2019-04-03,Ann,,\n"
	for name, c := range map[string]struct {
		in                convert.Request
		file              string
		parameter, reason string
	}{
		"a field": {convert.Request{Mapping: convert.Mapping{"colour": "id"}}, file, "mapping",
			`no field "colour"`},
		"a column": {convert.Request{Mapping: convert.Mapping{"title": "headline"}}, file, "mapping",
			`no column "headline": its columns are "id", "product"`},
		"two columns": {convert.Request{Mapping: convert.Mapping{"title": "a"}}, "a,a\n", "mapping",
			`two columns "a"`},
		"no collection": {convert.Request{Mapping: convert.Mapping{"title": "title"}}, file, "mapping",
			"no column is named for collection_id"},
		"no date": {convert.Request{Mapping: convert.Mapping{"collection_id": "id"}}, file, "mapping",
			"for created"},
		"a line before": {convert.Request{}, "Report of 2020,,\n" + file, "mapping",
			"are the names of the columns in the first row?"},
		"a doubled column": {convert.Request{}, "product,rating,author,date,date\n", "mapping",
			`two columns are named "date"`},
		"no rating": {convert.Request{Mapping: convert.Mapping{"collection_id": "id", "created": "date"}}, file,
			"mapping", "for rating"},
		"no author": {
			convert.Request{Mapping: convert.Mapping{"collection_id": "id", "created": "date", "rating": "stars"}},
			file, "mapping", "for author_name"},
		"a dimension":      {convert.Request{Mapping: convert.Mapping{"rating:": "id"}}, file, "mapping", "no field"},
		"a scale":          {convert.Request{Scale: -1}, file, "scale", "above 0"},
		"a high scale":     {convert.Request{Scale: 1000}, file, "scale", "at most 100"},
		"an order":         {convert.Request{Dates: "ymd"}, file, "dates", "dmy or mdy"},
		"a spreadsheet":    {convert.Request{}, "PK\x03\x04", "", "spreadsheet"},
		"JSON":             {convert.Request{}, "{}\n", "", "JSON"},
		"XML":              {convert.Request{}, "<?xml version=\"1.0\"?>\n<reviews/>", "", "this is XML"},
		"HTML":             {convert.Request{}, "\ufeff <table><tr>", "", "save it as CSV"},
		"nothing":          {convert.Request{}, "", "", "empty"},
		"a binary file":    {convert.Request{}, "a,b\x00\x00\x00,c", "", "binary"},
		"unknown columns":  {convert.Request{}, "a,b\n1,2\n", "mapping", "no column is named for collection_id"},
		"a broken gzip":    {convert.Request{}, "\x1f\x8b\x08", "gzip", ""},
		"a quote in names": {convert.Request{}, "\"a,b\n" + strings.Repeat("x\n", 1<<20), "", "names of the columns"},
	} {
		c.in.File, c.in.To = strings.NewReader(c.file), &bytes.Buffer{}
		_, err := convert.Convert(t.Context(), c.in)
		var e *vitrine.Error
		if errors.As(err, &e) &&
			(e.Parameter != c.parameter || !strings.Contains(e.Reason, c.reason) ||
				!errors.Is(err, vitrine.ErrInvalid)) || e == nil && c.parameter != "gzip" || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Exports of well-known programs need no mapping.
func TestLookGuesses(t *testing.T) {
	for name, c := range map[string]struct {
		header string
		want   convert.Mapping
	}{
		"Judge.me": {
			"title,body,rating,review_date,source,curated,reviewer_name,reviewer_email,product_id,product_handle," +
				"reply,reply_date,picture_urls,ip_address,location",
			convert.Mapping{"title": "title", "body": "body", "rating": "rating", "created": "review_date",
				"author_name": "reviewer_name", "author_email": "reviewer_email", "collection_id": "product_handle",
				"reply": "reply", "reply_created": "reply_date"}},
		"Shopify": {"product_handle,state,rating,title,author,email,location,body,reply,created_at,replied_at",
			convert.Mapping{"title": "title", "body": "body", "rating": "rating", "created": "created_at",
				"author_name": "author", "author_email": "email", "collection_id": "product_handle",
				"reply": "reply", "reply_created": "replied_at"}},
		"Yotpo": {"Review ID,Review Title,Review Content,Review Score,Review Date,Reviewer Name,Reviewer " +
			"Email,Product ID,Product Title",
			convert.Mapping{"review_id": "Review ID", "title": "Review Title", "body": "Review Content",
				"rating": "Review Score", "created": "Review Date", "author_name": "Reviewer Name",
				"author_email":  "Reviewer Email",
				"collection_id": "Product ID", "collection_title": "Product Title"}},
		"Loox": {"id,product_id,product_handle,rating,author,email,body,created_at,photo_url,verified_purchase",
			convert.Mapping{"review_id": "id", "body": "body", "rating": "rating", "created": "created_at",
				"author_name": "author", "author_email": "email", "collection_id": "product_handle"}},
		"Stamped": {"productId,productTitle,author,email,reviewRating,reviewTitle,reviewMessage,reviewDate",
			convert.Mapping{"title": "reviewTitle", "body": "reviewMessage", "rating": "reviewRating",
				"created": "reviewDate", "author_name": "author", "author_email": "email", "collection_id": "productId",
				"collection_title": "productTitle"}},
		"Trustpilot": {"Review Id;Review Created (UTC);Review Username;Review Title;Review Content;Review " +
			"Stars;Product Name",
			convert.Mapping{"review_id": "Review Id", "title": "Review Title", "body": "Review Content",
				"rating": "Review Stars", "created": "Review Created (UTC)", "author_name": "Review Username",
				"collection_id": "Product Name"}},
		"WordPress": {
			"comment_ID,comment_post_ID,comment_author,comment_author_email,comment_author_url,comment_date," +
				"comment_content,comment_parent,rating",
			convert.Mapping{"review_id": "comment_ID", "body": "comment_content", "rating": "rating",
				"created": "comment_date", "author_name": "comment_author", "author_email": "comment_author_email",
				"author_url": "comment_author_url", "collection_id": "comment_post_ID", "parent_id": "comment_parent"}},
		"WooCommerce": {"id,date_created,product_id,product_name,reviewer,reviewer_email,review,rating",
			convert.Mapping{"review_id": "id", "body": "review", "rating": "rating", "created": "date_created",
				"author_name": "reviewer", "author_email": "reviewer_email", "collection_id": "product_id",
				"collection_title": "product_name"}},
		"Bazaarvoice": {"ReviewID,ProductID,Rating,Title,ReviewText,SubmissionTime,UserNickname",
			convert.Mapping{"review_id": "ReviewID", "title": "Title", "body": "ReviewText", "rating": "Rating",
				"created": "SubmissionTime", "author_name": "UserNickname", "collection_id": "ProductID"}},
		"Okendo": {"productId,rating,name,body,dateCreated,email,title,imageUrls",
			convert.Mapping{"title": "title", "body": "body", "rating": "rating", "created": "dateCreated",
				"author_name": "name", "author_email": "email", "collection_id": "productId"}},
		"a reply in parts": {"Artikelnummer,Bewertungs-Nr,reply.body,reply.dateCreated", convert.Mapping{
			"collection_id": "Artikelnummer", "review_id": "Bewertungs-Nr", "reply": "reply.body",
			"reply_created": "reply.dateCreated"}},
		"two columns": {"id,id,product,rating", convert.Mapping{"collection_id": "product", "rating": "rating"}},
	} {
		s, err := convert.Look(strings.NewReader(c.header+"\n"), "")
		if err != nil || !reflect.DeepEqual(s.Mapping, c.want) {
			t.Errorf("%s: %v, %v\nwant %v", name, s.Mapping, err, c.want)
		}
	}
}

func TestLookSays(t *testing.T) {
	var file strings.Builder
	file.WriteString("product;rating;date;name;text\n")
	for i := range 20000 {
		fmt.Fprintf(&file, "p%d;%d;%02d.01.2019;Ann;\"a\nb\"\n", i, i%10+1, i%28+1)
	}
	s, err := convert.Look(strings.NewReader(file.String()), "")
	if err != nil || s.Separator != ";" || s.Charset != "utf-8" || s.Scale != 10 || s.Dates != "dmy" ||
		len(s.Rows) != 5 || !slices.Equal(s.Rows[1], []string{"p1", "2", "02.01.2019", "Ann", "a\nb"}) {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = convert.Look(strings.NewReader("caf\xe9,rating,date\n1,80,3/14/2019\n"), "")
	if err != nil || s.Charset != "windows-1252" || s.Scale != 100 || s.Dates != "mdy" || s.Columns[0] != "café" {
		t.Errorf("%+v, %v", s, err)
	}
}

// garbage is a file of rows that are mostly right and have bytes changed.
func garbage(random *rand.Rand) string {
	pieces := []string{"lamp", "5", "2019-04-03", "Ann", "\"", "\"\"", ",", ";", "\n", "\r\n", "\r", "\x00", "\xff",
		"é", "\u2028", "<p>", "</a>", "<a href=\"http://x\">", "<a href=javascript:x>", "&#0;", "&#9;", "&",
		"<!--", "<script>", "\ufeff", "★", "\\ud800", "\x1f", "mailto:", "http://", "0", "1,", "\t",
		strings.Repeat("x", 300), "<svg/><p", "'", "<a href='https://a\tb'>"}
	var out strings.Builder
	out.WriteString("id,to,p,r,d,n,m,u,a,t,b,s\n")
	for i := range 1 + random.IntN(30) {
		row := []string{strconv.Itoa(i), "", "lamp", "5", "2019-04-03", "Ann", "a@example.test", "example.test", "",
			"t", "b", "s"}
		for range random.IntN(4) {
			at := random.IntN(len(row))
			row[at] = ""
			for range 1 + random.IntN(4) {
				row[at] += pieces[random.IntN(len(pieces))]
			}
			if random.IntN(2) > 0 {
				row[at] = `"` + strings.ReplaceAll(row[at], `"`, `""`) + `"`
			}
		}
		out.WriteString(strings.Join(row, ",") + "\n")
	}
	return out.String()
}

var wide = convert.Mapping{"review_id": "id", "parent_id": "to", "collection_id": "p", "rating": "r", "created": "d",
	"author_name": "n", "author_email": "m", "author_url": "u", "author_id": "a", "title": "t", "body": "b",
	"subpart:x": "s"}

// Whatever the file is, a check accepts what is written, and each row is converted or rejected.
func TestAcceptedWhateverTheFileIs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var done int64
	for range 400 {
		_, result, _ := converted(t, convert.Request{Mapping: wide}, garbage(random))
		done += result.Converted
	}
	if done < 1500 {
		t.Errorf("only %d reviews were converted: this test shows little", done)
	}
}

func FuzzConvert(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		f.Add([]byte(garbage(random)), "/a/*/reviews")
	}
	f.Add([]byte(
		`{"a":[{"reviews":[{"id":1,"r":5,"d":"2019-04-03","n":"A\u0000","x":[[1e9,null]]},2]},3],"b":"\ud800"}`), "")
	f.Add([]byte("[{\"p\":1,\"~/\":{\"\":[{}]}}\n,[]]"), "")
	f.Add([]byte("id;to;p;r;d;n;m;u;a;t;b;s\r\"x"), "")
	f.Fuzz(func(t *testing.T, file []byte, source string) {
		var out bytes.Buffer
		pointers := convert.Mapping{"rows": source, "collection_id": []any{"/p", "=x"}, "rating": []any{"/r", "=5"},
			"created": []any{"/d", "=2019-04-03"}, "author_name": []any{"../n", "/n", "#", "=A"}, "body": "/x/0"}
		if result, err := convert.Convert(context.Background(), convert.Request{File: bytes.NewReader(file), To: &out,
			Mapping: pointers, Rejects: &bytes.Buffer{}}); err == nil {
			accepted(t, out.Bytes(), result.Converted)
		}
		out.Reset()
		result, err := convert.Convert(context.Background(),
			convert.Request{File: bytes.NewReader(file), To: &out, Mapping: wide, Source: source,
				Rejects: &bytes.Buffer{}})
		if err == nil {
			accepted(t, out.Bytes(), result.Converted)
		}
		_, _ = convert.Look(bytes.NewReader(file), "")
	})
}

func BenchmarkConvert(b *testing.B) {
	file := (&large{rows: 100000, collections: 1000}).file()
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		result, err := convert.Convert(b.Context(),
			convert.Request{File: bytes.NewReader(file), To: io.Discard, Mapping: simple})
		if err != nil || result.Converted != 100000 {
			b.Fatal(result, err)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-sys")
}

// The work for a cell does not depend on how many columns there are: both files have 2,000,000 cells.
func BenchmarkColumns(b *testing.B) {
	for _, columns := range []int{10, 100, 1000} {
		b.Run(strconv.Itoa(columns), func(b *testing.B) {
			mapping := convert.Mapping{"collection_id": "p", "rating": "r", "created": "d", "author_name": "n"}
			file := []byte("p,r,d,n")
			for i := range columns - 4 {
				file = fmt.Appendf(file, ",c%d", i)
			}
			for range 2_000_000 / columns {
				file = append(append(file, "\nx,5,2019-04-03,a"...), strings.Repeat(",some text", columns-4)...)
			}
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				in := convert.Request{File: bytes.NewReader(file), To: io.Discard, Mapping: mapping}
				if _, err := convert.Convert(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2e6, "ns/cell")
		})
	}
}
