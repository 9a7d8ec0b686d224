package reviews_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// refusedLarge is a review of more than a MiB that is rejected.
func refusedLarge(id string) string { return strings.Replace(largeReview(id), "[5]", "[0]", 1) }

// reviewsFirst moves the reviews of a line before its other members.
func reviewsFirst(line string) string {
	head, list, _ := strings.Cut(strings.TrimSuffix(line, "}\n"), `,"reviews":`)
	return `{"reviews":` + list + "," + head[1:] + "}\n"
}

// titled gives a line another title.
func titled(line, title string) string {
	return strings.Replace(line, `"source":"s","title":"t"`, `"source":"s","title":"`+title+`"`, 1)
}

// buffersFor are sizes of buffer to read a file with: with some its lines are long, with others not.
func buffersFor(file string) []int {
	switch {
	case !proof.Short():
		return []int{200, 1 << 20, 4 << 20}
	case len(file) > 1<<20: // a small window takes long to pass over it
		return []int{1 << 20}
	}
	return []int{200, 1 << 20}
}

// dryAndReal has a file imported dry and then really, which must give one report.
func dryAndReal(t *testing.T, store reviews.Store, file string, o reviews.Options) reviews.Report {
	t.Helper()
	before := export(t, store)
	dry := importInto(t, store, file, &reviews.ImportRequest{Options: o, DryRun: true})
	if export(t, store) != before {
		t.Error("a dry run stores")
	}
	real := importInto(t, store, file, &reviews.ImportRequest{Options: o})
	if dry.DryRun = false; !reflect.DeepEqual(dry, real) {
		t.Errorf("a dry run says %.500v\n   an import %.500v", dry, real)
	}
	return real
}

// allRejected are lines of the collection YQ of which every review is rejected, by what is special about them.
func allRejected() map[string]string {
	bad := review("1", 0, "")
	many := make([]string, 5000)
	for i := range many {
		many[i] = review(fmt.Sprint(i), 0, "")
	}
	files := map[string]string{
		"one review":                       collection("YQ", single, bad),
		"reviews before dimensions":        reviewsFirst(collection("YQ", single, bad, bad)),
		"no dimensions":                    collection("YQ", "", bad),
		"a reply to a rejected review":     collection("YQ", single, bad, review("2", 5, `,"parent_id":"1"`)),
		"no objects":                       collection("YQ", single, "7", "{}"),
		"many reviews":                     collection("YQ", single, many...),
		"large reviews":                    collection("YQ", single, refusedLarge("1"), bad, refusedLarge("2")),
		"large reviews before dimensions":  reviewsFirst(collection("YQ", single, refusedLarge("1"), refusedLarge("2"), bad)),
		"a large collection":               strings.Replace(collection("YQ", single, bad), `"source":"s"`, `"source":"`+large+`"`, 1),
		"a large title and a large review": titled(collection("YQ", single, refusedLarge("1")), large),
		"a large review that is a reply":   collection("YQ", single, bad, review("2", 5, `,"parent_id":"1","subparts":{"s":"`+large+`"}`)),
		"a large review that is repeated":  collection("YQ", single, refusedLarge("1"), largeReview("1")),
	}
	if !proof.Short() {
		files["a review of more than 16 MiB"] = collection("YQ", single, review("1", 5, `,"subparts":{"s":"`+strings.Repeat("x", reviews.MaxStored)+`"}`))
	}
	return files
}

func TestACollectionWhoseReviewsWereAllRejectedIsNotMade(t *testing.T) {
	for name, file := range allRejected() {
		for _, buffer := range buffersFor(file) {
			t.Run(fmt.Sprint(name, ", buffer ", buffer), func(t *testing.T) {
				o := *reviews.WithBuffer(reviews.Options{}, buffer)
				store := memory.New().Reviews()
				r := dryAndReal(t, store, file, o)
				if r.Collections != 1 || r.Rejected != r.Reviews || r.Reviews == 0 || r.Created != 0 {
					t.Fatalf("%v", counts(r))
				}
				if out := export(t, store); out != "" {
					t.Errorf("exported: %.200s", out)
				}
				for c, err := range reviews.New(store, nil).AllCollections(ctx, operator, reviews.ListCollectionsRequest{Network: network}) {
					t.Errorf("listed: %.200v, %v", c, err)
				}
				_, err := reviews.New(store, nil).Collection(ctx, operator, reviews.CollectionRequest{Network: network, ID: "YQ"})
				if !errors.Is(err, reviews.ErrNotFound) {
					t.Errorf("%v, want ErrNotFound", err)
				}
				if names, err := reviews.New(store, nil).Networks(ctx, operator); len(names) > 0 || err != nil {
					t.Errorf("networks %q, %v", names, err)
				}
			})
		}
	}
}

