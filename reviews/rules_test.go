package reviews_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A sample is one file of testdata/rules: a head, "ok" or "bad" and a JSON pointer, and lines of a
// file in the import format. In a bad one a mark stands where its problem is reported.
type sample struct {
	rule    string
	where   string // file and line
	bad     bool
	text    []byte
	pointer string
	offset  int64
	line    int64
}

const markSign = "⟦"

func samples(t testing.TB) []sample {
	t.Helper()
	files, err := filepath.Glob("testdata/rules/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	var all []sample
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		line := 1
		for block := range bytes.SplitSeq(bytes.TrimRight(data, "\n"), []byte("\n\n")) {
			all = append(all, newSample(t, name, line, block))
			line += bytes.Count(block, []byte("\n")) + 2
		}
	}
	return all
}

func newSample(t testing.TB, name string, line int, block []byte) sample {
	head, text, _ := bytes.Cut(block, []byte("\n"))
	head, _, _ = bytes.Cut(head, []byte("  # "))
	s := sample{rule: strings.TrimSuffix(filepath.Base(name), ".txt"), where: name + ":" + strconv.Itoa(line),
		text: text}
	kind, pointer, _ := strings.Cut(string(head), " ")
	switch kind {
	case "ok":
		return s
	case "bad":
		s.bad, s.pointer = true, strings.ReplaceAll(strings.Trim(pointer, `"`), `\u0000`, "\x00")
	default:
		t.Fatalf("%s: a sample begins with %q", s.where, head)
	}
	at := bytes.Index(text, []byte(markSign))
	if at < 0 {
		t.Fatalf("%s: no mark", s.where)
	}
	s.offset = int64(at)
	s.line = int64(bytes.Count(text[:at], []byte("\n"))) + 1
	s.text = bytes.Replace(text, []byte(markSign), nil, 1)
	return s
}

func TestEveryRuleHasAcceptedAndRefusedSamples(t *testing.T) {
	ok, bad := map[string]int{}, map[string]int{}
	for _, s := range samples(t) {
		if s.bad {
			bad[s.rule]++
		} else {
			ok[s.rule]++
		}
	}
	for _, r := range reviews.Rules() {
		if ok[r.ID] == 0 || bad[r.ID] == 0 {
			t.Errorf("testdata/rules/%s.txt has %d accepted and %d refused samples, want some of each", r.ID, ok[r.ID],
				bad[r.ID])
		}
		delete(ok, r.ID)
	}
	for id := range ok {
		t.Errorf("testdata/rules/%s.txt is about no rule", id)
	}
}

func TestSamplesHaveTheirProblems(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.where, func(t *testing.T) {
			s.judge(t, s.problems(t), 0, 0)
		})
	}
}

// problems are those of a sample that stands alone.
func (s sample) problems(t *testing.T) []reviews.Problem {
	t.Helper()
	switch s.rule {
	case "line-too-long":
		return check(t, s.text, &reviews.ReadOptions{MaxLine: 400})
	case "stored-dimensions":
		store := memory.New()
		importInto(t, store, collection("YQ==", `,"dimensions":["a","b"]`, review("1", "1,2", "")), nil)
		return importInto(t, store, string(s.text), nil).Problems
	case "overwrite":
		store := memory.New()
		importInto(t, store, collection("YQ==", single, review("1", 50, ""), review("2", 50, "")), nil)
		return importInto(t, store, string(s.text), nil).Problems
	}
	if slices.Contains(fileWarnings, s.rule) {
		return check(t, s.text, nil)
	}
	return withoutFileWarnings(check(t, s.text, nil))
}

// judge compares what was found with what the sample says, when the sample's text lies behind
// the given bytes and lines.
func (s sample) judge(t *testing.T, found []reviews.Problem, bytesBefore, linesBefore int64) {
	t.Helper()
	if !s.bad {
		if len(found) > 0 {
			t.Errorf("%s: accepted sample has %v", s.where, found)
		}
		return
	}
	if len(found) != 1 {
		t.Errorf("%s: %d problems, want 1: %v", s.where, len(found), found)
		return
	}
	p := found[0]
	before := s.text[:s.offset]
	p.Message, p.Severity, p.Value, p.Collection, p.Review = "", "", "", "", ""
	want := reviews.Problem{Line: s.line + linesBefore, Offset: s.offset + bytesBefore, Pointer: s.pointer,
		Rule:   s.rule,
		Column: int64(utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])) + 1}
	if p != want {
		t.Errorf("%s:\n got %+v\nwant %+v", s.where, p, want)
	}
}

// fileWarnings are the rules that give one warning for the whole file.
var fileWarnings = []string{"scale", "id-text", "created-future", "email", "overwrite"}

func withoutFileWarnings(all []reviews.Problem) []reviews.Problem {
	return slices.DeleteFunc(all, func(p reviews.Problem) bool { return slices.Contains(fileWarnings, p.Rule) })
}

func check(t testing.TB, file []byte, o *reviews.ReadOptions) []reviews.Problem {
	t.Helper()
	var all []reviews.Problem
	for p, err := range reviews.Check(bytes.NewReader(file), o).Problems() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// The examples of a rule in the list are what they are said to be.
func TestExamplesOfRulesBreakAndKeepTheirRule(t *testing.T) {
	for _, rule := range reviews.Rules() {
		if (rule.Wrong == "") != (rule.ID == "file-empty") || rule.Right == "" || rule.Wrong == rule.Right {
			t.Errorf("%s: wrong %q, right %q", rule.ID, rule.Wrong, rule.Right)
		}
		store := memory.New()
		rated := func(rating int) string {
			var list []string
			for i := range 20 {
				list = append(list, review(fmt.Sprint(i), rating, ""))
			}
			return strings.Join(list, ",")
		}
		sizes := func(text string) string {
			var names []string
			for i := range 1001 {
				names = append(names, fmt.Sprint(i))
			}
			return strings.NewReplacer("1,001 names", strings.Join(names, `","`), "a text of 33 MiB",
				strings.Repeat("x", 33<<10), "a text of 31 MiB", strings.Repeat("x", 31<<10),
				`"20 reviews with the rating 5"`, rated(5), `"20 reviews with the rating 100"`,
				rated(100)).Replace(text)
		}
		if rule.ID == "stored-dimensions" {
			importInto(t, store, rule.ExampleFile(`"dimensions":["default"]`), nil)
			importInto(t, store,
				strings.Replace(rule.ExampleFile(rule.Right), "[]",
					`[{"id":"1","title":"","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],`+
						`"author_id":"7"}]`, 1), nil)
		}
		if rule.ID == "overwrite" {
			importInto(t, store, rule.ExampleFile(`"title":"Bright"`), nil)
		}
		// KiB in place of MiB
		dry := &reviews.ImportRequest{DryRun: true, ReadOptions: reviews.ReadOptions{MaxLine: 32 << 10}}
		wrong := importInto(t, store, sizes(rule.ExampleFile(rule.Wrong)), dry).Problems
		if len(wrong) != 1 || wrong[0].Rule != rule.ID || wrong[0].Severity != rule.Severity {
			t.Errorf("%s: the wrong example has %v", rule.ID, wrong)
		}
		if rule.ID == "overwrite" {
			importInto(t, store, collection("YQ==", single, review("1", 50, "")), nil)
		}
		if right := importInto(t, store, sizes(rule.ExampleFile(rule.Right)), dry).Problems; len(right) > 0 {
			t.Errorf("%s: the right example has %v", rule.ID, right)
		}
	}
}
