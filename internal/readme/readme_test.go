// Package readme holds the READMEs to what they say: every block of code in them is run, and every link leads to a file
// that exists. The page of the README is opened in a browser by internal/proof/browser.
package readme

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/webhook"
)

const root = "../.."

// guides are the documents whose blocks are run in their order, each in a folder of its own.
var guides = []string{"README.md", "examples/vitrine/README.md", "examples/embed/README.md",
	"examples/components/README.md", "adapters/page/README.md", "reviews/README.md"}

// figures are the documents whose blocks hold nothing but the tests and benchmarks that measure their figures.
var figures = []string{"storage/README.md", "assets/README.md", "internal/proof/README.md", ".github/CONTRIBUTING.md"}

// block is a fenced block of a README: its language and its text.
type block struct{ lang, text string }

func blocks(t *testing.T, file string) (all []block) {
	for _, m := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(read(t, file), -1) {
		all = append(all, block{m[1], m[2]})
	}
	if len(all) == 0 {
		t.Fatalf("%s has no blocks", file)
	}
	return all
}

func read(t *testing.T, file string) string {
	data, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// address is where the server of a guide stands. A program that asks it is a part of the session.
const address = "127.0.0.1:8080"

// Nothing in a guide is only read: each block is of a language that a test runs. A JSON object is what the
// commands before it print, and an array is a file of webhooks.
func TestEveryBlockIsRun(t *testing.T) {
	for _, guide := range guides {
		all := blocks(t, guide)
		for i, b := range all {
			switch b.lang {
			case "go", "sh", "text":
			case "html", "js": // in a browser
				if guide != "README.md" && guide != "adapters/page/README.md" && guide != "reviews/README.md" {
					t.Errorf("%s: no test opens this page:\n%s", guide, b.text)
				}
			case "tsx", "mjs": // with the types of frameworks, in a browser, and in Node.js
				if guide != "adapters/page/README.md" {
					t.Errorf("%s: no test runs this script:\n%s", guide, b.text)
				}
			case "json":
				if i > 0 && all[i-1].lang == "sh" && b.text[0] == '{' {
					continue
				}
				if endpoints, err := webhook.Parse([]byte(b.text)); err != nil || len(endpoints) == 0 {
					t.Errorf("%s: block %d is no file of webhooks, and no commands stand before it: %v\n%s", guide, i,
						err, b.text)
				}
			default:
				t.Errorf("%s: block %d is of the language %q, which no test runs:\n%s", guide, i, b.lang, b.text)
			}
		}
	}
}

// A block of Go is a program; the text block behind it is what it prints.
func TestPrograms(t *testing.T) {
	programs := 0
	for _, guide := range guides {
		all := blocks(t, guide)
		for i, b := range all {
			if b.lang != "go" || strings.Contains(b.text, address) {
				continue
			}
			programs++
			file := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("go", "run", file)
			cmd.Dir = root
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s: program %d: %v\n%s", guide, i, err, out)
			}
			if i+1 == len(all) || all[i+1].lang != "text" {
				t.Errorf("%s: program %d is not followed by a text block with what it prints", guide, i)
			} else if want := all[i+1].text; string(out) != want {
				t.Errorf("%s: program %d prints\n%s\nwant\n%s", guide, i, out, want)
			}
		}
	}
	if programs < 2 {
		t.Errorf("the guides have %d programs", programs)
	}
}

// The tests and benchmarks that the figures come from exist, and so do their flags.
func TestFiguresHaveTheirCommands(t *testing.T) {
	for _, file := range slices.Concat(figures, guides) {
		for _, b := range blocks(t, file) {
			if b.lang == "sql" { // package storage/sqlite runs it
				continue
			}
			for line := range strings.Lines(b.text) {
				line = strings.TrimSpace(line)
				if b.lang != "sh" || !strings.HasPrefix(line, "go test ") {
					if !slices.Contains(guides, file) {
						t.Errorf("%s: %q is no command that runs tests", file, line)
					}
				} else if err := lookUp(t, line); err != nil {
					t.Errorf("%s: %s: %v", file, line, err)
				}
			}
		}
	}
}

func TestACommandThatWouldRunNothingIsFound(t *testing.T) {
	for _, line := range []string{
		"go test",
		"go test -tags proof ./internal/proof/none",
		"go test ./internal/readme -run NoSuchTest",
		"go test ./internal/readme -run TestLinks -bench NoSuchBenchmark",
		"go test ./internal/readme -args -nosuchflag 1",
		"go test -tags proof ./internal/readme ./internal/proof/crash -args -kills 1",
		"go test ./internal/proof/crash -v -timeout 0 -args -kills 1",
	} {
		if lookUp(t, line) == nil {
			t.Errorf("%s would run nothing, and is not found", line)
		}
	}
	if err := lookUp(t, "go test -tags proof ./internal/proof/crash -v -timeout 0 -args -kills 1"); err != nil {
		t.Error(err)
	}
}

