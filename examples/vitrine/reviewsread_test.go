package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
)

func TestStoredCollectionsAreListed(t *testing.T) {
	dir := reviewFiles(t)
	for _, network := range []string{"default", "other.test"} {
		if out := run(t, dir, nil, "reviews", "import", "-db", "v.db", "-network", network, "warned"); out.status != 0 {
			t.Fatalf("%+v", out)
		}
	}
	want := "s  YQ==  \"T\": 1 review, default 50.00\ns  Yg==  \"T\": 0 reviews\n"
	if out := run(t, dir, nil, "reviews", "collections", "-db", "v.db", "-network", "other.test"); out.status != 0 ||
		out.stdout != want {
		t.Errorf("%+v, want %s", out, want)
	}
	if out := run(t, dir, nil, "reviews", "collections", "-db", "v.db"); out.status != 2 || out.stdout != "" ||
		!strings.Contains(out.stderr, "reviews collections: the store has reviews of 2 networks") {
		t.Errorf("of no network: %+v", out)
	}
	out := run(t, dir, nil, "reviews", "collections", "-db", "v.db", "-network", "default", "-source", "s", "-json")
	var c reviews.CollectionRecord
	line, _, _ := strings.Cut(out.stdout, "\n")
	if err := json.Unmarshal([]byte(line), &c); err != nil || c.ID != "YQ==" || c.Count != 1 ||
		c.Dimensions[0].Mean != 50 || c.Dimensions[0].Histogram[4] != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	for _, args := range [][]string{{"-db", "none.db"}, {"-db", "v.db", "-network", "a b"}, {"-db", "v.db", "spam"}} {
		if out := run(t, dir, nil, append([]string{"reviews", "collections"}, args...)...); out.status != 2 ||
			out.stdout != "" {
			t.Errorf("%v: %+v", args, out)
		}
	}
}

func TestStoredReviewsAreErased(t *testing.T) {
	dir := reviewFiles(t)
	load := func() {
		t.Helper()
		if out := run(t, dir, nil, "reviews", "import", "-db", "v.db", "-network", "n", "warned"); out.status != 0 {
			t.Fatalf("%+v", out)
		}
	}
	load()
	erase := func(args ...string) outcome {
		return run(t, dir, nil, append([]string{"reviews", "delete", "-db", "v.db"}, args...)...)
	}
	for _, args := range [][]string{
		{}, {"-network", ""}, {"-network", "n"}, {"-network", "n", "-dry-run"},
		{"-network", "n", "-source", ""}, {"-network", "n", "-source", "", "-everything"},
		{"-network", "n", "-source", "s", "-everything"}, {"-network", "n", "-review", "r1"},
		{"-network", "n", "-collection", "YQ==", "-review", "r1", "-author", "a"},
		{"-network", "n", "-collection", "absent"}, {"-network", "n", "-collection", "YQ==", "-review", "absent"},
		{"-network", "n", "spam"}, {"-network", "n:site=1"},
		{"-network", "n", "-author", "nobody"}, {"-network", "n", "-source", "none"},
		{"-network", "none", "-everything"}, {"-network", "n", "-author", "nobody", "-dry-run"},
	} {
		if out := erase(args...); out.status != 2 || out.stdout != "" || out.stderr == "" {
			t.Errorf("%v: %+v", args, out)
		}
	}
	// A variable that a script forgot to fill names nothing.
	out := run(t, dir, []string{"VITRINE_AUTHOR=", "VITRINE_SOURCE="}, "reviews", "delete", "-db", "v.db", "-network",
		"n")
	if out.status != 2 || out.stdout != "" || !strings.Contains(out.stderr, "-everything") {
		t.Errorf("empty variables: %+v", out)
	}
	for _, step := range []struct {
		args []string
		out  string
	}{
		{[]string{"-collection", "YQ==", "-review", "r1"}, "erased: 0 collections, 1 review; 0 replies moved up\n"},
		{[]string{"-source", "s", "-collection", "YQ=="}, "erased: 1 collection, 0 reviews; 0 replies moved up\n"},
		{[]string{"-everything"}, "erased: 1 collection, 0 reviews; 0 replies moved up\n"},
	} {
		dry := strings.Replace("would be "+step.out, "moved", "would move", 1)
		if out := erase(append([]string{"-network", "n", "-dry-run"}, step.args...)...); out.status != 0 ||
			out.stdout != dry {
			t.Errorf("dry run of %v: %+v, want %s", step.args, out, dry)
		}
		if out := erase(append([]string{"-network", "n"}, step.args...)...); out.status != 0 || out.stdout != step.out {
			t.Errorf("%v: %+v, want %s", step.args, out, step.out)
		}
	}
	if out := run(t, dir, nil, "reviews", "export", "-db", "v.db"); out.status != 0 || out.stdout != "" {
		t.Errorf("left: %+v", out)
	}
	load()
	if out := run(t, dir, nil, "reviews", "export", "-db", "v.db"); strings.Count(out.stdout, "\n") != 2 {
		t.Errorf("imported again: %+v", out)
	}
}

// A server keeps the log of the store open, so that erased texts would stay there.
func TestErasedReviewsAreInNoFileWhileAServerRuns(t *testing.T) {
	dir := reviewFiles(t)
	s := start(t, dir, nil, "-db", "v.db")
	token := newToken(t, dir, nil, "-db", "v.db", "-moderates", "urn:vitrine:n")
	for _, name := range []string{"Anna", "Berta"} { // the second import overwrites what the first has stored
		file := strings.Replace(goodRecord, `"title":"`, `"title":"`+name+strings.Repeat(" long", 5000), 2)
		s.do(token, "POST", "/x/reviews/import?network=n", file, 200)
	}
	found := func() (names []string) {
		for _, name := range []string{"v.db", "v.db-wal", "v.db-shm"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"Anna", "Berta"} {
				if bytes.Contains(data, []byte(text)) {
					names = append(names, text+" in "+name)
				}
			}
		}
		return names
	}
	if len(found()) < 2 {
		t.Fatalf("only %q: this test shows nothing", found())
	}
	out := run(t, dir, nil, "reviews", "delete", "-db", "v.db", "-network", "n", "-collection", "YQ==")
	if out.status != 0 || !strings.HasPrefix(out.stdout, "erased: 1 collection, 1 review") {
		t.Errorf("%+v", out)
	}
	if left := found(); len(left) > 0 {
		t.Errorf("after the deletion: %q", left)
	}
	if answer := s.do(token, "GET", "/x/reviews/export?network=n", "", 200); strings.Contains(answer, "Berta") {
		t.Errorf("the server answers %s", answer)
	}
}

func TestRulesAndSchemaArePrinted(t *testing.T) {
	dir := t.TempDir()
	out := run(t, dir, nil, "reviews", "rules")
	for _, rule := range reviews.Rules() {
		if out.status != 0 || !strings.Contains(out.stdout, rule.ID+" ("+string(rule.Severity)+")\n") ||
			!strings.Contains(out.stdout, "  wrong: "+rule.Wrong+"\n  right: "+rule.Right+"\n") {
			t.Errorf("%s is not in %+v", rule.ID, out)
		}
	}
	if out := run(t, dir, nil, "reviews", "schema"); out.status != 0 || out.stdout != string(reviews.RecordSchema()) {
		t.Errorf("%+v", out)
	}
}
