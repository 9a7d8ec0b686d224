package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
)

const (
	goodRecord = `{"source":"s","title":"T","created":"2020-01-02T03:04:05Z","id":"YQ==","dimensions":["default"],` +
		`"reviews":[` +
		`{"id":"r1","imported_display_name":"N","title":"t","body_html":"<p>x</p>","created":"2020-01-02T03:04:05Z",` +
		`"ratings":[50]}]}` + "\n"
	warnedRecord = `{"source":"s","title":"T","created":"2020-01-02T03:04:05Z","id":"Yg==","reviews":[]}` + "\n"
	badRecord    = "no JSON\n"
)

// reviewFiles is a directory with files to read.
func reviewFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(goodRecord))
	_ = z.Close()
	for name, text := range map[string]string{
		"good": goodRecord, "warned": goodRecord + warnedRecord, "bad": goodRecord + badRecord, "empty": "",
		"good.gz": zipped.String(), "cut.gz": zipped.String()[:zipped.Len()/2],
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReviewsExitStatus(t *testing.T) {
	dir := reviewFiles(t)
	for file, status := range map[string]int{
		"good": 0, "warned": 0, "empty": 0, "good.gz": 0, "bad": 1, "cut.gz": 2,
		"none": 2, ".": 2,
	} {
		for _, command := range [][]string{
			{"check"}, {"check", "-json"}, {"import", "-db", "v.db"},
			{"import", "-db", "v.db", "-json", "-dry-run"},
		} {
			out := run(t, dir, nil, append(append([]string{"reviews"}, command...), file)...)
			if out.status != status || (out.stderr == "") != (status < 2) {
				t.Errorf("%v %s: %+v, want status %d", command, file, out, status)
			}
		}
	}
	for _, args := range [][]string{
		{}, {"spam"}, {"check"}, {"check", "-", "-"}, {"check", "good", "none"},
		{"check", "good", "-spam"}, {"check", "-rejects", "good", "bad", "good"}, {"check", "-spam", "good"},
		{"check", "-max-line", "0", "good"}, {"import", "-db", "v.db", "-max-line", "1025", "good"}, {"import"},
		{"export", "good"},
		{"export", "-db", "none.db"}, {"export", "-db", "good"}, {"import", "-db", "postgres://x", "good"},
		{"import", "-db", "memory:", "good"}, {"import", "-dry-run", "-db", "memory:", "good"},
		{"export", "-db", "memory:"}, {"export", "-db", "postgres://x"},
	} {
		if out := run(t, dir, nil, append([]string{"reviews"}, args...)...); out.status != 2 || out.stdout != "" ||
			out.stderr == "" {
			t.Errorf("%v: %+v", args, out)
		}
	}
}

func TestALineMayHaveSoManyMiB(t *testing.T) {
	dir := t.TempDir()
	long := strings.Replace(goodRecord, "<p>x</p>", strings.Repeat("x", 1<<20), 1)
	if err := os.WriteFile(filepath.Join(dir, "long"), []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"check"}, {"import", "-db", "v.db"}} {
		for limit, status := range map[string]int{"1": 1, "2": 0} {
			out := run(t, dir, nil, append(append([]string{"reviews"}, command...), "-max-line", limit, "long")...)
			if out.status != status || strings.Contains(out.stdout, "line-too-long") != (status == 1) {
				t.Errorf("%v with -max-line %s: %+v", command, limit, out)
			}
		}
	}
}

func TestADryRunMakesNoStore(t *testing.T) {
	dir := reviewFiles(t)
	before, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"good", "warned", "bad", "cut.gz"} {
		dry := run(t, dir, nil, "reviews", "import", "-dry-run", "-json", "-db", "new.db", file)
		if !strings.Contains(dry.stdout, `"created":1`) != (file == "cut.gz") {
			t.Errorf("%s: %+v", file, dry)
		}
	}
	for _, db := range []string{"no/such/x.db", "good", "mysql://x", ""} {
		if out := run(t, dir, nil, "reviews", "import", "-dry-run", "-db", db, "good"); out.status != 2 ||
			out.stdout != "" {
			t.Errorf("-db %q: %+v", db, out)
		}
	}
	if after, err := os.ReadDir(dir); err != nil || len(after) != len(before) {
		t.Errorf("left behind: %v, %v", after, err)
	}
}

func TestReviewsForMachines(t *testing.T) {
	dir := reviewFiles(t)
	for _, command := range [][]string{{"check"}, {"import", "-db", "v.db"}} {
		out := run(t, dir, nil, append(append([]string{"reviews"}, command...), "-json", "bad")...)
		lines := strings.Split(strings.TrimSuffix(out.stdout, "\n"), "\n")
		var problem struct {
			Line   int
			Offset *int
			Rule   string
		}
		var report struct {
			Lines, Reviews, Created, Errors int
			Problems                        *[]any
			ProblemsTruncated               *bool
		}
		if len(lines) != 2 || json.Unmarshal([]byte(lines[0]), &problem) != nil ||
			json.Unmarshal([]byte(lines[1]), &report) != nil ||
			problem.Line != 2 || problem.Offset == nil || problem.Rule == "" || report.Lines != 2 ||
			report.Errors != 1 || report.Problems != nil || report.ProblemsTruncated == nil {
			t.Errorf("%v: %q", command, lines)
		}
	}
}

