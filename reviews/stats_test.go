package reviews_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestStats(t *testing.T) {
	store := memory.NewReviews()
	service := reviews.New(store)
	two := `,"dimensions":["quality","price"]`
	importInto(t, store, collection("YQ", two, review("1", "1,100", ""), review("2", "3,100", ""), review("3", "3,50", ""), review("4", "0,1", ""))+collection("YWI", ""), nil)
	stats, err := service.Stats(ctx, reviews.Key{Source: "s", ID: "YQ"})
	if err != nil {
		t.Fatal(err)
	}
	q, p := stats.Dimensions[0], stats.Dimensions[1]
	if stats.Title != "t" || stats.Reviews != 3 || len(stats.Dimensions) != 2 || q.Name != "quality" || p.Name != "price" {
		t.Errorf("%+v", stats)
	}
	if q.Average != 7.0/3 || q.Histogram[0] != 1 || q.Histogram[2] != 2 || p.Average != 250.0/3 || p.Histogram[99] != 2 || p.Histogram[49] != 1 {
		t.Errorf("%+v", stats)
	}
	// An update moves a rating.
	importInto(t, store, collection("YQ", two, review("1", "5,100", "")), nil)
	stats, _ = service.Stats(ctx, reviews.Key{Source: "s", ID: "YQ"})
	if q := stats.Dimensions[0]; stats.Reviews != 3 || q.Histogram[0] != 0 || q.Histogram[4] != 1 || q.Average != 11.0/3 {
		t.Errorf("%+v", stats)
	}
	empty, err := service.Stats(ctx, reviews.Key{Source: "s", ID: "YWI"})
	if err != nil || empty.Reviews != 0 || len(empty.Dimensions) != 1 || empty.Dimensions[0].Name != "default" || empty.Dimensions[0].Average != 0 {
		t.Errorf("%+v, %v", empty, err)
	}
	if _, err := service.Stats(ctx, reviews.Key{Source: "s", ID: "YQ=="}); !errors.Is(err, reviews.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// However files are imported, the counts are those of what is exported.
func TestStatsAreThoseOfTheStoredReviews(t *testing.T) {
	store := memory.NewReviews()
	r := rand.New(rand.NewPCG(11, 0))
	for range 30 {
		var list []string
		for i := range 10 {
			if r.IntN(2) == 0 {
				list = append(list, review(string(rune('a'+i)), 1+r.IntN(3), ""))
			}
		}
		importInto(t, store, collection([]string{"YQ", "YWI"}[r.IntN(2)], single, list...), nil)
	}
	for stats, err := range reviews.New(store).AllStats(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		line := ""
		for l := range strings.SplitSeq(export(t, store), "\n") {
			if strings.Contains(l, `"id":"`+stats.ID+`"`) {
				line = l
			}
		}
		if n := int64(strings.Count(line, `"ratings"`)); stats.Reviews != n || n == 0 {
			t.Errorf("%s: %d reviews, want %d", stats.ID, stats.Reviews, n)
		}
		for i, n := range stats.Dimensions[0].Histogram[:4] {
			if want := int64(strings.Count(line, `"ratings":[`+string(rune('1'+i))+`]`)); n != want {
				t.Errorf("%s: %d times %d, want %d", stats.ID, n, i+1, want)
			}
		}
	}
}

func TestAllStatsCanBeLeft(t *testing.T) {
	store := memory.NewReviews()
	importInto(t, store, collection("YQ", single)+collection("YWI", single)+collection("YWJj", single), nil)
	var ids []string
	for stats := range reviews.New(store).AllStats(ctx) {
		if ids = append(ids, stats.ID); len(ids) == 2 {
			break
		}
	}
	if strings.Join(ids, " ") != "YQ YWI" {
		t.Errorf("%v", ids)
	}
}

func TestDamagedCountsAreAnError(t *testing.T) {
	store := memory.NewReviews()
	importInto(t, store, collection("YQ", single, review("1", 5, "")), nil)
	key := reviews.Key{Source: "s", ID: "YQ"}
	var good reviews.Collection
	store.View(ctx, func(r reviews.Reader) (err error) { good, err = r.Collection(ctx, key); return err })
	for n := range len(good.Tally) + 1 {
		bad := good
		bad.Tally = append(append([]byte{}, good.Tally[:n]...), 0xff)
		store.Update(ctx, func(tx reviews.Tx) error { return tx.PutCollection(ctx, bad) })
		if _, err := reviews.New(store).Stats(ctx, key); err == nil {
			t.Errorf("%x is taken for counts", bad.Tally)
		}
	}
}
