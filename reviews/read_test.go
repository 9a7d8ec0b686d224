package reviews_test

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func collectionNamed(t *testing.T, s storage.Store, id string) reviews.CollectionRecord {
	t.Helper()
	for c, err := range reviews.New(s, nil).As(operator).AllCollections(ctx,
		reviews.ListCollectionsRequest{Network: network, Source: "s"}) {
		if err != nil {
			t.Fatal(err)
		}
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("there is no collection %s", id)
	return reviews.CollectionRecord{}
}

func TestCollectionsHaveCountsMeansAndHistograms(t *testing.T) {
	store := memory.New()
	two := `,"dimensions":["quality","price"]`
	importInto(t, store,
		collection("YQ", two, review("1", "1,100", ""), review("2", "3,100", ""), review("3", "3,50", ""),
			review("4", "0,1", ""))+collection("YWI", ""), nil)
	c := collectionNamed(t, store, "YQ")
	want := []reviews.Dimension{
		{Name: "quality", Mean: 2.33, Histogram: [10]int64{3}},
		{Name: "price", Mean: 83.33, Histogram: [10]int64{0, 0, 0, 0, 1, 0, 0, 0, 0, 2}},
	}
	if c.Title != "t" || c.Count != 3 || c.Created != "2020-01-02T03:04:05Z" || !slices.Equal(c.Dimensions, want) {
		t.Errorf("%+v", c)
	}
	// An update moves a rating.
	importInto(t, store, collection("YQ", two, review("1", "11,100", "")), nil)
	want[0] = reviews.Dimension{Name: "quality", Mean: 5.67, Histogram: [10]int64{2, 1}}
	if c := collectionNamed(t, store, "YQ"); c.Count != 3 || !slices.Equal(c.Dimensions, want) {
		t.Errorf("%+v", c)
	}
	if c := collectionNamed(t, store, "YWI"); c.Count != 0 ||
		!slices.Equal(c.Dimensions, []reviews.Dimension{{Name: "default"}}) {
		t.Errorf("%+v", c)
	}
	_, err := reviews.New(store, nil).As(operator).Show(ctx,
		reviews.ListReviewsRequest{Network: network, Source: "s", Collection: "YQ=="})
	if !errors.Is(err, vitrine.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

func TestMeansAreExact(t *testing.T) {
	for _, test := range []struct {
		ratings []any
		mean    float64
	}{
		{[]any{1}, 1}, {[]any{1, 2}, 1.5}, {[]any{1, 1, 2}, 1.33}, {[]any{1, 2, 2}, 1.67},
		{slices.Repeat([]any{100}, 7), 100},
		// 1.005 is rounded up
		{append(slices.Repeat([]any{1}, 199), 2), 1.01}, {append(slices.Repeat([]any{1}, 200), 2), 1},
	} {
		store := memory.New()
		var list []string
		for i, r := range test.ratings {
			list = append(list, review(fmt.Sprint(i), r, ""))
		}
		importInto(t, store, collection("YQ", single, list...), nil)
		if got := collectionNamed(t, store, "YQ").Dimensions[0].Mean; got != test.mean {
			t.Errorf("%d ratings: %v, want %v", len(test.ratings), got, test.mean)
		}
	}
}

// However files are imported and reviews erased, the counts are those of what is exported.
func TestCountsAreThoseOfTheStoredReviews(t *testing.T) {
	store := memory.New()
	service := reviews.New(store, nil)
	r := rand.New(rand.NewPCG(11, 0))
	for round := range 60 {
		var list []string
		for i := range 10 {
			if r.IntN(2) == 0 {
				list = append(list, review(string(rune('a'+i)), 1+r.IntN(100), ""))
			}
		}
		id := []string{"YQ", "YWI"}[r.IntN(2)]
		importInto(t, store, collection(id, single, list...), nil)
		if round%3 == 0 {
			in := reviews.DeleteRequest{Network: network, Collection: id, Review: string(rune('a' + r.IntN(10)))}
			if _, err := service.As(operator).Delete(ctx, in); err != nil && !errors.Is(err, vitrine.ErrNotFound) {
				t.Fatal(err)
			}
		}
		checkExported(t, service, export(t, store))
	}
}

// checkExported compares the counts of each collection with an export.
func checkExported(t *testing.T, service *reviews.Service, exported string) {
	t.Helper()
	for line := range strings.Lines(exported) {
		var want struct {
			ID, Source string
			Reviews    []struct{ Ratings []int64 }
		}
		if err := json.Unmarshal([]byte(line), &want); err != nil {
			t.Fatal(err)
		}
		c, err := service.As(operator).Show(ctx,
			reviews.ListReviewsRequest{Network: network, Source: want.Source, Collection: want.ID})
		if err != nil || c.Count != int64(len(want.Reviews)) {
			t.Fatalf("%+v, want %d reviews: %v", c, len(want.Reviews), err)
		}
		for i, d := range c.Dimensions {
			var histogram [10]int64
			sum := int64(0)
			for _, r := range want.Reviews {
				histogram[(r.Ratings[i]-1)/10]++
				sum += r.Ratings[i]
			}
			mean := "0.00"
			if c.Count > 0 {
				mean = big.NewRat(sum, c.Count).FloatString(2) // half away from zero
			}
			if got := fmt.Sprintf("%.2f", d.Mean); d.Histogram != histogram || got != mean {
				t.Fatalf("%+v, want %v and %s", d, histogram, mean)
			}
		}
	}
}

func TestCollectionsComeBySourceAndID(t *testing.T) {
	store := memory.New()
	var want []string
	for i := range 25 {
		source, id := fmt.Sprint("s", (i*7)%5), base64.StdEncoding.EncodeToString([]byte{byte(i * 37)})
		want = append(want, source+" "+id)
		importInto(t, store, strings.Replace(collection(id, single), `"s"`, `"`+source+`"`, 1), nil)
	}
	slices.Sort(want)
	service := reviews.New(store, nil)
	for _, limit := range []int{0, 1, 2, 24, 25, 26} {
		for _, source := range []string{"", "s0", "s3", "s", "s9"} {
			var got, of []string
			for c, err := range service.As(operator).AllCollections(ctx,
				reviews.ListCollectionsRequest{Network: network, Source: source, Limit: limit}) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, c.Source+" "+c.ID)
			}
			for _, w := range want {
				if source == "" || strings.HasPrefix(w, source+" ") {
					of = append(of, w)
				}
			}
			if !slices.Equal(got, of) {
				t.Errorf("source %q, limit %d: %q, want %q", source, limit, got, of)
			}
		}
	}
}

// Times are compared as moments, whatever zone and precision they are written with.
func TestReviewsComeLatestFirst(t *testing.T) {
	store := memory.New()
	times := []string{"2019-01-01T00:00:00Z", "2019-01-01T00:00:00", "2019-01-01T01:00:00+01:00",
		"2018-12-31T23:00:00-01:00", "2019-01-01T00:00:00.000001Z",
		"2019-01-01T00:00:00.0000019", "2019-01-01T00:00:00.5Z", "2019-01-01T00:00:00.25+00:00",
		"0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999999-23:59",
		"1969-12-31T23:59:59.999999Z", "1970-01-01T00:00:00Z", "2019-01-01T00:00:00.123456789012-00:01"}
	var list []string
	type entry struct {
		at int64
		id string
	}
	var want []entry
	for i, text := range times {
		id := fmt.Sprint(i)
		list = append(list, strings.Replace(review(id, 5, ""), "2020-01-02T03:04:05", text, 1))
		zoned := text
		if !strings.HasSuffix(text, "Z") && !strings.ContainsAny(text[11:], "+-") {
			zoned += "Z"
		}
		at, err := time.Parse(time.RFC3339Nano, zoned)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, entry{at.Unix()*1_000_000 + int64(at.Nanosecond()/1000), id})
	}
	slices.SortFunc(want, func(a, b entry) int { return cmp.Or(cmp.Compare(b.at, a.at), strings.Compare(a.id, b.id)) })
	importInto(t, store, collection("YQ", single, list...), nil)
	for _, limit := range []int{0, 1, 2, 3, 12, 13} {
		n := 0
		for r, err := range reviews.New(store, nil).As(operator).AllReviews(ctx,
			reviews.ListReviewsRequest{Network: network, Collection: "YQ", Limit: limit}) {
			if err != nil || r.ID != want[n].id || r.Created != times[toInt(t, r.ID)] {
				t.Fatalf("limit %d, review %d: %+v, %v, want %s", limit, n, r, err, want[n].id)
			}
			n++
		}
		if n != len(times) {
			t.Errorf("limit %d: %d reviews", limit, n)
		}
	}
}

