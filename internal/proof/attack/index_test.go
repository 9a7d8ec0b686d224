//go:build proof

package attack

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)
	testFunc  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// TestWhatIsNamedExists reads the list in the documentation: every test that it names is there, and
// every test of this package that attacks something is named.
func TestWhatIsNamedExists(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]map[string]bool{} // tests, by directory
	named, attacks := map[string]bool{}, 0
	for line := range strings.Lines(string(text)) {
		row, inList := strings.CutPrefix(line, "//\t")
		if !inList || !namedTest.MatchString(row) {
			continue
		}
		attacks++
		dir := ""
		_, list, _ := strings.Cut(row, "  ")
		for _, word := range strings.Fields(strings.ReplaceAll(list, ",", " ")) {
			switch {
			case word == "here":
				dir = "internal/proof/attack"
			case !namedTest.MatchString(word):
				dir = word
			case !testsIn(t, known, dir)[word]:
				t.Errorf("%s has no %s: who shows what becomes of %q?", dir, word, strings.TrimSpace(row[:min(len(row), 45)]))
			case dir == "internal/proof/attack":
				named[word] = true
			}
		}
	}
	if attacks < 35 {
		t.Errorf("the list has %d attacks", attacks)
	}
	for name := range testsIn(t, known, "internal/proof/attack") {
		if !named[name] && name != "TestMain" && name != "TestMutants" && name != "TestWhatIsNamedExists" {
			t.Errorf("%s is not in the list", name)
		}
	}
}

// testsIn returns the names of the tests in a directory of the module.
func testsIn(t *testing.T, known map[string]map[string]bool, dir string) map[string]bool {
	t.Helper()
	if known[dir] != nil {
		return known[dir]
	}
	known[dir] = map[string]bool{}
	files, err := filepath.Glob(filepath.Join("../../..", dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testFunc.FindAllStringSubmatch(string(text), -1) {
			known[dir][m[1]] = true
		}
	}
	return known[dir]
}
