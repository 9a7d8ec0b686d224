package reviews_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// warned returns the rules of the problems of a file, all of which are to be warnings.
func warned(t *testing.T, problems []reviews.Problem) (all []string) {
	t.Helper()
	for _, p := range problems {
		if p.Severity != reviews.SeverityWarning {
			t.Errorf("%v", p)
		}
		all = append(all, p.Rule)
	}
	return all
}

// A review may be dated up to 14 hours after the clock: a local time without its zone can be as far ahead of UTC.
func TestTimesMayBeFourteenHoursAhead(t *testing.T) {
	o := &reviews.ReadOptions{Now: clock} // 2026-01-02T03:04:05Z
	for created, future := range map[string]bool{
		"2026-01-02T17:04:05Z":                false,
		"2026-01-02T17:04:05.000001Z":         true,
		"2026-01-02T17:04:06":                 true,
		"2026-01-03T17:04:04+23:59":           true,
		"2026-01-03T17:03:05+23:59":           false,
		"2026-01-03T17:03:06+23:59":           true,
		"2026-01-01T17:05:05-23:59":           false,
		"2026-01-01T17:05:06-23:59":           true,
		"2026-01-01T17:04:05.999999999-23:59": false,
		"2025-12-31T00:00:00-23:59":           false,
	} {
		file := strings.Replace(record, "2020-01-02T03:04:05Z", created, 1)
		if got := warned(t, check(t, []byte(file), o)); slices.Contains(got, "created-future") != future ||
			len(got) > 1 {
			t.Errorf("%s: %v, want a warning: %t", created, got, future)
		}
	}
}

// Reviews before the dimensions are judged after the rest of the line, and yet the first time in the file is the one
// that is named.
func TestTheFirstValueIsNamedInWhateverOrderTheyAreJudged(t *testing.T) {
	file := strings.ReplaceAll(reviewsFirst(collection("YQ", single, review("1", 50, ""))), "2020-", "9999-")
	problems := check(t, []byte(file), nil)
	if len(problems) != 1 || problems[0].Offset != int64(strings.Index(file, `"9999-`)) ||
		!strings.Contains(problems[0].Message, "the first of 2") {
		t.Errorf("%v", problems)
	}
}

