package reviews_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// jumbled is a line whose problems are found in another order than that of their offsets: what is
// missing at the end of its object, the reviews after the dimensions, the repeated collection and the
// stored dimensions last of all.
const jumbled = `{"reviews":[{"parent_id":"x","title":"\u0000","imported_email":1,"author_id":"a"},` +
	`{"id":"r","ratings":[0,5],"id":"r"},7],"dimensions":["a","a"],"id":"YQ","source":"s","extra":{"b":1,"b":2},` +
	`"created":""}`

// Wherever the line is cut into windows, and whether it is checked or imported, its problems come in
// the order of the file.
func TestProblemsOfALineComeByOffset(t *testing.T) {
	before := collection("YQ", single, review("1", 5, ""))
	file := before + jumbled + "\n"
	at := func(text string) int64 {
		if strings.Count(file, text) != 1 {
			t.Fatalf("%q is not once in the file", text)
		}
		return int64(strings.Index(file, text))
	}
	line, first, second := int64(len(before)), at(`{"parent_id"`), at(`{"id":"r","ratings"`)
	want := []string{
		place(line, "", "member-missing"), place(line, "", "collection-repeated"),
		place(first, "/reviews/0", "member-missing"), place(first, "/reviews/0", "member-missing"),
		place(first, "/reviews/0", "member-missing"), place(first, "/reviews/0", "member-missing"),
		place(first, "/reviews/0", "author-conflict"),
		place(at(`"x"`), "/reviews/0/parent_id", "parent"), place(at(`\u0000`), "/reviews/0/title", "text-nul"),
		place(at(`1,"author_id"`), "/reviews/0/imported_email", "value-type"),
		place(second, "/reviews/1", "member-missing"), place(second, "/reviews/1", "member-missing"),
		place(second, "/reviews/1", "member-missing"), place(second, "/reviews/1", "author-missing"),
		place(at(`0,5]`), "/reviews/1/ratings/0", "rating-range"),
		place(at(`"id":"r"}`), "/reviews/1/id", "member-repeated"),
		place(at(`7]`), "/reviews/2", "value-type"), place(at(`"a"],"id"`), "/dimensions/1", "dimension-repeated"),
		place(at(`"extra"`), "/extra", "member-unknown"), place(at(`"b":2`), "/extra/b", "member-repeated"),
		place(at(`""`), "/created", "timestamp"),
	}
	for _, buffer := range []int{32, 100, 1 << 20} {
		o := reviews.WithBuffer(reviews.ReadOptions{}, buffer)
		if got := places(check(t, []byte(file), o)); !slices.Equal(got, want) {
			t.Errorf("buffer %d:\n got %q\nwant %q", buffer, got, want)
		}
		var found []reviews.Problem
		importInto(t, memory.New(), file,
			&reviews.ImportRequest{ReadOptions: *o, Problem: func(p reviews.Problem) { found = append(found, p) }})
		if got := places(found); !slices.Equal(got, want) {
			t.Errorf("import, buffer %d:\n got %q\nwant %q", buffer, got, want)
		}
	}
}

func place(offset int64, pointer, rule string) string {
	return fmt.Sprintf("%d %s %s", offset, pointer, rule)
}

func places(list []reviews.Problem) (out []string) {
	for _, p := range list {
		out = append(out, place(p.Offset, p.Pointer, p.Rule))
	}
	return out
}

// What storing finds comes at its place too.
func TestStoredDimensionsComeByOffset(t *testing.T) {
	for _, buffer := range []int{150, 1 << 20} {
		store := memory.New()
		o := reviews.ImportRequest{ReadOptions: *reviews.WithBuffer(reviews.ReadOptions{}, buffer)}
		importInto(t, store, collection("YQ", `,"dimensions":["a","b"]`, review("1", "1,2", "")), &o)
		bad := collection("YQ", single, review("1", 5, ""), review("2", 0, ""))
		after := strings.Replace(collection("YQ", single, review("1", 5, ""), review("2", 0, "")), single, "", 1)
		after = strings.Replace(after, `}]}`, `}],"dimensions":["default"]}`, 1)
		rejected := collection("YQ", single, review("1", 0, ""), "7") // each of its reviews
		before := export(t, store)
		for _, file := range []string{bad, after, rejected} {
			var rules []string
			o.Problem = func(p reviews.Problem) { rules = append(rules, p.Rule) }
			r := importInto(t, store, file, &o)
			want := []string{"stored-dimensions", "rating-range"}
			switch file {
			case after:
				slices.Reverse(want)
			case rejected:
				want = append(want, "value-type")
			}
			if !slices.Equal(rules, want) || r.ReviewsRejected != 2 || export(t, store) != before {
				t.Errorf("buffer %d: %v, %d rejected, want %v", buffer, rules, r.ReviewsRejected, want)
			}
		}
	}
}

// A line with more problems than are put in order at once loses none of them, and each names its review.
func TestVeryManyProblemsOfALineAreAllReported(t *testing.T) {
	for _, n := range []int{999, 1000, 1001, 3000} {
		for _, buffer := range []int{64, 1 << 20} {
			list := make([]string, n)
			for i := range list {
				list[i] = review(fmt.Sprintf("r%04d", i), 0, "")
			}
			file := collection("YQ", single, list...)
			first := int64(strings.Index(file, "[0]") + 1)
			found := check(t, []byte(file), reviews.WithBuffer(reviews.ReadOptions{}, buffer))
			for i, p := range found {
				offset := first + int64(i*(len(list[0])+1))
				if p.Offset != offset || p.Column != offset+1 || p.Review != fmt.Sprintf("r%04d", i) ||
					p.Collection != "YQ" || p.Value != "0" {
					t.Fatalf("%d problems, buffer %d: problem %d is %+v, want it at %d", n, buffer, i, p, offset)
				}
			}
			if len(found) != n {
				t.Errorf("%d problems, buffer %d: %d came", n, buffer, len(found))
			}
		}
	}
}