func TestAStoredCollectionStaysWhenAllReviewsWereRejected(t *testing.T) {
	for name, file := range allRejected() {
		if strings.Contains(name, "large collection") {
			continue // of another source
		}
		for _, buffer := range buffersFor(file) {
			for _, stored := range []string{
				collection("YQ", single),
				collection("YQ", `,"dimensions":["a","b"]`),
				collection("YQ", single, review("9", 5, "")),
				collection("YQ", single, review("1", 5, "")),
			} {
				o := *reviews.WithBuffer(reviews.Options{}, buffer)
				store := memory.New().Reviews()
				importInto(t, store, titled(stored, "OLD"), nil)
				before := export(t, store)
				if r := dryAndReal(t, store, file, o); r.Rejected != r.Reviews {
					t.Errorf("%s: %v", name, counts(r))
				}
				if out := export(t, store); out != before {
					t.Errorf("%s, buffer %d: %.200s\nwas %s", name, buffer, out, before)
				}
			}
		}
	}
}

// One accepted review makes the collection, in whatever part of a long line it stands.
func TestOneAcceptedReviewMakesItsCollection(t *testing.T) {
	good, bad := review("9", 5, ""), review("0", 0, "")
	for name, list := range map[string][]string{
		"small, first":  {good, bad},
		"small, last":   {bad, good},
		"first":         {good, refusedLarge("1"), refusedLarge("2")},
		"in the middle": {refusedLarge("1"), good, refusedLarge("2")},
		"last":          {refusedLarge("1"), refusedLarge("2"), good},
		"large":         {bad, refusedLarge("1"), largeReview("9"), refusedLarge("2")},
	} {
		file := titled(collection("YQ", single, list...), "NEW")
		for _, buffer := range buffersFor(file) {
			for _, order := range []func(string) string{reviewsFirst, strings.Clone} {
				o := *reviews.WithBuffer(reviews.Options{}, buffer)
				for _, stored := range []string{"", titled(collection("YQ", single), "OLD")} {
					store := memory.New().Reviews()
					importInto(t, store, stored, nil)
					r := dryAndReal(t, store, order(file), o)
					c, err := reviews.New(store, nil).Collection(ctx, operator, reviews.CollectionRequest{Network: network, Source: "s", ID: "YQ"})
					if err != nil || c.Title != "NEW" || c.Count != 1 || r.Created != 1 || r.Rejected != r.Reviews-1 {
						t.Errorf("%s, buffer %d: %v, %+v, %v", name, buffer, counts(r), c, err)
					}
				}
			}
		}
	}
}

// A collection without reviews is made, and changed, in whatever order its members stand.
func TestACollectionWithoutReviewsIsMade(t *testing.T) {
	for _, buffer := range []int{32, 1 << 20} {
		o := *reviews.WithBuffer(reviews.Options{}, buffer)
		for _, line := range []string{collection("YQ", single), collection("YQ", ""), reviewsFirst(collection("YQ", single)), reviewsFirst(collection("YQ", ""))} {
			store := memory.New().Reviews()
			for _, title := range []string{"OLD", "NEW"} {
				file := titled(line, title) + collection("YWI", single, review("1", 0, "")) // what comes behind is another line
				dryAndReal(t, store, file, o)
				sameRecords(t, export(t, store), titled(line, title))
			}
		}
		long := titled(collection("YQ", single), large)
		store := memory.New().Reviews()
		dryAndReal(t, store, long, o)
		sameRecords(t, export(t, store), long)
	}
}

// Other dimensions than those of the stored reviews are an error though no review could be stored.
func TestStoredDimensionsAreToldWhenAllReviewsWereRejected(t *testing.T) {
	for _, buffer := range []int{200, 1 << 20} {
		store := memory.New().Reviews()
		importInto(t, store, collection("YQ", `,"dimensions":["a","b"]`, review("1", "1,2", "")), nil)
		before := export(t, store)
		r := dryAndReal(t, store, collection("YQ", single, review("1", 0, "")), *reviews.WithBuffer(reviews.Options{}, buffer))
		checkCounts(t, r, 1, 1, 1, 0, 0, 0, 1, 2, 0)
		if r.Problems[0].Rule != "stored-dimensions" || export(t, store) != before {
			t.Errorf("%+v", r.Problems)
		}
	}
}

// model is what a network should have after imports, by the oracle.
type model map[reviews.Key]modelled

