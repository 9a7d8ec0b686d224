package reviews_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/vitrine-go/vitrine/reviews"
)

// The samples again, in one file: each must be found at its place, behind and before all others.
func TestSamplesInOneFileHaveTheirProblems(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\n\n", "\n \t\r\n"} {
		for _, o := range []*reviews.ReadOptions{nil, {Workers: 1},
			reviews.WithBuffer(reviews.ReadOptions{Workers: 2}, 1<<10),
			reviews.WithBuffer(reviews.ReadOptions{Workers: 3}, 1<<14)} {
			testInOneFile(t, end, o)
		}
	}
}

func testInOneFile(t *testing.T, end string, o *reviews.ReadOptions) {
	t.Helper()
	var file bytes.Buffer
	file.WriteString("\ufeff")
	type placed struct {
		sample
		lines, bytes int64
	}
	var all []placed
	lines := int64(0)
	for _, s := range samples(t) {
		if slices.Contains(fileWarnings, s.rule) || s.rule == "collection-repeated" || s.rule == "line-too-long" ||
			strings.HasPrefix(s.rule, "stored-") || strings.HasPrefix(s.rule, "file-") ||
			bytes.Contains(s.text, []byte("\n")) {
			continue
		}
		// Each sample is a collection of its own here.
		number := fmt.Appendf(nil, "%06d", len(all))
		if at := bytes.Index(s.text, []byte(`"source":"s"`)); at >= 0 {
			s.text = slices.Concat(s.text[:at+10], number, s.text[at+10:])
			if s.offset > int64(at) {
				s.offset += int64(len(number))
			}
		}
		all = append(all, placed{s, lines, int64(file.Len())})
		file.Write(s.text)
		file.WriteString(end)
		lines += int64(strings.Count(end, "\n"))
	}
	found := map[int64][]reviews.Problem{}
	last := int64(0)
	for _, p := range withoutFileWarnings(check(t, file.Bytes(), o)) {
		if p.Line < last {
			t.Fatalf("line %d is reported after line %d", p.Line, last)
		}
		last = p.Line
		found[p.Line] = append(found[p.Line], p)
	}
	for _, s := range all {
		s.judge(t, found[s.lines+1], s.bytes, s.lines)
	}
}

const record = `{"source":"s","title":"t","created":"2020-01-02T03:04:05Z","id":"YQ==","dimensions":["default"],` +
	`"reviews":[` +
	`{"id":"r","title":"t","body_html":"b","created":"2020-01-02T03:04:05","ratings":[50],` +
	`"imported_display_name":"n"}]}`

// numbered gives a record that is another collection for each n.
func numbered(n int) string {
	return strings.Replace(record, `"s"`, fmt.Sprintf(`"s%d"`, n), 1)
}

func zipped(data string) string {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	io.WriteString(z, data)
	z.Close()
	return out.String()
}

func TestFilesAreReadAsTheyAre(t *testing.T) {
	bad := strings.Replace(record, "[50]", "[0]", 1)
	at := int64(strings.Index(bad, "0]"))
	for _, test := range []struct {
		name, file         string
		lines, collections int64
		problems           []int64 // line and offset of each
	}{
		{name: "an empty file", problems: []int64{1, 0}},
		{name: "a byte order mark alone", file: "\ufeff", problems: []int64{1, 3}},
		{name: "blank lines alone", file: "\n\r\n \t \n\t", lines: 4, problems: []int64{1, 0}},
		{name: "no newline at the end", file: record, lines: 1, collections: 1},
		{name: "a newline at the end", file: record + "\n", lines: 1, collections: 1},
		{name: "a carriage return at the end", file: record + "\r", lines: 1, collections: 1},
		{name: "blank lines between", file: "\n" + numbered(1) + "\n\n  \n" + numbered(2), lines: 5, collections: 2},
		{name: "problem without newline", file: record + "\n\n" + bad, lines: 3, collections: 2,
			problems: []int64{3, int64(len(record)) + 2, 3, int64(len(record)) + 2 + at}},
		{name: "problem after CRLF", file: numbered(1) + "\r\n" + bad + "\r\n", lines: 2, collections: 2,
			problems: []int64{2, int64(len(numbered(1))) + 2 + at}},
		{name: "a byte order mark counts", file: "\ufeff" + bad, lines: 1, collections: 1,
			problems: []int64{1, 3 + at}},
		{name: "a byte order mark on the second line is no JSON", file: record + "\n\ufeff" + record, lines: 2,
			collections: 1, problems: []int64{2, int64(len(record)) + 1}},
		{name: "two byte order marks are one too many", file: "\ufeff\ufeff" + record, lines: 1,
			problems: []int64{1, 3}},
		{name: "gzip", file: zipped("\ufeff" + numbered(1) + "\n" + bad), lines: 2, collections: 2,
			problems: []int64{2, 3 + int64(len(numbered(1))) + 1 + at}},
		{name: "gzip in two members", file: zipped(record[:50]) + zipped(record[50:]), lines: 1, collections: 1},
		{name: "gzip of nothing", file: zipped(""), problems: []int64{1, 0}},
		{name: "gzip, padded", file: zipped(record) + strings.Repeat("\x00", 600), lines: 1, collections: 1},
		{name: "UTF-16", file: "\xff\xfe{\x00}\x00\n\x00", lines: 2, problems: []int64{1, 0}},
		{name: "no JSON, and on with the next line", file: "{\n" + record + "\nx\n\x00\n", lines: 4, collections: 1,
			problems: []int64{1, 1, 3, int64(len(record)) + 3, 4, int64(len(record)) + 5}},
	} {
		for name, read := range map[string]func(io.Reader) io.Reader{"": same,
			", a byte at a time": iotest.OneByteReader, ", error with the data": iotest.DataErrReader} {
			for _, o := range []*reviews.ReadOptions{nil, reviews.WithBuffer(reviews.ReadOptions{}, 64)} {
				t.Run(test.name+name, func(t *testing.T) {
					c := reviews.Check(read(strings.NewReader(test.file)), o)
					var got []int64
					for p, err := range c.Problems() {
						if err != nil {
							t.Fatal(err)
						}
						got = append(got, p.Line, p.Offset)
					}
					if !slices.Equal(got, test.problems) {
						t.Errorf("problems at %v, want %v", got, test.problems)
					}
					if r := c.Report(); r.Lines != test.lines || r.Collections != test.collections {
						t.Errorf("%d lines and %d collections, want %d and %d", r.Lines, r.Collections, test.lines,
							test.collections)
					}
				})
			}
		}
	}
}