func toInt(t *testing.T, text string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(text, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestACollectionOfSeveralSourcesNeedsItsSource(t *testing.T) {
	store := memory.New()
	importInto(t, store,
		collection("YQ", single, review("1", 5, ""))+strings.Replace(collection("YQ", single), `"s"`, `"other"`, 1)+
			collection("YWI", single), nil)
	service := reviews.New(store, nil)
	for _, test := range []struct {
		source, id string
		err        error
	}{{"", "YWI", nil}, {"s", "YWI", nil}, {"", "YQ", vitrine.ErrInvalid}, {"s", "YQ", nil}, {"other", "YQ", nil},
		{"", "absent", vitrine.ErrNotFound}, {"none", "YQ", vitrine.ErrNotFound}, {"", "", vitrine.ErrNotFound}} {
		_, listed := service.As(operator).ListReviews(ctx,
			reviews.ListReviewsRequest{Network: network, Source: test.source, Collection: test.id})
		_, read := service.As(operator).Show(ctx,
			reviews.ListReviewsRequest{Network: network, Source: test.source, Collection: test.id})
		for _, err := range []error{listed, read} {
			var e *vitrine.Error
			if !errors.Is(err, test.err) || test.err == vitrine.ErrInvalid &&
				(!errors.As(err, &e) || e.Parameter != "source") {
				t.Errorf("%+v: %v", test, err)
			}
		}
	}
}

func TestPagesRefuseOtherCursorsAndLimits(t *testing.T) {
	store := memory.New()
	importInto(t, store,
		collection("YQ", single, review("1", 5, ""), review("2", 5, ""))+
			collection("YWI", single, review("1", 5, ""), review("2", 5, "")), nil)
	service := reviews.New(store, nil)
	collections, err := service.As(operator).ListCollections(ctx,
		reviews.ListCollectionsRequest{Network: network, Limit: 1})
	if err != nil || collections.Next == "" {
		t.Fatal(collections, err)
	}
	list, err := service.As(operator).ListReviews(ctx,
		reviews.ListReviewsRequest{Network: network, Collection: "YQ", Limit: 1})
	if err != nil || list.Next == "" {
		t.Fatal(list, err)
	}
	for _, limit := range []int{-1, 501, 0, 1, 500} {
		_, one := service.As(operator).ListCollections(ctx,
			reviews.ListCollectionsRequest{Network: network, Limit: limit})
		_, two := service.As(operator).ListReviews(ctx,
			reviews.ListReviewsRequest{Network: network, Collection: "YQ", Limit: limit})
		if bad := limit < 0 || limit > 500; errors.Is(one, vitrine.ErrInvalid) != bad ||
			errors.Is(two, vitrine.ErrInvalid) != bad {
			t.Errorf("limit %d: %v, %v", limit, one, two)
		}
	}
	for _, cursor := range []string{"x", "AAAA", list.Next, collections.Next + "A", collections.Next[1:],
		collections.Next + "\n"} {
		if _, err := service.As(operator).ListCollections(ctx,
			reviews.ListCollectionsRequest{Network: network, After: cursor}); !errors.Is(err, vitrine.ErrInvalid) {
			t.Errorf("collections after %q: %v", cursor, err)
		}
	}
	for id, cursors := range map[string][]string{"YQ": {"x", collections.Next, list.Next[1:]}, "YWI": {list.Next}} {
		for _, cursor := range cursors {
			if _, err := service.As(operator).ListReviews(ctx,
				reviews.ListReviewsRequest{Network: network, Collection: id, After: cursor}); !errors.Is(err,
				vitrine.ErrInvalid) {
				t.Errorf("reviews of %s after %q: %v", id, cursor, err)
			}
		}
	}
	if _, err := service.As(operator).ListCollections(ctx,
		reviews.ListCollectionsRequest{Network: network, Source: "other", After: collections.Next}); !errors.Is(err,
		vitrine.ErrInvalid) {
		t.Errorf("a cursor of another source: %v", err)
	}
}

// A page of large reviews ends early and says how it goes on.
func TestPagesAreBoundedInBytes(t *testing.T) {
	store := memory.New()
	text := strings.Repeat("x", 700)
	var list []string
	for i := range 4 {
		list = append(list, strings.Replace(review(fmt.Sprint(i), 5, ""), `"title":"t"`, `"title":"`+text+`"`, 1))
	}
	importInto(t, store, collection("YQ", single, list...), nil)
	service := reviews.New(store, &reviews.Options{Limits: reviews.Limits{PageBytes: 2000}})
	for after, page := "", 1; page <= 2; page++ {
		list, err := service.As(operator).ListReviews(ctx,
			reviews.ListReviewsRequest{Network: network, Collection: "YQ", After: after})
		text, _ := json.Marshal(list.Items)
		if after = list.Next; err != nil || len(list.Items) != 2 || len(text) > 2000 || (after == "") != (page == 2) {
			t.Fatalf("page %d: %d reviews of %d bytes, next %q, %v", page, len(list.Items), len(text), list.Next, err)
		}
	}
}

func TestReadingShowsNoEmail(t *testing.T) {
	store := memory.New()
	importInto(t, store, collection("YQ", single, review("1", 5, `,"imported_email":"ann@example.test"`)), nil)
	page, err := reviews.New(store, nil).As(operator).ListReviews(ctx,
		reviews.ListReviewsRequest{Network: network, Collection: "YQ"})
	text, _ := json.Marshal(page)
	if err != nil || len(page.Items) != 1 || strings.Contains(string(text), "ann@") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestDamagedCountsAreAnError(t *testing.T) {
	for _, bad := range []string{`[{"5":2}]`, `[{"5":0}]`, `[{"0":1}]`, `[{"x":1}]`, `[null]   `, `[]       `,
		`         `} {
		store := memory.New()
		importInto(t, store, collection("YQ", single, review("1", 5, "")), nil)
		if err := reviews.EditTally(store, network, reviews.Key{Source: "s", ID: "YQ"}, `[{"5":1}]`, bad); err != nil {
			t.Fatal(err)
		}
		if _, err := reviews.New(store, nil).As(operator).Show(ctx,
			reviews.ListReviewsRequest{Network: network, Collection: "YQ"}); err == nil {
			t.Errorf("%s is taken for counts", bad)
		}
	}
}

func TestPagesHaveNoMoreThanTheLimits(t *testing.T) {
	store := memory.New()
	importInto(t, store,
		collection("YQ", single, review("1", 5, ""), review("2", 5, ""), review("3", 5, ""))+collection("Yg", single)+
			collection("Yw", single), nil)
	for _, test := range []struct {
		limits reviews.Limits
		asked  int
		items  int
		fault  string
	}{
		{reviews.Limits{}, 0, 3, ""},
		{reviews.Limits{Page: 2}, 0, 2, ""},
		{reviews.Limits{Page: 2}, 2, 2, ""},
		{reviews.Limits{Page: 2}, 3, 0, "limit: want 1 to 2"},
		{reviews.Limits{PageBytes: 1}, 0, 1, ""},
	} {
		service := reviews.New(store, &reviews.Options{Limits: test.limits})
		collections, one := service.As(operator).ListCollections(ctx,
			reviews.ListCollectionsRequest{Network: network, Limit: test.asked})
		list, two := service.As(operator).ListReviews(ctx,
			reviews.ListReviewsRequest{Network: network, Collection: "YQ", Limit: test.asked})
		for name, page := range map[string]struct {
			items int
			err   error
		}{"collections": {len(collections.Items), one}, "reviews": {len(list.Items), two}} {
			fault := ""
			if page.err != nil {
				fault = page.err.Error()
			}
			if page.items != test.items || fault != test.fault {
				t.Errorf("limits %+v, limit %d: a page of %d %s and the error %q, want %d and %q", test.limits,
					test.asked, page.items, name, fault, test.items, test.fault)
			}
		}
	}
}
