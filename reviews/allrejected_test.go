package reviews_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
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
	if len(file) > 1<<20 { // a small window takes long to pass over it
		return []int{1 << 20}
	}
	return []int{200, 1 << 20}
}

// dryAndReal has a file imported dry and then really, which must give one report.
func dryAndReal(t *testing.T, store storage.Store, file string, o reviews.ReadOptions) reviews.Report {
	t.Helper()
	before := export(t, store)
	dry := importInto(t, store, file, &reviews.ImportRequest{ReadOptions: o, DryRun: true})
	if export(t, store) != before {
		t.Error("a dry run stores")
	}
	real := importInto(t, store, file, &reviews.ImportRequest{ReadOptions: o})
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
	return map[string]string{
		"one review":                   collection("YQ", single, bad),
		"reviews before dimensions":    reviewsFirst(collection("YQ", single, bad, bad)),
		"no dimensions":                collection("YQ", "", bad),
		"a reply to a rejected review": collection("YQ", single, bad, review("2", 5, `,"parent_id":"1"`)),
		"no objects":                   collection("YQ", single, "7", "{}"),
		"many reviews":                 collection("YQ", single, many...),
		"large reviews":                collection("YQ", single, refusedLarge("1"), bad, refusedLarge("2")),
		"large reviews before dimensions": reviewsFirst(collection("YQ", single, refusedLarge("1"), refusedLarge("2"),
			bad)),
		"a large collection": strings.Replace(collection("YQ", single, bad), `"source":"s"`,
			`"source":"`+large+`"`, 1),
		"a large title and a large review": titled(collection("YQ", single, refusedLarge("1")), large),
		"a large review that is a reply": collection("YQ", single, bad,
			review("2", 5, `,"parent_id":"1","subparts":{"s":"`+large+`"}`)),
		"a large review that is repeated": collection("YQ", single, refusedLarge("1"), largeReview("1")),
	}
}

func TestACollectionWhoseReviewsWereAllRejectedIsNotMade(t *testing.T) {
	for name, file := range allRejected() {
		for _, buffer := range buffersFor(file) {
			t.Run(fmt.Sprint(name, ", buffer ", buffer), func(t *testing.T) {
				o := *reviews.WithBuffer(reviews.ReadOptions{}, buffer)
				store := memory.New()
				r := dryAndReal(t, store, file, o)
				if r.Collections != 1 || r.ReviewsRejected != r.Reviews || r.Reviews == 0 || r.ReviewsCreated != 0 {
					t.Fatalf("%v", counts(r))
				}
				if out := export(t, store); out != "" {
					t.Errorf("exported: %.200s", out)
				}
				for c, err := range reviews.New(store, nil).As(operator).AllCollections(ctx,
					reviews.ListCollectionsRequest{Network: network}) {
					t.Errorf("listed: %.200v, %v", c, err)
				}
				_, err := reviews.New(store, nil).As(operator).Show(ctx,
					reviews.ListReviewsRequest{Network: network, Collection: "YQ"})
				if !errors.Is(err, vitrine.ErrNotFound) {
					t.Errorf("%v, want ErrNotFound", err)
				}
				if names, err := reviews.New(store, nil).Networks(ctx); len(names) > 0 || err != nil {
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
				collection("YQ", single, review("1", 5, "")),
			} {
				o := *reviews.WithBuffer(reviews.ReadOptions{}, buffer)
				store := memory.New()
				importInto(t, store, titled(stored, "OLD"), nil)
				before := export(t, store)
				if r := dryAndReal(t, store, file, o); r.ReviewsRejected != r.Reviews {
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
		"in the middle": {refusedLarge("1"), good, refusedLarge("2")},
		"large":         {bad, refusedLarge("1"), largeReview("9"), refusedLarge("2")},
	} {
		file := titled(collection("YQ", single, list...), "NEW")
		for _, buffer := range buffersFor(file) {
			for _, order := range []func(string) string{reviewsFirst, strings.Clone} {
				o := *reviews.WithBuffer(reviews.ReadOptions{}, buffer)
				for _, stored := range []string{"", titled(collection("YQ", single), "OLD")} {
					store := memory.New()
					importInto(t, store, stored, nil)
					r := dryAndReal(t, store, order(file), o)
					c, err := reviews.New(store, nil).As(operator).Show(ctx,
						reviews.ListReviewsRequest{Network: network, Source: "s", Collection: "YQ"})
					if err != nil || c.Title != "NEW" || c.Count != 1 || r.ReviewsCreated != 1 ||
						r.ReviewsRejected != r.Reviews-1 {
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
		o := *reviews.WithBuffer(reviews.ReadOptions{}, buffer)
		for _, line := range []string{collection("YQ", single), collection("YQ", ""),
			reviewsFirst(collection("YQ", single)), reviewsFirst(collection("YQ", ""))} {
			store := memory.New()
			for _, title := range []string{"OLD", "NEW"} {
				// what comes behind is another line
				file := titled(line, title) + collection("YWI", single, review("1", 0, ""))
				dryAndReal(t, store, file, o)
				sameRecords(t, export(t, store), titled(line, title))
			}
		}
		long := titled(collection("YQ", single), large)
		store := memory.New()
		dryAndReal(t, store, long, o)
		sameRecords(t, export(t, store), long)
	}
}