type modelled struct {
	title   string
	reviews map[string]map[string]float64 // by id, and by dimension
}

// byDimension gives the ratings of a review the names of its collection.
func byDimension(names []string, ratings []float64) map[string]float64 {
	if len(names) == 0 {
		names = []string{"default"}
	}
	all := map[string]float64{}
	for i, name := range names {
		all[name] = ratings[i]
	}
	return all
}

// sameNames returns whether two reviews are rated in the same dimensions.
func sameNames(a, b map[string]float64) bool {
	return slices.Equal(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)))
}

var inReviews = regexp.MustCompile(`^/reviews/(\d+)(/|$)`)

// load does what an import does with a line. It reports whether all reviews of an accepted collection were rejected.
func (m model) load(line string, errorRules map[string]bool) (none bool) {
	rejected := map[int]bool{}
	for _, p := range judgeLine([]byte(line), 1, 0) {
		if !errorRules[p.Rule] {
			continue
		}
		at := inReviews.FindStringSubmatch(p.Pointer)
		if at == nil {
			return false
		}
		n, _ := strconv.Atoi(at[1])
		rejected[n] = true
	}
	var record struct {
		Source     string
		ID         string
		Title      string
		Dimensions []string
		Reviews    []struct {
			ID      string
			Ratings []float64
		}
	}
	if err := json.Unmarshal([]byte(line), &record); err != nil && len(rejected) == 0 {
		panic(err)
	}
	key := reviews.Key{Source: record.Source, ID: record.ID}
	names := byDimension(record.Dimensions, make([]float64, max(1, len(record.Dimensions))))
	now := m[key]
	for _, ratings := range now.reviews {
		if !sameNames(ratings, names) {
			return false
		}
	}
	if len(record.Reviews) > 0 && len(rejected) == len(record.Reviews) {
		return true
	}
	now.title, now.reviews = record.Title, maps.Clone(now.reviews)
	for i, r := range record.Reviews {
		if rejected[i] {
			continue
		}
		if now.reviews == nil {
			now.reviews = map[string]map[string]float64{}
		}
		now.reviews[r.ID] = byDimension(record.Dimensions, r.Ratings)
	}
	m[key] = now
	return false
}

func TestRandomImportsAgreeWithTheOracle(t *testing.T) {
	errorRules := map[string]bool{}
	for _, rule := range reviews.Rules() {
		errorRules[rule.ID] = rule.Severity == reviews.SeverityError
	}
	r := rand.New(rand.NewPCG(11, 11))
	rounds, none := 60, 0
	if proof.Short() {
		rounds = 15
	}
	for range rounds {
		store, want := memory.New().Reviews(), model{}
		for range 4 {
			var file strings.Builder
			for i := range 12 {
				line := randomCollection(r, fmt.Sprintf("1-%d", i))
				if r.IntN(3) == 0 {
					line = strings.ReplaceAll(line, `"ratings":[`, `"ratings":[0,`)
				}
				if r.IntN(8) == 0 {
					line = damage(r, line)
				}
				if r.IntN(2) == 0 {
					line = strings.NewReplacer(`["quality","price"]`, `["price","quality"]`, `["quality","price","caf\u00e9"]`, `["café","quality","price"]`).Replace(line)
				}
				line = strings.Replace(line, "About ", fmt.Sprintf("About %d, ", r.IntN(100)), 1)
				if want.load(line, errorRules) {
					none++
				}
				file.WriteString(line + "\n")
			}
			dryAndReal(t, store, file.String(), *reviews.WithBuffer(reviews.Options{}, []int{64 + r.IntN(2000), 1 << 20}[r.IntN(2)]))
			got := model{}
			for _, record := range decodeAll(t, export(t, store)) {
				c := record.(map[string]any)
				m := modelled{title: c["title"].(string)}
				var names []string
				if dims, ok := c["dimensions"].([]any); ok {
					for _, name := range dims {
						names = append(names, name.(string))
					}
				}
				for _, each := range c["reviews"].([]any) {
					review := each.(map[string]any)
					var ratings []float64
					for _, n := range review["ratings"].([]any) {
						rating, _ := n.(json.Number).Float64()
						ratings = append(ratings, rating)
					}
					if m.reviews == nil {
						m.reviews = map[string]map[string]float64{}
					}
					m.reviews[review["id"].(string)] = byDimension(names, ratings)
				}
				got[reviews.Key{Source: c["source"].(string), ID: c["id"].(string)}] = m
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s\n got %+v\nwant %+v", file.String(), got, want)
			}
		}
	}
	if none < rounds {
		t.Errorf("only %d collections had all of their reviews rejected", none)
	}
}
