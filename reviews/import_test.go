package reviews_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

var (
	ctx      = context.Background()
	operator = vitrine.Caller{Operator: true}
)

// network is where the tests import, unless they say otherwise.
const network = "example.test"

// clock tells the same time always. The clock of a bubble of synctest begins in 2000, so the reviews of the tests would
// be from its future.
func clock() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// request is a request to import a file into a network; in, if not nil, says how.
func request(network string, file io.Reader, in *reviews.ImportRequest) reviews.ImportRequest {
	var out reviews.ImportRequest
	if in != nil {
		out = *in
	}
	out.Network, out.File = network, file
	return out
}

func importInto(t testing.TB, store storage.Store, file string, o *reviews.ImportRequest) reviews.Report {
	t.Helper()
	report, err := reviews.New(store, nil).As(operator).Import(ctx, request(network, strings.NewReader(file), o))
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func export(t testing.TB, store storage.Store) string {
	t.Helper()
	var out bytes.Buffer
	if err := reviews.New(store, nil).As(operator).Export(ctx, network, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// counts are lines, collections, reviews, created, updated, unchanged, rejected, errors, warnings.
func counts(r reviews.Report) []int64 {
	return []int64{r.Lines, r.Collections, r.Reviews, r.ReviewsCreated, r.ReviewsUpdated, r.ReviewsUnchanged,
		r.ReviewsRejected, r.Errors,
		r.Warnings}
}

func checkCounts(t *testing.T, r reviews.Report, want ...int64) {
	t.Helper()
	if got := counts(r); !slices.Equal(got, want) {
		t.Errorf("lines, collections, reviews, created, updated, unchanged, rejected, errors, warnings:\n got "+
			"%v\nwant %v\n%v", got, want, r.Problems)
	}
}

// sameRecords compares two files record by record, as JSON values with numbers as they are written.
func sameRecords(t *testing.T, got, want string) {
	t.Helper()
	a, b := decodeAll(t, got), decodeAll(t, want)
	if len(a) != len(b) {
		t.Fatalf("%d records, want %d", len(a), len(b))
	}
	for i := range a {
		if !reflect.DeepEqual(a[i], b[i]) {
			t.Errorf("record %d:\n got %v\nwant %v", i, a[i], b[i])
		}
	}
}

func decodeAll(t *testing.T, file string) (all []any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(file))
	d.UseNumber()
	for d.More() {
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// review gives a review; more are further members.
func review(id string, rating any, more string) string {
	return fmt.Sprintf(`{"id":%q,"title":"t","body_html":"b","created":"2020-01-02T03:04:05","ratings":[%v],`+
		`"imported_display_name":"n"%s}`, id, rating, more)
}

func collection(id, more string, list ...string) string {
	return fmt.Sprintf(`{"source":"s","title":"t","created":"2020-01-02T03:04:05Z","id":%q%s,"reviews":[%s]}`, id, more,
		strings.Join(list, ",")) + "\n"
}

const single = `,"dimensions":["default"]`

func TestImportCountsWhatItDid(t *testing.T) {
	store := memory.New()
	checkCounts(t,
		importInto(t, store, collection("YQ", single, review("1", 5, ""), review("2", 6, ""), review("3", 0, "")), nil),
		1, 1, 3, 2, 0, 0, 1, 1, 0)
	checkCounts(t,
		importInto(t, store, collection("YQ", single, review("1", 5, ""), review("2", 7, ""), review("4", 1, "")), nil),
		1, 1, 3, 1, 1, 1, 0, 0, 0)
	sameRecords(t, export(t, store),
		collection("YQ", single, review("1", 5, ""), review("2", 7, ""), review("4", 1, "")))
	// A collection that is refused takes its reviews with it; another one does not mind.
	bad := strings.Replace(collection("YWI", single, review("1", 5, ""), review("2", 0, "")), `"t"`, `1`, 1)
	checkCounts(t, importInto(t, store, bad+collection("YWJj", "", review("1", 5, "")), nil), 2, 2, 3, 1, 0, 0, 2, 2, 1)
}

func TestImportDeletesNothing(t *testing.T) {
	store := memory.New()
	importInto(t, store,
		collection("YQ", single, review("1", 5, ""), review("2", 6, ""))+collection("YWI", single, review("1", 5, "")),
		nil)
	importInto(t, store, collection("YQ", single), nil)
	sameRecords(t, export(t, store),
		collection("YQ", single, review("1", 5, ""), review("2", 6, ""))+collection("YWI", single, review("1", 5, "")))
}

func TestImportReplacesTheFieldsOfACollection(t *testing.T) {
	store := memory.New()
	importInto(t, store, collection("YQ", `,"dimensions":["a","b"]`), nil)
	file := strings.Replace(collection("YQ", `,"dimensions":["c","d","e"]`), `"t"`, `"other"`, 1)
	checkCounts(t, importInto(t, store, file, nil), 1, 1, 0, 0, 0, 0, 0, 0, 0)
	sameRecords(t, export(t, store), file)
}

func TestExportIsTheImportFieldForField(t *testing.T) {
	file := collection("YQ", "") +
		collection("Y_-w", `,"dimensions":["a","b"]`, review("1", "1,100", `,"imported_email":null,"imported_url":""`),
			review("2", "50,50",
				`,"imported_email":"","imported_url":null,"subparts":{"z":"1","a":"","é\u0001\u2028":"\ud83d\ude00"}`),
			review("3", "50,50", `,"subparts":{},"parent_id":"2"`)) +
		collection("YQ==", single,
			strings.Replace(review("\"<&>", 7, ""), `"imported_display_name":"n"`, `"author_id":"x"`, 1)) +
		strings.Replace(collection("YQ==", single), `"s"`, `"http:\/\/\u0073"`, 1)
	for _, o := range []*reviews.ImportRequest{nil, {ReadOptions: *reviews.WithBuffer(reviews.ReadOptions{}, 128)}} {
		store := memory.New()
		if r := importInto(t, store, file, o); r.Errors != 0 {
			t.Fatal(r.Problems)
		}
		out := export(t, store)
		sameRecords(t, out, file)
		again := memory.New()
		importInto(t, again, out, nil)
		if export(t, again) != out {
			t.Error("another round gives another file")
		}
		if r := importInto(t, store, out, nil); r.ReviewsCreated+r.ReviewsUpdated+r.ReviewsRejected != 0 ||
			r.ReviewsUnchanged != 4 {
			t.Errorf("importing the export: %v", counts(r))
		}
	}
}

func TestOrderAndSpellingOfMembersAreNoContent(t *testing.T) {
	store := memory.New()
	importInto(t, store, collection("YQ", single, review("1", 5, `,"subparts":{"a":"x","b":"y"}`)), nil)
	other := ` { "reviews" : [ { "subparts":{"b":"\u0079","a":"x"},"imported_display_name":"n","ratings":[ 5 ],` +
		`"created":"2020-01-02T03:04:05","body_html":"b","title":"t","id":"\u0031"} ],` +
		`"dimensions":["default"],"id":"YQ","created":"2020-01-02T03:04:05Z","title":"t","source":"s"}`
	checkCounts(t, importInto(t, store, other, nil), 1, 1, 1, 0, 0, 1, 0, 0, 0)
	for _, changed := range []string{`,"subparts":{"a":"x"}`, `,"subparts":{}`, "", `,"imported_email":null`,
		`,"imported_email":""`} {
		// overwrite
		checkCounts(t, importInto(t, store, collection("YQ", single, review("1", 5, changed)), nil), 1, 1, 1, 0, 1, 0,
			0, 0, 1)
	}
}

func TestDryRunReportsAndStoresNothing(t *testing.T) {
	for _, buffer := range []int{300, 1 << 20} {
		o := reviews.WithBuffer(reviews.ReadOptions{}, buffer)
		store := memory.New()
		importInto(t, store, randomFile(2, 60), nil)
		before := export(t, store)
		file := randomFile(2, 40) + randomFile(3, 60)
		dry := importInto(t, store, file, &reviews.ImportRequest{ReadOptions: *o, DryRun: true})
		if export(t, store) != before {
			t.Error("a dry run stores")
		}
		real := importInto(t, store, file, &reviews.ImportRequest{ReadOptions: *o})
		if !dry.DryRun || real.DryRun {
			t.Errorf("dryRun is %v in a dry run and %v else", dry.DryRun, real.DryRun)
		}
		dry.DryRun = false
		if !reflect.DeepEqual(dry, real) {
			t.Errorf("dry run %v\n   import %v", counts(dry), counts(real))
		}
	}
}

func TestImportHasTheProblemsOfCheck(t *testing.T) {
	file := randomFile(5, 300)
	want := check(t, []byte(file), nil)
	if len(want) < 100 {
		t.Fatalf("%d problems", len(want))
	}
	for _, buffer := range []int{200, 1 << 20} {
		var got []reviews.Problem
		o := &reviews.ImportRequest{ReadOptions: *reviews.WithBuffer(reviews.ReadOptions{}, buffer),
			Problem: func(p reviews.Problem) { got = append(got, p) }}
		r := importInto(t, memory.New(), file, o)
		if !slices.Equal(got, want) || int64(len(got)) != r.Errors+r.Warnings {
			t.Errorf("buffer %d: %d problems, want %d", buffer, len(got), len(want))
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Fatalf("\n got %v\nwant %v", got[i], want[i])
				}
			}
		}
	}
}

func TestOtherDimensionsThanTheStoredOnesAreAnError(t *testing.T) {
	two := `,"dimensions":["a","b"]`
	for _, buffer := range []int{150, 1 << 20} {
		o := &reviews.ImportRequest{ReadOptions: *reviews.WithBuffer(reviews.ReadOptions{}, buffer)}
		store := memory.New()
		importInto(t, store, collection("YQ", two, review("1", "1,2", ""))+collection("YWI", two), o)
		// Absent dimensions are reported at the record, others at their value; the rest of the file goes in.
		file := collection("YQ", single, review("1", 5, ""), review("2", 5, "")) +
			collection("YQ==", single, review("1", 5, "")) +
			collection("YWI", single, review("1", 5, ""))
		r := importInto(t, store, file, o)
		checkCounts(t, r, 3, 3, 4, 2, 0, 0, 2, 1, 0)
		at := int64(strings.Index(file, `["default"]`))
		if p := r.Problems[0]; p.Rule != "stored-dimensions" || p.Pointer != "/dimensions" || p.Line != 1 ||
			p.Offset != at {
			t.Errorf("%+v, want offset %d", p, at)
		}
		r = importInto(t, store, collection("YQ", "", review("1", 5, "")), o)
		checkCounts(t, r, 1, 1, 1, 0, 0, 0, 1, 1, 1)
		if p := r.Problems[1]; p.Rule != "stored-dimensions" || p.Pointer != "" || p.Offset != 0 {
			t.Errorf("%+v", p)
		}
		// As many with another name are an error too.
		r = importInto(t, store, collection("YQ", `,"dimensions":["c","a"]`, review("1", "1,2", "")), o)
		checkCounts(t, r, 1, 1, 1, 0, 0, 0, 1, 1, 0)
		if p := r.Problems[0]; p.Rule != "stored-dimensions" || p.Pointer != "/dimensions" ||
			!strings.Contains(p.Message, `"b"`) {
			t.Errorf("%+v", p)
		}
	}
}

func TestProblemsComeInTheOrderOfTheFile(t *testing.T) {
	store := memory.New()
	importInto(t, store, collection("YWI", `,"dimensions":["a","b"]`, review("1", "1,2", "")), nil)
	file := collection("YQ", single, review("1", 5, "")) + "x\n" + collection("YWI", single, review("1", 5, "")) +
		"x\n" +
		collection("YQ", single) + strings.Repeat("x\n", 5000)
	var lines []int64
	importInto(t, store, file,
		&reviews.ImportRequest{Problem: func(p reviews.Problem) { lines = append(lines, p.Line) }})
	if len(lines) != 5004 || !slices.IsSorted(lines) || !slices.Equal(lines[:4], []int64{2, 3, 4, 5}) {
		t.Errorf("%d problems, %v…", len(lines), lines[:min(len(lines), 8)])
	}
}

// An export that has begun does not begin once more on another snapshot, behind what it has written.
func TestAnExportWritesNothingTwice(t *testing.T) {
	for _, size := range []int{1, 2000} {
		store := memory.New()
		list := make([]string, size)
		for i := range list {
			list[i] = review(fmt.Sprint(i), 5, "")
		}
		importInto(t, store, collection("YQ", single, list...), nil)
		var out strings.Builder
		err := reviews.New(retrying{store}, nil).As(operator).Export(ctx, network, &out)
		if !errors.Is(err, vitrine.ErrBusy) {
			t.Fatalf("%d reviews: %v, want ErrBusy", size, err)
		}
		if whole := export(t, store); !strings.HasPrefix(whole, out.String()) {
			t.Errorf("%d reviews: what was written is not the beginning of the export", size)
		}
	}
}

func TestExportHasParentsBeforeReplies(t *testing.T) {
	store := memory.New()
	importInto(t, store,
		collection("YQ", single, review("1", 5, ""), review("2", 5, ""), review("3", 5, ""), review("4", 5, "")), nil)
	// Later the first ones turn out to be replies to later ones.
	importInto(t, store,
		collection("YQ", single, review("4", 5, ""), review("3", 5, `,"parent_id":"4"`),
			review("1", 5, `,"parent_id":"3"`), review("2", 5, `,"parent_id":"3"`)), nil)
	out := export(t, store)
	sameRecords(t, out,
		collection("YQ", single, review("4", 5, ""), review("3", 5, `,"parent_id":"4"`),
			review("1", 5, `,"parent_id":"3"`), review("2", 5, `,"parent_id":"3"`)))
	checkCounts(t, importInto(t, store, out, nil), 1, 1, 4, 0, 0, 4, 0, 0, 0)
}

// Only damage makes a review reply to itself, or takes the parent of a reply away. The error names the review.
func TestExportNamesRepliesThatLeadNowhere(t *testing.T) {
	for _, c := range []struct {
		parents map[string]string
		want    string
	}{
		{map[string]string{"1": "3", "3": "4", "4": "3"},
			`reviews: collection "YQ" of "s": stored review "3": its parents go round in a circle`},
		{map[string]string{"2": "2"},
			`reviews: collection "YQ" of "s": stored review "2": its parents go round in a circle`},
		{map[string]string{"1": "4", "3": "3", "4": "x"},
			`reviews: collection "YQ" of "s": stored review "4": its parent is missing`},
	} {
		store := memory.New()
		importInto(t, store,
			collection("YQ", single, review("1", 5, ""), review("2", 5, ""), review("3", 5, ""), review("4", 5, "")),
			nil)
		for id, parent := range c.parents {
			replyByHand(t, store, id, parent)
		}
		err := reviews.New(store, nil).As(operator).Export(ctx, network, io.Discard)
		if err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

func TestAReportInJSONHasAllMembers(t *testing.T) {
	r := importInto(t, memory.New(), "x\n", &reviews.ImportRequest{DryRun: true})
	got, _ := json.Marshal(r)
	want := `{"lines":1,"collections":0,"collectionsCreated":0,"collectionsUpdated":0,"collectionsRejected":0,` +
		`"reviews":0,"created":0,"updated":0,"unchanged":0,"rejected":0,"errors":1,"warnings":0,"dryRun":true,` +
		`"problems":[{"line":1,"column":1,"offset":0,"pointer":"","rule":"json","severity":"error","message":"this ` +
		`is not JSON: invalid character 'x' at start of value"}],"problemsTruncated":false}`
	if string(got) != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if got, _ := json.Marshal(reviews.Check(strings.NewReader(""), nil).Report()); !strings.Contains(string(got),
		`"problems":[]`) {
		t.Errorf("%s", got)
	}
}

func TestImportStopsWithItsContextAndItsStore(t *testing.T) {
	over, cancel := context.WithCancel(ctx)
	cancel()
	store := memory.New()
	if _, err := reviews.New(store, nil).As(operator).Import(over,
		reviews.ImportRequest{Network: network, File: strings.NewReader(record)}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	r, err := reviews.New(failingStore{store, errFull}, nil).As(operator).Import(ctx,
		reviews.ImportRequest{Network: network, File: strings.NewReader(randomFile(1, 500))})
	if !errors.Is(err, vitrine.ErrFull) || r.ReviewsCreated != 0 {
		t.Errorf("%v, %v", err, counts(r))
	}
	if export(t, store) != "" {
		t.Error("something was stored")
	}
}

// errFull is the error of a store without room.
var errFull = fmt.Errorf("disk: %w", vitrine.ErrFull)

// A line without end is read no further when nobody waits for it.
func TestALongLineIsLeftWhenTheImportEnds(t *testing.T) {
	open := `{"reviews":[` + review("0", 5, "")
	endless := func(more func(to []byte, i int) []byte) *generated {
		return &generated{next: []byte(open), part: more, left: 1 << 62}
	}
	part := func(to []byte, i int) []byte { return append(to, ","+review(fmt.Sprint(i+1), 5, "")...) }
	for _, test := range []struct {
		name string
		run  func(o reviews.ReadOptions) error
		want error
	}{
		{"when its context ends", func(o reviews.ReadOptions) error {
			over, cancel := context.WithCancel(ctx)
			file := endless(func(to []byte, i int) []byte {
				if i == 20_000 {
					cancel()
				}
				return part(to, i)
			})
			_, err := reviews.New(memory.New(), nil).As(operator).Import(over,
				reviews.ImportRequest{Network: network, File: file, ReadOptions: o})
			return err
		}, context.Canceled},
		{"when its store fails", func(o reviews.ReadOptions) error {
			file := generate(4<<20, open, func(to []byte, i int) []byte { return append(part(to, i), `,7`...) },
				`],"source":"s","title":"t","created":"2020-01-02T03:04:05Z","id":"YQ","dimensions":["default"]}`)
			_, err := reviews.New(failingStore{memory.New(), errFull}, nil).As(operator).Import(ctx,
				reviews.ImportRequest{Network: network, File: file, ReadOptions: o})
			return err
		}, vitrine.ErrFull},
		{"when its problems are left", func(o reviews.ReadOptions) error {
			file := endless(repeat(`,7`))
			file.next = []byte(strings.TrimSuffix(collection("YQ", single), "]}\n") + "7")
			for range reviews.Check(file, &o).Problems() {
				break
			}
			return nil
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := test.run(reviews.ReadOptions{}); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
		})
	}
}
