package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func readFile(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// All of them in one run; with several files each problem names its own.
func TestReviewsOfSeveralFiles(t *testing.T) {
	dir := reviewFiles(t)
	out := runWith(t, dir, nil, badRecord, "reviews", "check", "good", "-json", "bad", "-", "warned", "empty")
	lines := strings.Split(strings.TrimSuffix(out.stdout, "\n"), "\n")
	if out.status != 1 || len(lines) != 5 {
		t.Fatalf("%+v", out)
	}
	for i, words := range []string{
		`{"file":"bad","line":2,`, `{"file":"-","line":1,`, `{"file":"warned","line":2,`, `{"file":"empty","line":1,`,
		`{"lines":6,"collections":4,"collectionsCreated":0,"collectionsUpdated":0,"collectionsRejected":0,` +
			`"reviews":3,`,
	} {
		if !strings.HasPrefix(lines[i], words) {
			t.Errorf("line %d: %s, want %s", i, lines[i], words)
		}
	}
	if out := run(t, dir, nil, "reviews", "check", "bad", "-all", "warned"); out.status != 1 ||
		!strings.HasPrefix(out.stdout, "bad, line 2, column 2: error: ") ||
		!strings.Contains(out.stdout, "\nwarned, line 2, column 1, collection Yg==: warning: ") {
		t.Errorf("%+v", out)
	}
	if out := run(t, dir, nil, "reviews", "import", "good", "warned", "-db", "v.db"); out.status != 0 ||
		!strings.Contains(out.stdout, "2 lines, 2 collections") &&
			!strings.Contains(out.stdout, "1 created, 0 updated, 1 unchanged") {
		t.Errorf("%+v", out)
	}
	if out := run(t, dir, nil, "reviews", "check", "-json", "--", "good"); out.status != 0 {
		t.Errorf("behind --: %+v", out)
	}
}

func TestEveryProblemIsPrintedWithAll(t *testing.T) {
	dir := reviewFiles(t)
	if err := os.WriteFile(filepath.Join(dir, "many"), []byte(strings.Repeat(badRecord, 7)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"check"}, {"import", "-db", "v.db"}, {"import", "-dry-run", "-db", "v.db"}} {
		out := run(t, dir, nil, append(append([]string{"reviews"}, command...), "many", "-all")...)
		if strings.Count(out.stdout, "this is not JSON") != 7 || strings.Contains(out.stdout, "more") ||
			!strings.Contains(out.stdout, "json: 7 errors\n") {
			t.Errorf("%v: %+v", command, out)
		}
	}
}

// The rejects are lines as they are, and mended they can be imported.
func TestRejectsCanBeMendedAndImported(t *testing.T) {
	dir := reviewFiles(t)
	bad := strings.Replace(strings.Replace(goodRecord, "YQ==", "Yw==", 1), "[50]", "[500]", 1)
	if err := os.WriteFile(filepath.Join(dir, "mixed"), []byte("\ufeff"+goodRecord+strings.TrimSuffix(bad, "\n")),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"check"}, {"import", "-dry-run", "-db", "v.db"}, {"import", "-db", "v.db"}} {
		for _, file := range []string{"mixed", "-"} {
			if err := os.WriteFile(filepath.Join(dir, "rejects"), []byte("what was there before"), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append(append([]string{"reviews"}, command...), file, "-rejects", "rejects")
			out := runWith(t, dir, nil, "\ufeff"+goodRecord+strings.TrimSuffix(bad, "\n"), args...)
			if out.status != 1 {
				t.Errorf("%v: %+v", args, out)
			}
			if !strings.Contains(out.stderr, "vitrine: what rejects had before is in rejects.") {
				t.Errorf("%v: %q", args, out.stderr)
			}
			if got := readFile(t, dir, "rejects"); got != bad {
				t.Errorf("%v: the rejects are %q, want %q", args, got, bad)
			}
		}
	}
	if out := run(t, dir, nil, "reviews", "check", "good", "-rejects", "rejects"); out.status != 0 ||
		readFile(t, dir, "rejects") != "" {
		t.Errorf("a file without rejects leaves %q, %+v", readFile(t, dir, "rejects"), out)
	}
	// Each run has kept what another one, or a person, had written there.
	for kept, want := range map[string]string{
		"rejects.1": "what was there before",
		"rejects.6": "what was there before", "rejects.7": bad,
	} {
		if got := readFile(t, dir, kept); got != want {
			t.Errorf("%s: %q, want %q", kept, got, want)
		}
	}
	mended := strings.Replace(bad, "[500]", "[50]", 1)
	if err := os.WriteFile(filepath.Join(dir, "mended"), []byte(mended), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := run(t, dir, nil, "reviews", "import", "-db", "v.db", "mended"); out.status != 0 ||
		!strings.Contains(out.stdout, "1 created") {
		t.Errorf("the mended file: %+v", out)
	}
}

func TestRejectsDoNotOverwriteAnInput(t *testing.T) {
	dir := reviewFiles(t)
	if err := os.Link(filepath.Join(dir, "bad"), filepath.Join(dir, "linked")); err != nil {
		t.Skip(err)
	}
	for _, args := range [][]string{
		{"check", "bad", "-rejects", "bad"}, {"check", "good", "bad", "-rejects", "./bad"},
		{"check", "bad", "-rejects", "linked"},
		{"import", "-db", "v.db", "bad", "-rejects", "bad"},
		{"import", "-db", "v.db", "-dry-run", "-rejects", "bad", "bad"},
	} {
		out := run(t, dir, nil, append([]string{"reviews"}, args...)...)
		if out.status != 2 || out.stdout != "" || !strings.Contains(out.stderr, "-rejects") ||
			readFile(t, dir, "bad") != goodRecord+badRecord {
			t.Errorf("%v: %+v", args, out)
		}
	}
	if out := run(t, dir, nil, "reviews", "check", "bad", "-rejects", "no/such/directory"); out.status != 2 ||
		out.stdout != "" {
		t.Errorf("%+v", out)
	}
}

// The file for rejects is written anew, so it must not be the store or a file that belongs to it.
func TestRejectsDoNotOverwriteTheStore(t *testing.T) {
	dir := reviewFiles(t)
	if out := run(t, dir, nil, "reviews", "import", "-db", "v.db", "good"); out.status != 0 ||
		!strings.HasPrefix(out.stdout, "imported into the new store v.db: ") {
		t.Fatalf("%+v", out)
	}
	for _, name := range []string{"v.db.key", "v.db-wal", "v.db-shm"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for old, name := range map[string]string{"v.db": "hard", "v.db.key": "hard.key"} {
		if err := os.Link(filepath.Join(dir, old), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"soft": "v.db", "soft.key": "v.db.key"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	held := func() string {
		var all strings.Builder
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			all.WriteString(file.Name() + "\n" + readFile(t, dir, file.Name()))
		}
		return all.String()
	}
	before := held()
	for _, c := range []struct{ db, rejects, says string }{
		{"v.db", "v.db", "the store"}, {"v.db", "./v.db", "the store"},
		{"v.db", filepath.Join(dir, "v.db"), "the store"}, {"v.db", "hard", "the store"}, {"v.db", "soft", "the store"},
		{"soft", "v.db", "the store"}, {"v.db", "v.db.key", "the key file"}, {"v.db", "hard.key", "the key file"},
		{"soft", "soft.key", "the key file"},
		{"v.db", "v.db-wal", "the write-ahead log"}, {"v.db", "v.db-shm", "the index"},
		{"soft", "v.db-wal", "the write-ahead log"},
		{"w.db", "w.db", "the store"}, {"w.db", "./w.db.key", "the key file"},
	} {
		for _, dry := range []string{"-dry-run=false", "-dry-run"} {
			out := run(t, dir, nil, "reviews", "import", dry, "-db", c.db, "bad", "-rejects", c.rejects)
			if out.status != 2 || out.stdout != "" || strings.Count(out.stderr, "\n") != 2 ||
				!strings.Contains(out.stderr, "-rejects names "+c.says) {
				t.Errorf("-db %s -rejects %s: %+v", c.db, c.rejects, out)
			}
		}
	}
	if held() != before {
		t.Error("files were changed")
	}
	out := run(t, dir, nil, "reviews", "import", "-db", "v.db", "bad", "-rejects", "v.db.rejects")
	if out.status != 1 || readFile(t, dir, "v.db.rejects") != badRecord {
		t.Errorf("a name beside the store: %+v", out)
	}
}

// A mistake in the command line is found before the file for rejects is written anew.
func TestAMistakeWritesNoRejects(t *testing.T) {
	dir := reviewFiles(t)
	if out := run(t, dir, nil, "reviews", "import", "-db", "memory:", "bad", "-rejects", "good"); out.status != 2 ||
		out.stdout != "" || readFile(t, dir, "good") != goodRecord {
		t.Errorf("%+v", out)
	}
}

func TestADirectoryIsNoFileOfReviews(t *testing.T) {
	dir := reviewFiles(t)
	for _, args := range [][]string{
		{"check", "."}, {"check", "-json", "good", "."}, {"check", ".", "-rejects", "bad"},
		{"import", "-db", "v.db", "."}, {"import", "-dry-run", "-db", "v.db", "good", "."},
	} {
		out := run(t, dir, nil, append([]string{"reviews"}, args...)...)
		if out.status != 2 || out.stdout != "" || !strings.HasSuffix(out.stderr, ": . is a directory: want a file\n") {
			t.Errorf("%v: %+v", args, out)
		}
	}
	self, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	var stdout, stderr strings.Builder
	p := &program{stdin: self, stdout: &stdout, stderr: &stderr, getenv: func(string) string { return "" }}
	if status := p.run(t.Context(), []string{"reviews", "check", "-"}); status != 2 || stdout.String() != "" ||
		!strings.Contains(stderr.String(), "standard input is a directory") {
		t.Errorf("standard input: %d, %q, %q", status, stdout.String(), stderr.String())
	}
	if readFile(t, dir, "bad") != goodRecord+badRecord {
		t.Error("the file for rejects was written")
	}
	if _, err := os.Stat(filepath.Join(dir, "v.db")); err == nil {
		t.Error("a store was built")
	}
}
