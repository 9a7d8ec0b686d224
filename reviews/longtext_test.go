package reviews_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A text with escapes that is decoded in pieces is judged, and told from others, as a whole.
func TestLongTextsWithEscapesAgreeWithTheOracle(t *testing.T) {
	long := strings.Repeat(`long \u00e9 é \n`, 12_000)
	link := `<a href=\"http://example.test/?a&amp;b\">here<\/a>`
	bodies := map[string]string{
		"no fault":                   `<p>` + long + link + `<\/p>`,
		"a fault at the end":         `<p>` + long + link + `<b>`,
		"a fault at the beginning":   `<b>` + long,
		"links everywhere":           strings.Repeat(link, 3_500),
		"links and a wrong one":      strings.Repeat(link, 3_500) + `<a href=\"javascript:\">`,
		"a paragraph is never ended": long + `<p>`,
		"a long address":             `<a href=\"http://` + long,
		"U+0000 and half a pair":     long + `\u0000` + long + `\ud83d`,
	}
	same := strings.ReplaceAll(long, `\u00e9`, `é`)
	named := strings.NewReplacer("LONG", long, "SAME", same).Replace
	lines := map[string]string{
		"ids that end differently": named(collection("YQ", single, review("LONG1", 5, ""), review("LONG2", 5, ""))),
		"equal ids":                named(collection("YQ", single, review("LONG", 5, ""), review("SAME", 5, ""))),
		"a reply": named(collection("YQ", single, review("LONG", 5, ""),
			review("2", 5, `,"parent_id":"SAME"`))),
		"a reply to no review": named(collection("YQ", single, review("LONG", 5, ""),
			review("2", 5, `,"parent_id":"SAMEx"`))),
		"unknown members": strings.Replace(collection("YQ", single), `"title"`,
			`"`+long+`1":1,"`+long+`2":2,"`+long+`1":3,"title"`, 1),
		"subparts": collection("YQ", single,
			review("1", 5, `,"subparts":{"`+long+`1":"","`+long+`2":"","`+long+`2":""}`)),
		"dimensions":            collection("YQ", `,"dimensions":["`+long+`1","`+long+`2","`+long+`2"]`),
		"an id of a collection": named(collection("LONG", single)),
		"an author": collection("YQ", single,
			strings.Replace(review("1", 5, `,"author_id":"`+long+`"`), `"imported_display_name":"n",`, "", 1)),
		"an address": collection("YQ", single,
			review("1", 5, `,"imported_url":"http://`+strings.ReplaceAll(long, " ", "")+`"`)),
	}
	for name, body := range bodies {
		lines[name] = collection("YQ", single,
			strings.Replace(review("1", 5, ""), `"body_html":"`, `"body_html":"`+body, 1))
	}
	for name, line := range lines {
		t.Run(name, func(t *testing.T) {
			for _, o := range []*reviews.ReadOptions{nil, reviews.WithBuffer(reviews.ReadOptions{}, 4000)} {
				agree(t, []byte(strings.TrimSuffix(line, "\n")), o)
			}
		})
	}
}

func TestLongIDsAreStoredWhole(t *testing.T) {
	id := strings.Repeat(`long \u00e9 é \n`, 12_000)
	file := strings.NewReplacer(`"source":"s"`, `"source":"`+id+`"`, "LONG",
		id).Replace(collection("YQ", single, review("LONG", 5, "")))
	var want string
	if err := json.Unmarshal([]byte(`"`+id+`"`), &want); err != nil {
		t.Fatal(err)
	}
	for _, buffer := range []int{4000, 4 << 20} {
		t.Run(fmt.Sprint("buffer ", buffer), func(t *testing.T) {
			store := memory.New()
			importInto(t, store, file,
				&reviews.ImportRequest{ReadOptions: *reviews.WithBuffer(reviews.ReadOptions{}, buffer)})
			found := false
			err := reviews.EditReview(store, network, reviews.Key{Source: want, ID: "YQ"}, want,
				func(data string) string {
					found = true
					return data
				})
			if err != nil || !found {
				t.Error("the review is not stored under its id", err)
			}
		})
	}
}