// A file with every one of these faults has one warning for each, after its errors, however many goroutines read it and
// whatever the sizes of its blocks. A warning names the first of its values and rejects nothing.
func TestWarningsAboutTheFileAreTheSameHoweverItIsRead(t *testing.T) {
	var file bytes.Buffer
	for i := range 2000 {
		id, created, email := base64.RawURLEncoding.EncodeToString(fmt.Append(nil, i)), "2020-01-02T03:04:05Z", "null"
		if i%7 == 5 {
			id = fmt.Sprintf("%04d", 8000+i)
		}
		if i%11 == 8 {
			created = "2031-01-01T00:00:00Z"
		}
		if i%13 == 6 {
			email = `"none"`
		}
		fmt.Fprintf(&file,
			`{"source":"s%d","title":"t","created":"2020-01-02T03:04:05Z","id":%q,"dimensions":["default"],"reviews":[`+
				`{"id":"1","title":"t","body_html":"","created":%q,"ratings":[%d],"imported_display_name":"n",`+
				`"imported_email":%s}]}`+"\n", i, id, created, i%5+1, email)
	}
	file.WriteString("no JSON\n")
	var first reviews.Report
	for _, workers := range []int{1, 8} {
		for _, buffer := range []int{1000, 1 << 20} {
			o := reviews.WithBuffer(reviews.ReadOptions{Workers: workers, Now: clock}, buffer)
			in := &reviews.ImportRequest{ReadOptions: *o}
			r := importInto(t, memory.New(), file.String(), in)
			if first.Problems == nil {
				first = r
			}
			if !reflect.DeepEqual(r, first) {
				t.Errorf("%d workers, blocks of %d bytes: %+v\nfirst %+v", workers, buffer, r, first)
			}
		}
	}
	checkCounts(t, first, 2001, 2000, 2000, 2000, 0, 0, 0, 1, 4)
	var got []string
	for _, p := range first.Problems {
		got = append(got, fmt.Sprint(p.Line, " ", p.Rule))
	}
	if want := []string{"2001 json", "1 scale", "6 id-text", "9 created-future", "7 email"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if message := first.Problems[4].Message; !strings.HasSuffix(message, "; this is the first of 154 in the file") {
		t.Error(message)
	}
}

// The warnings about the whole file are in the report even if a thousand other problems came before.
func TestAReportHasRoomForWarningsAboutTheFile(t *testing.T) {
	file := strings.Repeat("no JSON\n", 1500)
	for i := range 20 {
		file += strings.Replace(strings.Replace(numbered(i), "[50]", "[5]", 1), `"YQ=="`, `"kettle"`, 1) + "\n"
	}
	r := importInto(t, memory.New(), record+"\n"+file, nil)
	if r.Errors != 1500 || len(r.Problems) != 1000 || !r.ProblemsTruncated || r.Problems[999].Rule != "id-text" ||
		r.Problems[998].Rule != "json" {
		t.Errorf("%d errors, %d problems, the last are %v", r.Errors, len(r.Problems), r.Problems[998:])
	}
	r = importInto(t, memory.New(), strings.Replace(file, "no JSON", `{}`, 1), nil) // so that it is NDJSON
	if got := []string{r.Problems[997].Rule, r.Problems[998].Rule, r.Problems[999].Rule}; !slices.Equal(got,
		[]string{"json", "scale", "id-text"}) {
		t.Errorf("the last problems are of %v", got)
	}
}

// The rule overwrite compares the changed reviews with all that were stored in the network, not only with those of the
// file. A dry run and an import say the same. New reviews are no changes.
func TestOverwritingMoreThanHalfIsAWarning(t *testing.T) {
	list := func(from, to, rating int) (all []string) {
		for i := from; i < to; i++ {
			all = append(all, review(fmt.Sprint(i), rating, ""))
		}
		return all
	}
	for name, test := range map[string]struct {
		file  string
		warns bool
	}{
		"half": {collection("YQ", single, list(0, 5, 60)...), false},
		"half, and new ones": {collection("YQ", single, list(0, 5, 60)...) +
			collection("Yw", single, list(0, 100, 60)...), false},
		"more than half": {collection("YQ", single, list(0, 6, 60)...), true},
		"more than half, and new ones": {collection("YQ", single, list(0, 6, 60)...) +
			collection("Yw", single, list(0, 100, 60)...), true},
		"more than half, in two": {collection("YQ", single, list(0, 4, 60)...) +
			collection("Yg", single, list(0, 2, 60)...), true},
		"more than half and the others": {collection("YQ", single, slices.Concat(list(0, 6, 60), list(6, 8, 50))...),
			true},
		"none": {collection("YQ", single, list(0, 8, 50)...), false},
		"what was stored, in a new order": {collection("YQ", single, slices.Concat(list(4, 8, 50), list(0, 4, 50))...),
			false},
	} {
		t.Run(name, func(t *testing.T) {
			store := memory.New()
			importInto(t, store,
				collection("YQ", single, list(0, 8, 50)...)+collection("Yg", single, list(0, 2, 50)...), nil)
			for _, dryRun := range []bool{true, false} {
				r := importInto(t, store, test.file, &reviews.ImportRequest{DryRun: dryRun})
				if got := warned(t, r.Problems); slices.Contains(got, "overwrite") != test.warns || len(got) > 1 {
					t.Errorf("dry run %t: %v, want a warning: %t", dryRun, got, test.warns)
				}
			}
			if r := importInto(t, store, test.file, nil); len(r.Problems) > 0 {
				t.Errorf("again: %v", r.Problems)
			}
		})
	}
}

// The warnings are about a whole file, so one that was read in part has none.
func TestAFilePartlyReadHasNoWarningAboutItself(t *testing.T) {
	var file strings.Builder
	for i := range 30 {
		file.WriteString(strings.Replace(numbered(i), "[50]", "[5]", 1) + "\n")
	}
	packed := zipped(file.String())
	c := reviews.Check(strings.NewReader(packed[:len(packed)-4]), nil)
	for p, err := range c.Problems() {
		if err == nil {
			t.Errorf("%v", p)
		}
	}
	if r := c.Report(); r.Collections != 30 || r.Warnings != 0 {
		t.Errorf("%+v", r)
	}
}

// Collections count once each, also if a line is read in parts, and stored in several transactions.
func TestCollectionsAreCounted(t *testing.T) {
	other := func(line string) string { return strings.Replace(line, `"title":"t"`, `"title":"u"`, 1) }
	long := `,"subparts":{"s":"` + strings.Repeat("x", 1000) + `"}`
	many := func(rating int) (all []string) { // more than 1 MiB
		for i := range 900 {
			all = append(all, review(fmt.Sprint("review ", i), rating, long))
		}
		return all
	}
	bad := review("0", 0, "")
	first := collection("YQ", single, review("1", 50, "")) + collection("Yg", single) +
		collection("Yw", single, many(50)...)
	for _, limit := range []int{1000, 1 << 20} { // blocks of a line
		store := memory.New()
		for _, test := range []struct {
			name, file                              string
			collections, created, updated, rejected int64
		}{
			{"new ones", first, 3, 3, 0, 0},
			{"the same again", first, 3, 0, 0, 0},
			{"other reviews",
				collection("YQ", single, review("1", 60, ""), review("2", 60, "")) +
					collection("Yw", single, many(60)...), 2, 0, 0, 0},
			{"other titles", other(collection("Yg", single)) + other(collection("Yw", single, many(60)...)), 2, 0, 2,
				0},
			{"all reviews rejected", other(collection("YQ", single, bad)) + collection("ZA", single, bad, bad), 2, 0, 0,
				2},
			{"one review rejected", collection("YQ", single, bad, review("1", 60, "")), 1, 0, 0, 0},
			{"the last of many accepted",
				collection("ZQ", single, append(slices.Repeat([]string{bad}, 500), review("1", 60, ""))...), 1, 1, 0,
				0},
			{"an error of the collection",
				strings.Replace(collection("YQ", single, review("1", 60, "")), `"t"`, `1`, 1), 1, 0, 0, 1},
			{"an error of a long collection", strings.Replace(collection("Yw", single, many(60)...), `"t"`, `1`, 1), 1,
				0, 0, 1},
			{"a collection twice", collection("Yg", single) + collection("Yg", single), 2, 0, 1, 1},
			{"other dimensions", collection("YQ", `,"dimensions":["a"]`, review("9", 60, "")), 1, 0, 0, 1},
			{"other dimensions of a long one", collection("Yw", `,"dimensions":["a"]`, many(60)...), 1, 0, 0, 1},
			{"other dimensions, all rejected", collection("YQ", `,"dimensions":["a"]`, bad), 1, 0, 0, 1},
			{"no JSON", collection("Zg", single, review("1", 50, "")) + `{"id":` + "\n", 1, 1, 0, 0},
		} {
			for _, dryRun := range []bool{true, false} {
				in := &reviews.ImportRequest{DryRun: dryRun,
					ReadOptions: *reviews.WithBuffer(reviews.ReadOptions{}, limit)}
				r := importInto(t, store, test.file, in)
				got := []int64{r.Collections, r.CollectionsCreated, r.CollectionsUpdated, r.CollectionsRejected}
				if want := []int64{test.collections, test.created, test.updated, test.rejected}; !slices.Equal(got,
					want) {
					t.Errorf("blocks of %d bytes, %s, dry run %t: collections, created, updated, rejected: %v, want %v",
						limit, test.name, dryRun, got, want)
				}
				if r.Reviews != r.ReviewsCreated+r.ReviewsUpdated+r.ReviewsUnchanged+r.ReviewsRejected {
					t.Errorf("%s: %+v", test.name, r.Counts)
				}
			}
		}
	}
}

// A check counts the collections that it rejects; whether another one is new is known only by the store.
func TestACheckCountsRejectedCollections(t *testing.T) {
	c := reviews.Check(
		strings.NewReader(collection("YQ", single, review("1", 0, ""))+collection("Yg", single, review("1", 50, ""))+
			"no JSON\n"), nil)
	for _, err := range c.Problems() {
		if err != nil {
			t.Fatal(err)
		}
	}
	if r := c.Report(); !r.DryRun || r.Collections != 2 || r.CollectionsRejected != 1 || r.CollectionsCreated != 0 {
		t.Errorf("%+v", r)
	}
}

// An import judges the future by the clock of the store, unless its options have one.
func TestAnImportTakesTheClockOfTheStore(t *testing.T) {
	for name, test := range map[string]struct {
		store, own func() time.Time
		future     bool
	}{
		"none":      {nil, nil, false},
		"the store": {func() time.Time { return time.Date(2010, 1, 2, 3, 4, 5, 0, time.UTC) }, nil, true},
		"both":      {func() time.Time { return time.Date(2010, 1, 2, 3, 4, 5, 0, time.UTC) }, clock, false},
	} {
		s := reviews.New(memory.New(memory.Options{Now: test.store}), nil)
		report, err := s.As(vitrine.Caller{URN: "urn:vitrine:example.test:user=me", Operator: true}).Import(t.Context(),
			reviews.ImportRequest{
				Network: "example.test", File: strings.NewReader(record),
				ReadOptions: reviews.ReadOptions{Now: test.own}})
		has := slices.ContainsFunc(report.Problems, func(p reviews.Problem) bool { return p.Rule == "created-future" })
		if err != nil || has != test.future {
			t.Errorf("%s: %+v, %v, want created-future: %t", name, report.Problems, err, test.future)
		}
	}
}
