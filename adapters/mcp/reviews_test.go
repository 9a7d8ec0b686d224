package mcp_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
)

// stored imports collections of reviews, as the person. The review i of a collection has the rating i%5+1 in stars, and
// is of the day i of 2026.
func (w *world) stored(text string, counts ...int) {
	w.t.Helper()
	var file strings.Builder
	for x, count := range counts {
		list := []object{}
		for i := range count {
			list = append(list, object{"id": fmt.Sprint(i), "title": fmt.Sprint("No. ", i), "body_html": text,
				"created": fmt.Sprintf("2026-%02d-%02dT12:00:00Z", i/28%12+1, i%28+1), "ratings": []int{(i%5 + 1) * 20},
				"author_id": "7"})
		}
		line, _ := json.Marshal(object{"source": "shop", "id": base64.StdEncoding.EncodeToString(
			fmt.Appendf(nil, "%03d", x)), "title": fmt.Sprint("Lamp ", x), "created": "2026-01-01T00:00:00Z",
			"dimensions": []string{"default"}, "reviews": list})
		file.Write(append(line, '\n'))
	}
	report, err := w.reviews.As(callers["lea"]).Import(context.Background(),
		reviews.ImportRequest{Network: library, File: strings.NewReader(file.String())})
	if err != nil || report.Errors > 0 {
		w.t.Fatal(err, report)
	}
}

// all returns the ids of all reviews that are found, and asserts how many were looked at.
func (w *world) all(read int, in object) (ids []string) {
	w.t.Helper()
	for {
		page := w.want("find_reviews", in)
		for _, r := range page["reviews"].([]any) {
			ids = append(ids, text(r, "article")+" "+text(r, "id"))
		}
		read -= int(page["read"].(float64))
		if in["cursor"] = page["cursor"]; in["cursor"] == nil {
			break
		}
	}
	if read != 0 {
		w.t.Errorf("%v: %d reviews more were to be looked at", in, read)
	}
	return ids
}

// An assistant finds reviews of all collections by rating, time and words, each once, whatever pages they are on.
func TestFindReviews(t *testing.T) {
	w := newWorld(t)
	w.stored("<p>"+strings.Repeat(`"Bright" `, 200)+"</p>", 300, 0, 7, 1)
	found := w.want("find_collections", object{"source": "shop"})
	if text(found, "collections", 0, "count") != "300" || text(found, "collections", 2, "means", "default") != "51.43" {
		t.Errorf("%v", found)
	}
	if ids := w.all(308, object{}); len(ids) != 308 || ids[0] != "Lamp 0 299" || ids[307] != "Lamp 3 0" {
		t.Errorf("%d reviews, %v", len(ids), ids[:1])
	}
	low := w.all(308, object{"below": 60})
	if len(low) != 120+4+1 {
		t.Errorf("%d reviews with one and two stars", len(low))
	}
	id := text(found, "collections", 2, "id")
	if is := fmt.Sprint(w.all(7, object{"collection": id, "above": 60})); is != "[Lamp 2 4 Lamp 2 3]" {
		t.Error(is)
	}
	is := fmt.Sprint(w.all(7, object{"collection": id, "since": "2026-01-03", "until": "2026-01-05T00:00:00Z"}))
	if is != "[Lamp 2 3 Lamp 2 2]" {
		t.Error(is)
	}
	if is := fmt.Sprint(w.all(7, object{"collection": id, "q": "NO. 5"})); is != "[Lamp 2 5]" {
		t.Error(is)
	}
	one := w.want("find_reviews", object{"collection": id})
	if text(one, "reviews", 0, "mean") != "40" || text(one, "reviews", 0, "author") != "7" ||
		len(text(one, "reviews", 0, "html")) != 1000 {
		t.Errorf("%v", one)
	}
	w.refused("not_found", "/collection", "find_reviews", object{"collection": "none"})
	w.refused("invalid", "/cursor", "find_reviews", object{"cursor": "none"})
	w.refused("invalid", "/until", "find_reviews", object{"until": "tomorrow"})
}

// A call looks at some 2,000 reviews, and begins no collection that has no review late enough to read all of it.
func TestACallLooksAtSomeReviews(t *testing.T) {
	w := newWorld(t)
	w.stored("", 336, 336, 336, 336, 336, 336, 336, 336)
	page := w.want("find_reviews", object{"q": "nowhere"})
	if read := page["read"].(float64); read < 2000 || read > 2336 || page["cursor"] == nil {
		t.Errorf("%v", page)
	}
	if ids := w.all(8*336, object{"q": "nowhere"}); len(ids) != 0 {
		t.Errorf("%v", ids)
	}
	if ids := w.all(8*10, object{"since": "2027-01-01"}); len(ids) != 0 {
		t.Errorf("%v", ids)
	}
}
