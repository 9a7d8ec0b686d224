package convert_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews/convert"
)

const threads = "id,parent,p,stars,when,who,text\n"

// A row without a rating that names another one is what the shop has answered, wherever it stands, and no review.
func TestAnswersInRowsOfTheirOwn(t *testing.T) {
	mapping := convert.Mapping{"collection_id": "p", "review_id": "id", "parent_id": "parent", "created": "when",
		"author_name": "who", "rating": "stars", "body": "text", "subpart:order": "id"}
	list, result, rejects := converted(t, convert.Request{Mapping: mapping}, threads+
		"2,1,lamp,,2019-04-04 10:00,Shop,\"Thank you,\nAnn\"\n"+
		"1,0,lamp,5,2019-04-03,Ann,Good\n"+
		"3,0,lamp,4,2019-04-05,Ben,\"Says \"\"reply\"\":\"\n"+
		"4,3,lamp,0,some day,,No name\n"+
		"5,1,lamp,,2019-04-06,Shop,Again\n"+ // a second answer
		"6,2,lamp,0.0,2019-04-07,Ann,You too\n"+ // answers an answer
		"7,9,lamp,,2019-04-07,Shop,To nobody\n"+
		"8,1,lamp,3,2019-04-08,Cy,A reply\n"+
		"9,1,lamp,,2019-04-08,Cy,\n"+ // says nothing
		"10,11,tea,,2019-04-09,Shop,Alone\n")
	got := map[string]string{}
	for _, r := range list[0].Reviews {
		got[r.ID] = fmt.Sprint(r.Subparts)
	}
	want := map[string]string{
		"1": "map[order:1 reply:Thank you,\nAnn reply_author:Shop reply_created:2019-04-04T10:00:00Z]",
		"3": "map[order:3 reply:No name reply_created:some day]",
		"8": "map[order:8]",
	}
	if !reflect.DeepEqual(got, want) || len(list) != 1 || list[0].Created != "2019-04-03T00:00:00Z" {
		t.Errorf("%+v\n%v", list, got)
	}
	reasons := map[int64]string{}
	for _, r := range result.Rejected {
		reasons[r.Line] = r.Reason
	}
	for line, reason := range map[int64]string{7: "in line 4, has an answer already", 8: "answers no review",
		9: "answers no review", 11: "the rating is empty", 12: "answers no review"} {
		if !strings.Contains(reasons[line], reason) || !strings.Contains(rejects, reasons[line]) {
			t.Errorf("line %d: %q, want %s", line, reasons[line], reason)
		}
	}
	if result.Converted != 3 || result.RejectedTotal != 5 || !slices.Contains(result.Notes,
		"rows that name another one and have no rating: 2; each is kept with that one, as its reply") {
		t.Errorf("%+v", result)
	}
}

// The answer to a review that is rejected is rejected with it, and one that has a column with its answer keeps that.
func TestAnswersThatCannotBeKept(t *testing.T) {
	mapping := convert.Mapping{"collection_id": "p", "review_id": "id", "parent_id": "parent", "created": "when",
		"author_name": "who", "rating": "stars", "body": "text", "author_url": "site", "reply_author": "by"}
	_, result, rejects := converted(t, convert.Request{Mapping: mapping}, "id,parent,p,stars,when,who,text,site,by\n"+
		"1,,lamp,5,2019-04-03,Ann,Good,not a site,\n2,1,lamp,,2019-04-04,Shop,Thanks,,\n"+
		"3,,lamp,5,2019-04-03,Ann,Good,,Bob\n4,3,lamp,,2019-04-04,Shop,Thanks,,\n")
	if result.Converted != 1 || result.RejectedTotal != 3 || strings.Count(rejects, "\n") != 4 ||
		!strings.Contains(rejects, "the review that it answers, in line 2, is rejected") ||
		!strings.Contains(rejects, "in line 4, has an answer already") {
		t.Errorf("%+v\n%s", result, rejects)
	}
}

// The best rating may be in a column: then that of each row counts, unless a rating names its own.
func TestScaleOfARow(t *testing.T) {
	const table = "id,product,rating,rating_range,date,author\n" +
		"1,lamp,4,5,2019-04-03,A\n2,lamp,4,10,2019-04-03,A\n3,lamp,40,100,2019-04-03,A\n" +
		"4,lamp,4/8,5,2019-04-03,A\n"
	for name, c := range map[string]struct {
		mapping convert.Mapping
		more    string
		reasons []string
	}{
		"guessed": {nil, "", nil},
		"mapped": {convert.Mapping{"collection_id": "product", "review_id": "id", "created": "date",
			"author_name": "author", "rating": map[string]any{"column": "rating", "scale": "rating_range"}},
			"5,lamp,4,,2019-04-03,A\n6,lamp,6,5,2019-04-03,A\n7,lamp,6,0,2019-04-03,A\n",
			[]string{`the best rating is ""`, "the rating 6 is above 5", `the best rating is "0"`}},
	} {
		list, result, _ := converted(t, convert.Request{Mapping: c.mapping, Scale: -1}, table+c.more)
		var got []int
		for _, r := range list[0].Reviews {
			got = append(got, r.Ratings...)
		}
		if !slices.Equal(got, []int{80, 40, 40, 50}) || len(result.Rejected) != len(c.reasons) ||
			!slices.Contains(result.Notes, `scale: in each row that of column "rating_range"`) {
			t.Errorf("%s: %v, %+v", name, got, result)
			continue
		}
		for i, reason := range c.reasons {
			if !strings.Contains(result.Rejected[i].Reason, reason) {
				t.Errorf("%s: %+v, want %s", name, result.Rejected[i], reason)
			}
		}
	}
}