var (
	test      = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	benchmark = regexp.MustCompile(`(?m)^func (Benchmark\w+)\(`)
)

// lookUp returns an error unless a go test line would run something: each package has tests and the flags of the line,
// and one has the test or the benchmark that the line names. It reads the sources, since building the tests takes long
// and go vet does it anyway.
func lookUp(t *testing.T, line string) error {
	wanted, name := test, ""
	var all, flags []string
	line, tagged := strings.CutPrefix(line, "go test -tags proof ")
	words := strings.Fields(line)
	for i, word := range words {
		switch {
		case word == "./...": // which has some of everything
			return nil
		case word == "-bench":
			wanted, name = benchmark, strings.Trim(words[i+1], "'")
		case word == "-run" && wanted == test:
			name = strings.Trim(words[i+1], "'")
		case strings.HasPrefix(word, "./"):
			files, err := testFiles(word, tagged)
			if err != nil {
				return err
			}
			all = append(all, strings.Join(files, "\n"))
		case strings.HasPrefix(word, "-") &&
			!slices.Contains([]string{"-run", "-benchtime", "-v", "-timeout", "-args"}, word):
			flags = append(flags, word[1:])
		}
	}
	named, err := regexp.Compile(strings.Split(name, "/")[0])
	if err != nil {
		return err
	}
	for _, f := range flags {
		for _, text := range all {
			if !regexp.MustCompile(`flags?\.\w+\("` + f + `"`).MatchString(text) {
				return fmt.Errorf("a package has no flag %s", f)
			}
		}
	}
	for _, text := range all {
		if slices.ContainsFunc(wanted.FindAllStringSubmatch(text, -1), func(m []string) bool {
			return named.MatchString(m[1])
		}) {
			return nil
		}
	}
	return fmt.Errorf("no test or benchmark has the name %q", name)
}

// testFiles returns the texts of the files of tests in a directory, with or without those that have the build tag
// proof.
func testFiles(dir string, tagged bool) (texts []string, err error) {
	names, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
	for _, name := range names {
		text, failed := os.ReadFile(name)
		if err = errors.Join(err, failed); tagged || !strings.HasPrefix(string(text), "//go:build proof") {
			texts = append(texts, string(text))
		}
	}
	if err == nil && len(texts) == 0 {
		err = fmt.Errorf("%s has no tests", dir)
	}
	return texts, err
}

// documents lists the Markdown files of the module.
func documents(t *testing.T) (names []string) {
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && name != ".github" && (name[0] == '.' || entry.Name() == "node_modules"):
			return fs.SkipDir
		case strings.HasSuffix(name, ".md"):
			names = append(names, name)
		}
		return nil
	})
	if err != nil || len(names) < 5 {
		t.Fatalf("found the documents %q, %v", names, err)
	}
	return names
}

// A document with blocks is one that a test knows: one of these, internal/proof/deploy and internal/proof/linear for
// the deployment, internal/proof/console for the static site, or adapters/mcp for its own.
func TestEveryDocumentWithCodeIsRun(t *testing.T) {
	known := slices.Concat(guides, figures, []string{"examples/deploy/README.md", "examples/deploy/container.md",
		"examples/deploy/postgresql.md", "examples/deploy/postgres/README.md", "examples/site/README.md",
		"adapters/mcp/README.md"})
	for _, name := range documents(t) {
		if strings.Contains(read(t, name), "\n```") && !slices.Contains(known, name) {
			t.Errorf("%s has blocks of code that no test runs", name)
		}
	}
}

// A link is to a page elsewhere, to a heading of the same document, or to a file or directory that exists.
func TestLinks(t *testing.T) {
	for _, name := range documents(t) {
		for _, link := range links(read(t, name)) {
			if err := broken(name, link); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, link := range []string{"none.md", "storage/none", "#no-such-heading", "storage/README.md#no-such-heading"} {
		if broken("README.md", link) == nil {
			t.Errorf("the link %s is broken, and is not found", link)
		}
	}
}

// links returns the targets of the links and the pictures of a document.
func links(text string) (targets []string) {
	text = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
	for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)|src="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		targets = append(targets, m[1]+m[2])
	}
	return targets
}

// broken returns an error if a link of a document leads nowhere in the module.
func broken(document, link string) error {
	if strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://") {
		return nil
	}
	file, heading, _ := strings.Cut(link, "#")
	path := filepath.Join(root, filepath.Dir(document), filepath.FromSlash(file))
	if file == "" {
		path = filepath.Join(root, document)
	}
	if _, err := os.Stat(path); err != nil || heading == "" {
		return err
	}
	text, err := os.ReadFile(path)
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(text), -1) {
		if anchor(m[1]) == heading {
			return nil
		}
	}
	return errors.Join(err, fmt.Errorf("%s has no heading for %s", path, link))
}

// anchor is what a heading is called in a link.
func anchor(heading string) string {
	return regexp.MustCompile(`[^\w\s-]`).ReplaceAllString(strings.ReplaceAll(strings.ToLower(heading), " ", "-"), "")
}