func TestReviewsForPeople(t *testing.T) {
	dir := reviewFiles(t)
	many := filepath.Join(dir, "many")
	if err := os.WriteFile(many, []byte(goodRecord+strings.Repeat(badRecord, 5)+warnedRecord), 0o600); err != nil {
		t.Fatal(err)
	}
	out := run(t, dir, nil, "reviews", "check", "many")
	for _, words := range []string{
		"json: 5 errors\n", "line 2, column 2: this is not JSON",
		"and 2 more: -all prints every problem\n", ": 1 warning\n",
		"checked: 7 lines (5 unreadable), 2 collections, 1 review; 0 rejected; 5 errors, 1 warning\n",
	} {
		if !strings.Contains(out.stdout, words) {
			t.Errorf("%q is not in %s", words, out.stdout)
		}
	}
	if strings.Index(out.stdout, "json:") > strings.Index(out.stdout, "1 warning") {
		t.Errorf("warnings come first: %s", out.stdout)
	}
}

func TestReviewsAreImportedWhileServingAndExported(t *testing.T) {
	dir := reviewFiles(t)
	s := start(t, dir, nil, "-db", "v.db")
	out := run(t, dir, nil, "reviews", "import", "-db", "v.db", "-network", "example.test", "-dry-run", "good")
	if out.status != 0 || !strings.Contains(out.stdout, "1 created") {
		t.Errorf("dry run: %+v", out)
	}
	if out := run(t, dir, nil, "reviews", "export", "-db", "v.db"); out.status != 0 || out.stdout != "" {
		t.Errorf("a dry run stored %+v", out)
	}
	out = run(t, dir, nil, "reviews", "import", "-db", "v.db", "-network", "example.test", "warned")
	if out.status != 0 || !strings.Contains(out.stdout, "1 created") {
		t.Errorf("import: %+v", out)
	}
	report := s.do(newToken(t, dir, nil, "-db", "v.db"), "POST", "/x/reviews/import", goodRecord, 200)
	if !strings.Contains(report, `"unchanged":1`) {
		t.Errorf("the server sees %s", report)
	}
	exported := run(t, dir, nil, "reviews", "export", "-db", "v.db")
	if exported.status != 0 || strings.Count(exported.stdout, "\n") != 2 {
		t.Errorf("export: %+v", exported)
	}
	if err := os.WriteFile(filepath.Join(dir, "copy"), []byte(exported.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	out = run(t, dir, nil, "reviews", "import", "-db", "v.db", "-network", "example.test", "copy")
	if !strings.Contains(out.stdout, "0 created, 0 updated, 1 unchanged") {
		t.Errorf("the export is other than what was imported: %+v", out)
	}
	s.stop()
}

// Lines of JSON that another system wrote have many faults, and one sentence says what to do.
func TestRowsOfAnotherSystemAreNoCollections(t *testing.T) {
	dir := write(t, map[string]string{"rows": strings.Repeat(`{"product":"lamp","score":4}`+"\n", 3),
		"faulty": strings.Replace(goodRecord, `"T"`, `7`, 1)})
	for file, hint := range map[string]bool{"rows": true, "faulty": false} {
		for _, args := range [][]string{{"check", file}, {"import", "-db", "v.db", file}} {
			out := run(t, dir, nil, append([]string{"reviews"}, args...)...)
			if out.status != 1 || strings.Contains(out.stderr, "reviews convert makes the import format") != hint {
				t.Errorf("%v: %+v", args, out)
			}
		}
	}
}

func TestReviewsOfNetworksAreApart(t *testing.T) {
	dir := reviewFiles(t)
	reviews := func(args ...string) outcome { return run(t, dir, nil, append([]string{"reviews"}, args...)...) }
	for _, name := range []string{"", "urn:vitrine:a", "a:site=1", "a b"} {
		if out := reviews("import", "-db", "v.db", "-network", name, "good"); out.status != 2 || out.stdout != "" ||
			!strings.Contains(out.stderr, "-network") {
			t.Errorf("import into %q: %+v", name, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "v.db")); err == nil {
		t.Error("a store was built for a network that cannot be")
	}
	if out := reviews("import", "-db", "v.db", "good"); out.status != 0 || !strings.Contains(out.stdout, "1 created") {
		t.Errorf("import: %+v", out)
	}
	only := reviews("export", "-db", "v.db")
	if named := reviews("export", "-db", "v.db", "-network", "default"); only.status != 0 || only.stdout == "" ||
		named != only {
		t.Errorf("of the only network: %+v, by its name %+v", only, named)
	}
	for _, step := range []struct {
		done string
		args []string
	}{
		{"1 created", []string{"-dry-run"}}, {"1 created", nil}, {"1 unchanged", nil},
		{"1 unchanged", []string{"-dry-run"}},
	} {
		if out := reviews(append(append([]string{"import", "-db", "v.db", "-network", "other.test"}, step.args...),
			"good")...); !strings.Contains(out.stdout, step.done) {
			t.Errorf("import into another network: %+v, want %s", out, step.done)
		}
	}
	if out := reviews("import", "-db", "v.db", "-network", "misspelt", "-dry-run", "good"); out.status != 0 ||
		!strings.Contains(out.stderr,
			"the network misspelt has no reviews; the store has those of default, other.test") {
		t.Errorf("import into a new network: %+v", out)
	}
	if err := os.WriteFile(filepath.Join(dir, "other"), []byte(strings.Replace(goodRecord, `"s"`, `"other"`, 1)),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ in, says string }{
		{"-dry-run", "new collections have the ids of others, from another source"},
		{"-dry-run=false", "new collections have the ids"},
		{"-all", ""},
	} {
		if out := reviews("import", "-db", "w.db", "good"); out.status != 0 || out.stderr != "" {
			t.Errorf("import: %+v", out)
		}
		if out := reviews("import", "-db", "w.db", step.in, "other"); out.status != 0 ||
			!strings.Contains(out.stderr, step.says) || (out.stderr == "") != (step.says == "") {
			t.Errorf("import of another source with %s: %+v", step.in, out)
		}
	}
	if out := reviews("export", "-db", "v.db"); out.status != 2 || out.stdout != "" ||
		!strings.Contains(out.stderr, "default, other.test") || !strings.Contains(out.stderr, "-network") {
		t.Errorf("export of two networks: %+v", out)
	}
	for _, name := range []string{"default", "other.test"} {
		if out := reviews("export", "-db", "v.db", "-network", name); out != only {
			t.Errorf("export of %s: %+v, want %+v", name, out, only)
		}
	}
	if out := reviews("export", "-db", "v.db", "-network", "misspelt"); out.status != 0 || out.stdout != "" ||
		!strings.Contains(out.stderr, "default, other.test") {
		t.Errorf("export of a network without reviews: %+v", out)
	}
	if out := reviews("export", "-db", "v.db", "-network", "urn:vitrine:default"); out.status != 2 || out.stdout != "" {
		t.Errorf("export of a URN: %+v", out)
	}
}

// What a file holds does not reach the terminal as a command to it.
func TestReviewsPrintNothingThatATerminalActsOn(t *testing.T) {
	dir := reviewFiles(t)
	const name = "\x1b[2J \u202e \u009b \U000e0001 \u00e9"
	quoted, err := json.Marshal(name)
	if err != nil {
		t.Fatal(err)
	}
	record := strings.Replace(goodRecord, `"source"`, string(quoted)+`:1,"source"`, 1)
	if err := os.WriteFile(filepath.Join(dir, "evil"), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"check"}, {"check", "-json"}, {"import", "-db", "v.db"},
		{"import", "-db", "v.db", "-json"},
	} {
		out := run(t, dir, nil, append(append([]string{"reviews"}, command...), "evil")...)
		if out.status != 1 || strings.ContainsAny(out.stdout, "\x1b\u202e\u009b\U000e0001") ||
			!strings.Contains(out.stdout, `\u202e`) || !strings.Contains(out.stdout, "\u00e9") {
			t.Errorf("%v: %+q", command, out.stdout)
		}
		if command[len(command)-1] != "-json" {
			continue
		}
		var problem struct{ Pointer string }
		line, _, _ := strings.Cut(out.stdout, "\n")
		if err := json.Unmarshal([]byte(line), &problem); err != nil || problem.Pointer != "/"+name {
			t.Errorf("%v: %+q, %v", command, problem, err)
		}
	}
}

// The summary of an import that stops says what is in, and its counts add up.
func TestAnImportThatStopsSaysWhatIsIn(t *testing.T) {
	dir := reviewFiles(t)
	var out strings.Builder
	f := newFindings(&out, shownFlags{asJSON: new(bool), all: new(bool)})
	if err := f.reviewsOutcome(reviews.Counts{Lines: 7, Collections: 4, CollectionsCreated: 2, CollectionsRejected: 1,
		Reviews: 600, ReviewsCreated: 100, ReviewsUnchanged: 20, ReviewsRejected: 30}, stopped, nil); err != nil {
		t.Fatal(err)
	}
	if want := "stopped: 7 lines, 4 collections (2 created, 1 rejected), 600 reviews; 100 created, 0 updated, 20 " +
		"unchanged, 450 read and not stored, 30 rejected; 0 errors, 0 warnings\n"; out.String() != want {
		t.Errorf("%s, want %s", out.String(), want)
	}
	for _, args := range [][]string{{"import", "-db", "v.db"}, {"check"}, {"import", "-db", "v.db", "-dry-run"}} {
		got := run(t, dir, nil, append(append([]string{"reviews"}, args...), "cut.gz")...)
		if safe := strings.Contains(got.stderr, "importing all of it again is safe"); got.status != 2 ||
			!strings.HasPrefix(got.stdout, "stopped: ") || safe != (len(args) == 3) {
			t.Errorf("%v: %+v", args, got)
		}
	}
}