func same(r io.Reader) io.Reader { return r }

// A string in several pieces has its faults where they are, whichever piece they are in.
func TestFaultsInALongStringAreFound(t *testing.T) {
	filler := strings.Repeat(`some words\n`, 12_000)
	for _, fault := range []string{`\u0000`, `\ud800`} {
		for _, text := range []string{fault + filler, filler + fault, filler + fault + filler, fault + filler + fault} {
			file := strings.Replace(record, `"title":"t","body`, `"title":"`+text+`","body`, 1)
			for _, buffer := range []int{64, 100_000} {
				found := check(t, []byte(file), reviews.WithBuffer(reviews.ReadOptions{}, buffer))
				if len(found) != 1 || found[0].Offset != int64(strings.Index(file, fault)) ||
					found[0].Pointer != "/reviews/0/title" {
					t.Errorf("%s, buffer %d: %v, want one at %d", fault, buffer, found, strings.Index(file, fault))
				}
			}
			agree(t, []byte(file), nil)
		}
	}
}

func TestAnErrorOfReadingIsReturned(t *testing.T) {
	broken := errors.New("the disk is gone")
	long := strings.Replace(record, `"title":"t"`, `"title":"`+strings.Repeat("t", 1000)+`"`, 1)
	z := zipped(strings.Repeat(record+"\n", 100))
	for _, test := range []struct {
		name  string
		file  io.Reader
		lines int64 // that were read before
	}{
		{"before the first line", iotest.ErrReader(broken), 0},
		{"in a line", io.MultiReader(strings.NewReader(numbered(1)+"\n"+numbered(2)[:30]), iotest.ErrReader(broken)),
			1},
		{"in a long line", io.MultiReader(strings.NewReader(numbered(1)+"\n"+long[:900]), iotest.ErrReader(broken)), 1},
		{"after a line", io.MultiReader(strings.NewReader(numbered(1)+"\n"), iotest.ErrReader(broken)), 1},
		{"in gzip", strings.NewReader(z[:len(z)/2]), -1},
		{"in the head of gzip", strings.NewReader(z[:5]), 0},
		{"behind gzip", strings.NewReader(zipped(record+"\n") + "more"), 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := reviews.Check(test.file, reviews.WithBuffer(reviews.ReadOptions{}, 512))
			var failed error
			for p, err := range c.Problems() {
				if err == nil && test.lines >= 0 {
					t.Errorf("a problem in what was read: %v", p)
				}
				if failed != nil {
					t.Error("the error is not the last")
				}
				failed = err
			}
			if failed == nil {
				t.Error("no error")
			}
			if r := c.Report(); test.lines >= 0 && (r.Lines != test.lines || r.Collections != test.lines) {
				t.Errorf("%d lines and %d collections, want %d", r.Lines, r.Collections, test.lines)
			}
		})
	}
}

func TestALineThatIsNoJSONIsReportedOnceAndCountsNoReviews(t *testing.T) {
	line := strings.Replace(record, "[50]", "[0]", 1)
	c := reviews.Check(strings.NewReader(line[:len(line)-1]+"\n"+record), nil)
	var rules []string
	for p := range c.Problems() {
		rules = append(rules, p.Rule)
	}
	if r := c.Report(); !slices.Equal(rules, []string{"json"}) || r.Collections != 1 || r.Reviews != 1 ||
		r.ReviewsRejected != 0 || r.Errors != 1 {
		t.Errorf("%v, %+v", rules, r)
	}
}

func TestCheckIsStoppedEarly(t *testing.T) {
	file := strings.Repeat("{}\n", 40_000)
	for _, buffer := range []int{256, 1 << 16} {
		c := reviews.Check(strings.NewReader(file), reviews.WithBuffer(reviews.ReadOptions{Workers: 3}, buffer))
		n := 0
		for range c.Problems() {
			if n++; n == 700 {
				break
			}
		}
		if n != 700 {
			t.Errorf("%d problems", n)
		}
		for _, err := range c.Problems() {
			if err == nil {
				t.Error("a checker checks twice")
			}
		}
	}
}

func TestReportHoldsTheFirst1000Problems(t *testing.T) {
	for _, n := range []int{999, 1000, 1001} {
		c := reviews.Check(strings.NewReader(strings.Repeat("x\n", n)), nil)
		all := 0
		for range c.Problems() {
			all++
		}
		r := c.Report()
		if all != n || r.Errors != int64(n) || len(r.Problems) != min(n, 1000) || r.ProblemsTruncated != (n > 1000) {
			t.Errorf("%d problems: %d yielded, %d counted, %d in the report, truncated %v", n, all, r.Errors,
				len(r.Problems), r.ProblemsTruncated)
		}
	}
}
