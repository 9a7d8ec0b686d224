package reviews_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/reviews/internal/format"
)

func FuzzTimestamp(f *testing.F) {
	for _, s := range samples(f) {
		if s.rule == "timestamp" {
			_, value, _ := strings.Cut(string(s.text[strings.LastIndex(string(s.text), `"created":"`):]), `:"`)
			value, _, _ = strings.Cut(value, `"`)
			f.Add(value)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		if _, fault := format.ParseTime([]byte(s)); (fault == "") != isTime(s) {
			t.Errorf("%q: %q, but the oracle says %v", s, fault, isTime(s))
		}
	})
}

// Every day of some years, and the days next to them.
func TestTimestampsKnowTheCalendar(t *testing.T) {
	for _, year := range []string{"0001", "0004", "1600", "1700", "1900", "1904", "2000", "2023", "2024", "2100",
		"9999"} {
		for month := range 14 {
			for day := range 33 {
				s := year + "-" + two(month) + "-" + two(day) + "T00:00:00"
				if _, fault := format.ParseTime([]byte(s)); (fault == "") != isTime(s) {
					t.Errorf("%q: %q, but the oracle says %v", s, fault, isTime(s))
				}
			}
		}
	}
}

func two(n int) string { return string([]byte{'0' + byte(n/10), '0' + byte(n%10)}) }

func FuzzBase64(f *testing.F) {
	for _, s := range []string{"", "YQ==", "YQ", "YQ=", "+/+/", "-_-_", "+_", "A", "YWJj\n", "====", "YR", "a b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if _, fault := format.DecodeID([]byte(s)); (fault == "") != isBase64(s) {
			t.Errorf("%q: %q, but the oracle says %v", s, fault, isBase64(s))
		}
	})
}

// All texts of up to six characters out of those that matter.
func TestBase64AgreesWithTheStandardLibrary(t *testing.T) {
	const alphabet = "A9+/-_=\n"
	var extend func(s string)
	extend = func(s string) {
		if _, fault := format.DecodeID([]byte(s)); (fault == "") != isBase64(s) {
			t.Errorf("%q: %q, but the oracle says %v", s, fault, isBase64(s))
		}
		if len(s) < 6 && (len(s) < 4 || !proof.Short()) {
			for _, c := range alphabet {
				extend(s + string(c))
			}
		}
	}
	extend("")
}

func FuzzHTML(f *testing.F) {
	for _, s := range samples(f) {
		if s.rule == "body-html" {
			_, body, _ := strings.Cut(string(s.text), `"body_html":"`)
			body, _, _ = strings.Cut(body, `","created"`)
			f.Add(strings.NewReplacer(`\"`, `"`, `\n`, "\n", `\t`, "\t").Replace(body))
		}
	}
	f.Add("<a href='&#x68;ttp&colon;//a'><A\nHREF = \"mailto:&amp;\"></a >")
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ReplaceAll(s, "\x00", "") // refused before
		at, fault := format.MarkupFault([]byte(s))
		if (fault == "") != isMarkup(s) {
			t.Errorf("%q: %q, but the oracle says %v", s, fault, isMarkup(s))
		}
		if fault != "" && (at < 0 || at >= len(s) || s[at] != '<') {
			t.Errorf("%q: the fault %q is at %d, which is no tag", s, fault, at)
		}
	})
}

func FuzzAddress(f *testing.F) {
	for _, s := range []string{"http://a", "HTTPS://a/b?c#d", "http:///", "javascript:x", "http://a b", "ht\ttp://a",
		"http://\u017f", "http\u017f://a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := format.IsPlainWebAddress([]byte(s)); got != webAddress.MatchString(s) {
			t.Errorf("%q: %v", s, got)
		}
	})
}

// FuzzReader reads any file in blocks of any size: always the same comes out, and no panic.
func FuzzReader(f *testing.F) {
	f.Add([]byte(record+"\r\n\n\ufeff"+record), uint16(0))
	f.Add([]byte("[{\"\":[0],\"000000000000000\":\"0\" \r"), uint16(0)) // the window ends with the line
	f.Add([]byte("\ufeff"+randomFile(9, 5)), uint16(70))
	f.Add([]byte(zipped(randomFile(8, 5))), uint16(7))
	f.Add([]byte("{"+strings.Repeat("0", 69)+", \n"), uint16(40)) // longer than the window, and of another kind
	f.Fuzz(func(t *testing.T, file []byte, buffer uint16) {
		var reports [3]reviews.Report
		for i, o := range []*reviews.ReadOptions{reviews.WithBuffer(reviews.ReadOptions{Workers: 1}, 16<<10),
			reviews.WithBuffer(reviews.ReadOptions{Workers: 3}, 1<<10),
			reviews.WithBuffer(reviews.ReadOptions{Workers: 2}, 32+int(buffer))} {
			c := reviews.Check(strings.NewReader(string(file)), o)
			for _, err := range c.Problems() {
				if err != nil {
					return // gzip that is none; the lines before differ with the size of blocks
				}
			}
			reports[i] = c.Report()
		}
		for _, r := range reports[1:] {
			if r.ProblemsTruncated || reports[0].ProblemsTruncated {
				continue // in a line with more problems than are put in order at once, others come first
			}
			if !reflect.DeepEqual(r, reports[0]) {
				t.Errorf("%q:\n%+v\n%+v", file, reports[0], r)
			}
		}
	})
}
