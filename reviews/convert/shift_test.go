package convert_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews/convert"
)

// What JSON has twice is not chosen from.
func TestAMemberThatIsThereTwice(t *testing.T) {
	const one = `{"product":"kettle","author":"Ann","rating":4,"rating":%,"date":"2023-09-01"}`
	for second, rejected := range map[string]bool{"5": true, "4": false} {
		file := strings.Replace(one, "%", second, 1)
		_, result, _ := converted(t, convert.Request{Source: "s"}, file)
		if result.RejectedTotal == 1 != rejected || rejected &&
			result.Rejected[0].Reason != `the row has "/rating" twice: take one out` {
			t.Errorf("%s: %+v", file, result)
		}
	}
}

// A separator that is not in quotes moves the cells behind it, and an empty cell at the end hides that: such a row is
// rejected. Rows that only have more or fewer empty cells at the end are not.
func TestASeparatorThatIsNotInQuotes(t *testing.T) {
	const header = "product,author,reply,replied_at,link,rating,date,spare,"
	row := func(reply string) string {
		return "kettle,Ann," + reply + ",2023-10-01,https://a.example/1,4,2023-09-01,,"
	}
	many := strings.Repeat(row("Thanks!")+"\n", 20)
	for name, c := range map[string]struct {
		file string
		at   string // the cell of the reason; "" = the row is converted
	}{
		"in a text":          {header + "\n" + many + row("Thanks, Ann!"), "cell 3"},
		"in an earlier cell": {header + "\n" + many + "a," + row(`""`), "cell 3"},
		"with empty cells everywhere": {header + "\n" + strings.ReplaceAll(many, "\n", ",,\n") + row("Hi, Ann") + ",,",
			"cell 3"},
		"in quotes":     {header + "\n" + many + row(`"Thanks, Ann!"`), ""},
		"one cell more": {header + "\n" + many + row("Thanks!") + ",", ""},
		"one less":      {header + "\n" + strings.ReplaceAll(many, "\n", ",\n") + row("Thanks!"), ""},
		"one more, and a wrong date": {header + "\n" + many + strings.Replace(row("Hi"), "2023-10-01", "later", 1) +
			",", ""},
	} {
		var out, rejects bytes.Buffer
		result, err := convert.Convert(t.Context(), convert.Request{
			File: strings.NewReader(c.file + "\n"), To: &out, Rejects: &rejects, Source: "s", Scale: 5})
		if err != nil || result.Converted+result.RejectedTotal != 21 || (result.RejectedTotal == 1) != (c.at != "") {
			t.Errorf("%s: %+v, %v", name, result, err)
			continue
		}
		if c.at != "" && (!strings.Contains(result.Rejected[0].Reason, c.at+", or one before it, goes on") ||
			!strings.Contains(rejects.String(), c.file[strings.LastIndexByte(c.file, '\n')+1:])) {
			t.Errorf("%s: %+v\n%s", name, result.Rejected, rejects.String())
		}
	}
}
