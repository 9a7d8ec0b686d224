package reviews_test

import (
	"strings"
	"testing"
)

// Messages say what would be right.
func TestMessagesSayWhatWouldBeRight(t *testing.T) {
	for fault, says := range map[[2]string]string{
		{`"2020-01-02T03:04:05"`, `"03/04/2019"`}:          "2019-04-03T00:00:00Z",
		{`"2020-01-02T03:04:05"`, `"2019-02-29T00:00:00"`}: "this month has 28 days",
		{`"ratings":[50]`, `"ratings":["5"]`}:              "want an integer from 1 to 100, without quotes",
		{`"ratings":[50]`, `"ratings":[5.0]`}:              "5, not 5.0",
		{`"ratings":[50],`, ``}:                            `"ratings":[80]`,
		{`"body_html":`, `"bodyHtml":`}:                    "body_html may be meant",
		{`"ratings":`, `"Rating":`}:                        "ratings may be meant",
		{`"body_html":`, `"colour":`}:                      "extra data belongs in subparts",
		{`"YQ=="`, `"article 1"`}:                          "YXJ0aWNsZS0x for article-1",
		{`"b"`, `"<b>"`}:                                   "only <p>, </p>",
	} {
		file := strings.Replace(record, fault[0], fault[1], 1)
		found := false
		for _, p := range check(t, []byte(file), nil) {
			found = found || strings.Contains(p.Message, says)
		}
		if !found || file == record {
			t.Errorf("%s: no message of %v has %q", fault[1], check(t, []byte(file), nil), says)
		}
	}
}
